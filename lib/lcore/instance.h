// SPDX-License-Identifier: Apache-2.0
// One SUE instance: the state that an lcore keeps for one {XPU, instance number}.
#ifndef SUEDE_LCORE_INSTANCE_H_
#define SUEDE_LCORE_INSTANCE_H_

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/coordinates.h"
#include "congestion/context.h"
#include "credit/credit.h"
#include "lcore/params.h"
#include "lcore/ping.h"
#include "lcore/settings.h"
#include "lcore/snapshot.h"
#include "pack/scheduler.h"
#include "pack/shares.h"
#include "path/connection_map.h"
#include "path/own_end.h"
#include "path/peer_paths.h"
#include "path/plane_session.h"
#include "path/session_group.h"
#include "peer/peer.h"
#include "seal/sealed_peer.h"
#include "stats/counters.h"
#include "stats/gauges.h"
#include "stats/histograms.h"
#include "transport/connection.h"
#include "wire/encap.h"

namespace suede {

// Counters, gauges and histograms of an instance: written by its lcore, read by any thread.
struct InstanceStats {
  CounterBlock counters;
  GaugeBlock gauges;
  HistogramBlock histograms;
};

struct PortContext;

// Counts of the PDUs that an instance has received from a peer on a plane, modulo 2^32, for a peer
// that requests echoes (docs/control-pdus.md, CONGESTION).
struct ReceivedMarks {
  uint32_t received = 0;
  uint32_t marked = 0;
  uint32_t trimmed = 0;
  uint64_t sessions = 0;  // slots of the PDUs marked since the last echo, a mask
  bool wanted = false;    // the peer requests echoes
  bool asks = false;      // the peer has requested credit
  bool due = false;       // on the list of marks to be echoed
  bool is_counted() const { return wanted | asks; }
};

struct Instance {
  static constexpr uint16_t kNoPeer = 0xffff;
  static constexpr uint32_t kAckClass = kVcCount;  // of PDUs without commands
  static constexpr uint32_t kClasses = kVcCount + 1;

  // `plane_ports` are those of params.planes, in order.
  Instance(const InstanceParams& instance_params, const std::vector<PortContext*>& plane_ports,
           InstanceStats* stats);

