// SPDX-License-Identifier: Apache-2.0
// A session of a group, and sets of sessions.
#ifndef SUEDE_PATH_SESSION_SLOT_H_
#define SUEDE_PATH_SESSION_SLOT_H_

#include <cstdint>
#include <string_view>

#include "base/coordinates.h"
#include "base/time.h"

namespace suede {

// A set of slots: a bit each.
using SlotMask = uint64_t;
constexpr SlotMask SlotBit(SessionIndex slot) { return SlotMask{1} << slot; }
// Calls `each` with the slots of the mask.
template <typename Each>
void ForEachSlot(SlotMask mask, Each&& each) {
  for (; mask != 0; mask &= mask - 1) each(Lowest<SessionIndex>(mask));
}

// A session of a group, by its slot.
struct SessionSlot {
  enum class State : uint8_t {
    kIdle,     // no PDU takes the session
    kOpening,  // a number is requested, and no PDU takes the session before the answer
    kOpen,
    kMoving,    // another number is requested, and PDUs go on with the former number
    kDraining,  // no new PDU takes it, until it is idle
    kClearing,  // no new PDU takes it, until it is open: PDUs in flight are on a slower path than
                // its new one
    kFencing,   // no PDU gets through with any number: the peer is asked which PDUs have arrived,
                // and the rest moves to other sessions
  };
  static constexpr uint32_t kWeightOne = 256;
  static constexpr uint32_t kMaxWeight = kWeightOne << 10;

  // Whether a number is requested.
  bool IsRequesting() const { return state == State::kOpening || state == State::kMoving; }

  uint16_t number = 0;            // of our PDUs
  uint16_t requested_number = 0;  // number that was requested
  uint16_t rx_number = 0;         // of the peer's PDUs,
  uint16_t rx_former = 0;         // and of the peer's PDUs sent before the change
  uint32_t turn = 0;              // of our last request,
  uint32_t rx_turn = 0;           // and of the peer's last request
  uint32_t weight = kWeightOne;   // cost of a byte in flight; kWeightOne: as on the best session
  uint32_t delay = kWeightOne;    // delay over the least of the group; kWeightOne: no more
  uint32_t tx_pdus = 0;           // of its connections, at the last evaluation,
  uint32_t retransmissions = 0;   // of its connections, at the last evaluation
  uint32_t marked = 0;            // PDUs since then that switches have marked (ECN)
  uint32_t marks = 0;             // marked part of its recent PDUs; kWeightOne: all
  Time since{};                   // when it got its number
  Time rx_moved_at{};             // when the peer last requested another number of its own
  Time requested_at{};            // when the last request was sent,
  Time request_at{};              // and when it is sent again
  Time sent_at{};                 // the last evaluation that found PDUs sent on it,
  Duration gap{};                 // and the average time between these PDUs
  State state = State::kIdle;
  Time rest_until{};           // when it may be opened again
  bool fenced = false;         // the peer accepts no PDU on it before the first PSNs are announced
  bool rx_fenced = false;      // we accept no PDU on it before the peer announces the first PSNs
  uint8_t unanswered = 0;      // requests without an answer, in a row
  uint8_t slow_numbers = 0;    // numbers whose paths were slow before any PDU took them, in a row
  bool requested = false;      // the request was sent at least once
  bool leaves_slow = false;    // it moves because it is congested
  bool answers_only = false;   // it moves for our acknowledgements, and is idle afterwards
  uint8_t high_intervals = 0;  // evaluations in a row that found it much more congested than the
                               // best
};

std::string_view NameOf(SessionSlot::State state);

}  // namespace suede

#endif  // SUEDE_PATH_SESSION_SLOT_H_
