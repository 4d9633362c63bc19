// SPDX-License-Identifier: Apache-2.0
// Raises events of a link to a neighbour (docs/link.md) when its counters change.
#ifndef SUEDE_APP_DAEMON_LINK_FOLLOWER_H_
#define SUEDE_APP_DAEMON_LINK_FOLLOWER_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "mgmt/event_log.h"
#include "stats/link_counters.h"

namespace suede {

class LinkFollower {
 public:
  // HELLOs without a reply until the neighbour counts as silent: about a hundred intervals.
  static constexpr uint64_t kUnanswered = 1000;

  // To be called periodically by the control thread.
  void Check(const std::string& port, bool link_up, const LinkCounters& counters,
             EventLog& events) {
    const uint64_t lost = counters.Get(LinkCounter::kLlrGivenUp) - given_up_;
    given_up_ += lost;
    const bool failed = Grew(counters.Get(LinkCounter::kFailures), failures_);
    const bool silent = Grew(counters.Get(LinkCounter::kSilences), silences_);
    const bool begun = Grew(counters.Get(LinkCounter::kSessions), sessions_);
    if (failed || silent || lost != 0) {
      const std::string_view reason = failed ? "no answer" : silent ? "silence" : "restart";
      events.Raise(EventKind::kLinkGivenUp, {{EventField::kPort, port},
                                             {EventField::kReason, std::string(reason)},
                                             {EventField::kFrames, lost}});
    }
    if (begun) events.Raise(EventKind::kNeighbourUp, {{EventField::kPort, port}});
    if (Grew(counters.Get(LinkGauge::kCreditOn), credit_on_)) {
      events.Raise(credit_on_ != 0 ? EventKind::kLinkCreditOn : EventKind::kLinkCreditOff,
                   {{EventField::kPort, port}});
    }
    if (Grew(counters.Get(LinkCounter::kCreditStorms), storms_)) {
      events.Raise(EventKind::kCreditStorm, {{EventField::kPort, port}});
    }
    DetectSilence(port, link_up, counters, events);
  }

 private:
  // Raises one event for each time that the neighbour is silent on a link that is up.
  void DetectSilence(const std::string& port, bool link_up, const LinkCounters& counters,
                     EventLog& events) {
    const uint64_t sent = counters.Get(LinkCounter::kTxHellos);
    if (Grew(counters.Get(LinkCounter::kRxHellos), hellos_) || !link_up) {
      answered_ = sent;
      silence_raised_ = false;
    }
    if (silence_raised_ || sent - answered_ < kUnanswered) return;
    silence_raised_ = true;
    events.Raise(EventKind::kNeighbourSilent, {{EventField::kPort, port}});
  }

  static bool Grew(uint64_t now, uint64_t& before) {
    const bool grew = now != before;
    before = now;
    return grew;
  }

  uint64_t given_up_ = 0;
  uint64_t failures_ = 0;
  uint64_t silences_ = 0;
  uint64_t sessions_ = 0;
  uint64_t credit_on_ = 0;
  uint64_t storms_ = 0;
  uint64_t hellos_ = 0;    // HELLOs received
  uint64_t answered_ = 0;  // own HELLOs sent when the neighbour's last one was received
  bool silence_raised_ = false;
};

}  // namespace suede

#endif  // SUEDE_APP_DAEMON_LINK_FOLLOWER_H_
