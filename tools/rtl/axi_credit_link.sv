// SPDX-License-Identifier: Apache-2.0
// Joins a manager at `from` and a subordinate at `to` by the credit interface: on each channel a sender's end and a
// receiver's end, with credit alone between them.
`timescale 1ns / 1ps

module axi_credit_link #(
    parameter int DATA_WIDTH = 64,
    parameter bit FAULTY     = 0    // obeys +fault
) (
    axi_if from,
    axi_if to
);
  import axi_bench_pkg::*;
  localparam int ADDRESS = ID_WIDTH + ADDR_WIDTH + AxUSER_WIDTH + 29;
  localparam int W = DATA_WIDTH + DATA_WIDTH / 8 + BEAT_USER_WIDTH + 1;
  localparam int B = ID_WIDTH + BUSER_WIDTH + 2;
  localparam int R = ID_WIDTH + DATA_WIDTH + BEAT_USER_WIDTH + 3;

  logic aw_valid, w_valid, b_valid, ar_valid, r_valid, aw_credit, w_credit, b_credit, ar_credit, r_credit;
  logic [ADDRESS-1:0] aw, ar, aw_out, ar_out;
  logic [W-1:0] w, w_out;
  logic [B-1:0] b, b_out;
  logic [R-1:0] r, r_out;
  string fault;
  bit f_overrun;
  initial begin
    if (!FAULTY || !$value$plusargs("fault=%s", fault)) fault = "";
    f_overrun = fault == "xpu_credit_overrun";
  end

  suede_axi_credit_send #(.WIDTH(ADDRESS)) aw_send (
      .aclk(from.aclk), .aresetn(from.aresetn), .in_valid(from.awvalid), .in_ready(from.awready),
      .in_payload({from.awid, from.awaddr, from.awlen, from.awsize, from.awburst, from.awlock, from.awcache, from.awprot,
                   from.awqos, from.awregion, from.awuser}),
      .valid(aw_valid), .payload(aw), .credit(aw_credit));
  suede_axi_credit_receive #(.WIDTH(ADDRESS), .PLACES(4)) aw_receive (
      .aclk(from.aclk), .aresetn(from.aresetn), .valid(aw_valid), .payload(aw), .credit(aw_credit),
      .out_valid(to.awvalid), .out_ready(to.awready), .out_payload(aw_out));
  suede_axi_credit_send #(.WIDTH(W)) w_send (
      .aclk(from.aclk), .aresetn(from.aresetn), .in_valid(from.wvalid), .in_ready(from.wready),
      .in_payload({from.wdata, from.wstrb, from.wuser, from.wlast}), .valid(w_valid), .payload(w),
      .credit(w_credit || f_overrun));
  suede_axi_credit_receive #(.WIDTH(W), .PLACES(5)) w_receive (
      .aclk(from.aclk), .aresetn(from.aresetn), .valid(w_valid), .payload(w), .credit(w_credit), .out_valid(to.wvalid),
      .out_ready(to.wready), .out_payload(w_out));
  suede_axi_credit_send #(.WIDTH(ADDRESS)) ar_send (
      .aclk(from.aclk), .aresetn(from.aresetn), .in_valid(from.arvalid), .in_ready(from.arready),
      .in_payload({from.arid, from.araddr, from.arlen, from.arsize, from.arburst, from.arlock, from.arcache, from.arprot,
                   from.arqos, from.arregion, from.aruser}),
      .valid(ar_valid), .payload(ar), .credit(ar_credit));
  suede_axi_credit_receive #(.WIDTH(ADDRESS), .PLACES(4)) ar_receive (
      .aclk(from.aclk), .aresetn(from.aresetn), .valid(ar_valid), .payload(ar), .credit(ar_credit),
      .out_valid(to.arvalid), .out_ready(to.arready), .out_payload(ar_out));
  suede_axi_credit_send #(.WIDTH(B)) b_send (
      .aclk(from.aclk), .aresetn(from.aresetn), .in_valid(to.bvalid), .in_ready(to.bready),
      .in_payload({to.bid, to.buser, to.bresp}), .valid(b_valid), .payload(b), .credit(b_credit));
  suede_axi_credit_receive #(.WIDTH(B), .PLACES(2)) b_receive (
      .aclk(from.aclk), .aresetn(from.aresetn), .valid(b_valid), .payload(b), .credit(b_credit), .out_valid(from.bvalid),
      .out_ready(from.bready), .out_payload(b_out));
  suede_axi_credit_send #(.WIDTH(R)) r_send (
      .aclk(from.aclk), .aresetn(from.aresetn), .in_valid(to.rvalid), .in_ready(to.rready),
      .in_payload({to.rid, to.rdata, to.ruser, to.rresp, to.rlast}), .valid(r_valid), .payload(r), .credit(r_credit));
  suede_axi_credit_receive #(.WIDTH(R), .PLACES(16)) r_receive (
      .aclk(from.aclk), .aresetn(from.aresetn), .valid(r_valid), .payload(r), .credit(r_credit), .out_valid(from.rvalid),
      .out_ready(from.rready), .out_payload(r_out));

  always_comb begin
    to.aresetn = from.aresetn;
    {to.awid, to.awaddr, to.awlen, to.awsize, to.awburst, to.awlock, to.awcache, to.awprot, to.awqos, to.awregion,
     to.awuser} = aw_out;
    {to.wdata, to.wstrb, to.wuser, to.wlast} = w_out;
    {to.arid, to.araddr, to.arlen, to.arsize, to.arburst, to.arlock, to.arcache, to.arprot, to.arqos, to.arregion,
     to.aruser} = ar_out;
    {from.bid, from.buser, from.bresp} = b_out;
    {from.rid, from.rdata, from.ruser, from.rresp, from.rlast} = r_out;
  end
endmodule
