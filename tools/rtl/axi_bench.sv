// SPDX-License-Identifier: Apache-2.0
// Two example XPUs, "left" (XPU 0) and "right" (XPU 1), each with a subordinate and a manager port of AXI4 and the memory
// that the other one writes and reads, with all checks. Right has credit signals in place of READY. In the simulation's
// network each writes its own memory through SUE, too. tools/rtl/README.md has the plusargs.
`timescale 1ns / 1ps

// The signals of an interface, as ports of the same names.
`define AXI_CONNECT(bus) \
  .awid(bus.awid), .awaddr(bus.awaddr), .awlen(bus.awlen), .awsize(bus.awsize), .awburst(bus.awburst), \
  .awlock(bus.awlock), .awcache(bus.awcache), .awprot(bus.awprot), .awqos(bus.awqos), \
  .awregion(bus.awregion), .awuser(bus.awuser), .awvalid(bus.awvalid), .awready(bus.awready), \
  .wdata(bus.wdata), .wstrb(bus.wstrb), .wlast(bus.wlast), .wuser(bus.wuser), .wvalid(bus.wvalid), \
  .wready(bus.wready), .bid(bus.bid), .bresp(bus.bresp), .buser(bus.buser), .bvalid(bus.bvalid), \
  .bready(bus.bready), .arid(bus.arid), .araddr(bus.araddr), .arlen(bus.arlen), .arsize(bus.arsize), \
  .arburst(bus.arburst), .arlock(bus.arlock), .arcache(bus.arcache), .arprot(bus.arprot), \
  .arqos(bus.arqos), .arregion(bus.arregion), .aruser(bus.aruser), .arvalid(bus.arvalid), \
  .arready(bus.arready), .rid(bus.rid), .rdata(bus.rdata), .rresp(bus.rresp), .rlast(bus.rlast), \
  .ruser(bus.ruser), .rvalid(bus.rvalid), .rready(bus.rready)

