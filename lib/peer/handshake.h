// SPDX-License-Identifier: Apache-2.0
// Makes an association with a peer (docs/control-pdus.md, HELLO): identifies the two boots, so that
// a restart is recognised and nothing of a former boot is taken for this boot's.
//
// Takes facts and the time, returns verdicts and a deadline; sends nothing, reads no clock. One
// Handshake per {instance, peer}; owned by one lcore.
#ifndef SUEDE_PEER_HANDSHAKE_H_
#define SUEDE_PEER_HANDSHAKE_H_

#include <cstdint>

#include "base/secret_numbers.h"
#include "base/time.h"
#include "transport/params.h"
#include "wire/control_pdu.h"

namespace suede {

struct HelloVerdict {
  bool stranger = false;  // neither known nor verified: changes no state, and has to prove its
                          // identity
  bool new_peer = false;  // its identity is new: the sequences with the last boot are over
  bool verified = false;  // the HELLO answers a HELLO of ours
  bool knows_us = false;  // the HELLO names our identity
};

struct HandshakeTimerVerdict {
  bool hello = false;   // send a HELLO that requests a reply
  bool probe = false;   // probe the peer's connections: a plain peer answers a probe
  bool plain = false;   // the peer does not speak HELLO: its connections follow its answers
  bool silent = false;  // the peer has not answered in any way for too long
};

class Handshake {
 public:
  // Draws the random numbers; `plain`: the peer is known not to speak HELLO.
  void Begin(SecretNumbers& numbers, bool plain);

  // Whether sequenced PDUs may leave and are accepted: both ends have agreed, or the peer is plain.
  bool open() const { return open_; }
  bool plain() const { return plain_; }
  // Whether both ends have agreed: control PDUs are between these two boots.
  bool associated() const { return open_ && !plain_; }
  Identities identities() const { return {.own = own_, .peer = peer_}; }
  uint64_t nonce() const { return nonce_; }
  // First PSNs of generation 0, as sent in this association's HELLOs.
  const VcPsns& first() const { return first_; }
  void SetFirst(const VcPsns& first) { first_ = first; }

  // A PDU waits for this peer, or the peer has to prove its identity: begins to send HELLOs, unless
  // begun.
  void OnDemand(Time now);

  // When OnTimer is due.
  Time deadline() const { return deadline_; }
  // `idle`: the longest wait between HELLOs to a peer that is plain, silent or does not fit;
  // `patience`: the silence after which the verdict is `silent`.
  HandshakeTimerVerdict OnTimer(Time now, const TransportParams& params, Duration idle,
                                Duration patience);
  // Nothing can be sent: OnTimer is due again at `time`, and silence until then does not count.
  void Hold(Time time) { deadline_ = received_at_ = time; }
  // The quarter of the number space, 0 to 3, for the next probe: the peer may expect any PSN, and
  // answers PSNs ahead of it.
  uint32_t probe_quarter() const { return tries_ & 3; }
  // The parameters were changed: a wait that has begun ends no later than `params` permit.
  void OnNewParams(Time now, const TransportParams& params);

  // A HELLO arrived. The caller then calls Agree if the peer knows us and fits, and Refuse if it
  // does not fit. `is_pong`: the HELLO answers a HELLO that an operator had sent, and has its
  // nonce.
  HelloVerdict OnHello(const Hello& hello, Time now, SecretNumbers& numbers, bool is_pong = false);
  // Returns true if the association begins: the peer's first PSNs are those of this HELLO.
  bool Agree();
  // The peer does not fit: repeats the HELLO, after longer and longer waits.
  void Refuse(Time now, const TransportParams& params);
  // A NACK arrived from a peer without an association: the peer receives our frames, and may be
  // plain.
  void OnNack(Time now);

  // The connections are out of step: begins another association with the same peer.
  void StartOver(Time now, SecretNumbers& numbers);

 private:
  Duration Wait(const TransportParams& params, Duration idle) const;

  uint64_t own_ = 0;
  uint64_t peer_ = 0;
  uint64_t nonce_ = 0;
  Time deadline_ = kNever;
  Time received_at_{};  // or when the first HELLO was sent
  VcPsns first_{};
  uint8_t tries_ = 0;     // HELLOs without an answer
  uint8_t evidence_ = 0;  // HELLOs of `tries_` after which NACKs came
  bool open_ = false;
  bool plain_ = false;
  bool greeting_ = false;
  bool refused_ = false;
  bool speaks_hello_ = false;   // has been verified once: never plain
  bool has_nack_come_ = false;  // since the last HELLO
};

}  // namespace suede

#endif  // SUEDE_PEER_HANDSHAKE_H_
