// SPDX-License-Identifier: Apache-2.0
// An example manager: random writes and reads of the memory of a remote XPU. Each ID has 8 KiB of it, and either writes or
// reads under way, so that it knows what a read returns; those of ID 7 are shared by all IDs of both XPUs. Exclusive
// accesses are pairs of a read and a write, at times with another write of the ID between. tools/rtl/README.md has its
// plusargs.
`timescale 1ns / 1ps

module axi_xpu #(
    parameter int          DATA_WIDTH = 256,
    parameter int          SALT       = 0,    // makes its random numbers its own
    parameter bit          FAULTY     = 0,    // obeys +fault
    parameter logic [31:0] BASE       = 0     // of the remote memory in the own address space
) (
    axi_if              bus,
    input  logic        finish,   // starts nothing more
    input  logic        has_own,  // reaches its own memory through SUE, too
    output logic        is_done,  // has started its transactions
    output logic        is_empty, // all have ended
    output int unsigned sent
);
  import axi_bench_pkg::*;
  `include "bench_random.svh"
  localparam int LANES = DATA_WIDTH / 8;

  bit is_single;  // one transaction at a time, of one beat; of XPU 0 alone
  int unsigned transactions, gap, w_gap, answer_gap, cycles;
  int writes_open[8], reads_open[8];
  logic [7:0] is_writing;  // IDs that write; the others read
  int more[8];             // transactions of an ID before it may change
  burst_t pairs[8];        // exclusive accesses whose write has to come
  logic [7:0] is_paired;   // IDs that have one
  burst_t aws[$];      // to be addressed
  burst_t bursts[$];   // with W beats to come
  int beat;
  string fault;
  bit f_aw_dropped, f_aw_changes, f_w_changes, f_ar_dropped, f_early, f_late, f_aw_page, f_ar_page, f_wrap, f_size,
      f_lanes, f_reset, f_lock_unaligned, f_lock_long;

  initial begin
    is_single = $test$plusargs("single") != 0;
    if (!$value$plusargs("transactions=%d", transactions)) transactions = 200;
    if (!FAULTY || !$value$plusargs("fault=%s", fault)) fault = "";
    f_aw_dropped = fault == "xpu_aw_dropped";
    f_aw_changes = fault == "xpu_aw_changes";
    f_w_changes = fault == "xpu_w_changes";
    f_ar_dropped = fault == "xpu_ar_dropped";
    f_early = fault == "xpu_wlast_early";
    f_late = fault == "xpu_wlast_late";
    f_aw_page = fault == "xpu_aw_crosses_page";
    f_ar_page = fault == "xpu_ar_crosses_page";
    f_wrap = fault == "xpu_wrap_unaligned";
    f_size = fault == "xpu_size_too_large";
    f_lanes = fault == "xpu_strobe_outside";
    f_reset = fault == "xpu_valid_in_reset";
    f_lock_unaligned = fault == "xpu_exclusive_unaligned";
    f_lock_long = fault == "xpu_exclusive_too_long";
    start_random(SALT);
    for (int i = 0; i < 8; i++) {writes_open[i], reads_open[i], more[i]} = 0;
    {bus.awvalid, bus.wvalid, bus.arvalid, bus.bready, bus.rready} = 0;
    {beat, cycles, sent} = 0;
    {gap, w_gap, answer_gap} = {32'd1, 32'd1, 32'd1};
    {is_done, is_empty} = 2'b01;
    {is_writing, is_paired} = 0;
  end

  function automatic logic [31:0] area_of(int id);
    if (id == 7 && has_own && one_in(2)) return OWN_BASE + 32'(id * 8192);
    return BASE + 32'(id * 8192);
  endfunction

  // Makes a legal burst of an ID. One in 64 leads nowhere.
  function automatic burst_t make_burst(int id);
    burst_t made;
    int bytes, most, offset;
    if (is_single) return {8'd0, BASE + 32'(random(64) * LANES), 8'd0, 3'($clog2(LANES)), 2'd1, 1'b0};
    made.size = 3'(one_in(2) ? $clog2(LANES) : int'(random($clog2(LANES) + 1)));
    bytes = 1 << made.size;
    made.burst = 2'(random(5));
    if (made.burst == 3) made.burst = 1;
    made.len = 8'(one_in(24) ? random(256) : random(8));
    offset = int'(random(one_in(4) ? 4096 : 512));
    if (one_in(2)) offset &= ~(bytes - 1);
    if (made.burst == 0) made.len = made.len & 15;
    if (made.burst == 2) begin
      made.len = 8'((2 << random(4)) - 1);
      offset &= ~(bytes - 1);
    end
    if (made.burst == 1) begin
      most = (4096 - (offset & ~(bytes - 1))) / bytes;
      if (int'(made.len) >= most) made.len = 8'(most - 1);
    end
    made.addr = area_of(id) + 32'(random(2) * 4096) + 32'(offset);
    if (one_in(64)) made.addr[24] = 1;
    made.id = 8'(id * 9);
    made.lock = 0;
    return made;
  endfunction

  // Makes an exclusive access, of the ID's own or of shared octets.
  function automatic burst_t make_exclusive(int id);
    burst_t made;
    int beats_log, total;
    made.size = 3'(random($clog2(LANES) + 1));
    beats_log = int'(random(8 - int'(made.size)));
    if (beats_log > 4) beats_log = 4;
    total = 1 << (beats_log + int'(made.size));
    made.len = 8'((1 << beats_log) - 1);
    made.burst = beats_log != 0 && one_in(2) ? 2 : 1;
    made.addr = area_of(one_in(2) ? id : 7) + 32'(random(512 / total) * total);
    made.id = 8'(id * 9);
    made.lock = 1;
    return made;
  endfunction

  task automatic start();
    int id;
    burst_t made;
    id = is_single ? 0 : int'(random(8));
    if (is_single && (!is_empty || SALT != 0)) return;
    if (aws.size() > 8 || bus.arvalid || (more[id] == 0 && (writes_open[id] != 0 || reads_open[id] != 0))) return;
    made = make_burst(id);
    if (is_single) begin
      is_writing[id] = one_in(2);
    end else if (more[id] != 0) begin
      more[id]--;
    end else if (is_paired[id]) begin
      made = pairs[id];
      made.lock = !one_in(4);
      is_paired[id] = !made.lock;
      is_writing[id] = 1;
    end else if (one_in(4)) begin
      made = make_exclusive(id);
      pairs[id] = made;
      is_paired[id] = 1;
      is_writing[id] = 0;
    end else begin
      more[id] = int'(random(one_in(4) ? 64 : 8));
      is_writing[id] = one_in(2);
    end
    sent <= sent + 1;
    if (is_writing[id]) begin
      aws.push_back(made);
      bursts.push_back(made);
      writes_open[id]++;
    end else begin
      if (f_ar_page && cycles > 300) {made.addr[11:0], made.burst, made.len} = {12'hff0, 2'd1, 8'd255};
      if (f_wrap && cycles > 300) {made.addr[0], made.burst, made.len, made.size} = {1'b1, 2'd2, 8'd3, 3'd2};
      if (f_lock_unaligned && made.lock) made.addr |= 32'((int'(made.len) + 1) << made.size >> 1);
      {bus.arid, bus.araddr, bus.arlen, bus.arsize, bus.arburst, bus.arlock} <= made;
      {bus.arcache, bus.arprot, bus.arqos, bus.arregion} <= page_fields(made.addr);
      bus.aruser <= page_user(made.addr);
      bus.arvalid <= 1;
      reads_open[id]++;
    end
  endtask

  task automatic drive_aw();
    if (bus.awvalid && !bus.awready) begin
      if (f_aw_dropped && cycles > 300) bus.awvalid <= 0;
      if (f_aw_changes && cycles > 300) bus.awaddr <= bus.awaddr ^ 1;
      return;
    end
    bus.awvalid <= 0;
    if (aws.size() != 0 && one_in(gap)) begin
      burst_t first;
      first = aws.pop_front();
      if (f_aw_page && cycles > 300) {first.addr[11:0], first.burst, first.len} = {12'hff0, 2'd1, 8'd255};
      if (f_size && cycles > 300) first.size = 3'($clog2(LANES) + 1);
      if (f_lock_long && first.lock) {first.burst, first.len} = {2'd1, 8'd31};
      {bus.awid, bus.awaddr, bus.awlen, bus.awsize, bus.awburst, bus.awlock} <= first;
      {bus.awcache, bus.awprot, bus.awqos, bus.awregion} <= page_fields(first.addr);
      bus.awuser <= page_user(first.addr);
      bus.awvalid <= 1;
    end
  endtask

  // W may come before AW.
  task automatic drive_w();
    burst_t first;
    int lane, count, kind;
    logic [LANES-1:0] strobes;
    if (bus.wvalid && !bus.wready) begin
      if (f_w_changes && cycles > 300) bus.wdata <= ~bus.wdata;
      return;
    end
    bus.wvalid <= 0;
    if (bursts.size() == 0 || !one_in(w_gap)) return;
    first = bursts[0];
    lane = int'(beat_address(first, beat)) % LANES;
    count = beat_bytes(first, beat);
    kind = int'(random(4));
    strobes = 0;
    for (int i = 0; i < LANES; i++) begin
      if (i >= lane && i < lane + count) strobes[i] = kind != 0 || one_in(2);
    end
    if (f_lanes && count < LANES && cycles > 300) strobes[lane == 0 ? LANES - 1 : 0] = 1;
    for (int i = 0; i < DATA_WIDTH; i += 32) bus.wdata[i +: 32] <= {16'(random(65536)), 16'(random(65536))};
    bus.wstrb <= strobes;
    bus.wuser <= 16'(page_user(first.addr));
    bus.wlast <= beat == int'(first.len);
    if (f_early && cycles > 300 && first.len != 0) bus.wlast <= beat + 1 == int'(first.len);
    if (f_late && cycles > 300) bus.wlast <= 0;
    bus.wvalid <= 1;
    beat++;
    if (beat > int'(first.len)) begin
      beat = 0;
      void'(bursts.pop_front());
    end
  endtask

  task automatic take_answers();
    if (bus.bvalid && bus.bready) writes_open[bus.bid[2:0]]--;
    if (bus.rvalid && bus.rready && bus.rlast) reads_open[bus.rid[2:0]]--;
    bus.bready <= one_in(answer_gap);
    bus.rready <= one_in(answer_gap);
  endtask

  always @(posedge bus.aclk) begin
    cycles++;
    if (cycles % 128 == 0 && !is_single) begin
      // Phases: bursts and lulls, answers that are not taken.
      gap = 1 << random(4);
      w_gap = 1 << random(3);
      answer_gap = finish ? 1 : 1 << random(5);
    end
    if (!bus.aresetn) begin
      aws.delete();
      bursts.delete();
      beat = 0;
      for (int i = 0; i < 8; i++) {writes_open[i], reads_open[i]} = 0;
      is_paired = 0;
      {bus.awvalid, bus.wvalid, bus.arvalid, bus.bready, bus.rready} <= f_reset ? 5'b10000 : 5'b0;
    end else begin
      take_answers();
      if (bus.arvalid && bus.arready) bus.arvalid <= 0;
      else if (bus.arvalid && f_ar_dropped && cycles > 300) bus.arvalid <= 0;
      if (!finish && (transactions == 0 || sent < transactions) && one_in(gap)) start();
      drive_aw();
      drive_w();
    end
    is_done <= (transactions != 0 && sent >= transactions) || (is_single && SALT != 0);
    is_empty = !bus.awvalid && !bus.wvalid && !bus.arvalid && bursts.size() == 0 && aws.size() == 0;
    for (int i = 0; i < 8; i++) if (writes_open[i] != 0 || reads_open[i] != 0) is_empty = 0;
  end
endmodule
