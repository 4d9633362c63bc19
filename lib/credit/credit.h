// SPDX-License-Identifier: Apache-2.0
// Receive credit of each {peer, VC} (docs/control-pdus.md, CREDIT): the lines that a receiver has
// promised. All counts are of lines of receive rings.
//
// Sums are updated with each grant and each accepted PDU, so that no step visits more than a few
// peers, however many there are.
#ifndef SUEDE_CREDIT_CREDIT_H_
#define SUEDE_CREDIT_CREDIT_H_

#include <array>
#include <cstdint>
#include <vector>

#include "base/coordinates.h"
#include "base/sue.h"
#include "base/time.h"

namespace suede {

// Credit that a peer has on a VC here. Counts since the association began, modulo 2^32.
// One cache line: peers send one after the other.
struct alignas(64) RxCredit {
  uint32_t limit = 0;          // lines that the peer may have sent; never behind `accepted`
  uint32_t accepted = 0;       // lines that were accepted
  uint32_t renew_at = 0;       // value of `accepted` from which on the peer is granted more
  uint32_t needed = 0;         // the limit that the peer's waiting PDU needs
  uint32_t reported_sent = 0;  // lines sent, by the peer's last request
  uint32_t share = 0;          // lines that the peer is to hold, if free: doubles with use
  uint16_t widest = 0;         // max lines of a PDU of the peer so far
  uint16_t round = 0;          // number of times that credit was reclaimed
  uint16_t touched = 0;        // tick of the last accepted PDU
  uint16_t next_waiting = 0;   // links of its feed's lists
  uint16_t next_holding = 0;
  bool counts : 1 = false;      // both ends count
  bool waiting : 1 = false;     // on its feed's list of peers that wait for credit
  bool holding : 1 = false;     // on its feed's list of peers that hold credit
  bool on_demand : 1 = false;   // granted more only on request
  bool reclaiming : 1 = false;  // requested to give back unused credit

  uint32_t held() const { return limit - accepted; }
};

// A list of peers, linked through one of RxCredit's members.
struct PeerList {
  static constexpr uint16_t kNone = 0xffff;
  uint16_t head = kNone;
  uint16_t tail = kNone;
  bool empty() const { return head == kNone; }
};

// Credit that the peers of one {instance, VC} hold and wait for. A feed has one ring at a time.
struct CreditFeed {
  uint32_t promised = 0;    // held by all peers
  uint32_t kept_lines = 0;  // of PDUs that wait for room or for a client
  uint32_t holders = 0;     // on `holding`
  uint32_t next = 0;        // instance of the ring's next feed, circular
  PeerList waiting;
  PeerList holding;
  bool listed = false;        // on its ring's list of feeds to be served
  uint32_t next_waiting = 0;  // link of that list: an instance
};

// The lines of a ring that all its feeds have promised. If no client has claimed a VC, the places
// of PDUs that wait for a claim count as the ring.
struct CreditRing {
  static constexpr uint32_t kNone = ~0u;
  uint32_t promised = 0;
  uint32_t kept_lines = 0;
  uint32_t holders = 0;
  uint32_t peers = 0;     // of all its feeds
  uint32_t hand = kNone;  // instance of the feed to check next for unused credit
  // Feeds whose peers wait, by their instances, in the order in which they are served.
  uint32_t first_waiting = kNone;
  uint32_t last_waiting = kNone;
  uint32_t waiting = 0;  // number of feeds on that list
  Vc vc = 0;
  bool listed = false;  // on the list of rings to be served
  // The peer whose credit is being reclaimed: one at a time.
  uint32_t reclaim_instance = kNone;
  PeerIndex reclaim_peer = 0;
  uint8_t reclaim_tries = 0;
  Time reclaim_at{};
};

// Receive credit of the peers of one instance.
struct RxCredits {
  uint32_t number = 0;           // of the instance
  std::vector<RxCredit> queues;  // by {peer, VC}
  std::array<CreditFeed, kVcCount> feeds;
  std::array<CreditRing, kVcCount> unclaimed_ring;
  std::array<CreditRing*, kVcCount> ring{};  // the ring of each feed

  RxCredit& At(PeerIndex peer, Vc vc) { return queues[peer * kVcCount + vc]; }
  const RxCredit& At(PeerIndex peer, Vc vc) const { return queues[peer * kVcCount + vc]; }
  uint32_t peer_count() const { return static_cast<uint32_t>(queues.size()) / kVcCount; }
};

}  // namespace suede

#endif  // SUEDE_CREDIT_CREDIT_H_
