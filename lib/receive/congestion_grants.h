// SPDX-License-Identifier: Apache-2.0
// The receiver's side of congestion control (docs/congestion.md): sends grants to peers that
// request credit, at the rate that a port receives and as far as receive rings have room; and
// echoes of marks to peers that request echoes. Owned by the lcore.
//
// Each plane of an instance is a target of its own, so that a client that does not read stops only
// its own senders. The targets of a port share its rate by the number of senders that request
// credit, across lcores too; a target that can grant to none of them leaves the rate to the others.
#ifndef SUEDE_RECEIVE_CONGESTION_GRANTS_H_
#define SUEDE_RECEIVE_CONGESTION_GRANTS_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "base/coordinates.h"
#include "base/fifo.h"
#include "congestion/target.h"
#include "lcore/lcore.h"
#include "receive/deliver.h"

namespace suede {

class CongestionGrants {
 public:
  // `lcore` outlives this object.
  explicit CongestionGrants(Lcore& lcore) : lcore_(lcore) {}

  // Adds an instance, before the first poll iteration.
  void AddInstance(Instance& instance);

  // ---- Facts.

  // The link of the plane's port has another speed.
  void OnLinkSpeed(const Instance& instance, PlaneIndex plane);
  // A peer requests credit.
  void OnRequest(Instance& instance, PeerIndex peer, PlaneIndex plane, const Congestion& request,
                 Time now);
  // PDUs with commands have arrived on a connection, `pdus` in a row, of `bytes` in total;
  // `marked`: each has a mark. Only called if ReceivedMarks::is_counted.
  void OnReceived(Instance& instance, ConnectionIndex connection, uint32_t pdus, uint64_t bytes,
                  bool marked);
  // PDUs have taken lines of receive rings.
  void OnDelivered(uint32_t instance, const DeliveredRun& run);
  // A PDU has arrived without its commands.
  void OnTrimmed(ReceiveState& rx, PathIndex path);
  // The association with the peer is over.
  void Forget(ReceiveState& rx, PeerArrays& peers, PeerIndex peer);

  // ---- Called once in a poll iteration.

  // Sends the grants and echoes that are due.
  void Send(Time now) {
    if (!active_.empty()) SendGrants(now);
    if (!echoes_.empty()) SendEchoes();
  }
  // Called periodically.
  void PublishGauges() const;

  // The grants of a plane.
  struct State {
    uint64_t outstanding = 0;          // octets, granted and not arrived
    std::optional<uint64_t> rate_bps;  // nullopt: no peer requests credit
  };
  State StateOf(const Instance& instance, PlaneIndex plane) const;

  // Aborts if a sum differs from its parts.
  void CheckInvariants() const;

 private:
  struct Target {
    explicit Target(const TargetParams& params) : credit(params) {}
    CreditTarget credit;
    uint32_t instance = 0;
    PlaneIndex plane = 0;
    uint32_t shown = 0;   // of PortParams::rate_share: this target's claims,
    uint32_t others = 0;  // and the others' claims when last read
    bool listed = false;  // on active_
  };
  struct EchoRef {
    uint32_t instance;
    PathIndex path;
  };

  static TargetParams ParamsOf(const Instance& instance, PlaneIndex plane);
  Target& TargetOf(uint32_t instance, PlaneIndex plane) {
    return *targets_[first_target_[instance] + plane];
  }
  void SendGrants(Time now);
  bool SendGrantsOf(Target& target, Time now);
  void SendEchoes();
  std::atomic<uint32_t>& ClaimsOf(const Target& target) const;
  uint32_t OthersOf(const Target& target) const {
    return ClaimsOf(target).load(std::memory_order_relaxed) - target.shown;
  }
  void ShowClaims(Target& target);
  void WantEcho(ReceiveState& rx, PathIndex path);
  uint64_t RoomOf(const ReceiveState& rx) const;

  Lcore& lcore_;
  std::vector<std::unique_ptr<Target>> targets_;
  std::vector<uint32_t> first_target_;     // by instance
  std::vector<uint32_t> octets_of_lines_;  // by instance: of recent frames, that 16 lines held
  std::vector<Target*> active_;            // targets that may have a grant to send
  Fifo<EchoRef> echoes_;
};

}  // namespace suede

#endif  // SUEDE_RECEIVE_CONGESTION_GRANTS_H_