module axi_node #(
    parameter int          DATA_WIDTH = 256,
    parameter string       NAME       = "left",
    parameter int          XPU        = 0,
    parameter string       ROUTES     = "",
    parameter logic [31:0] BASE       = 0,
    parameter bit          FAULTY     = 0,
    parameter bit          IS_CREDIT  = 0     // the XPU and its memory have the credit interface
) (
    input  logic        clk,
    input  logic        finish,
    input  logic        at_end,
    input  logic        is_lenient,
    input  logic        has_own,
    output logic        is_done,
    output logic        is_idle,
    output int unsigned sent,
    output int unsigned ended,
    output int unsigned failed,
    output int unsigned compared,
    output int unsigned swapped
);
  import axi_bench_pkg::*;

  axi_if #(.DATA_WIDTH(DATA_WIDTH)) xpu_bus (.aclk(clk));     // the XPU's requests
  axi_if #(.DATA_WIDTH(DATA_WIDTH)) accept_bus (.aclk(clk));
  axi_if #(.DATA_WIDTH(DATA_WIDTH)) issue_bus (.aclk(clk));   // requests of the peer
  axi_if #(.DATA_WIDTH(DATA_WIDTH)) memory_bus (.aclk(clk));
  logic xpu_empty, xpu_idle, memory_idle;

  axi_xpu #(.DATA_WIDTH(DATA_WIDTH), .SALT(XPU), .FAULTY(FAULTY), .BASE(BASE)) xpu (
      .bus(xpu_bus), .finish, .has_own, .is_done, .is_empty(xpu_empty), .sent);
  axi_scoreboard #(.DATA_WIDTH(DATA_WIDTH), .XPU(XPU)) scoreboard (
      .bus(xpu_bus), .is_lenient, .ended, .failed, .compared, .swapped);
  if (IS_CREDIT) begin : by_credit
    axi_credit_link #(.DATA_WIDTH(DATA_WIDTH)) accept_link (.from(xpu_bus), .to(accept_bus));
    axi_credit_link #(.DATA_WIDTH(DATA_WIDTH), .FAULTY(1)) issue_link (.from(issue_bus), .to(memory_bus));
  end else begin : by_ready
    axi_faults #(.FAULTY(FAULTY)) accept_faults (.from(xpu_bus), .to(accept_bus));
    axi_faults #(.FAULTY(FAULTY), .IS_MANAGER(1)) issue_faults (.from(issue_bus), .to(memory_bus));
  end
  suede_axi_subordinate #(
      .DATA_WIDTH(DATA_WIDTH), .ID_WIDTH(ID_WIDTH), .ADDR_WIDTH(ADDR_WIDTH), .AxUSER_WIDTH(AxUSER_WIDTH),
      .BUSER_WIDTH(BUSER_WIDTH), .WUSER_WIDTH(BEAT_USER_WIDTH), .RUSER_WIDTH(BEAT_USER_WIDTH), .NAME(NAME), .XPU(XPU),
      .ROUTES(ROUTES)) subordinate (.aclk(clk), .aresetn(accept_bus.aresetn), `AXI_CONNECT(accept_bus));
  suede_axi_manager #(
      .DATA_WIDTH(DATA_WIDTH), .ID_WIDTH(ID_WIDTH), .ADDR_WIDTH(ADDR_WIDTH), .AxUSER_WIDTH(AxUSER_WIDTH),
      .BUSER_WIDTH(BUSER_WIDTH), .WUSER_WIDTH(BEAT_USER_WIDTH), .RUSER_WIDTH(BEAT_USER_WIDTH), .NAME(NAME), .XPU(XPU)
  ) manager (.aclk(clk), .aresetn(issue_bus.aresetn), `AXI_CONNECT(issue_bus));
  axi_memory #(.DATA_WIDTH(DATA_WIDTH), .SALT(XPU), .FAULTY(FAULTY)) memory (.bus(memory_bus));

  suede_axi_check #(
      .DATA_WIDTH(DATA_WIDTH), .ID_WIDTH(ID_WIDTH), .ADDR_WIDTH(ADDR_WIDTH), .AxUSER_WIDTH(AxUSER_WIDTH),
      .BUSER_WIDTH(BUSER_WIDTH), .WUSER_WIDTH(BEAT_USER_WIDTH), .RUSER_WIDTH(BEAT_USER_WIDTH)
  ) xpu_check (.aclk(clk), .aresetn(xpu_bus.aresetn), `AXI_CONNECT(xpu_bus), .at_end, .is_idle(xpu_idle));
  suede_axi_check #(
      .DATA_WIDTH(DATA_WIDTH), .ID_WIDTH(ID_WIDTH), .ADDR_WIDTH(ADDR_WIDTH), .AxUSER_WIDTH(AxUSER_WIDTH),
      .BUSER_WIDTH(BUSER_WIDTH), .WUSER_WIDTH(BEAT_USER_WIDTH), .RUSER_WIDTH(BEAT_USER_WIDTH)
  ) memory_check (.aclk(clk), .aresetn(memory_bus.aresetn), `AXI_CONNECT(memory_bus), .at_end, .is_idle(memory_idle));

  assign is_idle = xpu_empty && xpu_idle && memory_idle;

  // Resets of the two ports.
  `include "bench_random.svh"
  int unsigned resets;
  int left_of_reset[2];
  logic [1:0] in_reset;
  assign xpu_bus.aresetn = !in_reset[0];
  assign issue_bus.aresetn = !in_reset[1];
  int unsigned reset_count;

  initial begin
    if (!$value$plusargs("resets=%d", resets)) resets = 0;
    start_random(XPU + 200);
    left_of_reset[0] = 4;
    left_of_reset[1] = 4;
    in_reset = 3;
    reset_count = 0;
  end

  always @(posedge clk) begin
    for (int i = 0; i < 2; i++) begin
      if (left_of_reset[i] != 0) begin
        left_of_reset[i]--;
      end else if (!finish && one_in(resets)) begin
        left_of_reset[i] = 2 + int'(random(8));
        reset_count++;
      end
      in_reset[i] <= left_of_reset[i] != 0;
    end
  end
endmodule

module axi_bench #(
    parameter int N = 256  // of left; right has another
) (
    input logic clk,
    input logic stop  // ends the traffic
);
  import "DPI-C" function void suede_rtl_axi_loop_start(input int seed, input int faults);

  localparam int RIGHT = N == 64 ? 256 : 64;

  logic finish, at_end, is_late, is_lenient, is_loop;
  logic left_done, right_done, left_idle, right_idle;
  int unsigned left_sent, right_sent, left_ended, right_ended, left_failed, right_failed, left_compared, right_compared,
      left_swapped, right_swapped;
  int unsigned seed, faults, cycles;

  axi_node #(.DATA_WIDTH(N), .NAME("left"), .XPU(0), .ROUTES("40000000-4000ffff:1:0,80000000-8000ffff:0:0"),
             .BASE(32'h40000000), .FAULTY(1)) left (
      .clk, .finish, .at_end, .is_lenient, .has_own(is_loop), .is_done(left_done), .is_idle(left_idle), .sent(left_sent),
      .ended(left_ended), .failed(left_failed), .compared(left_compared), .swapped(left_swapped));
  axi_node #(.DATA_WIDTH(RIGHT), .NAME("right"), .XPU(1), .ROUTES("0-ffff:0,80000000-8000ffff:1:0"), .BASE(0),
             .IS_CREDIT(1)) right (
      .clk, .finish, .at_end, .is_lenient, .has_own(is_loop), .is_done(right_done), .is_idle(right_idle), .sent(right_sent),
      .ended(right_ended), .failed(right_failed), .compared(right_compared), .swapped(right_swapped));

  initial begin
    int unsigned resets;
    string endpoint;
    if (!$value$plusargs("seed=%d", seed)) seed = 1;
    if (!$value$plusargs("faults=%d", faults)) faults = 0;
    if (!$value$plusargs("resets=%d", resets)) resets = 0;
    is_lenient = faults != 0 || resets != 0 || $test$plusargs("lenient") != 0;
    is_loop = !$value$plusargs("left.endpoint=%s", endpoint) || endpoint == "loop";
    suede_rtl_axi_loop_start(int'(seed), int'(faults));
    {finish, at_end} = 0;
  end

  bench_watch #(.NAME("axi_bench"), .OPERATIONS("transactions"), .LATE_CYCLES(60000)) watch (
      .clk, .is_loop, .progress(left_ended + right_ended), .ended(left_ended + right_ended), .is_busy(!left.xpu_empty),
      .is_late, .cycles);

  task automatic report_late();
    if (is_late) begin
      $display("left: sent %0d, ended %0d, idle %0d; right: sent %0d, ended %0d, idle %0d", left_sent, left_ended,
               left_idle, right_sent, right_ended, right_idle);
      at_end <= 1;  // all_answered fails
      if (at_end) $error("progress: no transaction ends any more");
    end
  endtask

  always @(posedge clk) begin
    finish <= finish || stop || (left_done && right_done);
    report_late();
    if (finish && left_idle && right_idle && left.in_reset == 0 && right.in_reset == 0) at_end <= 1;
    if (at_end && !is_late) begin
      $display("axi_bench: PASS seed %0d: %0d and %0d transactions, %0d and %0d failed, %0d octets compared, %0d exclusive, %0d resets, %0d cycles",
               seed, left_ended, right_ended, left_failed, right_failed, left_compared + right_compared,
               left_swapped + right_swapped, left.reset_count + right.reset_count, cycles);
      watch.report();
      $finish;
    end
  end
endmodule
