// SPDX-License-Identifier: Apache-2.0
// Table 2 of the SUE framework: SUE's end of the signals from SUE to an XPU, with a real endpoint behind it.
// docs/rtl.md has encodings, timing and plusargs.
`timescale 1ns / 1ps

module suede_rx #(
    parameter int    N    = 256,    // bits of rx_data: 128, 256, 512, 1024 or 2048
    parameter string NAME = "xpu",  // of the plusargs +NAME.endpoint, +NAME.xpu, +NAME.instance
    parameter int    XPU  = -1      // own id without +NAME.xpu; -1: the endpoint's first instance
) (
    input  logic         clk,
    output logic [3:0]   rx_cycle,
    output logic [1:0]   rx_valid,
    output logic [1:0]   rx_vc,
    output logic [9:0]   xpuid,
    output logic [143:0] rx_control,
    output logic [N-1:0] rx_data,
    input  logic [5:0]   rx_credit,
    input  logic         rx_reset_in,
    output logic         rx_reset_out
);
  import "DPI-C" function int suede_rtl_rx_open(input string name, input string endpoint, input int own,
                                                input int beat_bytes);
  import "DPI-C" function int suede_rtl_rx_edge(input int handle, input int inputs, output bit [143:0] control,
                                                output bit [2047:0] data);

  int handle;

  initial begin
    string endpoint;
    int xpu, instance_number;
    if (!(N inside {128, 256, 512, 1024, 2048})) $fatal(1, "suede_rx: N is %0d", N);
    if (!$value$plusargs({NAME, ".endpoint=%s"}, endpoint)) endpoint = "loop";
    if (!$value$plusargs({NAME, ".xpu=%d"}, xpu)) xpu = XPU;
    if (!$value$plusargs({NAME, ".instance=%d"}, instance_number)) instance_number = 0;
    handle = suede_rtl_rx_open(NAME, endpoint, xpu < 0 ? -1 : instance_number * 1024 + xpu, N / 8);
    {rx_valid, rx_cycle, rx_vc, xpuid} = 0;
    rx_control = 0;
    rx_data = 0;
    rx_reset_out = 1;
  end

  always @(posedge clk) begin
    // verilator lint_off UNUSEDSIGNAL
    int head;
    bit [143:0] control;
    bit [2047:0] data;
    head = suede_rtl_rx_edge(handle, 32'({rx_reset_in, rx_credit}), control, data);
    {rx_reset_out, rx_valid, rx_cycle, rx_vc, xpuid} <= head[18:0];
    rx_control <= control;
    rx_data <= data[N-1:0];
  end
endmodule
