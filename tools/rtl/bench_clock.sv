// SPDX-License-Identifier: Apache-2.0
// Runs BENCH (fifo_bench, axi_bench) with --timing, which makes the clock.
`timescale 1ns / 1ps

module bench_clock #(
    parameter int N = 256
);
  logic clk = 0;
  always #0.5 clk = !clk;
  `BENCH #(.N(N)) bench (.clk, .stop(1'b0));
endmodule
