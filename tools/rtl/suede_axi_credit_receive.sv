// SPDX-License-Identifier: Apache-2.0
// The receiver's end of a channel of AXI4 with a credit signal in place of READY (docs/rtl.md, "Credit in place of READY"):
// gives a credit for each place of its buffer, and again when a transfer leaves it. The payload is any bits.
`timescale 1ns / 1ps

module suede_axi_credit_receive #(
    parameter int WIDTH  = 1,
    parameter int PLACES = 16  // 2 to 256
) (
    input  logic             aclk,
    input  logic             aresetn,
    input  logic             valid,
    input  logic [WIDTH-1:0] payload,
    output logic             credit,
    output logic             out_valid,
    input  logic             out_ready,
    output logic [WIDTH-1:0] out_payload
);
  localparam int BITS = $clog2(PLACES);
  localparam logic [BITS-1:0] LAST = BITS'(PLACES - 1);
  logic [WIDTH-1:0] places[PLACES];
  logic [BITS-1:0] first = 0, next = 0;
  logic [8:0] used = 0, owed = 9'(PLACES);
  wire leaves = out_valid && out_ready;
  assign out_valid = used != 0;
  assign out_payload = places[first];
  initial credit = 0;

  always @(posedge aclk) begin
    if (!aresetn) begin
      {first, next, used, credit} <= 0;
      owed <= 9'(PLACES);
    end else begin
      credit_is_kept: assert (!valid || used != 9'(PLACES)) else $error("credit_is_kept: a transfer without credit");
      if (valid) places[next] <= payload;
      if (valid) next <= next == LAST ? '0 : next + 1'b1;
      if (leaves) first <= first == LAST ? '0 : first + 1'b1;
      used <= used + 9'(valid) - 9'(leaves);
      credit <= owed != 0;
      owed <= owed + 9'(leaves) - 9'(owed != 0);
    end
  end
endmodule
