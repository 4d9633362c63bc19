// SPDX-License-Identifier: Apache-2.0
// Effects as lines of text, for tests that hold a call against a table.
#ifndef SUEDE_TESTS_PEER_DESCRIBE_H_
#define SUEDE_TESTS_PEER_DESCRIBE_H_

#include <string>
#include <vector>

#include "peer/effects.h"
#include "stats/counters.h"

namespace suede {

struct DescribeEffect {
  using Text = std::string;
  static Text Number(uint64_t n) { return " " + std::to_string(n); }
  static Text At(PlaneIndex plane, uint32_t vc) {
    return " " + std::to_string(plane) + "/" + std::to_string(vc);
  }
  static Text Mask(uint32_t mask) {
    Text planes = " {";
    for (uint32_t bit = 0; bit < 8; ++bit) {
      if ((mask & 1u << bit) != 0) planes += static_cast<char>('0' + bit);
    }
    return planes + "}";
  }
  static Text Count(const PduList& pdus) {
    uint32_t count = 0;
    for (const Pdu* pdu = pdus.head(); pdu != nullptr; pdu = pdu->next) ++count;
    return Number(count);
  }
  static Text Message(const ControlMessage& message) {
    if (const auto* hello = std::get_if<Hello>(&message)) {
      return Text("HELLO") + (hello->echo != 0 ? " answers" : "") +
             (hello->reply_wanted ? " asks" : "");
    }
    if (const auto* plane = std::get_if<PlaneHello>(&message)) {
      static constexpr const char* kStates[] = {" down", " init", " up"};
      return Text("PLANE") + kStates[static_cast<int>(plane->state)] +
             (plane->reply_wanted ? " asks" : "") +
             (plane->failed != 0 ? " failed" + Mask(plane->failed) + Number(plane->hops) : "");
    }
    if (const auto* fence = std::get_if<Fence>(&message)) {
      return "FENCE" + Number(fence->plane) + (fence->own ? " own" : "");
    }
    if (const auto* fenced = std::get_if<Fenced>(&message)) return "FENCED" + Number(fenced->plane);
    return "other";
  }
  static Text Event(PeerEvent event) {
    static constexpr const char* kNames[] = {"reset",           "unreachable",    "reachable",
                                             "mismatch",        "plane up",       "plane down",
                                             "fence opened",    "session opened", "session moved",
                                             "session stalled", "session closed"};
    return kNames[static_cast<int>(event)];
  }

  Text operator()(const effect::Send& e) const {
    return "say" + Number(e.plane) + " " + Message(e.message);
  }
  Text operator()(const effect::SendFrom& e) const {
    return "say from" + Number(e.number) + (*this)(effect::Send{e.plane, e.message});
  }
  Text operator()(const effect::Renumber& e) const { return "renumber" + At(e.plane, e.slot); }
  Text operator()(const effect::SendHeldUp& e) const {
    return "say held up" + Number(e.plane) + Mask(e.over) + Mask(e.enough) +
           (e.if_held ? " if held" : "");
  }
  Text operator()(const effect::Probe& e) const { return "probe" + At(e.plane, e.number); }
  Text operator()(const effect::ProbeLost& e) const { return "probe lost" + At(e.plane, e.number); }
  Text operator()(const effect::ScheduleAck& e) const { return "owe ack" + At(e.plane, e.number); }
  Text operator()(const effect::Retransmit& e) const {
    return "retransmit" + At(e.plane, e.number);
  }
  Text operator()(const effect::Acknowledged& e) const {
    return "acknowledged" + At(e.plane, e.number) + Count(e.pdus);
  }
  Text operator()(const effect::GiveUp& e) const {
    return "give up" + At(e.plane, e.number) + Count(e.pdus) +
           (e.ending == Ending::kInDoubt ? " in doubt" : " reset") + (e.hold_last ? " hold" : "");
  }
  Text operator()(const effect::Requeue& e) const {
    return "requeue" + Number(e.plane) + Count(e.pdus);
  }
  Text operator()(const effect::GiveUpQueued& e) const { return "give up queued" + Mask(e.vcs); }
  Text operator()(const effect::MarkLost& e) const {
    return (e.lost ? "lost" : "found") + Mask(e.vcs);
  }
  Text operator()(const effect::Unblock& e) const { return "unblock" + Mask(e.vcs); }
  Text operator()(const effect::PlaceFlow& e) const {
    return "home" + Number(e.plane) + Mask(e.vcs);
  }
  Text operator()(const effect::CreditChange& e) const {
    static constexpr const char* kSteps[] = {"begin", "end", "uncounted", "grant first"};
    return Text("credit ") + kSteps[static_cast<int>(e.step)];
  }
  Text operator()(const effect::CreditReceived&) const { return "credit heard"; }
  Text operator()(const effect::CongestionReceived&) const { return "congestion heard"; }
  Text operator()(const effect::Emit& e) const {
    const bool plane = e.event == PeerEvent::kPlaneUp || e.event == PeerEvent::kPlaneDown ||
                       e.event == PeerEvent::kFenceOpened;
    const bool session = e.event >= PeerEvent::kSessionOpened;
    const bool what = e.event == PeerEvent::kPlaneDown || e.event == PeerEvent::kHelloMismatch;
    if (session) return "tell " + Event(e.event) + At(e.plane, e.what);
    const bool of_connection = !plane && (e.plane != 0 || e.number != 0);
    return "tell " + Event(e.event) + (plane ? Number(e.plane) : Text()) +
           (of_connection ? At(e.plane, e.number) : Text()) +
           (what ? " for" + Number(e.what) : Text());
  }
  Text operator()(const effect::Count& e) const {
    return "count " + Text(CounterRows()[static_cast<size_t>(e.counter)].name);
  }
  Text operator()(const effect::Arm& e) const {
    static constexpr const char* kTimers[] = {"handshake", "session", "connection"};
    return Text("arm ") + kTimers[static_cast<int>(e.timer)] + At(e.plane, e.number);
  }
  Text operator()(const effect::CheckConnection& e) const {
    return "look at" + At(e.plane, e.number);
  }
  Text operator()(const effect::ProbeFailed&) const { return "ask on failed planes"; }
};

// In order; without the timers, which tests look at where they are about time.
inline std::vector<std::string> Describe(Effects& effects, bool timers = false) {
  std::vector<std::string> lines;
  for (const PeerEffect& one : effects.all()) {
    if (!timers && std::holds_alternative<effect::Arm>(one)) continue;
    lines.push_back(std::visit(DescribeEffect(), one));
  }
  return lines;
}

}  // namespace suede

#endif  // SUEDE_TESTS_PEER_DESCRIBE_H_
