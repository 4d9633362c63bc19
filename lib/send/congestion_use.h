// SPDX-License-Identifier: Apache-2.0
// The sender's side of congestion control (docs/congestion.md): tells the context of each {peer,
// plane} the facts, sends its requests for credit, and lets PDUs go on that it held back. Owned by
// the lcore.
//
// Nothing of it is called where an instance sends by windows alone (Instance::is_paced).
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
  // Both outlive this.
  CongestionUse(Lcore& lcore, RunQueue& run_queue) : lcore_(lcore), run_queue_(run_queue) {}

  // For one more instance, before the first turn.
  void AddInstance(Instance& instance);

  // ---- Facts.

  // An association with the peer has begun, or is over, or the peer turned out to be plain: all of
  // its planes start anew, as its HELLO permits.
  void Start(Instance& instance, PeerIndex peer);
  // The link of the plane's port has another speed.
  static void OnLinkSpeed(Instance& instance, PlaneIndex plane);
  // PDUs of `octets` on the wire have left, new ones or once more.
  void OnSent(Instance& instance, ConnectionIndex connection, uint32_t octets, Time now) {
    const PathIndex path = instance.map.PathOf(connection);
    instance.flying[connection] += octets;
    instance.congestion[path].OnSent(octets, now);
    UpdateTimer(instance, path);
  }
  // The `acked` PDUs of the connection were acknowledged, with `bytes` of commands.
  void OnAcked(Instance& instance, ConnectionIndex connection, const PduList& acked, uint32_t bytes,
               Time now);
  // The connection goes back: what is in flight has to be sent again.
  void OnGoBack(Instance& instance, ConnectionIndex connection, Time now);
  // PDUs in flight on the plane have ended otherwise.
  void OnEnded(Instance& instance, PeerIndex peer, PlaneIndex plane, Time now);
  // The peer's grant and echo.
  void OnCongestion(Instance& instance, PeerIndex peer, PlaneIndex plane, const Congestion& heard,
                    Time now);

  // ---- Verdicts.

  // Bytes of commands that a run of up to `count` PDUs may have.
  static uint32_t BytesFor(const Instance& instance, PeerIndex peer, PlaneIndex plane,
                           uint32_t count);
  // A queue of the peer, whose next PDU has `bytes` of commands, was blocked: by its contexts, or
  // for another reason.
  void OnBlocked(Instance& instance, PeerIndex peer, uint32_t bytes);
  // Whether the connection's next PDU to send again has to wait; it comes back by itself.
  bool DefersRetransmission(Instance& instance, ConnectionIndex connection);
  // Whether it waits although the peer grants credit: time that passes is no try then.
  static bool IsHeldBack(const Instance& instance, ConnectionIndex connection);

  // ---- Time.

  // Once in a turn, before PDUs are staged. Returns whether something was due.
  bool Poll(Time now) { return !of_timer_.empty() && OnTime(now); }
  // Once in a turn, behind them: requests of contexts that were looked at.
  void SendRequests(Time now) {
    if (!looked_at_.empty()) SendRequestsOfThose(now);
  }

 private:
  struct ContextRef {
    uint32_t instance;
    PathIndex path;
  };

  void UpdateTimer(Instance& instance, PathIndex path) {
    if (instance.looked_at[path] != 0) return;
    instance.looked_at[path] = 1;
    looked_at_.push_back({instance.number, path});
  }
  bool OnTime(Time now);
  void SendRequestsOfThose(Time now);
  bool SendRequest(Instance& instance, PathIndex path, Time now);
  void Wake(Instance& instance, PeerIndex peer, PlaneIndex plane);
  static uint64_t BacklogOf(const Instance& instance, PeerIndex peer, PlaneIndex plane);
  void EmitNoGrant(const Instance& instance, PeerIndex peer, PlaneIndex plane);
  static bool HasInFlight(const Instance& instance, PeerIndex peer, PlaneIndex plane);

  Lcore& lcore_;
  RunQueue& run_queue_;
  Fifo<ContextRef> looked_at_;
  FineTimerWheel wheel_;
  std::vector<ContextRef> of_timer_;
  // Echoes are cumulative: as last heard.
  struct Echo {
    uint32_t received = 0;
    uint32_t marked = 0;
    uint32_t trimmed = 0;
    bool no_grant = false;  // an event has told that the peer grants none
  };
  std::vector<Echo> heard_;  // by timer
};

}  // namespace suede

#endif  // SUEDE_SEND_CONGESTION_USE_H_
