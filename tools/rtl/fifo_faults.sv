// SPDX-License-Identifier: Apache-2.0
// Wires between an XPU and SUE, which pass all signals or, with +fault=NAME, make SUE break one rule. The XPU's side has
// no prefix, SUE's side the prefix s_.
`timescale 1ns / 1ps

module fifo_faults #(
    parameter int N      = 256,
    parameter bit FAULTY = 0    // obeys +fault
) (
    input  logic         clk,
    // Table 1.
    input  logic [1:0]   tx_valid,
    input  logic [N-1:0] tx_data,
    input  logic         tx_err,
    input  logic         tx_reset_in,
    output logic [5:0]   tx_credit,
    output logic         tx_reset_out,
    output logic [1:0]   s_tx_valid,
    output logic [N-1:0] s_tx_data,
    output logic         s_tx_err,
    output logic         s_tx_reset_in,
    input  logic [5:0]   s_tx_credit,
    input  logic         s_tx_reset_out,
    // Table 2.
    input  logic [5:0]   rx_credit,
    input  logic         rx_reset_in,
    output logic [3:0]   rx_cycle,
    output logic [1:0]   rx_valid,
    output logic [1:0]   rx_vc,
    output logic [9:0]   rx_xpuid,
    output logic [143:0] rx_control,
    output logic [N-1:0] rx_data,
    output logic         rx_reset_out,
    output logic [5:0]   s_rx_credit,
    output logic         s_rx_reset_in,
    input  logic [3:0]   s_rx_cycle,
    input  logic [1:0]   s_rx_valid,
    input  logic [1:0]   s_rx_vc,
    input  logic [9:0]   s_rx_xpuid,
    input  logic [143:0] s_rx_control,
    input  logic [N-1:0] s_rx_data,
    input  logic         s_rx_reset_out
);
  string fault;
  bit f_err_lost, f_command_lost, f_data_altered, f_reset_in_lost, f_credit_twice, f_credit_lost, f_credit_in_reset,
      f_encoding, f_slow_reset, f_rx_stale, f_rx_vc, f_rx_vc_changes, f_rx_xpuid, f_rx_cycle, f_rx_pause, f_rx_lost,
      f_rx_overrun, f_rx_in_reset, f_rx_padding, f_rx_valid, f_rx_d_bit, f_rx_reset_lost;

  int unsigned cycles = 0;
  logic armed = 0;           // after some good traffic
  logic has_lost = 0;
  logic [7:0] has_credited = 0;  // {kind, VC} that the XPU has given credit since the last reset
  logic [5:0] last_credit = 0;
  logic [N-1:0] last_data = 0;
  wire is_only = s_rx_valid == 1;

  initial begin
    if (!FAULTY || !$value$plusargs("fault=%s", fault)) fault = "";
    f_err_lost = fault == "sue_tx_err_lost";
    f_command_lost = fault == "sue_command_lost";
    f_data_altered = fault == "sue_tx_data_altered";
    f_reset_in_lost = fault == "sue_tx_reset_in_lost";
    f_credit_twice = fault == "sue_credit_twice";
    f_credit_lost = fault == "sue_credit_lost";
    f_credit_in_reset = fault == "sue_credit_in_reset";
    f_encoding = fault == "sue_credit_encoding";
    f_rx_stale = fault == "sue_stale_beat";
    f_rx_vc = fault == "sue_wrong_vc";
    f_rx_vc_changes = fault == "sue_vc_changes";
    f_rx_xpuid = fault == "sue_wrong_source";
    f_rx_cycle = fault == "sue_rx_cycle_skipped";
    f_rx_pause = fault == "sue_pauses";
    f_rx_lost = fault == "sue_rx_command_lost";
    f_rx_overrun = fault == "sue_rx_overrun";
    f_rx_in_reset = fault == "sue_beat_in_reset";
    f_rx_padding = fault == "sue_padding";
    f_rx_valid = fault == "sue_rx_valid_unknown";
    f_rx_d_bit = fault == "sue_d_bit_wrong";
    f_rx_reset_lost = fault == "sue_rx_reset_in_lost";
  end

  always @(posedge clk) begin
    cycles <= cycles + 1;
    armed <= cycles > 300;
    last_credit <= s_tx_reset_out ? 0 : s_tx_credit;
    last_data <= s_rx_data;
    if (rx_credit[2]) has_credited[{1'b0, rx_credit[1:0]}] <= 1;
    if (rx_credit[5]) has_credited[{1'b1, rx_credit[4:3]}] <= 1;
    if (rx_reset_in || s_rx_reset_out) has_credited <= 0;
    if (f_credit_lost && armed && s_tx_credit != 0) has_lost <= 1;
    if (f_command_lost && armed && tx_valid == 1) has_lost <= 1;
    if (f_rx_lost && armed && is_only) has_lost <= 1;
  end

  always_comb begin
    s_tx_valid = tx_valid;
    s_tx_data = tx_data;
    s_tx_err = tx_err;
    s_tx_reset_in = tx_reset_in;
    tx_credit = s_tx_credit;
    tx_reset_out = s_tx_reset_out;
    s_rx_credit = rx_credit;
    s_rx_reset_in = rx_reset_in;
    rx_cycle = s_rx_cycle;
    rx_valid = s_rx_valid;
    rx_vc = s_rx_vc;
    rx_xpuid = s_rx_xpuid;
    rx_control = s_rx_control;
    rx_data = s_rx_data;
    rx_reset_out = s_rx_reset_out;
    if (armed) begin
      if (f_err_lost) s_tx_err = 0;
      if (f_command_lost && !has_lost && tx_valid == 1) s_tx_valid = 0;
      if (f_data_altered) s_tx_data[0] = !tx_data[0];
      if (f_reset_in_lost) s_tx_reset_in = 0;
      if (f_credit_twice && s_tx_credit == 0 && !s_tx_reset_out) tx_credit = last_credit;
      if (f_credit_lost && !has_lost) tx_credit = 0;
      if (f_credit_in_reset && s_tx_reset_out) tx_credit = 6'h04;
      if (f_encoding && s_tx_credit == 0) tx_credit = 6'h01;
      if (f_rx_stale && s_rx_cycle == 1 && s_rx_control[15:8] == 8'hff) rx_data = last_data;
      if (f_rx_vc && !has_credited[{s_rx_valid[1], s_rx_vc ^ 2'd1}]) rx_vc = s_rx_vc ^ 1;
      if (f_rx_vc_changes && s_rx_cycle != 0) rx_vc = s_rx_vc ^ 1;
      if (f_rx_xpuid) rx_xpuid = s_rx_xpuid ^ 1;
      if (f_rx_cycle && s_rx_cycle != 0) rx_cycle = s_rx_cycle + 1;
      if (f_rx_pause && s_rx_cycle == 1) rx_valid = 0;
      if (f_rx_lost && !has_lost && is_only) rx_valid = 0;
      if (f_rx_overrun) s_rx_credit = 6'h24 | 6'(cycles % 4) | 6'(cycles % 4) << 3;
      if (f_rx_in_reset && s_rx_reset_out) begin
        rx_valid = 1;
        rx_control = 1;
      end
      if (f_rx_padding && s_rx_control[3:0] < 9) rx_control[143] = 1;
      if (f_rx_valid && s_rx_valid != 0) rx_valid = 3;
      if (f_rx_d_bit) rx_control[4] = !s_rx_control[4];
      if (f_rx_reset_lost) s_rx_reset_in = 0;
    end
  end
endmodule
