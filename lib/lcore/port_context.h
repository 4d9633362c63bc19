// SPDX-License-Identifier: Apache-2.0
// The pipeline's state of a queue pair of a port: its link, and the lcore's instances on it: their
// addresses, connections with pending retransmissions or acknowledgements, shares of frames.
#ifndef SUEDE_LCORE_PORT_CONTEXT_H_
#define SUEDE_LCORE_PORT_CONTEXT_H_

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "base/coordinates.h"
#include "base/fifo.h"
#include "base/time.h"
#include "lcore/params.h"
#include "lcore/seal_batch.h"
#include "link/link.h"
#include "pack/shares.h"
#include "port/frame_tap.h"
#include "port/port.h"

namespace suede {

// A connection of an instance, by number.
struct ConnectionRef {
  uint32_t instance;
  ConnectionIndex connection;
};

// An acknowledgement that may wait to be piggybacked on data.
struct AckDue {
  uint32_t instance;
  ConnectionIndex connection;
  Time since;
};
struct DelayedAcks {
  explicit DelayedAcks(const TransportParams& params) { Take(params); }
  void Take(const TransportParams& params) {
    delay = params.ack_delay;
    bound = params.ack_bound();
    quiet = params.ack_delay / 8;
  }
  bool IsFor(const TransportParams& params) const {
    return delay == params.ack_delay && bound == params.ack_bound();
  }

  Duration delay{};  // until an acknowledgement may leave,
  Duration bound{};  // and until it has to
  Duration quiet{};  // a port that has received nothing for this long has no load
  Fifo<AckDue> due;  // in order of time
};

// Bounds the delayed acknowledgements that a port sends while it receives: PDUs that the peers send
// in the meantime are acknowledged together with earlier PDUs.
struct AckBudget {
  static constexpr uint32_t kPdusOfAck = 8;
  static constexpr uint32_t kMaxPdus = 2 * kBurst;

  uint32_t pdus = 0;  // received, and not yet spent on acknowledgements
  Time received_at{};

  void OnReceived(uint32_t frames, Time now) {
    pdus = std::min(pdus + frames, kMaxPdus);
    received_at = now;
  }
  bool HasAck() const { return pdus >= kPdusOfAck; }
  void Spend() { pdus -= std::min(pdus, kPdusOfAck); }
};

// A transmit queue of an instance, by numbers.
struct QueueRef {
  uint32_t instance;
  uint32_t queue;
};

// Shares of a port's pool of frames for the commands of one pipeline's instances, so that enough
// frames are left for received frames and control PDUs. The queue pairs of a device share them.
struct FrameShares {
  static constexpr uint32_t kMaxOwnPacked = 16;
  static constexpr uint32_t kMaxOwnHeld = 32;
  Shares packed;           // by client queue: in PDUs that have not left yet
  Shares held;             // by destination: in PDUs that have left, until they end
  Fifo<QueueRef> waiting;  // queues whose destination has its share of `held`
};

struct PortContext {
  PortContext(Port* driver, const PortParams& port_params, PacketLane* packet_lane)
      : link(driver, port_params.link, packet_lane),
        params(port_params),
        tx_offload(OffloadOf(link, port_params.rules.encap)) {}

  // The fields of an encapsulation's headers that the device can fill in, below the link's layers.
  static TxOffload OffloadOf(const Link& link, Encap encap) {
    return encap == Encap::kUdp6 && link.Offers(TxOffload::kUdp6Checksum) ? TxOffload::kUdp6Checksum
                                                                          : TxOffload::kNone;
  }

  // A plane of an instance, by their numbers.
  struct Location {
    static constexpr uint32_t kNowhere = ~0u;
    // Another lcore has the address: `plane` is the number of that neighbour.
    static constexpr uint32_t kElsewhere = kNowhere - 1;
    uint32_t instance = kNowhere;
    PlaneIndex plane = 0;
  };
  // The plane that has the address; kNowhere: none.
  Location LocationOf(const NetAddress& address) {
    return address == last_found->first ? last_found->second : FindLocation(address);
  }
  // LocationOf for another address than the last frame's. By value: the caller's copy need not be
  // in memory.
  [[gnu::noinline]] Location FindLocation(NetAddress address) {
    const auto found = place_by_address.find(address);
    if (found == place_by_address.end()) return {};
    last_found = &*found;
    return found->second;
  }

  void AddLocation(const NetAddress& address, const Location& place) {
    place_by_address[address] = place;
    last_found = &kNobody;
  }

  // The classes of VCs and of PDUs without commands, for pauses (docs/pfc.md) and credit
  // (docs/link.md).
  void SetPauseClasses(const std::array<TrafficClass, kVcCount>& of_vc, const TrafficClass& of_ack);

  // Rate at which senders that request credit may send to the port, of octets on the wire.
  uint64_t ReceiveRate() const {
    if (params.receive_bps != 0) return params.receive_bps;
    const uint64_t rate = RateOf(params.rate_bps, link.state().speed_bps);
    return rate - rate / 200;
  }

  Link link;
  SealBatch seals;  // frames that are staged and wait to be sealed

  const PortParams params;
  const TxOffload tx_offload;  // the fields that the device fills in, of every frame
  uint32_t first_pair = 0;     // the port that has the first queue pair of the device here
  bool usable = false;         // as last checked: the port has a link, and is not down
  uint64_t speed_bps = 0;      // of its link, as last passed to congestion control; 0: not known
  using Places = absl::flat_hash_map<NetAddress, Location>;
  Places place_by_address;
  // The entry that the last frame found: frames arrive in runs. Initially an entry that no frame
  // matches.
  static const Places::value_type kNobody;
  const Places::value_type* last_found = &kNobody;
  Fifo<ConnectionRef> retransmit;         // connections with PDUs to retransmit, in turn
  Fifo<ConnectionRef> paused_retransmit;  // connections whose next PDU waits for a pause's end
  Fifo<ConnectionRef> ack_now;            // connections with an acknowledgement to send without
                                          // delay
  std::vector<DelayedAcks> ack_due;       // and with delay: a list for each delay of the instances
  AckBudget ack_budget;

  FrameShares own_shares;
  FrameShares* shares = &own_shares;  // of the device's first pair here

  TapPoint drops;  // copies received frames that are dropped
};
inline const PortContext::Places::value_type PortContext::kNobody{
    {.high = ~uint64_t{0}, .low = ~uint64_t{0}}, {}};

// The ports of an instance's planes, in order; the first is the port from whose pool the
// instance's frames come.
using PlanePorts = std::vector<PortContext*>;

}  // namespace suede

#endif  // SUEDE_LCORE_PORT_CONTEXT_H_
