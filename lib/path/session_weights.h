// SPDX-License-Identifier: Apache-2.0
// The congestion of each open session of a group, and how often the group evaluates it
// (docs/sessions.md, "Choice of the session").
#ifndef SUEDE_PATH_SESSION_WEIGHTS_H_
#define SUEDE_PATH_SESSION_WEIGHTS_H_

#include <algorithm>
#include <cstdint>
#include <span>

#include "base/time.h"
#include "path/params.h"
#include "path/session_slot.h"

namespace suede {

// Measurements of a session.
struct SessionFacts {
  Duration srtt;     // 0: not known
  Duration min_rtt;  // 0: not known
  uint32_t tx_pdus;
  uint32_t retransmissions;
  uint32_t unacked_pdus;
  bool stalled;         // timed out stall_timeouts times in a row, without an acknowledgement since
  bool on_former_path;  // PDUs with the former number are unacknowledged
};

class SessionWeights {
 public:
  void Begin(Time now);

  // Extremes of the open sessions.
  struct Extremes {
    uint32_t min_delay = UINT32_MAX;
    uint32_t max_delay = 0;
    uint32_t min_weight = SessionSlot::kMaxWeight;
  };
  // Evaluates the open sessions. `facts`: of each slot. `ack_wait`: maximum delay of the peer's
  // acknowledgement of a single PDU.
  Extremes Weigh(std::span<SessionSlot> slots, SlotMask open, std::span<const SessionFacts> facts,
                 Duration ack_wait, Time now);

  // Interval of evaluations. (The first evaluations of an association come soon.)
  Duration PaceOf(const SessionParams& params) const {
    return pace_ns_ == 0 ? params.interval / 16 : std::min(Duration(pace_ns_), params.interval);
  }
  // Sets the interval of evaluations: a round trip while much is sent, and longer the less is sent.
  void SetPace(std::span<const SessionFacts> facts, const SessionParams& params, Time now);

  // Whether the answer to the session's request may be refused as slow: the number was requested
  // because other paths are congested, and another may be requested.
  bool MayBeSlow(const SessionSlot& slot) const;
  // The time of request and answer above which a path is refused: with such a path, another session
  // would still be needed, or a session that moves would be no faster than others.
  Duration SlowAfter(const SessionSlot& slot, const SessionParams& params) const;

 private:
  // Round trips of the open sessions, at the last evaluation; 0: not known.
  Duration min_rtt_{};      // the smallest round trip of any,
  Duration fastest_rtt_{};  // and the smoothed one of the fastest
  Time evaluated_at_{};     // the last evaluation
  uint32_t pace_ns_ = 0;    // interval of evaluations; 0: see PaceOf
  uint32_t tx_pdus_ = 0;    // of all slots, at the last evaluation
};

}  // namespace suede

#endif  // SUEDE_PATH_SESSION_WEIGHTS_H_
