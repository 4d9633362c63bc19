// SPDX-License-Identifier: Apache-2.0
// An example subordinate: 64 KiB that answer IDs in any order, with stalls on all channels, and errors at some addresses.
`timescale 1ns / 1ps

module axi_memory #(
    parameter int DATA_WIDTH = 256,
    parameter int SALT       = 0,
    parameter bit FAULTY     = 0     // obeys +fault
) (
    axi_if bus
);
  import axi_bench_pkg::*;
  `include "bench_random.svh"
  localparam int LANES = DATA_WIDTH / 8;

  typedef struct packed {
    logic                       last;
    logic [BEAT_USER_WIDTH-1:0] user;
    logic [LANES-1:0]           strobes;
    logic [DATA_WIDTH-1:0]      data;
  } beat_t;

  logic [7:0] octets[65536];
  burst_t writes[$], answers[$], reads[$];
  int beats_read[$];  // of `reads`
  beat_t beats[$];
  int beats_written;
  bit is_single;  // no stalls
  int unsigned gap, request_gap, cycles;
  string fault;
  bit f_b_early, f_b_nobody, f_b_twice, f_rlast_early, f_rlast_late, f_r_id, f_reset, f_lane,
      f_strobe, f_lost, f_beat_lost, f_beat_twice, f_hidden;

  initial begin
    is_single = $test$plusargs("single") != 0;
    if (!FAULTY || !$value$plusargs("fault=%s", fault)) fault = "";
    f_b_early = fault == "soc_b_before_wlast";
    f_b_nobody = fault == "soc_b_to_nobody";
    f_b_twice = fault == "soc_b_twice";
    f_rlast_early = fault == "soc_rlast_early";
    f_rlast_late = fault == "soc_rlast_late";
    f_r_id = fault == "soc_r_wrong_id";
    f_reset = fault == "soc_valid_in_reset";
    f_lane = fault == "soc_wrong_lane";
    f_strobe = fault == "soc_strobe_ignored";
    f_lost = fault == "soc_write_lost";
    f_beat_lost = fault == "soc_beat_lost";
    f_beat_twice = fault == "soc_beat_twice";
    f_hidden = fault == "soc_error_hidden";
    start_random(SALT + 100);
    for (int i = 0; i < 65536; i++) octets[i] = initial_byte(i);
    {bus.awready, bus.wready, bus.arready, bus.bvalid, bus.rvalid} = 0;
    {beats_written, cycles} = 0;
    {gap, request_gap} = {32'd1, 32'd1};
  end

  // SUE's monitor issues exclusive accesses as normal ones.
  function automatic void check_fields(string channel, burst_t of, logic [14:0] fields, logic [39:0] user);
    if (fields != page_fields(of.addr) || user != page_user(of.addr) || of.lock) begin
      $error("attributes: %s of %08x has %04x, user %010x, lock %0d", channel, of.addr, fields, user, of.lock);
    end
  endfunction

  // Writes the beats whose address is known.
  task automatic write();
    while (writes.size() != 0 && beats.size() != 0) begin
      burst_t first;
      beat_t now;
      logic [31:0] address;
      first = writes[0];
      now = beats.pop_front();
      address = beat_address(first, beats_written);
      if (now.user != 16'(page_user(address))) $error("attributes: WUSER is %04x at %08x", now.user, address);
      if (memory_response(address) == 0 && !(f_lost && one_in(8))) begin
        for (int i = 0; i < LANES; i++) begin
          if (now.strobes[i] || (f_strobe && i >= int'(address) % LANES &&
                                 i < int'(address) % LANES + beat_bytes(first, beats_written))) begin
            octets[(int'(address[15:0]) & ~(LANES - 1)) + i] = now.data[8*i +: 8];
          end
        end
      end
      if (f_b_early && cycles > 300 && beats_written == 0 && first.len > 3) answers.push_back(first);
      beats_written++;
      if (now.last) begin
        beats_written = 0;
        void'(writes.pop_front());
        answers.push_back(first);
        if (f_b_twice && cycles > 300) answers.push_back(first);
      end
    end
  endtask

  // Returns a random entry that has none of the same ID before it.
  function automatic int choose(burst_t queue[$]);
    choose = int'(random(queue.size()));
    for (int i = 0; i < choose; i++) if (queue[i].id == queue[choose].id) return i;
  endfunction

  task automatic answer_write();
    int at;
    if (bus.bvalid && !bus.bready) return;
    bus.bvalid <= 0;
    if (answers.size() == 0 || !one_in(gap)) return;
    at = choose(answers);
    bus.bvalid <= 1;
    bus.bid <= f_b_nobody && cycles > 300 ? 8'hff : answers[at].id;
    bus.bresp <= write_response(answers[at]);
    bus.buser <= 20'(page_user(answers[at].addr));
    answers.delete(at);
  endtask

  // Beats of several IDs may be interleaved.
  task automatic answer_read();
    int at, lane, count;
    logic [31:0] address;
    if (bus.rvalid && !bus.rready) return;
    bus.rvalid <= 0;
    if (reads.size() == 0 || !one_in(gap)) return;
    at = choose(reads);
    if (f_beat_lost && beats_read[at] < int'(reads[at].len) && one_in(8)) beats_read[at] = beats_read[at] + 1;
    address = beat_address(reads[at], beats_read[at]);
    lane = int'(address) % LANES;
    count = beat_bytes(reads[at], beats_read[at]);
    if (f_lane && count < LANES) lane = (lane + 1) % LANES;
    for (int i = 0; i < LANES; i++) begin
      bus.rdata[8*i +: 8] <= i >= lane && i < lane + count
          ? octets[16'((int'(address[15:0]) & ~(LANES - 1)) + i - (f_lane && count < LANES ? 1 : 0))] : 8'(random(256));
    end
    bus.rvalid <= 1;
    bus.rid <= f_r_id && cycles > 300 ? 8'hff : reads[at].id;
    bus.rresp <= f_hidden ? 0 : memory_response(address);
    bus.ruser <= 16'(page_user(address));
    bus.rlast <= beats_read[at] == int'(reads[at].len);
    if (f_rlast_early && beats_read[at] + 1 == int'(reads[at].len)) bus.rlast <= 1;
    if (f_rlast_late) bus.rlast <= 0;
    if (f_beat_twice && one_in(16)) return;
    if (beats_read[at] == int'(reads[at].len)) begin
      reads.delete(at);
      beats_read.delete(at);
    end else begin
      beats_read[at] = beats_read[at] + 1;
    end
  endtask

  task automatic take_requests();
    burst_t aw, ar;
    aw = {bus.awid, bus.awaddr, bus.awlen, bus.awsize, bus.awburst, bus.awlock};
    ar = {bus.arid, bus.araddr, bus.arlen, bus.arsize, bus.arburst, bus.arlock};
    if (bus.awvalid && bus.awready) begin
      check_fields("AW", aw, {bus.awcache, bus.awprot, bus.awqos, bus.awregion}, bus.awuser);
      writes.push_back(aw);
    end
    if (bus.wvalid && bus.wready) beats.push_back({bus.wlast, bus.wuser, bus.wstrb, bus.wdata});
    if (bus.arvalid && bus.arready) begin
      check_fields("AR", ar, {bus.arcache, bus.arprot, bus.arqos, bus.arregion}, bus.aruser);
      reads.push_back(ar);
      beats_read.push_back(0);
    end
    bus.awready <= writes.size() < 8 && one_in(request_gap);
    bus.wready <= beats.size() < 64 && one_in(request_gap);
    bus.arready <= reads.size() < 8 && one_in(request_gap);
  endtask

  always @(posedge bus.aclk) begin
    cycles++;
    if (cycles % 128 == 0 && !is_single) begin
      gap = 1 << random(3);
      request_gap = 1 << random(3);
    end
    if (!bus.aresetn) begin
      writes.delete();
      beats.delete();
      answers.delete();
      reads.delete();
      beats_read.delete();
      beats_written = 0;
      {bus.awready, bus.wready, bus.arready, bus.bvalid, bus.rvalid} <= f_reset ? 5'b00010 : 5'b0;
    end else begin
      take_requests();
      write();
      answer_write();
      answer_read();
    end
  end
endmodule
