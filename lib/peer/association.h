// SPDX-License-Identifier: Apache-2.0
// An instance and a peer make an association, and find that it is over (docs/control-pdus.md,
// HELLO); peers that do not fit or speak no HELLO; acknowledgements of idle peers.
//
// Takes facts and the time, adds effects; sends nothing, reads no clock. Owned by one lcore.
#ifndef SUEDE_PEER_ASSOCIATION_H_
#define SUEDE_PEER_ASSOCIATION_H_

#include <cstdint>

#include "base/coordinates.h"
#include "base/time.h"
#include "peer/agreement.h"
#include "peer/effects.h"
#include "peer/flight_count.h"
#include "peer/parts.h"
#include "peer/peer_groups.h"
#include "peer/plane_choice.h"
#include "peer/plane_health.h"
#include "peer/reach.h"
#include "wire/control_pdu.h"

namespace suede {

// Facts about a control PDU of the peer.
struct ControlFacts {
  bool waits = false;     // a queue waits for a connection of the peer
  bool is_pong = false;   // a HELLO that answers an operator's ping
  SessionIndex slot = 0;  // of the session on which the PDU arrived; Peer::kNoSlot: none
  bool sealed = false;    // the PDU is sealed, and so is the whole association
};

class Association {
 public:
  Association(const PeerParts& peer, Agreement& agreement, Reach& reach, PlaneChoice& choice,
              FlightCount& flight, PlaneHealth& health, PeerGroups& groups)
      : peer_(peer),
        agreement_(agreement),
        reach_(reach),
        choice_(choice),
        flight_(flight),
        health_(health),
        groups_(groups) {}

  // `echo`: the nonce of the HELLO that this HELLO answers; 0: no HELLO.
  Hello MakeHello(bool reply_wanted, uint64_t echo) const;
  void SendHello(PlaneIndex plane, bool reply_wanted, uint64_t echo, Effects& effects) const {
    effects.Add(effect::Send{plane, MakeHello(reply_wanted, echo)});
  }
  // Requests the peer's HELLO over the planes in rotation, and changes nothing in an association.
  void RequestHello(Effects& effects);
  // The connections to the peer are out of step, and no acknowledgement will bring them back.
  void StartOver(Time now, Effects& effects);

  // ---- Facts.

  void OnHello(PlaneIndex plane, const Hello& hello, const ControlFacts& facts, Time now,
               Effects& effects);
  // Returns whether a control PDU names the two boots of the association. If not, sends a HELLO.
  bool IsOfAssociation(PlaneIndex plane, const Identities& named, Effects& effects) const;
  // A data PDU arrived on a connection that accepts none.
  void OnClosedData(PlaneIndex plane, PathConnection number, bool sequenced, RhOp op, Psn rpsn,
                    Time now, Effects& effects);
  // A sealed PDU of the peer cannot be opened: either end may have restarted.
  void OnUnopened(Time now, Effects& effects) {
    if (!agreement_.handshake.open()) Greet(now, effects);
  }
  // A queue waits, and no plane is usable.
  void OnWaiting(Time now, Effects& effects);
  void OnNewParams(Time now, Effects& effects);

  // ---- Time.

  void Arm(Effects& effects) const;
  void OnDeadline(Time now, Effects& effects);
  // The deadline has come, and no port can send: the deadline is postponed, and silence until then
  // does not count.
  void OnMute(Time now, Effects& effects);

 private:
  void Greet(Time now, Effects& effects);
  void OnAgreed(PlaneIndex plane, const Hello& hello, bool knows_us, Time now, Effects& effects);
  bool CheckHello(Time now, Effects& effects);
  void End(Time now, Effects& effects);
  void Open(Effects& effects);
  void SendProbes(Effects& effects) const;
  void OnPlain(Effects& effects);
  void OnSilence(Effects& effects);
  // Returns whether acknowledgements at an interval take the place of PLANEs.
  bool IsKeptAlive() const { return agreement_.handshake.open() && !peer_.paths->sessions; }
  void KeepAlive(Time now, Effects& effects);

  const PeerParts& peer_;
  Agreement& agreement_;
  Reach& reach_;
  PlaneChoice& choice_;
  FlightCount& flight_;
  PlaneHealth& health_;
  PeerGroups& groups_;
  Time keepalive_at_{};  // when KeepAlive is due, if IsKeptAlive
};

}  // namespace suede

#endif  // SUEDE_PEER_ASSOCIATION_H_
