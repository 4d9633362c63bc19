// SPDX-License-Identifier: Apache-2.0
// Wires between an XPU and SUE, which pass all signals or, with +fault=NAME, make SUE break one rule. Requests go from
// `from` to `to`, answers back.
`timescale 1ns / 1ps

module axi_faults #(
    parameter bit FAULTY      = 0,  // obeys +fault
    parameter bit IS_MANAGER  = 0   // SUE is at `from`
) (
    axi_if from,
    axi_if to
);
  string fault;
  bit f_b_dropped, f_b_id, f_b_lost, f_b_response, f_b_user, f_b_twice, f_r_changes, f_r_early, f_r_late, f_r_id, f_r_data,
      f_r_lost, f_r_user, f_r_response, f_reset, f_strobe, f_w_data, f_granted, f_executed, f_ignored, f_exokay;
  bit m_aw_changes, m_aw_dropped, m_aw_page, m_ar_page, m_fields, m_w_changes, m_w_early, m_w_late, m_w_lost, m_w_lanes,
      m_reset;
  int unsigned cycles = 0, r_beats = 0, w_beats = 0;
  logic b_held = 0, r_held = 0, aw_held = 0, w_held = 0, b_again = 0;
  logic [7:0] b_id = 0;
  logic [7:0] is_locked = 0;  // IDs whose last AW was exclusive
  logic [19:0] users[8];      // BUSER of success of the last AW of each ID
  logic armed = 0;  // from a moment on at which no request is held

  function automatic bit is_at(bit manager, string name);
    return FAULTY && IS_MANAGER == manager && fault == name;
  endfunction

  initial begin
    if (!$value$plusargs("fault=%s", fault)) fault = "";
    f_b_dropped = is_at(0, "sue_b_dropped");
    f_b_id = is_at(0, "sue_b_wrong_id");
    f_b_lost = is_at(0, "sue_b_lost");
    f_b_response = is_at(0, "sue_b_response");
    f_b_user = is_at(0, "sue_buser_altered");
    f_b_twice = is_at(0, "sue_b_twice");
    f_r_changes = is_at(0, "sue_r_changes");
    f_r_early = is_at(0, "sue_rlast_early");
    f_r_late = is_at(0, "sue_rlast_late");
    f_r_id = is_at(0, "sue_r_wrong_id");
    f_r_data = is_at(0, "sue_data_altered");
    f_r_lost = is_at(0, "sue_r_beat_lost");
    f_r_user = is_at(0, "sue_ruser_altered");
    f_r_response = is_at(0, "sue_error_altered");
    f_reset = is_at(0, "sue_answer_in_reset");
    f_strobe = is_at(0, "sue_strobe_ignored");
    f_w_data = is_at(0, "sue_wdata_altered");
    f_granted = is_at(0, "sue_exclusive_granted");
    f_executed = is_at(0, "sue_exclusive_executed");
    f_ignored = is_at(0, "sue_exclusive_ignored");
    f_exokay = is_at(0, "sue_exokay_to_normal");
    m_aw_changes = is_at(1, "sue_aw_changes");
    m_aw_dropped = is_at(1, "sue_aw_dropped");
    m_aw_page = is_at(1, "sue_aw_crosses_page");
    m_ar_page = is_at(1, "sue_ar_crosses_page");
    m_fields = is_at(1, "sue_cache_altered");
    m_w_changes = is_at(1, "sue_w_changes");
    m_w_early = is_at(1, "sue_wlast_early");
    m_w_late = is_at(1, "sue_wlast_late");
    m_w_lost = is_at(1, "sue_w_beat_lost");
    m_w_lanes = is_at(1, "sue_strobe_outside");
    m_reset = is_at(1, "sue_request_in_reset");
  end

  // Beats that disappear.
  wire loses_r = f_r_lost && armed && r_beats % 16 == 5;
  wire loses_b = f_b_lost && armed;
  wire loses_w = m_w_lost && armed && !w_held && w_beats % 16 == 5;

  always @(posedge from.aclk) begin
    cycles <= cycles + 1;
    if (cycles > 300 && !from.awvalid && !from.arvalid && !from.wvalid && !to.bvalid && !to.rvalid) armed <= 1;
    b_held <= to.bvalid && !from.bready;
    r_held <= to.rvalid && !from.rready;
    aw_held <= from.awvalid && !to.awready;
    w_held <= from.wvalid && !to.wready;
    if (from.awvalid && from.awready) is_locked[from.awid[2:0]] <= from.awlock;
    if (from.awvalid && from.awready) users[from.awid[2:0]] <= from.awuser[19:0];
    if (to.rvalid && to.rready) r_beats <= r_beats + 1;
    if (from.wvalid && from.wready) w_beats <= w_beats + 1;
    b_again <= b_again ? !from.bready : f_b_twice && armed && to.bvalid && to.bready;
    b_id <= to.bid;
  end

  always_comb begin
    to.aresetn = from.aresetn;
    // Requests.
    {to.awid, to.awlen, to.awsize, to.awprot, to.awqos, to.awregion, to.awuser} =
        {from.awid, from.awlen, from.awsize, from.awprot, from.awqos, from.awregion, from.awuser};
    to.awlock = from.awlock && !f_executed;
    {to.arid, to.arlen, to.arsize, to.arprot, to.arqos, to.arregion, to.aruser} =
        {from.arid, from.arlen, from.arsize, from.arprot, from.arqos, from.arregion, from.aruser};
    to.arlock = from.arlock && !f_ignored;
    to.awaddr = from.awaddr ^ 32'(m_aw_changes && armed && aw_held);
    to.awburst = from.awburst;
    to.awcache = from.awcache ^ 4'(m_fields && armed);
    to.araddr = from.araddr;
    to.arburst = from.arburst;
    to.arcache = from.arcache;
    if (m_aw_page && armed) {to.awaddr[11:0], to.awburst, to.awlen} = {12'hffc, 2'd1, 8'd255};
    if (m_ar_page && armed) {to.araddr[11:0], to.arburst, to.arlen} = {12'hffc, 2'd1, 8'd255};
    to.wdata = from.wdata;
    if ((m_w_changes && w_held && armed) || (f_w_data && armed)) to.wdata = ~from.wdata;
    to.wstrb = f_strobe ? '1 : from.wstrb;
    if (m_w_lanes && armed) to.wstrb = '1;
    to.wuser = from.wuser;
    to.wlast = m_w_early && armed ? 1'b1 : m_w_late && armed ? 1'b0 : from.wlast;
    to.awvalid = (from.awvalid && !(m_aw_dropped && aw_held && armed)) || (m_reset && !from.aresetn);
    to.wvalid = from.wvalid && !loses_w;
    to.arvalid = from.arvalid;
    from.awready = to.awready;
    from.wready = to.wready || loses_w;
    from.arready = to.arready;
    // Answers.
    from.bvalid = (to.bvalid && !(f_b_dropped && b_held && armed) && !loses_b) || (f_reset && !from.aresetn) || b_again;
    from.bid = b_again ? b_id : f_b_id && armed ? to.bid ^ 8'h80 : to.bid;
    from.bresp = f_b_response && armed ? 2'd2 : to.bresp;
    from.buser = to.buser ^ 20'(f_b_user && armed);
    if (to.bresp == 0 && (is_locked[to.bid[2:0]] ? f_granted : f_exokay)) begin
      from.bresp = 1;
      from.buser = users[to.bid[2:0]];
    end
    to.bready = (from.bready || loses_b) && !b_again;
    from.rvalid = to.rvalid && !loses_r;
    from.rid = f_r_id && armed ? to.rid ^ 8'h80 : to.rid;
    from.rdata = (f_r_changes && r_held && armed) || (f_r_data && armed) ? ~to.rdata : to.rdata;
    from.rresp = to.rresp ^ 2'(f_r_response && to.rresp[1]);
    from.rlast = f_r_early && armed ? 1'b1 : f_r_late && armed ? 1'b0 : to.rlast;
    from.ruser = to.ruser ^ 16'(f_r_user && armed);
    to.rready = from.rready || loses_r;
  end
endmodule
