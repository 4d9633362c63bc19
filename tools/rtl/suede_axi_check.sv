// SPDX-License-Identifier: Apache-2.0
// Rules of AXI4 (docs/rtl.md, "AXI4") as assertions on the signals between a manager and a subordinate.
`timescale 1ns / 1ps

module suede_axi_check #(
    parameter int    DATA_WIDTH   = 256,
    parameter int    ID_WIDTH     = 8,
    parameter int    ADDR_WIDTH   = 64,
    parameter int    AxUSER_WIDTH = 0,
    parameter int    BUSER_WIDTH  = 0,
    parameter int    WUSER_WIDTH  = 0,
    parameter int    RUSER_WIDTH  = 0,
    // Widths of signals that may be absent (0).
    localparam int AUSER_MAX = AxUSER_WIDTH > 0 ? AxUSER_WIDTH - 1 : 0,
    localparam int BUSER_MAX = BUSER_WIDTH > 0 ? BUSER_WIDTH - 1 : 0,
    localparam int WUSER_MAX = WUSER_WIDTH > 0 ? WUSER_WIDTH - 1 : 0,
    localparam int RUSER_MAX = RUSER_WIDTH > 0 ? RUSER_WIDTH - 1 : 0
) (
    input  logic aclk,
    input  logic aresetn,
    input  logic [ID_WIDTH-1:0] awid,
    input  logic [ADDR_WIDTH-1:0] awaddr,
    input  logic [7:0] awlen,
    input  logic [2:0] awsize,
    input  logic [1:0] awburst,
    input  logic awlock,
    input  logic [3:0] awcache,
    input  logic [2:0] awprot,
    input  logic [3:0] awqos,
    input  logic [3:0] awregion,
    input  logic [AUSER_MAX:0] awuser,
    input  logic awvalid,
    input  logic awready,
    input  logic [DATA_WIDTH-1:0] wdata,
    input  logic [DATA_WIDTH/8-1:0] wstrb,
    input  logic wlast,
    input  logic [WUSER_MAX:0] wuser,
    input  logic wvalid,
    input  logic wready,
    input  logic [ID_WIDTH-1:0] bid,
    input  logic [1:0] bresp,
    input  logic [BUSER_MAX:0] buser,
    input  logic bvalid,
    input  logic bready,
    input  logic [ID_WIDTH-1:0] arid,
    input  logic [ADDR_WIDTH-1:0] araddr,
    input  logic [7:0] arlen,
    input  logic [2:0] arsize,
    input  logic [1:0] arburst,
    input  logic arlock,
    input  logic [3:0] arcache,
    input  logic [2:0] arprot,
    input  logic [3:0] arqos,
    input  logic [3:0] arregion,
    input  logic [AUSER_MAX:0] aruser,
    input  logic arvalid,
    input  logic arready,
    input  logic [ID_WIDTH-1:0] rid,
    input  logic [DATA_WIDTH-1:0] rdata,
    input  logic [1:0] rresp,
    input  logic rlast,
    input  logic [RUSER_MAX:0] ruser,
    input  logic rvalid,
    input  logic rready,
    input  logic at_end,   // traffic has ended
    output logic is_idle   // each transaction has its answer
);
  localparam int LANES = DATA_WIDTH / 8;

  typedef struct packed {
    logic [ID_WIDTH-1:0] id;
    logic [11:0]         addr;
    logic [7:0]          len;
    logic [2:0]          size;
    logic [1:0]          burst;
  } burst_t;

  // Writes whose last beat has not come, with the beats of the first; beats that came before their address.
  burst_t writes[$];
  logic [LANES:0] early_beats[$];  // WLAST, strobes
  int beats;
  // IDs of whole writes without response. Reads without the last beat.
  logic [ID_WIDTH-1:0] answers[$];
  logic [ID_WIDTH-1:0] reads[$];
  int reads_left[$];

  logic was_reset = 1;  // ARESETn was low at the edge before
  wire in_reset = !aresetn;

  // verilator lint_off UNUSEDSIGNAL
  // verilator lint_off BLKSEQ

  // Returns the address of a beat in the 4 KiB page of its burst.
  function automatic int beat_address(burst_t of, int beat);
    int bytes, aligned, total;
    bytes = 1 << of.size;
    aligned = int'(of.addr) & ~(bytes - 1);
    total = bytes * (int'(of.len) + 1);
    case (of.burst)
      0: return int'(of.addr);
      1: return beat == 0 ? int'(of.addr) : aligned + beat * bytes;
      default: return (aligned & ~(total - 1)) | ((aligned + beat * bytes) & (total - 1));
    endcase
  endfunction

  function automatic logic [LANES-1:0] lanes_of(burst_t of, int beat);
    int address, bytes, first, last;
    address = beat_address(of, beat);
    bytes = 1 << of.size;
    first = address % LANES;
    last = ((address & ~(bytes - 1)) + bytes - 1) % LANES;
    lanes_of = 0;
    for (int i = 0; i < LANES; i++) lanes_of[i] = i >= first && i <= last;
  endfunction

  function automatic bit is_legal(burst_t of);
    if (of.burst == 3 || (1 << of.size) > LANES) return 0;
    if (of.burst == 0) return of.len < 16;
    if (of.burst == 2) return of.len inside {1, 3, 7, 15} && (int'(of.addr) & ((1 << of.size) - 1)) == 0;
    return 1;
  endfunction

  function automatic bit crosses_page(burst_t of);
    return of.burst == 1 && beat_address(of, int'(of.len)) >= 4096;
  endfunction

  function automatic bit is_exclusive(burst_t of);
    int total;
    total = (int'(of.len) + 1) << of.size;
    return of.len < 16 && total <= 128 && (total & (total - 1)) == 0 && (int'(of.addr) & (total - 1)) == 0;
  endfunction

  function automatic bit has_answer(logic [ID_WIDTH-1:0] id);
    has_answer = 0;
    for (int i = 0; i < answers.size(); i++) if (answers[i] == id) has_answer = 1;
  endfunction

  function automatic int read_of(logic [ID_WIDTH-1:0] id);
    read_of = -1;
    for (int i = reads.size() - 1; i >= 0; i--) if (reads[i] == id) read_of = i;
  endfunction

  // Takes beats off whose address is known.
  task automatic take_beats();
    while (writes.size() != 0 && early_beats.size() != 0) begin
      logic [LANES:0] beat;
      burst_t first;
      beat = early_beats.pop_front();
      first = writes[0];
      w_last: assert (beat[LANES] == (beats == int'(first.len)))
        else $error("w_last: WLAST is %0d at beat %0d of %0d", beat[LANES], beats, int'(first.len) + 1);
      w_lanes: assert ((beat[LANES-1:0] & ~lanes_of(first, beats)) == 0)
        else $error("w_lanes: WSTRB is %0h at beat %0d, the lanes are %0h", beat[LANES-1:0], beats,
                    lanes_of(first, beats));
      beats++;
      if (beat[LANES]) begin
        beats = 0;
        answers.push_back(first.id);
        void'(writes.pop_front());
      end
    end
  endtask

  // Answers first: they belong to requests of earlier edges.
  task automatic check_answers();
    if (bvalid) begin
      b_has_write: assert (has_answer(bid)) else $error("b_has_write: BVALID of ID %0d without a whole write", bid);
    end
    if (bvalid && bready) begin
      for (int i = 0; i < answers.size(); i++) begin
        if (answers[i] == bid) begin
          answers.delete(i);
          break;
        end
      end
    end
    if (rvalid) begin
      int at;
      at = read_of(rid);
      r_has_read: assert (at >= 0) else $error("r_has_read: RVALID of ID %0d without a read", rid);
      if (at >= 0) begin
        r_last: assert (rlast == (reads_left[at] == 1))
          else $error("r_last: RLAST is %0d where %0d beats are left", rlast, reads_left[at]);
        if (rready && (rlast || reads_left[at] == 1)) begin
          reads.delete(at);
          reads_left.delete(at);
        end else if (rready) begin
          reads_left[at] = reads_left[at] - 1;
        end
      end
    end
  endtask

  task automatic check_requests();
    burst_t aw, ar;
    aw = {awid, awaddr[11:0], awlen, awsize, awburst};
    ar = {arid, araddr[11:0], arlen, arsize, arburst};
    if (awvalid) begin
      aw_legal: assert (is_legal(aw)) else $error("aw_legal: AxBURST, AxSIZE, AxLEN or an alignment is not allowed");
      aw_page: assert (!crosses_page(aw)) else $error("aw_page: a burst crosses a 4 KiB boundary");
      aw_exclusive: assert (!awlock || is_exclusive(aw)) else $error("aw_exclusive: length or alignment is not allowed");
    end
    if (arvalid) begin
      ar_legal: assert (is_legal(ar)) else $error("ar_legal: AxBURST, AxSIZE, AxLEN or an alignment is not allowed");
      ar_page: assert (!crosses_page(ar)) else $error("ar_page: a burst crosses a 4 KiB boundary");
      ar_exclusive: assert (!arlock || is_exclusive(ar)) else $error("ar_exclusive: length or alignment is not allowed");
    end
    if (awvalid && awready) writes.push_back(aw);
    if (wvalid && wready) early_beats.push_back({wlast, wstrb});
    if (arvalid && arready) begin
      reads.push_back(arid);
      reads_left.push_back(int'(arlen) + 1);
    end
    take_beats();
  endtask

  initial {beats, is_idle} = 0;

  always @(posedge aclk) begin
    was_reset <= in_reset;
    if (in_reset) begin
      writes.delete();
      early_beats.delete();
      answers.delete();
      reads.delete();
      reads_left.delete();
      beats = 0;
    end else begin
      check_answers();
      check_requests();
    end
    is_idle <= writes.size() == 0 && early_beats.size() == 0 && answers.size() == 0 && reads.size() == 0;
  end

  // Payloads are compared in registers: Verilator 5.006 cannot compile assertions on wide signals.
  localparam int ADDRESS_BITS = ID_WIDTH + ADDR_WIDTH + 29 + AUSER_MAX + 1;
  wire [ADDRESS_BITS-1:0] aw_now = {awid, awaddr, awlen, awsize, awburst, awlock, awcache, awprot, awqos, awregion, awuser};
  wire [ADDRESS_BITS-1:0] ar_now = {arid, araddr, arlen, arsize, arburst, arlock, arcache, arprot, arqos, arregion, aruser};
  wire [DATA_WIDTH+LANES+WUSER_MAX+1:0] w_now = {wdata, wstrb, wlast, wuser};
  wire [ID_WIDTH+BUSER_MAX+2:0] b_now = {bid, bresp, buser};
  wire [ID_WIDTH+DATA_WIDTH+RUSER_MAX+3:0] r_now = {rid, rdata, rresp, rlast, ruser};
  logic [ADDRESS_BITS-1:0] aw_old, ar_old;
  logic [DATA_WIDTH+LANES+WUSER_MAX+1:0] w_old;
  logic [ID_WIDTH+BUSER_MAX+2:0] b_old;
  logic [ID_WIDTH+DATA_WIDTH+RUSER_MAX+3:0] r_old;
  logic aw_held = 0, w_held = 0, b_held = 0, ar_held = 0, r_held = 0;
  logic aw_same, w_same, b_same, ar_same, r_same;
  always_comb begin
    aw_same = awvalid && aw_now == aw_old;
    w_same = wvalid && w_now == w_old;
    b_same = bvalid && b_now == b_old;
    ar_same = arvalid && ar_now == ar_old;
    r_same = rvalid && r_now == r_old;
  end
  always @(posedge aclk) begin
    aw_old <= aw_now;
    w_old <= w_now;
    b_old <= b_now;
    ar_old <= ar_now;
    r_old <= r_now;
    aw_held <= !in_reset && awvalid && !awready;
    w_held <= !in_reset && wvalid && !wready;
    b_held <= !in_reset && bvalid && !bready;
    ar_held <= !in_reset && arvalid && !arready;
    r_held <= !in_reset && rvalid && !rready;
  end

  aw_stable: assert property (@(posedge aclk) aw_held && !in_reset |-> aw_same)
    else $error("aw_stable: AW changes before AWREADY");
  w_stable: assert property (@(posedge aclk) w_held && !in_reset |-> w_same)
    else $error("w_stable: W changes before WREADY");
  b_stable: assert property (@(posedge aclk) b_held && !in_reset |-> b_same)
    else $error("b_stable: B changes before BREADY");
  ar_stable: assert property (@(posedge aclk) ar_held && !in_reset |-> ar_same)
    else $error("ar_stable: AR changes before ARREADY");
  r_stable: assert property (@(posedge aclk) r_held && !in_reset |-> r_same)
    else $error("r_stable: R changes before RREADY");
  requests_in_reset: assert property (@(posedge aclk) in_reset && was_reset |-> !awvalid && !wvalid && !arvalid)
    else $error("requests_in_reset: AWVALID, WVALID or ARVALID in reset");
  answers_in_reset: assert property (@(posedge aclk) in_reset && was_reset |-> !bvalid && !rvalid)
    else $error("answers_in_reset: BVALID or RVALID in reset");
  all_answered: assert property (@(posedge aclk) at_end |-> is_idle)
    else $error("all_answered: a transaction has no answer at the end");
endmodule
