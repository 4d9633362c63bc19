// SPDX-License-Identifier: Apache-2.0
// SUE's subordinate port of AXI4: accepts the transactions of the XPU's manager, which go to remote XPUs, with a real
// endpoint behind it. docs/rtl.md has parameters, timing and plusargs.
`timescale 1ns / 1ps

module suede_axi_subordinate #(
    parameter int    DATA_WIDTH   = 256,     // 32, 64, 128, 256, 512 or 1024
    parameter int    ID_WIDTH     = 8,       // 1 to 32
    parameter int    ADDR_WIDTH   = 64,      // 12 to 64
    parameter int    AxUSER_WIDTH = 0,       // 0 to 128: of AWUSER and ARUSER; 0: a signal of one bit that is ignored
    parameter int    BUSER_WIDTH  = 0,       // 0 to 128
    parameter int    WUSER_WIDTH  = 0,       // 0 to 32; likewise RUSER_WIDTH
    parameter int    RUSER_WIDTH  = 0,
    parameter string NAME         = "xpu",   // of the plusargs +NAME.endpoint, .xpu, .instance, .routes, .deadline_ms
    parameter int    XPU          = -1,      // own id without +NAME.xpu; -1: the endpoint's first instance
    parameter string ROUTES       = "",      // without +NAME.routes
    // Widths of signals that may be absent (0).
    localparam int AUSER_MAX = AxUSER_WIDTH > 0 ? AxUSER_WIDTH - 1 : 0,
    localparam int BUSER_MAX = BUSER_WIDTH > 0 ? BUSER_WIDTH - 1 : 0,
    localparam int WUSER_MAX = WUSER_WIDTH > 0 ? WUSER_WIDTH - 1 : 0,
    localparam int RUSER_MAX = RUSER_WIDTH > 0 ? RUSER_WIDTH - 1 : 0
) (
    input  logic aclk,
    input  logic aresetn,
    input  logic [ID_WIDTH-1:0] awid,
    input  logic [ADDR_WIDTH-1:0] awaddr,
    input  logic [7:0] awlen,
    input  logic [2:0] awsize,
    input  logic [1:0] awburst,
    input  logic awlock,
    input  logic [3:0] awcache,
    input  logic [2:0] awprot,
    input  logic [3:0] awqos,
    input  logic [3:0] awregion,
    input  logic [AUSER_MAX:0] awuser,
    input  logic awvalid,
    output logic awready,
    input  logic [DATA_WIDTH-1:0] wdata,
    input  logic [DATA_WIDTH/8-1:0] wstrb,
    input  logic wlast,
    input  logic [WUSER_MAX:0] wuser,
    input  logic wvalid,
    output logic wready,
    output logic [ID_WIDTH-1:0] bid,
    output logic [1:0] bresp,
    output logic [BUSER_MAX:0] buser,
    output logic bvalid,
    input  logic bready,
    input  logic [ID_WIDTH-1:0] arid,
    input  logic [ADDR_WIDTH-1:0] araddr,
    input  logic [7:0] arlen,
    input  logic [2:0] arsize,
    input  logic [1:0] arburst,
    input  logic arlock,
    input  logic [3:0] arcache,
    input  logic [2:0] arprot,
    input  logic [3:0] arqos,
    input  logic [3:0] arregion,
    input  logic [AUSER_MAX:0] aruser,
    input  logic arvalid,
    output logic arready,
    output logic [ID_WIDTH-1:0] rid,
    output logic [DATA_WIDTH-1:0] rdata,
    output logic [1:0] rresp,
    output logic rlast,
    output logic [RUSER_MAX:0] ruser,
    output logic rvalid,
    input  logic rready
);
  import "DPI-C" function int suede_rtl_axi_open(input string name, input string endpoint, input int own,
                                                 input string routes, input int bus_bytes,
                                                 input int write_user_bytes, input int read_user_bytes,
                                                 input int deadline_ms);
  import "DPI-C" function int suede_rtl_axi_subordinate_edge(
      input int handle, input int inputs, input bit [255:0] aw, input bit [1215:0] w, input bit [255:0] ar,
      output bit [191:0] b, output bit [1119:0] r);

  int handle;

  initial begin
    string endpoint, routes;
    int xpu, instance_number, deadline_ms;
    if (!(DATA_WIDTH inside {32, 64, 128, 256, 512, 1024})) $fatal(1, "suede_axi_subordinate: DATA_WIDTH is %0d", DATA_WIDTH);
    if (ID_WIDTH > 32 || ADDR_WIDTH > 64 || AxUSER_WIDTH > 128 || BUSER_WIDTH > 128 || WUSER_WIDTH > 32 ||
        RUSER_WIDTH > 32) $fatal(1, "suede_axi_subordinate: a width is too large");
    if (!$value$plusargs({NAME, ".endpoint=%s"}, endpoint)) endpoint = "loop";
    if (!$value$plusargs({NAME, ".xpu=%d"}, xpu)) xpu = XPU;
    if (!$value$plusargs({NAME, ".instance=%d"}, instance_number)) instance_number = 0;
    if (!$value$plusargs({NAME, ".routes=%s"}, routes)) routes = ROUTES;
    if (!$value$plusargs({NAME, ".deadline_ms=%d"}, deadline_ms)) deadline_ms = 0;
    handle = suede_rtl_axi_open(NAME, endpoint, xpu < 0 ? -1 : instance_number * 1024 + xpu, routes, DATA_WIDTH / 8,
                                (WUSER_WIDTH + 7) / 8, 0, deadline_ms);
    {awready, wready, arready, bvalid, rvalid, rlast} = 0;
    {bid, bresp, buser, rid, rresp, ruser} = 0;
    rdata = 0;
  end

  always @(posedge aclk) begin
    // verilator lint_off UNUSEDSIGNAL
    int outputs;
    bit [191:0] b;
    bit [1119:0] r;
    outputs = suede_rtl_axi_subordinate_edge(
        handle, 32'({!aresetn, awvalid, wvalid, arvalid, bready, rready}),
        {3'b0, awregion, awqos, awprot, awcache, awlock, awburst, awsize, awlen, 32'(awid),
         AxUSER_WIDTH > 0 ? 128'(awuser) : 128'b0, 64'(awaddr)},
        {31'b0, wlast, WUSER_WIDTH > 0 ? 32'(wuser) : 32'b0, 128'(wstrb), 1024'(wdata)},
        {3'b0, arregion, arqos, arprot, arcache, arlock, arburst, arsize, arlen, 32'(arid),
         AxUSER_WIDTH > 0 ? 128'(aruser) : 128'b0, 64'(araddr)},
        b, r);
    {awready, wready, arready, bvalid, rvalid} <= outputs[4:0];
    buser <= b[BUSER_MAX:0];
    bid <= b[128 +: ID_WIDTH];
    bresp <= b[161:160];
    rdata <= r[DATA_WIDTH-1:0];
    rid <= r[1024 +: ID_WIDTH];
    ruser <= r[1056 +: RUSER_MAX + 1];
    {rlast, rresp} <= r[1090:1088];
  end
endmodule
