// SPDX-License-Identifier: Apache-2.0
// Two example XPUs, "left" (XPU 0) and "right" (XPU 1), each at an endpoint of its own, with all checks.
// tools/rtl/README.md has the plusargs.
`timescale 1ns / 1ps

// An XPU with its SUE and the checks of its signals.
module fifo_node #(
    parameter int    N      = 256,
    parameter string NAME   = "left",
    parameter int    XPU    = 0,
    parameter int    PEER   = 1,
    parameter bit    FAULTY = 0
) (
    input  logic        clk,
    input  logic        finish,
    input  logic        at_end,
    input  logic [3:0]  more,
    output logic        is_done,
    output logic        is_home,
    output logic        is_waiting,
    output int unsigned sent
);
  logic [3:0] tx_cycle, rx_cycle, s_rx_cycle;
  logic [1:0] tx_valid, s_tx_valid, tx_vc, rx_valid, s_rx_valid, rx_vc, s_rx_vc;
  logic [9:0] tx_xpuid, rx_xpuid, s_rx_xpuid;
  logic [143:0] tx_control, rx_control, s_rx_control;
  logic [N-1:0] tx_data, s_tx_data, rx_data, s_rx_data;
  logic tx_err, s_tx_err, tx_reset_in, s_tx_reset_in, tx_reset_out, s_tx_reset_out;
  logic rx_reset_in, s_rx_reset_in, rx_reset_out, s_rx_reset_out;
  logic [5:0] tx_credit, s_tx_credit, rx_credit, s_rx_credit;

  fifo_xpu #(.N(N), .PEER(PEER), .SALT(XPU), .FAULTY(FAULTY)) xpu (.*);
  fifo_faults #(.N(N), .FAULTY(FAULTY)) faults (.*);
  suede_tx #(.N(N), .NAME(NAME), .XPU(XPU)) sue_tx (
      .clk, .tx_cycle, .tx_valid(s_tx_valid), .tx_vc, .xpuid(tx_xpuid), .tx_control, .tx_data(s_tx_data),
      .tx_err(s_tx_err), .tx_credit(s_tx_credit), .tx_reset_in(s_tx_reset_in), .tx_reset_out(s_tx_reset_out));
  suede_rx #(.N(N), .NAME(NAME), .XPU(XPU)) sue_rx (
      .clk, .rx_cycle(s_rx_cycle), .rx_valid(s_rx_valid), .rx_vc(s_rx_vc), .xpuid(s_rx_xpuid),
      .rx_control(s_rx_control), .rx_data(s_rx_data), .rx_credit(s_rx_credit), .rx_reset_in(s_rx_reset_in),
      .rx_reset_out(s_rx_reset_out));
  suede_tx_check #(.N(N)) tx_check (.xpuid(tx_xpuid), .*);
  suede_rx_check #(.N(N)) rx_check (.xpuid(rx_xpuid), .*);

  logic [3:0] resets = 0;
  bit is_verbose = $test$plusargs("verbose") != 0;
  always @(posedge clk) begin
    resets <= {tx_reset_in, tx_reset_out, rx_reset_in, rx_reset_out};
    if (is_verbose && resets != {tx_reset_in, tx_reset_out, rx_reset_in, rx_reset_out}) begin
      $display("%0t %s: tx_reset in %0d, out %0d; rx_reset in %0d, out %0d", $time, NAME, tx_reset_in, tx_reset_out,
               rx_reset_in, rx_reset_out);
    end
  end
endmodule

module fifo_bench #(
    parameter int N = 256
) (
    input logic clk,
    input logic stop  // ends the traffic
);
  import "DPI-C" function void suede_rtl_loop_start(input int seed, input int faults, input int violation);
  import "DPI-C" function int suede_rtl_pending(input int handle);

  logic finish, at_end, is_late, was_late;
  logic [3:0] left_more, right_more;
  logic is_waiting, left_done, right_done, left_home, right_home, left_clean, right_clean;
  int unsigned left_sent, right_sent, left_received, right_received, left_lost, right_lost;
  int unsigned seed, faults, violation;
  int unsigned cycles;
  bit is_loop;

  fifo_node #(.N(N), .NAME("left"), .XPU(0), .PEER(1), .FAULTY(1)) left (
      .clk, .finish, .at_end, .more(left_more), .is_done(left_done), .is_home(left_home), .is_waiting,
      .sent(left_sent));
  fifo_node #(.N(N), .NAME("right"), .XPU(1), .PEER(0)) right (
      .clk, .finish, .at_end, .more(right_more), .is_done(right_done), .is_home(right_home), .is_waiting(),
      .sent(right_sent));

  fifo_scoreboard #(.N(N), .SOURCE(0)) left_to_right (
      .clk, .handle(left.sue_tx.handle), .tx_cycle(left.tx_cycle), .tx_valid(left.tx_valid), .tx_vc(left.tx_vc),
      .tx_control(left.tx_control), .tx_data(left.tx_data), .tx_err(left.tx_err), .tx_reset_in(left.tx_reset_in),
      .tx_reset_out(left.tx_reset_out), .rx_cycle(right.rx_cycle), .rx_valid(right.rx_valid), .rx_vc(right.rx_vc),
      .rx_xpuid(right.rx_xpuid), .rx_control(right.rx_control), .rx_data(right.rx_data),
      .rx_reset_in(right.rx_reset_in), .rx_reset_out(right.rx_reset_out), .finish, .is_late, .more(left_more),
      .is_clean(left_clean), .received(right_received), .lost_count(left_lost));
  fifo_scoreboard #(.N(N), .SOURCE(1)) right_to_left (
      .clk, .handle(right.sue_tx.handle), .tx_cycle(right.tx_cycle), .tx_valid(right.tx_valid), .tx_vc(right.tx_vc),
      .tx_control(right.tx_control), .tx_data(right.tx_data), .tx_err(right.tx_err), .tx_reset_in(right.tx_reset_in),
      .tx_reset_out(right.tx_reset_out), .rx_cycle(left.rx_cycle), .rx_valid(left.rx_valid), .rx_vc(left.rx_vc),
      .rx_xpuid(left.rx_xpuid), .rx_control(left.rx_control), .rx_data(left.rx_data),
      .rx_reset_in(left.rx_reset_in), .rx_reset_out(left.rx_reset_out), .finish, .is_late, .more(right_more),
      .is_clean(right_clean), .received(left_received), .lost_count(right_lost));

  initial begin
    string endpoint;
    if (!$value$plusargs("seed=%d", seed)) seed = 1;
    if (!$value$plusargs("faults=%d", faults)) faults = 0;
    if (!$value$plusargs("violation=%d", violation)) violation = 0;
    is_loop = !$value$plusargs("left.endpoint=%s", endpoint) || endpoint == "loop";
    suede_rtl_loop_start(int'(seed), int'(faults), int'(violation));
    {finish, at_end, was_late} = 0;
  end

  bench_watch #(.NAME("fifo_bench"), .OPERATIONS("commands"), .LATE_CYCLES(20000)) watch (
      .clk, .is_loop, .progress(left_sent + right_sent + left_received + right_received),
      .ended(left_received + right_received), .is_busy(is_waiting), .is_late, .cycles);

  task automatic report_late();
    was_late <= is_late;  // the scoreboards report next
    if (is_late) begin
      $display("left: sent %0d, received %0d, clean %0d, home %0d, resets %b%b, pending %0d", left_sent, left_received,
               left_clean, left_home, left.tx_reset_out, left.rx_reset_out, suede_rtl_pending(left.sue_tx.handle));
      $display("right: sent %0d, received %0d, clean %0d, home %0d, resets %b%b, pending %0d", right_sent,
               right_received, right_clean, right_home, right.tx_reset_out, right.rx_reset_out,
               suede_rtl_pending(right.sue_tx.handle));
    end
    if (was_late) begin
      if (left_clean && right_clean) at_end <= 1;  // tx_credit_home fails
      else $error("progress: nothing arrives any more");
    end
  endtask

  always @(posedge clk) begin
    finish <= finish || stop || (left_done && right_done);
    report_late();
    if (left_clean && right_clean && left_home && right_home) at_end <= 1;
    if (at_end && left_home && right_home) begin
      $display("fifo_bench: PASS seed %0d: %0d and %0d commands, %0d and %0d lost, %0d cycles", seed, left_sent,
               right_sent, left_lost, right_lost, cycles);
      watch.report();
      $finish;
    end
  end
endmodule
