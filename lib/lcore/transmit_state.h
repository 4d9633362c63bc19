// SPDX-License-Identifier: Apache-2.0
// The transmit state of an instance: its queues, its PDUs in flight, the credit that its peers have
// granted, and the sender's side of congestion control.
#ifndef SUEDE_LCORE_TRANSMIT_STATE_H_
#define SUEDE_LCORE_TRANSMIT_STATE_H_

#include <array>
#include <cstdint>
#include <vector>

#include "base/coordinates.h"
#include "congestion/context.h"
#include "credit/spender.h"
#include "lcore/params.h"
#include "lcore/trace.h"
#include "pack/scheduler.h"
#include "pack/shares.h"
#include "path/connection_map.h"
#include "pdu/pdu.h"

namespace suede {

class Link;
struct FrameShares;
struct PortContext;

struct TransmitState {
  // `home_port`: from whose pool the frames come. `instance_params` and the port outlive this
  // object.
  TransmitState(uint32_t instance, const InstanceParams& instance_params,
                const ConnectionMap& connections, PortContext& home_port);

  // The unit of shares: the queue that has the count of a {peer, VC}.
  uint32_t DestinationOf(PeerIndex peer, Vc vc) const {
    return Scheduler::IndexOf(peer, map.KeyOf(vc));
  }
  // Octets on the wire of `count` frames with `bytes` bytes of commands in total.
  uint32_t OctetsOf(uint32_t count, uint32_t bytes) const { return count * frame_octets + bytes; }
  // Octets on the wire of all PDUs in the queue.
  uint32_t OctetsOf(const TxQueue& queue) const {
    return queue.pdus.empty() ? 0 : queue.octets_ahead + OctetsOf(1, queue.pdus.tail()->bytes);
  }
  // `count` PDUs with `bytes` bytes of commands have been taken from the head of the queue.
  void OnTaken(TxQueue& queue, uint32_t count, uint32_t bytes) const {
    queue.octets_ahead = queue.pdus.empty() ? 0 : queue.octets_ahead - OctetsOf(count, bytes);
  }
  // Begins or ends to count bytes in recorded_bytes.
  void SetRecorded(bool recorded) {
    is_recorded = recorded;
    SetCountsSent();
  }
  // Begins or ends to trace PDUs; null: ends. `of_instance` outlives this object.
  void SetTrace(Trace* of_instance) {
    trace = of_instance;
    SetCountsSent();
  }
  // A connection has taken `count` PDUs from `first` on; while there is a trace.
  void TraceStaged(ConnectionIndex connection, Vc vc, const Pdu* first, uint32_t count, Time now);
  // `count` queued PDUs with `bytes` bytes of commands are in flight now.
  void OnLeft(uint32_t count, uint32_t bytes) {
    queued -= count;
    inflight += count;
    inflight_bytes += bytes;
  }
  // Puts the queues of the VCs of the mask on the lane of the plane.
  void SetLane(PeerIndex peer, uint32_t vcs, PlaneIndex plane) {
    for (uint32_t left = vcs; left != 0; left &= left - 1) {
      const auto vc = Lowest<Vc>(left);
      scheduler.queue(Scheduler::IndexOf(peer, vc)).lane = static_cast<uint8_t>(plane);
    }
  }
  // Whether packing treats the peer as unreachable on at least one VC; true for a peer without a
  // MAC address. AwaitsCredit: whether a queue waits for the peer's credit.
  bool IsUnreachable(PeerIndex peer) const {
    for (Vc vc = 0; vc < kVcCount; ++vc) {
      if (scheduler.queue(Scheduler::IndexOf(peer, vc)).lost) return true;
    }
    return false;
  }
  bool AwaitsCredit(PeerIndex peer) const {
    for (Vc vc = 0; vc < kVcCount; ++vc) {
      if (credit[Scheduler::IndexOf(peer, vc)].waiting()) return true;
    }
    return false;
  }
  // Whether congestion control lets a PDU with `bytes` bytes of commands leave.
  bool Permits(PathIndex path, uint32_t bytes) const {
    return !is_paced || contexts[path].Allows(OctetsOf(1, bytes));
  }

  const uint32_t number;  // of the instance, in the pipeline
  const ConnectionMap map;
  const InstanceParams& params;
  Link& home;                // of the port from whose pool the frames come
  const uint32_t lanes;      // of the scheduler. With strict ordering a queue is on the lane of its
                             // home plane.
  const bool lane_is_plane;  // PDUs take the plane of their queue's lane,
  const bool has_homes;      // which is one of several
  const bool spreads;        // each PDU may take any of several planes or sessions
  bool parked = false;       // on the run queue's list of instances that wait for a pause's end
  uint8_t active_lanes = 0;  // on the run queue, a mask
  uint32_t frame_octets = 0;  // on the wire, of a frame without its commands: with preamble and gap
  uint32_t largest_pack_bytes;  // the largest pack limit so far: PDUs of that size may wait
  uint32_t queued = 0;          // PDUs packed and not yet sent
  uint32_t inflight = 0;        // PDUs, and bytes of commands in them
  uint64_t inflight_bytes = 0;
  Shares held;  // by destination, as FrameShares::held; bound: inflight_pdus
  FrameShares& shares;
  std::vector<CreditSpender> credit;  // [queue]
  std::vector<uint8_t> blocked;       // [peer]: VCs whose queue waits for a connection, a mask
  std::vector<Pdu*> last_given_up;    // [connection]: its frame is ours until the connection
                                      // resumes
  std::vector<uint8_t> flags;         // [connection], of:
  static constexpr uint8_t kOnRetransmit = 1;  // on the port's list of retransmissions
  static constexpr uint8_t kAwaitsPermit = 2;  // a retransmission waits for a permit

  // Congestion control, the sender's side of each plane; empty if there are only windows.
  const bool is_paced;                      // there is congestion control
  uint32_t first_context = 0;               // of its timers
  std::vector<CongestionContext> contexts;  // [path]
  std::vector<uint8_t> changed;             // [path]: on CongestionUse's list of changed contexts
  std::vector<uint32_t> flying;             // [connection]: octets in flight, as contexts count

  Scheduler scheduler;

  // Bytes of commands sent for the first time on each plane and VC (ConnectionMap::KeyOf), while
  // there is a recording.
  bool is_recorded = false;
  Trace* trace = nullptr;
  bool counts_sent =
      is_paced;  // PDUs that leave concern congestion control, a recording or a trace
  std::array<std::array<uint64_t, kVcCount>, kMaxPlanes> recorded_bytes{};

 private:
  void SetCountsSent() { counts_sent = is_paced || is_recorded || trace != nullptr; }
};

}  // namespace suede

#endif  // SUEDE_LCORE_TRANSMIT_STATE_H_
