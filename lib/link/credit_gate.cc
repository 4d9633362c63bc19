// SPDX-License-Identifier: Apache-2.0
#include "link/credit_gate.h"

#include <algorithm>
#include <bit>

#include "link/pdu_frame.h"
#include "wire/frame_class.h"
#include "wire/pfc.h"

namespace suede {
namespace {

// Max octets of frames without commands; a longer frame waits.
constexpr uint32_t kShortOctets = 256;

}  // namespace

CreditGate::CreditGate(const LinkParams& params, uint32_t largest_octets)
    : end_(params, largest_octets),
      class_rule_(params.class_rule),
      ether_type_(params.ether_type),
      largest_octets_(largest_octets),
      watch_(params.credit_storm) {}

void CreditGate::SetClasses(const std::array<uint8_t, kLinkFlows>& classes) {
  for (uint32_t flow = 0; flow < kLinkFlows; ++flow) {
    const auto vc = static_cast<uint8_t>(flow == kVcCount ? kAckLinkVc : flow);
    link_vc_of_[flow] = classes[flow] == kUnclassified ? vc : classes[flow];
  }
  SetOpen();
}

void CreditGate::OnChange(Time now) {
  SetOpen();
  SetHeld(now);
}

// ---- Frames to stage.

CreditGate::Charge CreditGate::ChargeOf(const Frame& frame, TxNote note) const {
  if (note.link_vc == TxNote::kNoCredit) return {};
  return {.vc = note.link_vc,
          .credits = static_cast<uint16_t>(end_.sender().rule().CreditsOf(frame.length))};
}

uint8_t CreditGate::LinkVcOf(const Frame& frame) const {
  if (HasLinkType(frame.data, frame.length, kTypeMacControl) ||
      HasLinkType(frame.data, frame.length, ether_type_)) {
    return TxNote::kNoCredit;
  }
  return suede::LinkVcOf(class_rule_, frame.data, frame.length);
}

void CreditGate::CountStaged(std::span<Frame* const> data, std::span<Frame* const> front) {
  if (!is_on()) return;
  staged_.fill(0);
  for (const auto& frames : {data, front}) {
    for (const Frame* frame : frames) {
      const Charge charge = ChargeOf(*frame, NoteOf(frame));
      staged_[charge.vc] += charge.credits;
    }
  }
  SetOpen();
}

// Returns the flows of which a frame of any size has credit, and whose link VC has no waiting
// frame.
VcMask CreditGate::FlowsWith(const std::array<uint32_t, kLinkVcs>& staged) const {
  if (!is_on()) return kEveryFlow;
  const CreditSender& sender = end_.sender();
  VcMask flows = 0;
  for (uint32_t flow = 0; flow < kLinkFlows; ++flow) {
    const uint32_t vc = link_vc_of_[flow];
    const uint32_t octets =
        flow == kVcCount ? std::min(kShortOctets, largest_octets_) : largest_octets_;
    const uint32_t next = sender.rule().CreditsOf(octets);
    const bool may = sender.MaySend(vc, staged[vc] + next) && !WaitsBefore(vc, waiting_count_);
    if (may) flows |= BitOf(flow);
  }
  return flows;
}

void CreditGate::SetOpen() {
  const VcMask before = std::exchange(open_, FlowsWith(staged_));
  if ((open_ & ~before) != 0) opened_ = true;
}

void CreditGate::SetHeld(Time now) {
  const VcMask before = held_;
  held_ = static_cast<VcMask>(kEveryFlow & ~FlowsWith({}));
  for (uint32_t flow = 0; flow < kLinkFlows; ++flow) {
    if ((held_ & ~before & BitOf(flow)) != 0) since_[flow] = now;
  }
  watch_.End(static_cast<VcMask>(before & ~held_));
  // PDUs without commands always wait.
  NoteWaiting(kAckBit, now);
}

// ---- Received frames.

bool CreditGate::OnFrame(LinkEnd& link, const Frame& frame, Time now) {
  bool opened = false;
  if (end_.TakeUpdate(link, frame, opened, now)) {
    if (opened) OnChange(now);
    return true;
  }
  const uint32_t vc = LinkVcOf(frame);
  if (vc == TxNote::kNoCredit) return false;
  const uint32_t credits = end_.receiver().OnFrame(vc, frame.length);
  if (credits == 0) return false;
  if (!end_.receiver().IsWithin(vc)) link.counters().Add(LinkCounter::kCreditExceeded);
  arrived_[vc] += credits;
  arrived_vcs_ |= LinkVcMask{1} << vc;
  return false;
}

void CreditGate::EndTurn(Time now) {
  for (LinkVcMask left = arrived_vcs_; left != 0; left &= left - 1) {
    const auto vc = static_cast<uint32_t>(std::countr_zero(left));
    end_.receiver().OnDrained(vc, std::exchange(arrived_[vc], 0), now);
  }
  arrived_vcs_ = 0;
  SetHeld(now);
}

// ---- Frames to send.

bool CreditGate::MayJoin(const Frame& frame) {
  if (run_ == 0) run_credits_.fill(0);
  const Charge charge = ChargeOf(frame, NoteOf(&frame));
  if (run_ == run_charges_.size()) return false;
  if (charge.credits != 0) {
    uint32_t& credits = run_credits_[charge.vc];
    if (WaitsBefore(charge.vc, waiting_count_)) return false;
    if (!end_.sender().MaySend(charge.vc, credits + charge.credits)) return false;
    credits += charge.credits;
  }
  run_charges_[run_++] = charge;
  return true;
}

void CreditGate::OnSent(uint32_t count, Time now) {
  for (uint32_t i = 0; i < count; ++i) {
    const Charge& charge = run_charges_[i];
    if (charge.credits != 0) end_.sender().OnSent(charge.vc, charge.credits, now);
  }
}

void CreditGate::Wait(Frame* frame, LinkCounters& counters) {
  const TxNote note = NoteOf(frame);
  waiting_[waiting_count_++] = {frame, note, ChargeOf(*frame, note).vc};
  counters.Add(LinkCounter::kCreditWaits);
}

// Whether a frame of the link VC waits at a place before `place`.
bool CreditGate::WaitsBefore(uint32_t vc, uint32_t place) const {
  return std::any_of(waiting_.begin(), waiting_.begin() + place,
                     [vc](const Waiting& each) { return each.vc == vc; });
}

bool CreditGate::Waits(const Frame* frame) const {
  return std::any_of(waiting_.begin(), waiting_.begin() + waiting_count_,
                     [frame](const Waiting& each) { return each.frame == frame; });
}

CreditGate::Pick CreditGate::PickWaiting(uint32_t place) const {
  for (; place < waiting_count_; ++place) {
    const Waiting& each = waiting_[place];
    if (WaitsBefore(each.vc, place)) continue;
    const uint32_t credits = ChargeOf(*each.frame, each.note).credits;
    if (end_.sender().MaySend(each.vc, credits)) {
      return {.frame = each.frame, .place = place, .credits = credits, .busy = each.note.busy};
    }
  }
  return {};
}

void CreditGate::OnWaitingSent(uint32_t place, uint32_t credits, Time now) {
  end_.sender().OnSent(waiting_[place].vc, credits, now);
  std::move(waiting_.begin() + place + 1, waiting_.begin() + waiting_count_,
            waiting_.begin() + place);
  --waiting_count_;
  OnChange(now);
}

}  // namespace suede
