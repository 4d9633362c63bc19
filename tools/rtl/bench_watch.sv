// SPDX-License-Identifier: Apache-2.0
// Watches the progress of an example, and measures: operations and cycles per second of the wall clock, and the round trip
// of single operations. The figures go to stderr, since they differ from run to run.
`timescale 1ns / 1ps

module bench_watch #(
    parameter string NAME        = "bench",
    parameter string OPERATIONS  = "operations",
    parameter int    LATE_CYCLES = 20000  // bound without progress, with a network in the simulation
) (
    input  logic        clk,
    input  logic        is_loop,   // there is a network in the simulation
    input  int unsigned progress,
    input  int unsigned ended,     // operations
    input  logic        is_busy,   // with +single: an operation is under way
    output logic        is_late,
    output int unsigned cycles
);
  import "DPI-C" function longint suede_rtl_clock_us();

  localparam longint LATE_US = 20_000_000;  // with daemons
  localparam int STDERR = 32'h80000002;

  bit is_single;
  logic was_busy;
  int unsigned old_progress, quiet_cycles, first_cycle, busy_cycle;
  longint quiet_since, first_time, busy_since;
  longint round_trips[$];  // cycles with a network in the simulation, otherwise us

  initial begin
    is_single = $test$plusargs("single") != 0;
    {is_late, was_busy, cycles, old_progress, quiet_cycles, first_cycle, busy_cycle} = 0;
    {quiet_since, first_time, busy_since} = 0;
  end

  task automatic watch();
    if (progress != old_progress) begin
      old_progress = progress;
      quiet_cycles = 0;
    end
    quiet_cycles++;
    if (is_loop) begin
      is_late <= quiet_cycles > LATE_CYCLES;
    end else if (quiet_cycles % 4096 == 1) begin
      if (quiet_cycles == 1) quiet_since = suede_rtl_clock_us();
      is_late <= suede_rtl_clock_us() - quiet_since > LATE_US;
    end
  endtask

  task automatic measure();
    if (first_cycle == 0 && ended != 0) begin
      first_cycle = cycles;
      first_time = suede_rtl_clock_us();
    end
    if (is_single && is_busy != was_busy) begin
      if (is_busy) begin
        busy_cycle = cycles;
        busy_since = suede_rtl_clock_us();
      end else begin
        round_trips.push_back(is_loop ? longint'(cycles - busy_cycle) : suede_rtl_clock_us() - busy_since);
      end
    end
    was_busy = is_busy;
  endtask

  always @(posedge clk) begin
    cycles++;
    watch();
    measure();
  end

  task automatic report();
    real seconds;
    string unit;
    seconds = real'(suede_rtl_clock_us() - first_time) / 1e6;
    $fdisplay(STDERR, "%s: %0.0f %s/s, %0.0f cycles/s", NAME, real'(ended) / seconds, OPERATIONS,
              real'(cycles - first_cycle) / seconds);
    if (round_trips.size() == 0) return;
    round_trips.sort();
    unit = "us";
    if (is_loop) unit = "cycles";
    $fdisplay(STDERR, "%s: round trip %0d %s, the median of %0d", NAME, round_trips[round_trips.size() / 2], unit,
              round_trips.size());
  endtask
endmodule
