// SPDX-License-Identifier: Apache-2.0
#include "link/pauses.h"

#include <algorithm>
#include <utility>

namespace suede {

void PortPauses::OnFrame(const PfcFrame& pfc, uint64_t rate_bps, Time now) {
  const uint64_t rate = params_.rate_bps != 0 ? params_.rate_bps : rate_bps;
  for (uint32_t c = 0; c < kPfcClasses; ++c) {
    if ((pfc.classes >> c & 1) == 0) continue;
    // A pause in progress is counted up to its new end; after an ended pause, the new pause is
    // counted from now on.
    const int64_t end = ToNs(now + PauseOf(pfc.quanta[c], rate));
    const int64_t former = until_ns_[c].load(std::memory_order_relaxed);
    total_ns_[c].fetch_add(end - std::max(former, ToNs(now)), std::memory_order_relaxed);
    until_ns_[c].store(end, std::memory_order_relaxed);
  }
  changes_.fetch_add(1, std::memory_order_release);
}

Duration PortPauses::PausedFor(uint32_t c, Time now) const {
  const int64_t until = until_ns_[c].load(std::memory_order_relaxed);
  const int64_t total = total_ns_[c].load(std::memory_order_relaxed);
  return Duration(std::max<int64_t>(total - std::max<int64_t>(until - ToNs(now), 0), 0));
}

void PortPauses::ShowClasses(const std::array<uint8_t, kLinkFlows>& classes) {
  for (uint32_t flow = 0; flow < kLinkFlows; ++flow) {
    class_of_[flow].store(classes[flow], std::memory_order_relaxed);
  }
}

void PortPauses::Want(uint32_t c, bool wants) {
  wants ? wants_[c].fetch_add(1, std::memory_order_relaxed)
        : wants_[c].fetch_sub(1, std::memory_order_relaxed);
}

uint8_t PortPauses::wanted() const {
  uint32_t classes = 0;
  for (uint32_t c = 0; c < kPfcClasses; ++c) {
    classes |= uint32_t{wants_[c].load(std::memory_order_relaxed) != 0} << c;
  }
  return static_cast<uint8_t>(classes);
}

LinkPauses::LinkPauses(PortPauses* port, bool sends)
    : port_(port),
      sends_(sends),
      watch_(port->params().storm),
      sender_(port->params().quanta, port->params().rate_bps) {}

void LinkPauses::SetClasses(const std::array<uint8_t, kLinkFlows>& classes) {
  class_of_ = classes;
  if (sends_) port_->ShowClasses(classes);
  due_ = Time{};  // the pauses apply to other VCs
  PublishWants();
}

// Recomputes which flows are paused.
[[gnu::noinline]] void LinkPauses::Update(Time now) {
  seen_ = port_->changes();
  due_ = kNever;
  const VcMask before = paused_;
  paused_ = 0;
  for (uint32_t flow = 0; flow < kLinkFlows; ++flow) {
    const Time until = port_->until(class_of_[flow]);
    if (until <= now) continue;
    paused_ |= BitOf(flow);
    due_ = std::min(due_, until);
    if ((before & BitOf(flow)) == 0) since_[flow] = now;
  }
  if (const auto ended = static_cast<VcMask>(before & ~paused_); ended != 0) {
    ended_ = true;
    const auto over = static_cast<VcMask>(watch_.stormy() & ended);
    if (over != 0) port_->EndStorm(over);
    watch_.End(ended);
  }
  // PDUs without commands always wait.
  NoteWaiting(kAckBit, now);
}

void LinkPauses::Want(uint32_t vc, bool wants) {
  wants_[vc] = static_cast<uint16_t>(wants_[vc] + (wants ? 1 : -1));
  PublishWants();
}

// Publishes to the device's other queue pairs the classes for which this queue pair requests a
// pause.
void LinkPauses::PublishWants() {
  uint32_t classes = 0;
  for (uint32_t vc = 0; vc < kVcCount; ++vc) {
    if (wants_[vc] != 0) classes |= 1u << class_of_[vc];
  }
  for (uint32_t c = 0; c < kPfcClasses; ++c) {
    if (((classes ^ published_) >> c & 1) != 0) port_->Want(c, (classes >> c & 1) != 0);
  }
  published_ = static_cast<uint8_t>(classes);
}

std::optional<PfcFrame> LinkPauses::Poll(uint64_t rate_bps, Time now) {
  if (!sends_) return std::nullopt;
  const bool is_set = port_->params().rate_bps != 0;
  if (!is_set && rate_bps != rate_bps_ && rate_bps != 0) sender_.SetRate(rate_bps_ = rate_bps);
  std::optional<PfcFrame> pfc = sender_.Poll(port_->wanted(), now);
  if (!unsent_) [[likely]]
    return pfc;
  // Merges the frame that could not be sent into this frame.
  if (!pfc) return std::exchange(unsent_, std::nullopt);
  for (uint32_t c = 0; c < kPfcClasses; ++c) {
    if ((unsent_->classes & ~pfc->classes) >> c & 1) pfc->quanta[c] = unsent_->quanta[c];
  }
  pfc->classes |= unsent_->classes;
  unsent_.reset();
  return pfc;
}

}  // namespace suede
