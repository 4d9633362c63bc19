// SPDX-License-Identifier: Apache-2.0
// A queue pair of a port as the pipeline uses it: the burst being staged, frames to hand, frames to
// give back.
#ifndef SUEDE_PIPELINE_PORT_CONTEXT_H_
#define SUEDE_PIPELINE_PORT_CONTEXT_H_

#include <array>
#include <cstdint>
#include <new>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "base/fifo.h"
#include "base/time.h"
#include "pack/shares.h"
#include "pdu/pdu.h"
#include "pipeline/departures.h"
#include "pipeline/handover.h"
#include "pipeline/packet_lane.h"
#include "pipeline/params.h"
#include "port/port.h"
#include "stats/counters.h"

namespace suede {

inline constexpr uint32_t kBurst = 32;
inline constexpr uint32_t kFront = 32;  // places in front of a burst's data

inline Pdu* PduOf(Frame* frame) { return std::launder(reinterpret_cast<Pdu*>(frame->notes)); }
inline Frame* FrameOf(Pdu* pdu) {
  return reinterpret_cast<Frame*>(reinterpret_cast<std::byte*>(pdu) - offsetof(Frame, notes));
}

// A connection of an instance, by number.
struct ConnectionRef {
  uint32_t instance;
  uint32_t connection;
};

// An acknowledgement that may wait for data to ride on.
struct AckDue {
  uint32_t instance;
  uint32_t connection;
  Time since;
};
struct DelayedAcks {
  Duration delay;
  Fifo<AckDue> due;  // in order of time
};

// A transmit queue of an instance, by numbers.
struct QueueRef {
  uint32_t instance;
  uint32_t queue;
};

// Frames of a port's pool that the instances of one pipeline pack their commands into: who may have
// how many, so that enough are left for what is received and for what the transport says on its own
// account. The queue pairs of a device have them together.
struct FrameShares {
  static constexpr uint32_t kMostOwnPacked = 16;
  static constexpr uint32_t kMostOwnHeld = 32;
  Shares packed;           // by client queue: in PDUs that have not left yet
  Shares held;             // by destination: in PDUs that have left, until they end
  Fifo<QueueRef> waiting;  // those whose destination has its share of `held`
};

struct PortContext {
  PortContext(Port* driver, const PortParams& port_params, PacketLane* packet_lane)
      : port(driver),
        params(port_params),
        packets(packet_lane),
        tx_offload(OffloadOf(*driver, port_params.rules.encap)) {}

  // What the device can fill in of the headers of an encapsulation.
  static TxOffload OffloadOf(const Port& driver, Encap encap) {
    const TxOffload wanted = encap == Encap::kUdp4   ? TxOffload::kIpv4Checksum
                             : encap == Encap::kUdp6 ? TxOffload::kUdp6Checksum
                                                     : TxOffload::kNone;
    return driver.Offers(wanted) ? wanted : TxOffload::kNone;
  }

  // ---- Frames.

  // Whether `count` frames are at hand (at most kBurst); asks the pool where they are not.
  bool HasFrames(uint32_t count) {
    if (spare_count >= count) return true;
    spare_count += port->Allocate(spare.data() + spare_count, kBurst);
    return spare_count >= count;
  }
  // A frame with a fresh descriptor. HasFrames(1) must hold.
  Pdu* NewPdu() {
    Frame* frame = spare[--spare_count];
    Pdu* pdu = new (frame->notes) Pdu;
    pdu->commands = frame->buffer + Frame::kCommandOffset;
    return pdu;
  }
  void Release(Frame* frame) {
    released[released_count++] = frame;
    if (released_count == released.size()) FlushReleased();
  }
  void FlushReleased() {
    if (released_count == 0) return;
    port->Release(released.data(), released_count);
    released_count = 0;
  }
  // Gives a PDU's frame back, at once or when the port has taken it.
  void ReleasePdu(Pdu* pdu) {
    if (pdu->staged) {
      pdu->orphaned = true;
    } else if (!pdu->held) {
      Release(FrameOf(pdu));
    }
  }

