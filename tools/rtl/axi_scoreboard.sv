// SPDX-License-Identifier: Apache-2.0
// Compares what reads return with what writes have written, by the signals of an axi_xpu, and checks all responses.
`timescale 1ns / 1ps

module axi_scoreboard #(
    parameter int DATA_WIDTH = 256,
    parameter int XPU        = 0
) (
    axi_if              bus,
    input  logic        is_lenient,  // transactions may fail
    output int unsigned ended,
    output int unsigned failed,
    output int unsigned compared,    // octets
    output int unsigned swapped      // exclusive writes that have succeeded
);
  import axi_bench_pkg::*;
  localparam int LANES = DATA_WIDTH / 8;

  typedef struct packed {
    logic [LANES-1:0]      strobes;
    logic [DATA_WIDTH-1:0] data;
  } beat_t;

  logic [7:0] octets[65536];
  logic is_known[65536];  // false where a write failed that may have been executed, or may be yet, and of shared octets
  burst_t writes[$], unanswered[$], reads[$];
  int unsigned begins[$];  // of the AW of unanswered, then of writes
  beat_t beats[$];
  int beats_written, beats_read[8];
  int unsigned cycles;
  // The exclusive access of each ID: end of its read, octets of its write by their place among 128.
  int unsigned read_ends[8];   // all ones: failed, and may be executed yet
  logic [7:0] must_fail;  // another write has come between
  logic [127:0] held_strobes[8];
  logic [7:0] held[8][128];

  initial begin
    for (int i = 0; i < 65536; i++) begin
      octets[i] = initial_byte(i);
      is_known[i] = !is_shared(i);
    end
    for (int i = 0; i < 8; i++) {beats_read[i], read_ends[i], held_strobes[i]} = 0;
    {ended, failed, compared, swapped, beats_written, cycles, must_fail} = 0;
  end

  function automatic bit memory_of(burst_t of);
    return is_own(of.addr) ? XPU[0] : !XPU[0];
  endfunction

  // Returns the first address of an exclusive access.
  function automatic logic [31:0] lowest(burst_t of);
    return of.addr & ~(((32'(of.len) + 1) << of.size) - 1);
  endfunction

  function automatic bit leads_nowhere(burst_t of);
    return of.addr[24];
  endfunction

  // Whether an error is one that check_response expects of the memory.
  function automatic bit is_of_memory(burst_t of);
    return !leads_nowhere(of) && !is_lenient;
  endfunction

  task automatic forget(burst_t of);
    for (int beat = 0; beat <= int'(of.len) && !leads_nowhere(of); beat++) begin
      for (int i = 0; i < beat_bytes(of, beat); i++) is_known[16'(beat_address(of, beat)) + 16'(i)] = 0;
    end
  endtask

  task automatic put(int address, logic [7:0] octet);
    if (memory_response(address) != 0) return;
    octets[16'(address)] = octet;
    is_known[16'(address)] = !is_shared(address);
  endtask

  // A later write of the same ID reaches the memory behind an earlier one, so that it makes its octets known. An exclusive
  // write has no other one of its ID under way, and waits for its answer.
  task automatic write();
    while (writes.size() != 0 && beats.size() != 0) begin
      beat_t now;
      int base;
      now = beats.pop_front();
      base = int'(beat_address(writes[0], beats_written)) & ~(LANES - 1);
      for (int i = 0; i < LANES; i++) begin
        if (now.strobes[i] && writes[0].lock) begin
          held[writes[0].id[2:0]][7'(base + i)] = now.data[8*i +: 8];
          held_strobes[writes[0].id[2:0]][7'(base + i)] = 1;
        end else if (now.strobes[i] && !leads_nowhere(writes[0])) begin
          put(base + i, now.data[8*i +: 8]);
        end
      end
      beats_written++;
      if (beats_written > int'(writes[0].len)) begin
        unanswered.push_back(writes.pop_front());
        beats_written = 0;
      end
    end
  endtask

  // `expected`: an error, or OKAY, which stands for EXOKAY, too, if `may_succeed`.
  function automatic void check_response(string channel, burst_t of, logic [1:0] response, logic [1:0] expected,
                                         bit may_succeed);
    if (is_lenient ? expected[1] && !response[1] : response != expected && (expected[1] || response[1])) begin
      $error("response: %s of %08x has %0d, expected is %0d", channel, of.addr, response, expected);
    end
    if (response == 1 && !may_succeed) $error("exclusive: %s of %08x has EXOKAY", channel, of.addr);
  endfunction

  // An exclusive write whose AW comes now fails if a write that has begun after its read has been answered.
  task automatic begin_exclusive(burst_t of);
    must_fail[of.id[2:0]] = 0;
    for (int i = 0; i < int'(of.len) + 1 << of.size; i++) begin
      if (write_begins[memory_of(of)][16'(lowest(of)) + 16'(i)] > read_ends[of.id[2:0]]) must_fail[of.id[2:0]] = 1;
    end
  endtask

  // One of two exclusive writes fails, if each has read before the other one began.
  task automatic end_exclusive(burst_t of, int unsigned begin_cycle);
    int m, id, address;
    m = memory_of(of);
    id = int'(of.id[2:0]);
    for (int i = 0; i < int'(of.len) + 1 << of.size; i++) begin
      address = int'(16'(lowest(of))) + i;
      if (pair_writes[m][address] > read_ends[id] && pair_reads[m][address] < begin_cycle) begin
        $error("exclusive: B of %08x has EXOKAY, and so has another write after the same read", of.addr);
        break;
      end
      pair_writes[m][address] = begin_cycle;
      pair_reads[m][address] = read_ends[id];
    end
    for (int i = 0; i < 128; i++) if (held_strobes[id][i]) put((int'(of.addr) & ~127) + i, held[id][i]);
    swapped++;
  endtask

  task automatic end_write();
    int at;
    burst_t of;
    logic [15:0] address;
    logic [1:0] expected;
    at = 0;
    while (at < unanswered.size() && unanswered[at].id != bus.bid) at++;
    if (at == unanswered.size()) return;  // b_has_write fails
    of = unanswered[at];
    expected = leads_nowhere(of) ? 3 : write_response(of);
    check_response("B", of, bus.bresp, expected, of.lock && !must_fail[of.id[2:0]]);
    if (bus.bresp[1] && !is_of_memory(of)) begin
      forget(of);
      failed++;
    end else if (of.lock && bus.bresp == 0) begin
      // Not issued. A write of the other XPU may have come between.
      if (!must_fail[of.id[2:0]] && !is_shared(of.addr) && !is_lenient) $error("exclusive: B of %08x has OKAY", of.addr);
    end else begin
      if (bus.buser != 20'(page_user(of.addr))) $error("attributes: BUSER is %05x for %08x", bus.buser, of.addr);
      if (of.lock) end_exclusive(of, begins[at]);
      for (int beat = 0; beat <= int'(of.len); beat++) begin
        for (int i = 0; i < beat_bytes(of, beat); i++) begin
          address = 16'(beat_address(of, beat)) + 16'(i);
          if (write_begins[memory_of(of)][address] < begins[at]) write_begins[memory_of(of)][address] = begins[at];
        end
      end
    end
    if (of.lock) held_strobes[of.id[2:0]] = 0;
    unanswered.delete(at);
    begins.delete(at);
    ended++;
  endtask

  task automatic take_read_beat();
    int at, base, lane, count;
    burst_t of;
    logic [31:0] address;
    logic [1:0] expected;
    at = 0;
    while (at < reads.size() && reads[at].id != bus.rid) at++;
    if (at == reads.size()) return;  // r_has_read fails
    of = reads[at];
    address = beat_address(of, beats_read[of.id[2:0]]);
    base = int'(address) & ~(LANES - 1);
    lane = int'(address) & (LANES - 1);
    count = beat_bytes(of, beats_read[of.id[2:0]]);
    expected = leads_nowhere(of) ? 3 : memory_response(address);
    check_response("R", of, bus.rresp, expected, of.lock);
    if (of.lock && bus.rresp == 0) $error("exclusive: R of %08x has OKAY", of.addr);
    if (!bus.rresp[1]) begin
      for (int i = lane; i < lane + count; i++) begin
        if (!is_known[16'(base + i)]) continue;
        compared++;
        if (bus.rdata[8*i +: 8] != octets[16'(base + i)]) begin
          $error("data: ID %0d reads %02x at %08x, written is %02x", of.id, bus.rdata[8*i +: 8], base + i,
                 octets[16'(base + i)]);
          break;
        end
      end
    end
    if (!bus.rresp[1] || is_of_memory(of)) begin
      if (bus.ruser != 16'(page_user(address))) $error("attributes: RUSER is %04x at %08x", bus.ruser, address);
    end
    beats_read[of.id[2:0]]++;
    if (!bus.rlast) return;
    if (bus.rresp[1] && !is_of_memory(of)) failed++;
    if (of.lock) read_ends[of.id[2:0]] = bus.rresp[1] ? '1 : cycles;
    beats_read[of.id[2:0]] = 0;
    reads.delete(at);
    ended++;
  endtask

  always @(posedge bus.aclk) begin
    cycles++;
    if (!bus.aresetn) begin
      for (int i = 0; i < writes.size(); i++) forget(writes[i]);
      for (int i = 0; i < unanswered.size(); i++) forget(unanswered[i]);
      writes.delete();
      beats.delete();
      unanswered.delete();
      begins.delete();
      reads.delete();
      for (int i = 0; i < 8; i++) {beats_read[i], held_strobes[i]} = 0;
      beats_written = 0;
    end else begin
      if (bus.bvalid && bus.bready) end_write();
      if (bus.rvalid && bus.rready) take_read_beat();
      if (bus.awvalid && bus.awready) begin
        burst_t aw;
        aw = {bus.awid, bus.awaddr, bus.awlen, bus.awsize, bus.awburst, bus.awlock};
        writes.push_back(aw);
        begins.push_back(cycles);
        if (aw.lock) begin_exclusive(aw);
      end
      if (bus.wvalid && bus.wready) beats.push_back({bus.wstrb, bus.wdata});
      if (bus.arvalid && bus.arready) begin
        reads.push_back({bus.arid, bus.araddr, bus.arlen, bus.arsize, bus.arburst, bus.arlock});
      end
      write();
    end
  end
endmodule
