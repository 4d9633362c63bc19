// SPDX-License-Identifier: Apache-2.0
// Tells of what becomes of a link to a neighbour (docs/link.md), by its counters.
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
  // Now and then; the control thread.
  void Look(const std::string& port, const LinkCounters& counters, EventLog& events) {
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
  }

 private:
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
};

}  // namespace suede

#endif  // SUEDE_APP_DAEMON_LINK_FOLLOWER_H_
