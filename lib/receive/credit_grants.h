// SPDX-License-Identifier: Apache-2.0
// Carries out the decisions about receive credit: supplies the granter with the room of the
// claimants' rings, and sends its grants. Owned by the lcore.
#ifndef SUEDE_RECEIVE_CREDIT_GRANTS_H_
#define SUEDE_RECEIVE_CREDIT_GRANTS_H_

#include <cstdint>
#include <optional>

#include "base/coordinates.h"
#include "credit/granter.h"
#include "lcore/lcore.h"

namespace suede {

class CreditGrants {
 public:
  // Both arguments outlive this object.
  CreditGrants(Lcore& lcore, CreditGranter& granter) : lcore_(lcore), granter_(granter) {}

  // Grants peers more lines, as far as there is room, first come, first served; called once in a
  // poll iteration. The work is bounded, however many feeds and rings there are.
  void SendGrants(Time now) {
    granter_.SetTime(now);
    if (granter_.waiting_rings() != 0) SendWaiting(now);
  }
  // An association has begun, and a HELLO that confirms it is about to leave, which may carry a
  // first grant.
  void GrantFirst(ReceiveState& rx, PeerIndex peer);
  // A peer requests credit, or gives some back.
  void OnRequest(Instance& instance, PeerIndex peer, const Credit& request);

  // Aborts if a sum differs from its parts.
  void CheckInvariants() const;

 private:
  enum class Served : uint8_t {
    kYes,
    kLater,      // the first peer has to wait, but no others
    kRingFull,   // the first peer and all others have to wait
    kNotStaged,  // there was no room to stage the grant
  };
  CreditGranter::Room RoomOf(const ReceiveState& rx, Vc vc) const;
  static bool SendCredit(Instance& instance, PeerIndex peer, const Credit& credit);
  void SendReclaim(const std::optional<CreditGranter::Reclaim>& reclaim);
  Served ServeFirst(Instance& instance, Vc vc, Time now);
  Served ServeFeed(Instance& instance, Vc vc, Time now);
  void ServeRing(CreditRing& ring, Time now);
  void SendWaiting(Time now);

  Lcore& lcore_;
  CreditGranter& granter_;
};

}  // namespace suede

#endif  // SUEDE_RECEIVE_CREDIT_GRANTS_H_
