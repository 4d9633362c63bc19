// SPDX-License-Identifier: Apache-2.0
// The signals between a manager and a subordinate of the example, and what its modules share.
`timescale 1ns / 1ps

package axi_bench_pkg;
  localparam int ID_WIDTH = 8;
  localparam int ADDR_WIDTH = 32;
  localparam int AxUSER_WIDTH = 40;
  localparam int BUSER_WIDTH = 20;
  localparam int BEAT_USER_WIDTH = 16;

  typedef struct packed {
    logic [7:0]  id;
    logic [31:0] addr;
    logic [7:0]  len;
    logic [2:0]  size;
    logic [1:0]  burst;
    logic        lock;
  } burst_t;

  // An XPU's own memory in its address space.
  localparam logic [31:0] OWN_BASE = 32'h80000000;

  function automatic bit is_own(logic [31:0] addr);
    return addr[31];
  endfunction
  // The last 8 KiB of a memory are written by both XPUs.
  function automatic bit is_shared(logic [31:0] addr);
    return addr[15:13] == 7;
  endfunction

  // Cycles, for each octet of the memory of each XPU, of: AW of the newest write that has succeeded; AW of the newest
  // exclusive one, and the end of its read.
  int unsigned write_begins[2][65536], pair_writes[2][65536], pair_reads[2][65536];

  // The page of an address determines the other fields, so that the far end can check them.
  function automatic logic [39:0] page_user(logic [31:0] addr);
    return {10{addr[15:12]}};
  endfunction
  // AxCACHE, AxPROT, AxQOS, AxREGION
  function automatic logic [14:0] page_fields(logic [31:0] addr);
    return {addr[15:12] ^ 4'h3, addr[14:12], ~addr[15:12], addr[15:12] ^ 4'ha};
  endfunction

  function automatic logic [31:0] beat_address(burst_t of, int beat);
    logic [31:0] bytes, aligned, total;
    bytes = 32'd1 << of.size;
    aligned = of.addr & ~(bytes - 1);
    total = bytes * (32'(of.len) + 1);
    case (of.burst)
      0: return of.addr;
      1: return beat == 0 ? of.addr : aligned + 32'(beat) * bytes;
      default: return (aligned & ~(total - 1)) | ((aligned + 32'(beat) * bytes) & (total - 1));
    endcase
  endfunction

  // Returns the octets of a beat.
  function automatic int beat_bytes(burst_t of, int beat);
    int bytes;
    bytes = 1 << of.size;
    return bytes - (int'(beat_address(of, beat)) & (bytes - 1));
  endfunction

  // Returns the response of the memories at an address: in each fourth page 128 octets have SLVERR, and 128 DECERR.
  function automatic logic [1:0] memory_response(logic [31:0] addr);
    if (addr[13:12] != 3) return 0;
    case (addr[11:7])
      1: return 2;
      2: return 3;
      default: return 0;
    endcase
  endfunction

  function automatic logic [1:0] write_response(burst_t of);
    write_response = 0;
    for (int beat = 0; beat <= int'(of.len); beat++) begin
      if (memory_response(beat_address(of, beat)) > write_response) write_response = memory_response(beat_address(of, beat));
    end
  endfunction

  // Contents of the memories at the beginning.
  function automatic logic [7:0] initial_byte(int address);
    return 8'(address * 37) ^ 8'(address >> 8);
  endfunction
endpackage

interface axi_if #(
    parameter int DATA_WIDTH = 256
) (
    input logic aclk
);
  import axi_bench_pkg::*;
  logic aresetn;
  logic [ID_WIDTH-1:0] awid, bid, arid, rid;
  logic [ADDR_WIDTH-1:0] awaddr, araddr;
  logic [7:0] awlen, arlen;
  logic [2:0] awsize, arsize, awprot, arprot;
  logic [1:0] awburst, arburst, bresp, rresp;
  logic [3:0] awcache, arcache, awqos, arqos, awregion, arregion;
  logic [AxUSER_WIDTH-1:0] awuser, aruser;
  logic [DATA_WIDTH-1:0] wdata, rdata;
  logic [DATA_WIDTH/8-1:0] wstrb;
  logic [BEAT_USER_WIDTH-1:0] wuser, ruser;
  logic [BUSER_WIDTH-1:0] buser;
  logic awlock, arlock, wlast, rlast;
  logic awvalid, awready, wvalid, wready, bvalid, bready, arvalid, arready, rvalid, rready;
endinterface
