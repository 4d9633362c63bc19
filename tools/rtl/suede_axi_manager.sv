// SPDX-License-Identifier: Apache-2.0
// SUE's manager port of AXI4: issues the transactions of remote XPUs to the XPU's subordinate. docs/rtl.md has parameters,
// timing and plusargs.
`timescale 1ns / 1ps

module suede_axi_manager #(
    parameter int    DATA_WIDTH   = 256,     // 32, 64, 128, 256, 512 or 1024
    parameter int    ID_WIDTH     = 8,       // 1 to 32
    parameter int    ADDR_WIDTH   = 64,      // 12 to 64
    parameter int    AxUSER_WIDTH = 0,       // 0 to 128: of AWUSER and ARUSER; 0: a signal of one bit that is ignored
    parameter int    BUSER_WIDTH  = 0,       // 0 to 128
    parameter int    WUSER_WIDTH  = 0,       // 0 to 32; likewise RUSER_WIDTH
    parameter int    RUSER_WIDTH  = 0,
    parameter string NAME         = "xpu",   // of the plusargs +NAME.endpoint, +NAME.xpu, +NAME.instance
    parameter int    XPU          = -1,      // own id without +NAME.xpu; -1: the endpoint's first instance
    // Widths of signals that may be absent (0).
    localparam int AUSER_MAX = AxUSER_WIDTH > 0 ? AxUSER_WIDTH - 1 : 0,
    localparam int BUSER_MAX = BUSER_WIDTH > 0 ? BUSER_WIDTH - 1 : 0,
    localparam int WUSER_MAX = WUSER_WIDTH > 0 ? WUSER_WIDTH - 1 : 0,
    localparam int RUSER_MAX = RUSER_WIDTH > 0 ? RUSER_WIDTH - 1 : 0
) (
    input  logic aclk,
    input  logic aresetn,
    output logic [ID_WIDTH-1:0] awid,
    output logic [ADDR_WIDTH-1:0] awaddr,
    output logic [7:0] awlen,
    output logic [2:0] awsize,
    output logic [1:0] awburst,
    output logic awlock,
    output logic [3:0] awcache,
    output logic [2:0] awprot,
    output logic [3:0] awqos,
    output logic [3:0] awregion,
    output logic [AUSER_MAX:0] awuser,
    output logic awvalid,
    input  logic awready,
    output logic [DATA_WIDTH-1:0] wdata,
    output logic [DATA_WIDTH/8-1:0] wstrb,
    output logic wlast,
    output logic [WUSER_MAX:0] wuser,
    output logic wvalid,
    input  logic wready,
    input  logic [ID_WIDTH-1:0] bid,
    input  logic [1:0] bresp,
    input  logic [BUSER_MAX:0] buser,
    input  logic bvalid,
    output logic bready,
    output logic [ID_WIDTH-1:0] arid,
    output logic [ADDR_WIDTH-1:0] araddr,
    output logic [7:0] arlen,
    output logic [2:0] arsize,
    output logic [1:0] arburst,
    output logic arlock,
    output logic [3:0] arcache,
    output logic [2:0] arprot,
    output logic [3:0] arqos,
    output logic [3:0] arregion,
    output logic [AUSER_MAX:0] aruser,
    output logic arvalid,
    input  logic arready,
    input  logic [ID_WIDTH-1:0] rid,
    input  logic [DATA_WIDTH-1:0] rdata,
    input  logic [1:0] rresp,
    input  logic rlast,
    input  logic [RUSER_MAX:0] ruser,
    input  logic rvalid,
    output logic rready
);
  import "DPI-C" function int suede_rtl_axi_open(input string name, input string endpoint, input int own,
                                                 input string routes, input int bus_bytes,
                                                 input int write_user_bytes, input int read_user_bytes,
                                                 input int deadline_ms);
  import "DPI-C" function int suede_rtl_axi_manager_edge(
      input int handle, input int inputs, input bit [191:0] b, input bit [1119:0] r, output bit [255:0] aw,
      output bit [1215:0] w, output bit [255:0] ar);

  int handle;

  initial begin
    string endpoint;
    int xpu, instance_number;
    if (!(DATA_WIDTH inside {32, 64, 128, 256, 512, 1024})) $fatal(1, "suede_axi_manager: DATA_WIDTH is %0d", DATA_WIDTH);
    if (ID_WIDTH > 32 || ADDR_WIDTH > 64 || AxUSER_WIDTH > 128 || BUSER_WIDTH > 128 || WUSER_WIDTH > 32 ||
        RUSER_WIDTH > 32) $fatal(1, "suede_axi_manager: a width is too large");
    if (!$value$plusargs({NAME, ".endpoint=%s"}, endpoint)) endpoint = "loop";
    if (!$value$plusargs({NAME, ".xpu=%d"}, xpu)) xpu = XPU;
    if (!$value$plusargs({NAME, ".instance=%d"}, instance_number)) instance_number = 0;
    handle = suede_rtl_axi_open(NAME, endpoint, xpu < 0 ? -1 : instance_number * 1024 + xpu, "", DATA_WIDTH / 8, 0,
                                (RUSER_WIDTH + 7) / 8, 0);
    {awvalid, wvalid, arvalid, bready, rready, wlast} = 0;
    {awid, awaddr, awlen, awsize, awburst, awlock, awcache, awprot, awqos, awregion, awuser} = 0;
    {arid, araddr, arlen, arsize, arburst, arlock, arcache, arprot, arqos, arregion, aruser} = 0;
    {wuser, wstrb} = 0;
    wdata = 0;
  end

  always @(posedge aclk) begin
    // verilator lint_off UNUSEDSIGNAL
    int outputs;
    bit [255:0] aw, ar;
    bit [1215:0] w;
    outputs = suede_rtl_axi_manager_edge(
        handle, 32'({!aresetn, awready, wready, arready, bvalid, rvalid}),
        {30'b0, bresp, 32'(bid), BUSER_WIDTH > 0 ? 128'(buser) : 128'b0},
        {29'b0, rlast, rresp, RUSER_WIDTH > 0 ? 32'(ruser) : 32'b0, 32'(rid), 1024'(rdata)}, aw, w, ar);
    {awvalid, wvalid, arvalid, bready, rready} <= outputs[4:0];
    {awregion, awqos, awprot, awcache, awlock, awburst, awsize, awlen} <= aw[252:224];
    awid <= aw[192 +: ID_WIDTH];
    awuser <= aw[64 +: AUSER_MAX + 1];
    awaddr <= aw[ADDR_WIDTH-1:0];
    {arregion, arqos, arprot, arcache, arlock, arburst, arsize, arlen} <= ar[252:224];
    arid <= ar[192 +: ID_WIDTH];
    aruser <= ar[64 +: AUSER_MAX + 1];
    araddr <= ar[ADDR_WIDTH-1:0];
    wdata <= w[DATA_WIDTH-1:0];
    wstrb <= w[1024 +: DATA_WIDTH / 8];
    wuser <= w[1152 +: WUSER_MAX + 1];
    wlast <= w[1184];
  end
endmodule
