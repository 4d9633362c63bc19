// Getting to know a peer's boot, so that its restart is recognised (docs/control-pdus.md, HELLO).
//
// Connections are static: both ends start with PSN 0. A restarted endpoint starts with PSN 0 again,
// which its peers would take for duplicates. So before it sends the first sequenced PDU to a peer
// an instance says which boot it is, in a HELLO, and holds its data until the peer has said that it
// knows, or until a few tries have had no answer: then the peer does not speak HELLO and the
// connection is used as it is. One Handshake per {instance, port, peer}; owned by one lcore.
#ifndef SUEDE_TRANSPORT_HANDSHAKE_H_
#define SUEDE_TRANSPORT_HANDSHAKE_H_

#include <cstdint>

#include "base/time.h"
#include "transport/params.h"

namespace suede {

// The part of a HELLO that the handshake lives on.
struct HelloFacts {
  uint32_t epoch = 0;       // the sender's boot, never 0
  uint32_t peer_epoch = 0;  // the receiver's boot as the sender knows it; 0: not yet
  bool reply_wanted = false;
  bool continuing = false;  // the sender has accepted sequenced PDUs of ours, or sent some
};

struct HelloVerdict {
  bool reset = false;  // the peer has restarted: reset its connections
  bool reply = false;  // answer with a HELLO
};

class Handshake {
 public:
  // Whether sequenced PDUs may leave.
  bool open() const { return open_; }

  // A PDU waits for this peer: starts greeting if nothing has.
  void OnDemand(Time now) {
    if (!open_ && !greeting_) {
      greeting_ = true;
      deadline_ = now;
    }
  }

  // When OnTimer wants to be called.
  Time deadline() const { return deadline_; }
  // True: send a HELLO that wants a reply. May open the handshake when the tries are used up.
  bool OnTimer(Time now, const TransportParams& params);
  // The parameters were changed: a wait that has begun ends no later than `params` have it.
  void OnNewParams(Time now, const TransportParams& params);

  // A HELLO came. `own_epoch` is this boot's; `has_history` whether PDUs were exchanged with the
  // peer.
  HelloVerdict OnHello(const HelloFacts& hello, uint32_t own_epoch, bool has_history);

  // Something other than a HELLO has shown that the peer knows this boot.
  void OnKnown();

  uint32_t peer_epoch() const { return peer_epoch_; }

 private:
  Time deadline_ = kNever;
  uint32_t peer_epoch_ = 0;
  uint8_t tries_ = 0;
  bool open_ = false;
  bool greeting_ = false;
};

}  // namespace suede

#endif  // SUEDE_TRANSPORT_HANDSHAKE_H_
