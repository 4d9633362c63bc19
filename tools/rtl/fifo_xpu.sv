// SPDX-License-Identifier: Apache-2.0
// An example XPU for the FIFO interface: random commands to one peer, credit with back-pressure, resets.
// tools/rtl/README.md has its plusargs.
`timescale 1ns / 1ps

module fifo_xpu #(
    parameter int N      = 256,
    parameter int PEER   = 1,
    parameter int SALT   = 0,    // makes its random numbers its own
    parameter bit FAULTY = 0     // obeys +fault
) (
    input  logic         clk,
    // Table 1.
    output logic [3:0]   tx_cycle,
    output logic [1:0]   tx_valid,
    output logic [1:0]   tx_vc,
    output logic [9:0]   tx_xpuid,
    output logic [143:0] tx_control,
    output logic [N-1:0] tx_data,
    output logic         tx_err,
    input  logic [5:0]   tx_credit,
    output logic         tx_reset_in,
    input  logic         tx_reset_out,
    // Table 2.
    input  logic [3:0]   rx_cycle,
    input  logic [1:0]   rx_valid,
    input  logic [1:0]   rx_vc,
    output logic [5:0]   rx_credit,
    output logic         rx_reset_in,
    input  logic         rx_reset_out,
    // The bench's.
    input  logic         finish,  // no errors, resets and back-pressure; commands on the VCs of `more` alone
    input  logic [3:0]   more,
    output logic         is_waiting,  // with +single: for a command
  output logic         is_done, // has sent its commands
    output int unsigned  sent
);
  `include "bench_random.svh"
  localparam int BYTES = N / 8;

  int unsigned commands, resets, errors;
  bit is_single;
  logic [3:0] tx_have[8];        // credit of {kind, vc}
  logic [8:0] rx_given[8];       // credit of {kind, vc} that SUE has not spent
  logic [3:0] rx_limit[4];       // back-pressure: credit that a VC may have
  int unsigned tx_gap, rx_gap;   // mean cycles between commands, and between credits
  int unsigned tx_pause;         // mean beats between pauses; 0: none
  int unsigned reset_left[2];    // cycles of tx_reset_in, rx_reset_in
  int unsigned cycles;
  // The command under way.
  logic active;
  int beat, beats, err_beat;
  int unsigned begun[4];         // commands on each VC
  logic [1:0] kind, vc;
  logic [143:0] control;
  logic [2047:0] data;

  // Injected faults, by the name of +fault.
  bit f_overrun, f_skips, f_repeats, f_in_reset, f_vc, f_xpuid, f_control, f_valid, f_lengths, f_resumes,
      f_interleaves, f_short, f_keeps_credit, f_rx_in_reset, f_rx_unbounded, f_rx_encoding;

  initial begin
    string fault;
    if (!$value$plusargs("commands=%d", commands)) commands = 200;
    if (!$value$plusargs("resets=%d", resets)) resets = 0;
    is_single = $test$plusargs("single") != 0;
    if (!$value$plusargs("errors=%d", errors)) errors = is_single ? 0 : 16;
    if (!FAULTY || !$value$plusargs("fault=%s", fault)) fault = "";
    f_overrun = fault == "tx_overrun";
    f_skips = fault == "tx_cycle_skipped";
    f_repeats = fault == "tx_cycle_repeated";
    f_in_reset = fault == "tx_beat_in_reset";
    f_vc = fault == "tx_vc_changes";
    f_xpuid = fault == "tx_xpuid_changes";
    f_control = fault == "tx_control_changes";
    f_valid = fault == "tx_valid_unknown";
    f_lengths = fault == "tx_d_bit_wrong";
    f_resumes = fault == "tx_resumes_after_reset";
    f_interleaves = fault == "tx_interleaves";
    f_short = fault == "tx_beat_missing";
    f_keeps_credit = fault == "tx_keeps_credit_in_reset";
    f_rx_in_reset = fault == "rx_credit_in_reset";
    f_rx_unbounded = fault == "rx_credit_unbounded";
    f_rx_encoding = fault == "rx_credit_encoding";
    start_random(SALT);
    for (int i = 0; i < 8; i++) begin
      tx_have[i] = 0;
      rx_given[i] = 0;
    end
    for (int i = 0; i < 4; i++) begin
      rx_limit[i] = 8;
      begun[i] = 0;
    end
    {tx_cycle, tx_valid, tx_vc, tx_xpuid, tx_err, tx_reset_in, rx_credit, rx_reset_in, active, is_done} = 0;
    tx_control = 0;
    tx_data = 0;
    tx_gap = 1;
    tx_pause = is_single ? 0 : 8;
    rx_gap = 1;
    reset_left[0] = 0;
    reset_left[1] = 0;
    sent = 0;
    cycles = 0;
    is_waiting = SALT != 0;
  end

  // Makes a command on a VC that has credit. As much of its number as fits is in it, at least 11 bits.
  task automatic begin_command();
    int units, bytes, choice;
    choice = int'(random(8));
    kind = 0;
    for (int i = 0; i < 8; i++) begin
      logic [2:0] kind_vc;
      kind_vc = 3'(choice + i);
      if ((tx_have[kind_vc] != 0 || f_overrun) && (!finish || more[kind_vc[1:0]])) begin
        kind = kind_vc[2] ? 2 : 1;
        vc = kind_vc[1:0];
        break;
      end
    end
    if (kind == 0) return;
    if (tx_have[{kind[1], vc}] != 0) tx_have[{kind[1], vc}]--;
    for (int i = 0; i < 144; i += 16) control[i +: 16] = 16'(random(65536));
    for (int i = 0; i < 2048; i += 32) data[i +: 32] = {16'(random(65536)), 16'(random(65536))};
    units = 1 + int'(random(9));
    bytes = one_in(2) ? 1 + int'(random(256)) : BYTES * (1 + int'(random(256 / BYTES)));
    if (is_single) bytes = BYTES;
    control[3:0] = 4'(units);
    control[4] = kind == 2;
    control[7:5] = begun[vc][2:0];
    if (units > 2) control[47:16] = begun[vc];
    if (units == 2) control[31:16] = begun[vc][15:0];
    if (kind == 2) begin
      control[15:8] = 8'(bytes - 1);
      data[7:0] = begun[vc][10:3];
    end else begin
      control[15:8] = begun[vc][10:3];
    end
    begun[vc]++;
    active = 1;
    is_waiting = 1;
    beat = 0;
    beats = kind == 2 ? (bytes + BYTES - 1) / BYTES : 1;
    err_beat = !finish && one_in(errors) ? int'(random(beats)) : -1;
    if (f_lengths && cycles > 300) control[4] ^= 1;
    if (f_short && beats > 1) beats--;
  endtask

  task automatic drive_beat();
    tx_valid <= f_valid && cycles > 300 ? 3 : kind;
    tx_cycle <= 4'(beat);
    tx_vc <= vc;
    tx_xpuid <= 10'(PEER);
    tx_control <= control;
    tx_data <= data[beat*N +: N];
    tx_err <= beat == err_beat;
    if (beat > 0) begin
      if (f_vc) tx_vc <= vc ^ 1;
      if (f_xpuid) tx_xpuid <= 10'(PEER) ^ 1;
      if (f_control) tx_control[143] <= !control[143];
      if (f_skips) tx_cycle <= 4'(beat + 1);
      if (f_repeats) tx_cycle <= 4'(beat - 1);
    end
    beat++;
    if (beat == beats) begin
      active = 0;
      sent <= sent + 1;
    end
  endtask

  task automatic drive_tx();
    tx_valid <= 0;
    tx_err <= 0;
    if (tx_reset_in || tx_reset_out) begin
      if (!f_resumes) active = 0;
      if (!f_keeps_credit) for (int i = 0; i < 8; i++) tx_have[i] = 0;
      if (f_in_reset && one_in(2)) begin
        tx_valid <= 1;
        tx_control <= 1;
      end
    end else begin
      if (tx_credit[2]) tx_have[{1'b0, tx_credit[1:0]}]++;
      if (tx_credit[5]) tx_have[{1'b1, tx_credit[4:3]}]++;
    end
    if (reset_left[0] != 0) reset_left[0]--;
    else if (!finish && one_in(resets)) reset_left[0] = 1 + random(4);
    tx_reset_in <= reset_left[0] != 0;
    if (reset_left[0] != 0) begin
      if (!f_resumes) active = 0;
      if (!f_keeps_credit) for (int i = 0; i < 8; i++) tx_have[i] = 0;
    end else if (!tx_reset_in && !tx_reset_out) begin
      if (is_single && is_waiting && !finish) return;
      if (!active && (finish ? more != 0 : (sent < commands || commands == 0) && one_in(tx_gap))) begin_command();
      if (active && !one_in(tx_pause)) drive_beat();
      else if (active && f_interleaves) begin
        tx_valid <= 1;
        tx_cycle <= 0;
        tx_vc <= vc + 1;
        tx_control <= 144'h1;
      end
    end
  endtask

  task automatic drive_rx();
    logic [2:0] kind_vc;
    rx_credit <= 0;
    if (rx_reset_in || rx_reset_out) begin
      for (int i = 0; i < 8; i++) rx_given[i] = 0;
      if (f_rx_in_reset) rx_credit <= 6'h24;
    end else if (rx_valid != 0 && rx_cycle == 0) begin
      rx_given[{rx_valid[1], rx_vc}]--;
    end
    if (reset_left[1] != 0) reset_left[1]--;
    else if (!finish && one_in(resets)) reset_left[1] = 1 + random(4);
    rx_reset_in <= reset_left[1] != 0;
    if (reset_left[1] != 0 || rx_reset_in || rx_reset_out) return;
    for (int k = 0; k < 2; k++) begin
      kind_vc = {1'(k), 2'(random(4))};
      if (!one_in(rx_gap) && !f_rx_unbounded) continue;
      if (rx_given[kind_vc] >= (finish ? 8 : 9'(rx_limit[kind_vc[1:0]])) && !f_rx_unbounded) continue;
      rx_given[kind_vc]++;
      rx_credit[3*k +: 3] <= {1'b1, kind_vc[1:0]};
    end
    if (f_rx_encoding && cycles > 300) rx_credit <= 6'h01;
  endtask

  always @(posedge clk) begin
    cycles++;
    if (cycles % 128 == 0 && !is_single) begin
      // Phases: bursts and lulls, VCs that take nothing.
      tx_gap = 1 << random(5);
      rx_gap = finish ? 1 : 1 << random(6);
      for (int i = 0; i < 4; i++) rx_limit[i] = 4'(random(3) * random(5));
    end
    drive_tx();
    drive_rx();
    if (rx_valid != 0) is_waiting = 0;
    is_done <= commands != 0 && sent >= commands;
  end
endmodule
