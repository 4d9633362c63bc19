// SPDX-License-Identifier: Apache-2.0
// Compares what reads return with what writes have written, by the signals of an axi_xpu, and checks all responses.
`timescale 1ns / 1ps

module axi_scoreboard #(
    parameter int DATA_WIDTH = 256
) (
    axi_if              bus,
    input  logic        is_lenient,  // transactions may fail
    output int unsigned ended,
    output int unsigned failed,
    output int unsigned compared     // octets
);
  import axi_bench_pkg::*;
  localparam int LANES = DATA_WIDTH / 8;

  typedef struct packed {
    logic [LANES-1:0]      strobes;
    logic [DATA_WIDTH-1:0] data;
  } beat_t;

  logic [7:0] octets[65536];
  logic is_known[65536];  // false where a write failed that may have been executed, or may be yet
  burst_t writes[$], unanswered[$], reads[$];
  beat_t beats[$];
  int beats_written, beats_read[8];

  initial begin
    for (int i = 0; i < 65536; i++) begin
      octets[i] = initial_byte(i);
      is_known[i] = 1;
    end
    for (int i = 0; i < 8; i++) beats_read[i] = 0;
    {ended, failed, compared, beats_written} = 0;
  end

  function automatic bit leads_nowhere(burst_t of);
    return of.addr[24];
  endfunction

  task automatic forget(burst_t of);
    for (int beat = 0; beat <= int'(of.len) && !leads_nowhere(of); beat++) begin
      for (int i = 0; i < beat_bytes(of, beat); i++) is_known[16'(beat_address(of, beat)) + 16'(i)] = 0;
    end
  endtask

  // A later write of the same ID reaches the memory behind an earlier one, so that it makes its octets known.
  task automatic write();
    while (writes.size() != 0 && beats.size() != 0) begin
      beat_t now;
      int base;
      now = beats.pop_front();
      base = int'(beat_address(writes[0], beats_written)) & ~(LANES - 1);
      for (int i = 0; i < LANES; i++) begin
        if (now.strobes[i] && !leads_nowhere(writes[0])) begin
          octets[16'(base + i)] = now.data[8*i +: 8];
          is_known[16'(base + i)] = 1;
        end
      end
      beats_written++;
      if (beats_written > int'(writes[0].len)) begin
        unanswered.push_back(writes.pop_front());
        beats_written = 0;
      end
    end
  endtask

  function automatic void check_response(string channel, burst_t of, logic [1:0] response);
    if (leads_nowhere(of) ? response == 0 || (response != 3 && !is_lenient) : response != 0 && !is_lenient) begin
      $error("response: %s of %08x has %0d", channel, of.addr, response);
    end
  endfunction

  task automatic end_write();
    int at;
    at = 0;
    while (at < unanswered.size() && unanswered[at].id != bus.bid) at++;
    if (at == unanswered.size()) return;  // b_has_write fails
    check_response("B", unanswered[at], bus.bresp);
    if (bus.bresp != 0) begin
      forget(unanswered[at]);
      failed++;
    end else if (bus.buser != 20'(page_user(unanswered[at].addr))) begin
      $error("attributes: BUSER is %05x for %08x", bus.buser, unanswered[at].addr);
    end
    unanswered.delete(at);
    ended++;
  endtask

  task automatic take_read_beat();
    int at, base, lane, count;
    burst_t of;
    logic [31:0] address;
    at = 0;
    while (at < reads.size() && reads[at].id != bus.rid) at++;
    if (at == reads.size()) return;  // r_has_read fails
    of = reads[at];
    address = beat_address(of, beats_read[of.id[2:0]]);
    base = int'(address) & ~(LANES - 1);
    lane = int'(address) & (LANES - 1);
    count = beat_bytes(of, beats_read[of.id[2:0]]);
    check_response("R", of, bus.rresp);
    if (bus.rresp == 0) begin
      for (int i = lane; i < lane + count; i++) begin
        if (!is_known[16'(base + i)]) continue;
        compared++;
        if (bus.rdata[8*i +: 8] != octets[16'(base + i)]) begin
          $error("data: ID %0d reads %02x at %08x, written is %02x", of.id, bus.rdata[8*i +: 8], base + i,
                 octets[16'(base + i)]);
          break;
        end
      end
      if (bus.ruser != 16'(page_user(address))) $error("attributes: RUSER is %04x at %08x", bus.ruser, address);
    end
    beats_read[of.id[2:0]]++;
    if (!bus.rlast) return;
    if (bus.rresp != 0) failed++;
    beats_read[of.id[2:0]] = 0;
    reads.delete(at);
    ended++;
  endtask

  always @(posedge bus.aclk) begin
    if (!bus.aresetn) begin
      for (int i = 0; i < writes.size(); i++) forget(writes[i]);
      for (int i = 0; i < unanswered.size(); i++) forget(unanswered[i]);
      writes.delete();
      beats.delete();
      unanswered.delete();
      reads.delete();
      for (int i = 0; i < 8; i++) beats_read[i] = 0;
      beats_written = 0;
    end else begin
      if (bus.bvalid && bus.bready) end_write();
      if (bus.rvalid && bus.rready) take_read_beat();
      if (bus.awvalid && bus.awready) writes.push_back({bus.awid, bus.awaddr, bus.awlen, bus.awsize, bus.awburst});
      if (bus.wvalid && bus.wready) beats.push_back({bus.wstrb, bus.wdata});
      if (bus.arvalid && bus.arready) reads.push_back({bus.arid, bus.araddr, bus.arlen, bus.arsize, bus.arburst});
      write();
    end
  end
endmodule
