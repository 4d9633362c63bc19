// SPDX-License-Identifier: Apache-2.0
// Destination of the acknowledgements and NACKs that data PDUs carry: the transmit state, which the
// receiver does not know.
#ifndef SUEDE_LCORE_ACK_SINK_H_
#define SUEDE_LCORE_ACK_SINK_H_

#include "base/coordinates.h"
#include "lcore/instance.h"
#include "lcore/peer_effects.h"
#include "wire/control_pdu.h"
#include "wire/rh.h"

namespace suede {

class AckSink {
 public:
  // Handles the acknowledgement or NACK of a PDU that has passed all checks of its frame, received
  // in this poll iteration. Adds effects on the peer.
  virtual void OnRpsn(Instance& instance, ConnectionIndex connection, RhOp op, Psn rpsn,
                      PeerEffects& effects) = 0;
  // Handles that of a PDU whose own PSN is implausible: too far from those that the peer has sent.
  virtual void OnImplausible(Instance& instance, ConnectionIndex connection, RhOp op, Psn rpsn,
                             PeerEffects& effects) = 0;
  // Handles a report of the peer about a connection (docs/repair.md).
  virtual void OnRepair(Instance& instance, ConnectionIndex connection, const Repair& repair,
                        PeerEffects& effects) = 0;

 protected:
  ~AckSink() = default;
};

}  // namespace suede

#endif  // SUEDE_LCORE_ACK_SINK_H_
