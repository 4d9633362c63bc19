// SPDX-License-Identifier: Apache-2.0
// The sender's side of congestion control (docs/congestion.md): passes facts to the context of each
// {peer, plane}, sends its requests for credit, and wakes PDUs that it held back. Owned by the
// lcore.
//
// Not called for instances that only windows limit (TransmitState::is_paced).
#ifndef SUEDE_SEND_CONGESTION_USE_H_
#define SUEDE_SEND_CONGESTION_USE_H_

#include <cstdint>
#include <vector>

#include "base/coordinates.h"
#include "base/fifo.h"
#include "base/timer_wheel.h"
#include "lcore/lcore.h"
#include "send/run_queue.h"

namespace suede {

class CongestionUse {
 public:
  // Both arguments outlive this object.
  CongestionUse(Lcore& lcore, RunQueue& run_queue) : lcore_(lcore), run_queue_(run_queue) {}

  // Adds an instance, before the first poll iteration.
  void AddInstance(Instance& instance);

  // ---- Facts.

  // An association with the peer has begun or ended, or the peer turned out to be plain: restarts
  // all of its planes, as its HELLO permits.
  void Start(Instance& instance, PeerIndex peer);
  // The link of the plane's port has another speed.
  static void OnLinkSpeed(Instance& instance, PlaneIndex plane);
  // PDUs of `octets` on the wire have left, new or retransmitted.
  void OnSent(TransmitState& tx, ConnectionIndex connection, uint32_t octets, Time now) {
    const PathIndex path = tx.map.PathOf(connection);
    tx.flying[connection] += octets;
    tx.contexts[path].OnSent(octets, now);
    OnChanged(tx, path);
  }
  // The `acked` PDUs of the connection were acknowledged, with `bytes` of commands.
  void OnAcked(Instance& instance, ConnectionIndex connection, const PduList& acked, uint32_t bytes,
               Time now);
  // The connection goes back: PDUs in flight have to be retransmitted.
  void OnGoBack(const PeerArrays& peers, TransmitState& tx, PortContext& port,
                ConnectionIndex connection, Time now);
  // PDUs of the connection in flight are lost, and have to be retransmitted.
  void OnWanted(Instance& instance, ConnectionIndex connection, const InFlight::Wanted& wanted,
                Time now);
  // PDUs in flight on the path, of the plane's port, have ended without an acknowledgement.
  void OnEnded(const PeerArrays& peers, TransmitState& tx, PortContext& port, PathIndex path,
               Time now);
  // The peer's grant and echo.
  void OnCongestion(Instance& instance, PeerIndex peer, PlaneIndex plane, const Congestion& message,
                    Time now);

  // ---- Verdicts.

  // Bytes of commands that a run of up to `count` PDUs may have.
  static uint32_t BytesFor(const TransmitState& tx, PathIndex path, uint32_t count);
  // A queue of the peer, whose next PDU has `bytes` of commands, was blocked: by its contexts, or
  // for another reason.
  void OnBlocked(const PeerArrays& peers, TransmitState& tx, CounterBlock& counters, PeerIndex peer,
                 uint32_t bytes);
  // Whether the connection's next retransmission, of `bytes` of commands, has to wait; Wake puts
  // the connection back on the list.
  bool DefersRetransmission(TransmitState& tx, ConnectionIndex connection, uint32_t bytes);
  // Whether the retransmission waits although the peer grants credit: timeouts count as no tries
  // then.
  static bool IsHeldBack(const TransmitState& tx, ConnectionIndex connection);

  // ---- Time.

  // Called once in a poll iteration, before PDUs are staged. Returns whether a timer was due.
  bool Poll(Time now) { return !of_timer_.empty() && OnTime(now); }
  // Called once in a poll iteration, after PDUs are staged: sends requests of contexts that have
  // changed.
  void SendRequests(Time now) {
    if (!changed_.empty()) SendChanged(now);
  }

 private:
  struct ContextRef {
    uint32_t instance;
    PathIndex path;
  };

  // Puts the context on the list of changed contexts.
  void OnChanged(TransmitState& tx, PathIndex path) {
    if (tx.changed[path] != 0) return;
    tx.changed[path] = 1;
    changed_.push_back({tx.number, path});
  }
  bool OnTime(Time now);
  void SendChanged(Time now);
  bool SendRequest(Instance& instance, PathIndex path, Time now);
  void Wake(const PeerArrays& peers, TransmitState& tx, PortContext& port, PathIndex path);
  static uint64_t BacklogOf(const PeerArrays& peers, const TransmitState& tx, PathIndex path);
  void EmitNoGrant(const Instance& instance, PeerIndex peer, PlaneIndex plane);
  static bool HasInFlight(const PeerArrays& peers, PathIndex path);

  Lcore& lcore_;
  RunQueue& run_queue_;
  Fifo<ContextRef> changed_;
  FineTimerWheel wheel_;
  std::vector<ContextRef> of_timer_;
  // The last echo; its counts are cumulative.
  struct Echo {
    uint32_t received = 0;
    uint32_t marked = 0;
    uint32_t trimmed = 0;
    bool no_grant = false;  // an event was emitted that the peer grants no credit
  };
  std::vector<Echo> echoes_;  // by timer
};

}  // namespace suede

#endif  // SUEDE_SEND_CONGESTION_USE_H_
