// SPDX-License-Identifier: Apache-2.0
// The neighbours of a world's ports, as far as they ask for pauses.
#include "pfc.h"

#include <algorithm>

#include "wire/pfc.h"

namespace suede {
namespace {

constexpr uint8_t kVcClasses = 0b11110;  // as ClassesOfPfc has them
constexpr uint8_t kAckClass = 1u << 6;
constexpr uint8_t kVc0Class = 1u << 1;

}  // namespace

void World::Ask(SimPort* port, uint8_t classes, uint16_t quanta) {
  PfcFrame pfc{.classes = classes};
  pfc.quanta.fill(quanta);
  uint8_t bytes[PfcFrame::kBytes];
  EncodePfc(pfc, {2, 0, 0, 0, 0, 99}, bytes);
  port->Arrive(bytes);
}

// Asks ports to pause classes, again and again until it is over; some end by a frame, and some by
// themselves.
void World::RequestPauses() {
  const PfcOptions& pfc = options_.pfc;
  if (!pfc.on || pfc.until == Duration{}) return;
  const bool ends = now_ - Time{} >= pfc.until;
  if (pfc.storm_of_vc0 && !ends && now_ >= next_ask_) {
    next_ask_ = now_ + std::chrono::microseconds(150);
    for (const auto& host : hosts_) {
      for (SimPort* port : host->ports) Ask(port, kVc0Class, 0xffff);
    }
  }
  if (pfc.storm_of_vc0 && ends && next_ask_ != kNever) {
    next_ask_ = kNever;
    const bool all_sent = std::all_of(hosts_.begin(), hosts_.end(),
                                      [](const auto& host) { return host->to_send == 0; });
    if (!all_sent || ledger_.MissingBeside(0) != 0) Fail("a VC that is paused held up others");
    if (Sum(Counter::kUnreachable) != 0) Fail("a peer was given up in a storm of pauses");
    if (Sum(Counter::kPfcStorms) == 0) Fail("a storm of pauses was not noticed");
  }
  for (size_t i = 0; i < asked_.size();) {
    ClassPause& pause = asked_[i];
    if (now_ < pause.until) {
      if (dice_.Chance(0.1)) Ask(pause.port, pause.classes, 0xffff);
      ++i;
      continue;
    }
    if (dice_.Chance(0.7)) Ask(pause.port, pause.classes, 0);
    pause = asked_.back();
    asked_.pop_back();
  }
  if (pfc.gap == Duration{} || ends || now_ < next_ask_) return;
  next_ask_ = now_ + dice_.Up(2 * pfc.gap);
  Host& host = *hosts_[dice_.Below(hosts_.size())];
  SimPort* const port = host.ports[dice_.Below(host.ports.size())];
  const bool acks = dice_.Chance(0.2);
  const auto classes =
      static_cast<uint8_t>(acks ? kAckClass : dice_.Below(kVcClasses) & kVcClasses);
  const auto quanta = static_cast<uint16_t>(acks ? dice_.Below(0x8000) : 1 + dice_.Below(0xffff));
  Ask(port, classes, quanta);
  if (!acks) asked_.push_back({port, classes, now_ + dice_.Up(pfc.max)});
}

}  // namespace suede
