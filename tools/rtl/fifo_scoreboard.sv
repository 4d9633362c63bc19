// SPDX-License-Identifier: Apache-2.0
// Compares the commands that one XPU sends, as its signals of Table 1 show them, with those that another one receives.
`timescale 1ns / 1ps

module fifo_scoreboard #(
    parameter int N      = 256,
    parameter int SOURCE = 0    // the sender's XPU
) (
    input logic         clk,
    // The sender's, and the handle of its suede_tx.
    input int           handle,
    input logic [3:0]   tx_cycle,
    input logic [1:0]   tx_valid,
    input logic [1:0]   tx_vc,
    input logic [143:0] tx_control,
    input logic [N-1:0] tx_data,
    input logic         tx_err,
    input logic         tx_reset_in,
    input logic         tx_reset_out,
    // The receiver's.
    input logic [3:0]   rx_cycle,
    input logic [1:0]   rx_valid,
    input logic [1:0]   rx_vc,
    input logic [9:0]   rx_xpuid,
    input logic [143:0] rx_control,
    input logic [N-1:0] rx_data,
    input logic         rx_reset_in,
    input logic         rx_reset_out,
    // At the end each VC carries a command that arrives, behind all others.
    input  logic        finish,
    input  logic        is_late,    // nothing happens any more
    output logic [3:0]  more,       // VCs that need one more command
    output logic        is_clean,   // all commands are accounted for
    output int unsigned received,
    output int unsigned lost_count
);
  import "DPI-C" function int suede_rtl_lost(input int handle);

  localparam int BYTES = N / 8;

  typedef struct packed {
    int             number;  // as suede_rtl_lost counts
    logic [63:0]    sent_at;
    logic           may_be_dropped;  // was under way at a reset of the receiver
    logic [143:0]   control;
    logic [2047:0]  data;
  } entry_t;

  entry_t expected[4][$];
  bit lost[int];
  entry_t missing[$];
  int count;
  int newest[4];            // number of the newest command of a VC at the end; -1: none
  bit newest_received[4];
  logic [2047:0] tx_bytes, rx_bytes;
  logic tx_broken;          // an error in the command so far
  logic [3:0] tx_next;
  logic was_rx_reset, was_rx_reset_in;

  initial begin
    count = 0;
    received = 0;
    lost_count = 0;
    for (int vc = 0; vc < 4; vc++) begin
      newest[vc] = -1;
      newest_received[vc] = 0;
    end
    {tx_broken, tx_next, was_rx_reset, was_rx_reset_in, more, is_clean} = 0;
    tx_bytes = 0;
    rx_bytes = 0;
  end

  function automatic int data_bytes(logic [143:0] control);
    return control[4] ? int'(control[15:8]) + 1 : 0;
  endfunction

  function automatic int last_cycle(logic [143:0] control);
    return control[4] ? int'(control[15:8]) / BYTES : 0;
  endfunction

  task automatic take_tx();
    if (tx_reset_in || tx_reset_out) begin
      tx_next = 0;
      return;
    end
    if (tx_valid == 0) return;
    if (tx_cycle == 0) begin
      tx_broken = 0;
      tx_bytes = 0;
    end
    tx_broken |= tx_err;
    tx_bytes[int'(tx_cycle)*N +: N] = tx_data;
    if (int'(tx_cycle) != last_cycle(tx_control)) return;
    if (!tx_broken) begin
      entry_t entry;
      entry.number = count;
      entry.sent_at = $time;
      entry.may_be_dropped = 0;
      entry.control = tx_control & ~({144{1'b1}} << (16 * int'(tx_control[3:0])));
      entry.data = tx_bytes & ~({2048{1'b1}} << (8 * data_bytes(tx_control)));
      expected[tx_vc].push_back(entry);
      newest[tx_vc] = count;
      newest_received[tx_vc] = 0;
    end
    count++;
  endtask

  // Short commands repeat after 2048 on a VC. More than that may be lost at once, so a command that is not lost is the
  // better match.
  function automatic int find();
    entry_t entry;
    find = -1;
    for (int i = 0; i < expected[rx_vc].size(); i++) begin
      entry = expected[rx_vc][i];
      if (entry.control != rx_control || entry.data != rx_bytes) continue;
      if (!entry.may_be_dropped && !lost.exists(entry.number)) return i;
      if (find < 0) find = i;
    end
  endfunction

  task automatic compare();
    entry_t entry;
    int place;
    received++;
    if (rx_xpuid != 10'(SOURCE)) begin
      $error("content: the source is %0d", rx_xpuid);
      return;
    end
    place = find();
    if (place < 0) $error("content: no such command is expected on VC %0d: control %036x", rx_vc, rx_control);
    for (int i = 0; i <= place; i++) begin
      entry = expected[rx_vc].pop_front();
      if (i < place && !entry.may_be_dropped) missing.push_back(entry);
      if (i == place && newest[rx_vc] == entry.number) newest_received[rx_vc] = 1;
    end
  endtask

  task automatic take_rx();
    if (rx_reset_in || rx_reset_out) begin
      was_rx_reset = rx_reset_out;
      was_rx_reset_in |= rx_reset_in;
      return;
    end
    if (was_rx_reset && was_rx_reset_in) begin
      for (int vc = 0; vc < 4; vc++) begin
        for (int i = 0; i < expected[vc].size(); i++) begin
          entry_t entry;
          entry = expected[vc][i];
          entry.may_be_dropped = 1;
          expected[vc][i] = entry;
          if (newest[vc] == entry.number) newest[vc] = -1;
        end
      end
    end
    if (was_rx_reset) was_rx_reset_in = 0;
    was_rx_reset = 0;
    if (rx_valid == 0) return;
    if (rx_cycle == 0) rx_bytes = 0;
    rx_bytes[int'(rx_cycle)*N +: N] = rx_data;
    if (int'(rx_cycle) == last_cycle(rx_control)) compare();
  endtask

  task automatic take_lost();
    int number;
    number = suede_rtl_lost(handle);
    while (number >= 0) begin
      lost[number] = 1;
      lost_count++;
      for (int vc = 0; vc < 4; vc++) if (newest[vc] == number) newest[vc] = -1;
      number = suede_rtl_lost(handle);
    end
  endtask

  always @(posedge clk) begin
    take_lost();
    take_tx();
    take_rx();
    more <= 0;
    is_clean <= finish;
    for (int vc = 0; vc < 4; vc++) begin
      if (!newest_received[vc]) is_clean <= 0;
      if (finish && !newest_received[vc] && newest[vc] < 0) more[vc] <= 1;
    end
    if (missing.size() != 0) begin
      is_clean <= 0;
      if (lost.exists(missing[0].number)) missing.delete(0);
      else if (is_late) $error("missing: command %0d, sent at %0t, has not arrived, and is not lost; control %036x",
                               missing[0].number, missing[0].sent_at, missing[0].control);
    end
  end
endmodule
