// SPDX-License-Identifier: Apache-2.0
// Finds the causes for which commands wait (docs/why.md): reads what Stager decides by, and changes
// nothing. For requests of an operator; no frame pays for it. Called by the lcore.
#ifndef SUEDE_SEND_WAIT_CAUSES_H_
#define SUEDE_SEND_WAIT_CAUSES_H_

#include <optional>

#include "base/coordinates.h"
#include "base/time.h"
#include "lcore/instance.h"
#include "lcore/wait_snapshot.h"

namespace suede {

class WaitCauses {
 public:
  explicit WaitCauses(const Instance& instance, Time now) : instance_(instance), now_(now) {}

  // Returns the row of a {peer, VC}; nullopt: it has no command that waits or is on the way.
  std::optional<WaitRow> RowOf(PeerIndex peer, Vc vc) const;

 private:
  struct Found {
    WaitCause cause = WaitCause::kTurn;
    uint8_t plane = WaitRow::kAnyPlane;
    Time since = kNever;
  };

  bool ShowsAlone(PeerIndex peer, Vc vc, bool in_flight) const;
  Found CauseOf(PeerIndex peer, Vc vc) const;
  std::optional<PlaneIndex> FencedPlaneOf(PeerIndex peer, Vc vc) const;
  Found WithoutPlane(PeerIndex peer, Vc vc) const;
  Found OfPlane(PeerIndex peer, PlaneIndex plane, Vc vc, uint32_t bytes) const;
  static WaitCause OfConnection(const Connection& connection);
  void AddInFlight(PeerIndex peer, Vc vc, WaitRow* row) const;

  const Instance& instance_;
  const Time now_;
};

}  // namespace suede

#endif  // SUEDE_SEND_WAIT_CAUSES_H_
