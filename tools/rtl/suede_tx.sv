// SPDX-License-Identifier: Apache-2.0
// Table 1 of the SUE framework: SUE's end of the signals from an XPU to SUE, with a real endpoint behind it.
// docs/rtl.md has encodings, timing and plusargs.
`timescale 1ns / 1ps

module suede_tx #(
    parameter int    N    = 256,    // bits of tx_data: 128, 256, 512, 1024 or 2048
    parameter string NAME = "xpu",  // of the plusargs +NAME.endpoint, +NAME.xpu, +NAME.instance
    parameter int    XPU  = -1      // own id without +NAME.xpu; -1: the endpoint's first instance
) (
    input  logic         clk,
    input  logic [3:0]   tx_cycle,
    input  logic [1:0]   tx_valid,
    input  logic [1:0]   tx_vc,
    input  logic [9:0]   xpuid,
    input  logic [143:0] tx_control,
    input  logic [N-1:0] tx_data,
    input  logic         tx_err,
    output logic [5:0]   tx_credit,
    input  logic         tx_reset_in,
    output logic         tx_reset_out
);
  import "DPI-C" function int suede_rtl_tx_open(input string name, input string endpoint, input int own,
                                                input int beat_bytes);
  import "DPI-C" function int suede_rtl_tx_edge(input int handle, input int head, input bit [143:0] control,
                                                input bit [2047:0] data);

  int handle;  // for suede_rtl_lost

  initial begin
    string endpoint;
    int xpu, instance_number;
    if (!(N inside {128, 256, 512, 1024, 2048})) $fatal(1, "suede_tx: N is %0d", N);
    if (!$value$plusargs({NAME, ".endpoint=%s"}, endpoint)) endpoint = "loop";
    if (!$value$plusargs({NAME, ".xpu=%d"}, xpu)) xpu = XPU;
    if (!$value$plusargs({NAME, ".instance=%d"}, instance_number)) instance_number = 0;
    handle = suede_rtl_tx_open(NAME, endpoint, xpu < 0 ? -1 : instance_number * 1024 + xpu, N / 8);
    tx_credit = 0;
    tx_reset_out = 1;
  end

  always @(posedge clk) begin
    // verilator lint_off UNUSEDSIGNAL
    int outputs;
    outputs = suede_rtl_tx_edge(handle, 32'({tx_reset_in, tx_err, tx_valid, tx_cycle, tx_vc, xpuid}), tx_control,
                                2048'(tx_data));
    tx_credit <= outputs[5:0];
    tx_reset_out <= outputs[6];
  end
endmodule
