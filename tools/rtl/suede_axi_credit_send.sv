// SPDX-License-Identifier: Apache-2.0
// The sender's end of a channel of AXI4 with a credit signal in place of READY (docs/rtl.md, "Credit in place of READY"):
// takes transfers by valid and ready, and spends a credit for each. The payload is any bits.
`timescale 1ns / 1ps

module suede_axi_credit_send #(
    parameter int WIDTH = 1
) (
    input  logic             aclk,
    input  logic             aresetn,
    input  logic             in_valid,
    output logic             in_ready,
    input  logic [WIDTH-1:0] in_payload,
    output logic             valid,     // a transfer in each cycle
    output logic [WIDTH-1:0] payload,
    input  logic             credit     // one more in each cycle
);
  logic [15:0] have = 0;
  assign in_ready = have != 0;
  initial valid = 0;

  always @(posedge aclk) begin
    if (!aresetn) begin
      have <= 0;
      valid <= 0;
    end else begin
      have <= have + 16'(credit) - 16'(in_valid && in_ready);
      valid <= in_valid && in_ready;
      payload <= in_payload;
    end
  end
endmodule
