// SPDX-License-Identifier: Apache-2.0
// The rules of Table 1 (docs/rtl.md, "Checks") as assertions on the signals of a suede_tx.
`timescale 1ns / 1ps

module suede_tx_check #(
    parameter int N     = 256,
    parameter int SLOTS = 8
) (
    input logic         clk,
    input logic [3:0]   tx_cycle,
    input logic [1:0]   tx_valid,
    input logic [1:0]   tx_vc,
    input logic [9:0]   xpuid,
    input logic [143:0] tx_control,
    // verilator lint_off UNUSEDSIGNAL
    input logic [N-1:0] tx_data,
    input logic         tx_err,
    // verilator lint_on UNUSEDSIGNAL
    input logic [5:0]   tx_credit,
    input logic         tx_reset_in,
    input logic         tx_reset_out,
    input logic         at_end,  // traffic has ended
    output logic        is_home  // all credit is back
);
  logic [7:0] credit[8];  // [{kind, vc}], in the XPU's hands
  logic in_command = 0;
  logic [3:0] next_cycle = 0;
  logic [3:0] last_cycle = 0;
  logic [157:0] first_beat;  // valid, vc, xpuid, control

  wire in_reset = tx_reset_in || tx_reset_out;
  wire is_beat = tx_valid != 0 && !in_reset;
  wire is_first = is_beat && !in_command;
  wire [2:0] kind_vc = {tx_valid[1], tx_vc};
  wire has_credit = credit[kind_vc] != 0;
  wire [3:0] units = tx_control[3:0];
  wire [3:0] last = tx_valid == 2 ? 4'(tx_control[15:8] / 8'(N / 8)) : 0;
  wire [157:0] beat = {tx_valid, tx_vc, xpuid, tx_control};
  wire command_credit = tx_credit[2];
  wire data_credit = tx_credit[5];

  logic has_too_much;
  always_comb begin
    has_too_much = 0;
    is_home = !tx_reset_out;
    for (int i = 0; i < 8; i++) begin
      if (credit[i] > 8'(SLOTS)) has_too_much = 1;
      if (credit[i] != 8'(SLOTS)) is_home = 0;
    end
  end

  initial for (int i = 0; i < 8; i++) credit[i] = 0;

  always @(posedge clk) begin
    if (in_reset) begin
      in_command <= 0;
      next_cycle <= 0;
      for (int i = 0; i < 8; i++) credit[i] <= 0;
    end else begin
      for (int i = 0; i < 8; i++) begin
        credit[i] <= credit[i] + 8'(command_credit && 3'(i) == {1'b0, tx_credit[1:0]}) +
                     8'(data_credit && 3'(i) == {1'b1, tx_credit[4:3]}) -
                     8'(is_first && 3'(i) == kind_vc && has_credit);
      end
      if (is_beat) begin
        in_command <= tx_cycle != (in_command ? last_cycle : last);
        next_cycle <= tx_cycle == (in_command ? last_cycle : last) ? 0 : tx_cycle + 1;
        if (!in_command) begin
          last_cycle <= last;
          first_beat <= beat;
        end
      end
    end
  end

  tx_has_credit: assert property (@(posedge clk) is_first && tx_valid != 3 |-> has_credit)
    else $error("tx_has_credit: a command begins without credit of {kind %0d, VC %0d}", tx_valid, tx_vc);
  tx_valid_known: assert property (@(posedge clk) tx_valid != 3)
    else $error("tx_valid_known: tx_valid is 3");
  tx_cycle_order: assert property (@(posedge clk) is_beat |-> tx_cycle == next_cycle)
    else $error("tx_cycle_order: tx_cycle is %0d", tx_cycle);
  tx_stable: assert property (@(posedge clk) is_beat && in_command |-> beat == first_beat)
    else $error("tx_stable: tx_valid, tx_vc, xpuid or tx_control changes in a command");
  tx_lengths: assert property (@(posedge clk)
      is_first && tx_valid != 3 |-> units inside {[1 : 9]} && tx_control[4] == tx_valid[1])
    else $error("tx_lengths: the control begins with %02x, tx_valid is %0d", tx_control[7:0], tx_valid);
  tx_idle_in_reset: assert property (@(posedge clk) tx_reset_in || (tx_reset_out && $past(tx_reset_out)) |->
      tx_valid == 0)
    else $error("tx_idle_in_reset: a beat in reset");
  tx_no_credit_in_reset: assert property (@(posedge clk) tx_reset_out |-> tx_credit == 0)
    else $error("tx_no_credit_in_reset: tx_credit is %02x in reset", tx_credit);
  tx_slots: assert property (@(posedge clk) !has_too_much)
    else $error("tx_slots: more credit than slots");
  tx_reset_answered: assert property (@(posedge clk) tx_reset_in |=> tx_reset_out)
    else $error("tx_reset_answered: tx_reset_out does not follow tx_reset_in");
  tx_credit_encoding: assert property (@(posedge clk)
      (command_credit || tx_credit[1:0] == 0) && (data_credit || tx_credit[4:3] == 0))
    else $error("tx_credit_encoding: tx_credit is %02x", tx_credit);
  tx_credit_home: assert property (@(posedge clk) at_end |-> is_home)
    else $error("tx_credit_home: credit is missing at the end");
endmodule
