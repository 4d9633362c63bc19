// SPDX-License-Identifier: Apache-2.0
// Receive credit of each {peer, VC} (docs/control-pdus.md, CREDIT): what a receiver has promised of
// its rings, and what a sender may use. All counts are of lines of receive rings.
//
// Sums are kept up with each grant and each accepted PDU, so that no step looks at more than a few
// peers, however many there are.
#ifndef SUEDE_LCORE_CREDIT_H_
#define SUEDE_LCORE_CREDIT_H_

#include <cstdint>

#include "base/coordinates.h"
#include "base/time.h"
#include "client/segment.h"

namespace suede {

// Lines that wrapping around a ring's end may cost: a record is never split.
inline constexpr uint32_t kWrapLines = SUEDE_MAX_RECORD_LINES;

// Credit that a peer has on a VC here. Counts since the association began, modulo 2^32.
// One cache line: peers send one after the other.
struct alignas(64) RxCredit {
  uint32_t limit = 0;         // lines that it may have sent; never behind `accepted`
  uint32_t accepted = 0;      // lines that were accepted
  uint32_t renew_at = 0;      // value of `accepted` from which on the peer is granted more
  uint32_t needed = 0;        // the limit that the PDU it waits with needs
  uint32_t heard_sent = 0;    // lines it had sent when it last asked
  uint32_t share = 0;         // lines that it is to hold, if they are there: doubles with use
  uint16_t widest = 0;        // lines of its largest PDU so far
  uint16_t round = 0;         // times that credit was taken back
  uint16_t touched = 0;       // tick when something of it was last accepted
  uint16_t next_waiting = 0;  // links of its feed's lists
  uint16_t next_holding = 0;
  bool counts : 1 = false;      // both ends count
  bool waiting : 1 = false;     // on its feed's list of those to be granted more
  bool holding : 1 = false;     // on its feed's list of those that hold credit
  bool on_demand : 1 = false;   // it is granted more when it asks, not before
  bool reclaiming : 1 = false;  // it is asked to give back unused credit

  uint32_t held() const { return limit - accepted; }
};

// Credit that we have of a peer on a VC, beside its queue's part (TxQueue::credit).
struct TxCredit {
  uint32_t limit = 0;
  uint16_t round = 0;
  uint8_t tries = 0;      // number of requests since the queue waits,
  uint8_t unheard = 0;    // and since the peer last answered
  bool waiting = false;   // the queue is blocked for credit
  bool on_demand = false;  // the peer grants more when it is asked, not before
  bool doubtful = false;  // PDUs were given up: lines counted as sent may never have arrived
  Time ask_at = kNever;

  // The queue does not wait any longer.
  void EndWait() {
    waiting = false;
    ask_at = kNever;
  }
};

// A list of peers, linked through one of RxCredit's members.
struct PeerList {
  static constexpr uint16_t kNone = 0xffff;
  uint16_t head = kNone;
  uint16_t tail = kNone;
  bool empty() const { return head == kNone; }
};

// Credit that the peers of one {instance, VC} hold and want. It feeds one ring at a time.
struct CreditFeed {
  uint32_t promised = 0;    // held by all peers
  uint32_t kept_lines = 0;  // of PDUs that wait for room or for a client
  uint32_t holders = 0;     // on `holding`
  uint32_t next = 0;        // instance of the ring's next feed, round about
  PeerList waiting;
  PeerList holding;
  bool listed = false;        // on its ring's list of feeds that are to be served
  uint32_t next_waiting = 0;  // link of that list: an instance
};

// The lines of a ring that all its feeds have promised. Where nobody has claimed a VC, the ring is
// the places of PDUs that wait for a claim.
struct CreditRing {
  static constexpr uint32_t kNone = ~0u;
  uint32_t promised = 0;
  uint32_t kept_lines = 0;
  uint32_t holders = 0;
  uint32_t peers = 0;     // of all its feeds
  uint32_t hand = kNone;  // instance of the feed that is looked at next for unused credit
  // Feeds whose peers wait, by their instances, in the order in which they are served.
  uint32_t first_waiting = kNone;
  uint32_t last_waiting = kNone;
  uint32_t waiting = 0;  // on that list
  Vc vc = 0;
  bool listed = false;  // on the list of rings that are to be served
  // The peer that is asked to give back: one at a time.
  uint32_t reclaim_instance = kNone;
  PeerIndex reclaim_peer = 0;
  uint8_t reclaim_tries = 0;
  Time reclaim_at{};
};

}  // namespace suede

#endif  // SUEDE_LCORE_CREDIT_H_
