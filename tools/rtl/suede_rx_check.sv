// SPDX-License-Identifier: Apache-2.0
// The rules of Table 2 (docs/rtl.md, "Checks") as assertions on the signals of a suede_rx.
`timescale 1ns / 1ps

module suede_rx_check #(
    parameter int N = 256
) (
    input logic         clk,
    input logic [3:0]   rx_cycle,
    input logic [1:0]   rx_valid,
    input logic [1:0]   rx_vc,
    input logic [9:0]   xpuid,
    input logic [143:0] rx_control,
    input logic [N-1:0] rx_data,
    input logic [5:0]   rx_credit,
    input logic         rx_reset_in,
    input logic         rx_reset_out
);
  logic [8:0] credit[8];  // [{kind, vc}], in SUE's hands
  logic in_command = 0;
  logic [3:0] next_cycle = 0;
  logic [157:0] first_beat;  // valid, vc, xpuid, control

  wire in_reset = rx_reset_in || rx_reset_out;
  wire is_beat = rx_valid != 0 && !in_reset;
  wire is_first = is_beat && !in_command;
  wire [2:0] kind_vc = {rx_valid[1], rx_vc};
  wire has_credit = credit[kind_vc] != 0;
  wire [3:0] units = rx_control[3:0];
  wire [3:0] last = rx_valid == 2 ? 4'(rx_control[15:8] / 8'(N / 8)) : 0;
  wire [157:0] beat = {rx_valid, rx_vc, xpuid, rx_control};
  wire command_credit = rx_credit[2];
  wire data_credit = rx_credit[5];

  // Bytes behind the lengths are 0. Not a wire: Verilator 5.006 cannot compile assertions on wide wires.
  logic is_padded;
  logic [11:0] data_left;  // bytes from this beat on
  always_comb begin
    data_left = rx_valid == 2 ? 12'(rx_control[15:8]) + 1 - 12'(rx_cycle) * 12'(N / 8) : 0;
    is_padded = (rx_control >> (8'(units) * 16)) == 0;
    if (data_left < 12'(N / 8) && (rx_data >> (15'(data_left) * 8)) != 0) is_padded = 0;
  end

  logic has_too_much;
  always_comb begin
    has_too_much = 0;
    for (int i = 0; i < 8; i++) if (credit[i] > 255) has_too_much = 1;
  end

  initial for (int i = 0; i < 8; i++) credit[i] = 0;

  always @(posedge clk) begin
    if (in_reset) begin
      in_command <= 0;
      next_cycle <= 0;
      for (int i = 0; i < 8; i++) credit[i] <= 0;
    end else begin
      for (int i = 0; i < 8; i++) begin
        credit[i] <= credit[i] + 9'(command_credit && 3'(i) == {1'b0, rx_credit[1:0]}) +
                     9'(data_credit && 3'(i) == {1'b1, rx_credit[4:3]}) -
                     9'(is_first && 3'(i) == kind_vc && has_credit);
      end
      if (is_beat) begin
        in_command <= rx_cycle != last;
        next_cycle <= rx_cycle == last ? 0 : rx_cycle + 1;
        if (!in_command) first_beat <= beat;
      end
    end
  end

  rx_has_credit: assert property (@(posedge clk) is_first && rx_valid != 3 |-> has_credit)
    else $error("rx_has_credit: a command begins without credit of {kind %0d, VC %0d}", rx_valid, rx_vc);
  rx_valid_known: assert property (@(posedge clk) rx_valid != 3)
    else $error("rx_valid_known: rx_valid is 3");
  rx_cycle_order: assert property (@(posedge clk)
      (!is_beat || rx_cycle == next_cycle) && (!in_command || in_reset || rx_valid != 0))
    else $error("rx_cycle_order: rx_valid is %0d, rx_cycle %0d", rx_valid, rx_cycle);
  rx_stable: assert property (@(posedge clk) is_beat && in_command |-> beat == first_beat)
    else $error("rx_stable: rx_valid, rx_vc, xpuid or rx_control changes in a command");
  rx_lengths: assert property (@(posedge clk) is_beat && rx_valid != 3 |->
      units inside {[1 : 9]} && rx_control[4] == rx_valid[1] && is_padded)
    else $error("rx_lengths: lengths disagree, or bytes behind them are not 0");
  rx_idle_in_reset: assert property (@(posedge clk) rx_reset_out |-> rx_valid == 0)
    else $error("rx_idle_in_reset: a beat in reset");
  rx_no_credit_in_reset: assert property (@(posedge clk) rx_reset_in || (rx_reset_out && $past(rx_reset_out)) |->
      rx_credit == 0)
    else $error("rx_no_credit_in_reset: rx_credit is %02x in reset", rx_credit);
  rx_credit_bound: assert property (@(posedge clk) !has_too_much)
    else $error("rx_credit_bound: more than 255 of {kind, VC}");
  rx_reset_answered: assert property (@(posedge clk) rx_reset_in |=> rx_reset_out)
    else $error("rx_reset_answered: rx_reset_out does not follow rx_reset_in");
  rx_credit_encoding: assert property (@(posedge clk)
      (command_credit || rx_credit[1:0] == 0) && (data_credit || rx_credit[4:3] == 0))
    else $error("rx_credit_encoding: rx_credit is %02x", rx_credit);
endmodule
