// SPDX-License-Identifier: Apache-2.0
// Runs fifo_bench with --timing, which makes the clock.
`timescale 1ns / 1ps

module fifo_clock #(
    parameter int N = 256
);
  logic clk = 0;
  always #0.5 clk = !clk;
  fifo_bench #(.N(N)) bench (.clk, .stop(1'b0));
endmodule