  bool is_strict() const { return params.paths.ordering == Ordering::kStrict; }
  // Lanes of the scheduler. With strict ordering a queue is on the lane of its home plane.
  uint32_t lanes() const { return is_strict() ? map.plane_count() : 1; }
  bool has_groups() const { return map.has_groups(); }
  // The unit of shares: the queue that has the count of a {peer, VC}.
  uint32_t DestinationOf(PeerIndex peer, Vc vc) const {
    return Scheduler::IndexOf(peer, map.KeyOf(vc));
  }
  uint32_t destination_count() const {
    return static_cast<uint32_t>(params.peers.size()) * map.vc_count();
  }
  // The header of a connection's session.
  const HeaderTemplate& header(ConnectionIndex connection, uint32_t traffic_class) const {
    return headers[map.SessionAt(connection) * kClasses + traffic_class];
  }
  PlaneSession& session(PeerIndex peer, PlaneIndex plane) {
    return sessions[map.PathAt(peer, plane)];
  }
  SessionGroup& GroupOf(PeerIndex peer, PlaneIndex plane) {
    return groups[map.PathAt(peer, plane)];
  }
  const SessionGroup& GroupOf(PeerIndex peer, PlaneIndex plane) const {
    return groups[map.PathAt(peer, plane)];
  }
  // Whether the MAC address of the peer is not known yet on the plane.
  bool IsResolving(PeerIndex peer, PlaneIndex plane) const {
    return (paths[peer].resolving & 1u << plane) != 0;
  }
  // The port from whose pool the instance's frames come.
  PortContext& home() const { return *ports[0]; }
  Peer& peer_of(ConnectionIndex connection) { return peers[map.PeerOf(connection)]; }
  ConnectionState StateOf(ConnectionIndex connection) const;
  // Whether the operator has taken the instance down, or each of its planes with its port.
  bool IsOutOfService() const;
  // Whether packing treats the peer as unreachable on at least one VC; true for a peer without a
  // MAC address.
  bool IsUnreachable(PeerIndex peer) const;
  // Whether a connection on a usable plane is paused, or a queue waits for the peer's credit.
  bool IsPaused(PeerIndex peer) const;
  // Whether the next PDU to the peer, with `bytes` bytes of commands, may take the plane; CanSend:
  // and whether a connection can take the PDU, too.
  bool MayTake(PeerIndex peer, PlaneIndex plane, Vc vc, uint32_t bytes) const {
    return (paths[peer].choice[vc] & 1u << plane) != 0 && Permits(peer, plane, bytes);
  }
  bool CanSend(PeerIndex peer, PlaneIndex plane, Vc vc, uint32_t bytes) const {
    return (paths[peer].choice[vc] & 1u << plane) != 0 &&
           (has_groups()
                ? AnySessionCan(peer, plane, vc, bytes)
                : connections[map.At(peer, plane, 0, vc)].tx().CanSend(bytes, params.transport)) &&
           Permits(peer, plane, bytes);
  }
  // Whether the connection of one of the plane's sessions can take the PDU.
  bool AnySessionCan(PeerIndex peer, PlaneIndex plane, Vc vc, uint32_t bytes) const {
    return RunGoesOn(peer, plane, vc, bytes) || AnyOpenCan(peer, plane, vc, bytes);
  }
  // Whether the run of the group's sessions takes the PDU.
  bool RunGoesOn(PeerIndex peer, PlaneIndex plane, Vc vc, uint32_t bytes) const {
    const SessionGroup& group = groups[map.PathAt(peer, plane)];
    return group.InRun() && connections[map.At(peer, plane, group.run_slot(), vc)].tx().CanSend(
                                bytes, params.transport);
  }
  // Puts the queues of the VCs of the mask on the lane of the plane.
  void SetLane(PeerIndex peer, uint32_t vcs, PlaneIndex plane) {
    for (uint32_t left = vcs; left != 0; left &= left - 1) {
      const auto vc = Lowest<Vc>(left);
      scheduler.queue(Scheduler::IndexOf(peer, vc)).lane = static_cast<uint8_t>(plane);
    }
  }
  // Updates the connections of {peer, plane}: whether its marks are counted.
  void UpdateCounted(PeerIndex peer, PlaneIndex plane) {
    const bool counted = marks[map.PathAt(peer, plane)].is_counted();
    for (PathConnection i = 0; i < map.path_connections(); ++i) {
      connections[map.At(peer, plane, i)].rx().SetCounted(counted);
    }
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
  // Whether congestion control lets a PDU with `bytes` bytes of commands leave.
  bool Permits(PeerIndex peer, PlaneIndex plane, uint32_t bytes) const {
    return !is_paced || congestion[map.PathAt(peer, plane)].Allows(OctetsOf(1, bytes));
  }
  // `count` queued PDUs with `bytes` bytes of commands are in flight now.
  void OnLeft(PeerIndex peer, PlaneIndex plane, uint32_t count, uint32_t bytes) {
    queued -= count;
    inflight += count;
    inflight_bytes += bytes;
    CountIn(peer, plane, bytes);
  }
  // Counts bytes of commands that are put in flight (CountIn), or whose flight ends (CountOut).
  void CountIn(PeerIndex peer, PlaneIndex plane, uint32_t bytes) {
    if (!map.has_planes()) {
      paths[peer].OnSendAlone(bytes);
    } else {
      paths[peer].OnSend(plane, bytes);
      own.shares.Note(paths[peer].share);
    }
    own.inflight_bytes[plane] += bytes;
  }
  void CountOut(PeerIndex peer, PlaneIndex plane, uint32_t bytes) {
    paths[peer].OnEnd(plane, bytes);
    own.inflight_bytes[plane] -= bytes;
    if (!measures) [[likely]]
      return;
    rates[map.PathAt(peer, plane)].OnAcked(bytes, paths[peer].inflight_bytes[plane]);
  }

  // Whether PDUs of the instance are sealed, some or all (docs/sealing.md).
  bool seals() const { return seal_own != nullptr; }
  // The sealing state of the peer, with the identities that are valid now.
  SealedPeer& SealOf(PeerIndex peer) {
    SealedPeer& sealed = *sealed_peers[peer];
    sealed.Sync(peers[peer].handshake().identities());
    return sealed;
  }
  // The fields of the network header that are sealed with a PDU that leaves.
  SealPath SealPathOf(PeerIndex peer, PlaneIndex plane, uint16_t session) const {
    return {.source = params.planes[plane].address,
            .destination = params.peers[peer].planes[plane].address,
            .session = session};
  }
  PlaneMask AlikeOf(PeerIndex peer) const;
  // Begins sealing, before the first poll iteration. Aborts if locked memory is too small.
  void StartSealing(Crypto* crypto, SealTurn* turn);

  // Takes the settings that a running pipeline may change: see settings.h.
  void Take(const Settings& settings);
  // Writes the headers of a peer from its parameters, the classes and the sessions' numbers.
  void WriteHeaders(PeerIndex peer);
  // The session of the slot has another number, that of `slots`: writes it into the session's
  // headers.
  void Renumber(PeerIndex peer, PlaneIndex plane, SessionIndex slot);
  // The header of a PDU without commands, with a session number of its own.
  HeaderTemplate HeaderWith(PeerIndex peer, PlaneIndex plane, uint16_t session) const {
    HeaderTemplate header = this->header(map.At(peer, plane, 0, 0), kAckClass);
    SetSession(header, session);
    return header;
  }
  void SetHello();
  // Updates the speed of the plane's link, which has come up or is queried for the first time.
  void NoteLinkSpeed(PlaneIndex plane);
  uint32_t ReceiveBytes() const;
  bool AnyOpenCan(PeerIndex peer, PlaneIndex plane, Vc vc, uint32_t bytes) const;
  HeaderTemplate MakeHeader(PeerIndex peer, PlaneIndex plane, uint32_t traffic_class,
                            uint16_t number) const;
  // The limits of a plane for congestion control; `speed_bps`: of its link, 0: not known.
  PathLimits LimitsOf(PlaneIndex plane, uint64_t speed_bps) const;

  InstanceParams params;
  const uint64_t received_head;  // the common part of ReceivedHead of the instance's received
                                 // records
  uint32_t widest_window = 0;    // the widest window so far, in PDUs, for CheckInvariants
  CounterBlock& counters;
  GaugeBlock& gauges;
  HistogramBlock& histograms;
  uint32_t number = 0;       // in the pipeline
  uint32_t first_timer = 0;  // of the connections' timers, then the handshakes', the sessions'
  std::vector<PortContext*> ports;  // of the planes
  std::vector<uint32_t> ack_list;   // index of the port's ack_due that has the instance's delay
  const ConnectionMap map;
  const bool lane_is_plane;  // PDUs take the plane of their queue's lane,
  const bool has_homes;      // which is one of several
  const bool measures;       // the rates that planes carry are measured
  const bool spreads;        // each PDU may take any of several planes or sessions

  std::array<uint16_t, kMaxXpus> peer_of_xpu;
  std::vector<HeaderTemplate> headers;  // of sessions: [SessionAt * kClasses + class]
  std::vector<NetAddress> sources;      // [path]: the source address of the peer's frames
  OwnEnd own;                           // the state that its peers have in common
  std::vector<Peer> peers;
  // Parts of the peers, on which the data path sends and receives. Peers run the protocol across
  // frames.
  std::vector<Connection> connections;  // [connection]
  std::vector<PeerPaths> paths;         // [peer]
  std::vector<PlaneSession> sessions;   // [path]
  std::vector<PathRate> rates;          // [path]; empty if rates are not measured
  std::vector<SessionSlot> slots;       // [SessionAt],
  std::vector<SessionGroup> groups;     // [path]
  std::vector<uint8_t> blocked;         // [peer]: VCs whose queue waits for a connection, a mask
  std::vector<Pdu*> last_given_up;      // [connection]: its frame is ours until the connection
                                        // resumes
  std::vector<uint8_t> flags;           // [connection]: the lists that it is on, as below
  static constexpr uint8_t kOnAckList = 1;
  static constexpr uint8_t kOnAckNow = 2;
  static constexpr uint8_t kOnRetransmit = 4;
  static constexpr uint8_t kAwaitsPermit = 8;  // a retransmission waits for a permit

  std::unique_ptr<SealOwn> seal_own;                      // null: nothing is sealed
  std::vector<std::unique_ptr<SealedPeer>> sealed_peers;  // [peer]; empty: nothing is sealed
  std::vector<SealCell> seal_cells;                       // [peer]: read by any thread

  // Congestion control, the sender's side of each plane; empty if there are only windows.
  std::vector<CongestionContext> congestion;  // [path]
  std::vector<uint8_t> looked_at;             // [path]: whether it is on CongestionUse's list
  std::vector<uint32_t> flying;               // [connection]: octets in flight, as contexts count
  bool is_paced = false;                      // there is congestion control
  uint32_t first_context = 0;                 // of its timers
  uint32_t frame_octets = 0;  // on the wire, of a frame without its commands: with preamble and gap
  uint32_t largest_pack_bytes = 0;   // the largest pack limit so far: PDUs of that size may wait
  std::vector<ReceivedMarks> marks;  // [path]
  Scheduler scheduler;
  uint8_t active_lanes = 0;  // on the run queue, a mask
  bool parked = false;       // on the run queue's list of instances that wait for a pause's end
  bool down = false;         // by the operator: no frame leaves, received frames are dropped,
                             // timers wait
  uint32_t inflight = 0;     // PDUs, and bytes of commands in them
  uint64_t inflight_bytes = 0;
  uint32_t queued = 0;  // PDUs packed and not yet sent
  Shares held;          // by destination, as FrameShares::held; bound: inflight_pdus
  Ping ping;

  std::array<PduList, kVcCount> unclaimed;  // accepted PDUs that wait for a client
  std::array<uint32_t, kVcCount> unclaimed_count{};

  RxCredits rx_credit;              // receive credit that peers hold here,
  std::vector<TxCredit> tx_credit;  // and ours there: [queue]
};

}  // namespace suede

#endif  // SUEDE_LCORE_INSTANCE_H_
