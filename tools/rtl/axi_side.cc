// SPDX-License-Identifier: Apache-2.0
#include "axi_side.h"

#include <cstdio>

namespace suede::rtl {

void AxiSubordinateSide::Edge(bool in_reset, const AxiRequests& in) {
  if (in_reset && !was_in_reset_) port_->ResetSubordinate();
  was_in_reset_ = in_reset;
  if (in_reset) {
    aw_.Clear();
    w_.Clear();
    ar_.Clear();
    b_.Clear();
    r_.Clear();
    port_->Poll();
    return;
  }
  aw_.Sample(in.aw_valid, in.aw);
  w_.Sample(in.w_valid, in.w);
  ar_.Sample(in.ar_valid, in.ar);
  b_.Sample(in.b_ready);
  r_.Sample(in.r_ready);
  // Transfers reach the port before it moves on, and its answers leave it in the same cycle.
  DriveRequests(port_->is_up());
  const bool is_up = port_->Poll();
  DriveRequests(is_up);
  b_.Drive(is_up, [&](auto* each) { return port_->TakeB(each); });
  r_.Drive(is_up, [&](auto* each) { return port_->TakeR(each); });
}

void AxiSubordinateSide::DriveRequests(bool is_up) {
  aw_.Drive(
      is_up, [&](const auto& each) { port_->SendAw(each); },
      [&] { return port_->Credit(SUEDE_AXI_AW) != 0; });
  w_.Drive(
      is_up, [&](const auto& each) { port_->SendW(each); },
      [&] { return port_->Credit(SUEDE_AXI_W) != 0; });
  ar_.Drive(
      is_up, [&](const auto& each) { port_->SendAr(each); },
      [&] { return port_->Credit(SUEDE_AXI_AR) != 0; });
}

void AxiManagerSide::Edge(bool in_reset, const AxiAnswers& in) {
  if (in_reset != was_in_reset_) port_->ResetManager(in_reset);
  was_in_reset_ = in_reset;
  if (in_reset) {
    aw_.Clear();
    w_.Clear();
    ar_.Clear();
    b_.Clear();
    r_.Clear();
    port_->Poll();
    return;
  }
  aw_.Sample(in.aw_ready);
  w_.Sample(in.w_ready);
  ar_.Sample(in.ar_ready);
  b_.Sample(in.b_valid, in.b);
  r_.Sample(in.r_valid, in.r);
  DriveAnswers(port_->is_up());
  const bool is_up = port_->Poll();
  DriveAnswers(is_up);
  aw_.Drive(is_up, [&](auto* each) { return port_->TakeAw(each); });
  w_.Drive(is_up, [&](auto* each) { return port_->TakeW(each); });
  ar_.Drive(is_up, [&](auto* each) { return port_->TakeAr(each); });
}

void AxiManagerSide::DriveAnswers(bool is_up) {
  const auto always = [] { return true; };
  b_.Drive(
      is_up, [&](const auto& each) { port_->SendB(each) ? void() : Report("B", each.id); }, always);
  r_.Drive(
      is_up, [&](const auto& each) { port_->SendR(each) ? void() : Report("R", each.id); }, always);
}

void AxiManagerSide::Report(const char* channel, uint32_t id) const {
  std::fprintf(stderr, "%s: %s of ID %u is ignored: no transaction of that ID waits for it\n",
               name_.c_str(), channel, id);
}

}  // namespace suede::rtl