  // A plane of an instance, by their numbers.
  struct Place {
    static constexpr uint32_t kNowhere = ~0u;
    // Another lcore has it: `plane` is then the number of that neighbour.
    static constexpr uint32_t kElsewhere = kNowhere - 1;
    uint32_t instance = kNowhere;
    uint32_t plane = 0;
  };
  // The one that has the address; kNowhere: none.
  Place PlaceAt(const NetAddress& address) {
    if (last_place.instance != Place::kNowhere && address == last_destination) return last_place;
    const auto found = place_by_address.find(address);
    if (found == place_by_address.end()) return {};
    last_destination = address;
    return last_place = found->second;
  }

  // ---- The burst being staged.

  // Acknowledgements and control PDUs have places of their own, in front of data.
  bool HasFrontRoom() const { return front_count < kFront && !down; }
  void StageFront(Pdu* pdu) {
    pdu->staged = true;
    front[front_count++] = FrameOf(pdu);
  }
  bool HasStageRoom() const { return staged_count < kBurst && !down; }
  void Stage(Pdu* pdu) {
    pdu->staged = true;
    staged()[staged_count++] = FrameOf(pdu);
  }
  Frame** staged() { return burst.data() + kFront; }
  // Takes PDUs out of the burst that have moved to another plane, or were given up.
  void UnstageMoved();
  // Hands the staged frames to the port; what it does not take stays staged, in order.
  void TransmitStaged(CounterBlock& counters, Time now);
  Frame** PutInFront(bool data_leads);
  void KeepRest(Frame** first, uint32_t sent, bool data_leads);
  // Since when nothing leaves (departures.h), as whoever waits for an answer to `oldest` sees it;
  // null: to nothing that is kept.
  Time HeldSince(Pdu* oldest, Duration least, Time now);

  Departures departures;

  Port* const port;
  const PortParams params;
  PacketLane* const packets;  // management packets; null: none
  const TxOffload tx_offload;  // what the device fills in of every frame
  uint32_t first_pair = 0;     // the port that has the first queue pair of the device here
  bool down = false;           // by the operator: as Instance::down, for all that use the port
  bool usable = false;         // as last seen: it has a link, and is not down
  absl::flat_hash_map<NetAddress, Place> place_by_address;
  // The entry that the last frame found: frames come in runs.
  NetAddress last_destination;
  Place last_place;
  Fifo<ConnectionRef> retransmit;    // connections with PDUs to send again, in turn
  Fifo<ConnectionRef> ack_now;       // those that owe an acknowledgement without delay
  std::vector<DelayedAcks> ack_due;  // and with delay: a list for each delay of the instances

  bool is_shared() const { return !neighbours.empty(); }
  // Lcores that share the port, where there are any.
  struct Neighbour {
    HandoverRing* from;
    HandoverRing* to;
  };
  std::vector<Neighbour> neighbours;
  size_t next_neighbour = 0;   // whose frames are taken first in the next turn
  uint32_t handed_frames = 0;  // those of this turn, which who received them has counted,
  uint64_t handed_bytes = 0;   // and bytes in them
  const PacketLane* packets_elsewhere = nullptr;  // where `packets` is a neighbour's,
  HandoverRing* packets_at = nullptr;             // and the way there

  FrameShares own_shares;
  FrameShares* shares = &own_shares;  // of the device's first pair here

  std::array<Frame*, kFront> front{};
  uint32_t front_count = 0;
  std::array<Frame*, kFront + kBurst> burst{};  // data, behind room for what goes in front of it
  uint32_t staged_count = 0;
  bool data_first = false;   // the last burst took nothing but what was in front
  bool resends_odd = false;  // of an odd number of places: retransmissions get one more
  std::array<Frame*, 2 * kBurst> spare{};
  uint32_t spare_count = 0;
  std::array<Frame*, 2 * kBurst> released{};
  uint32_t released_count = 0;
};

}  // namespace suede

#endif  // SUEDE_PIPELINE_PORT_CONTEXT_H_
