// SPDX-License-Identifier: Apache-2.0
#include "pipeline/pipeline.h"

#include <algorithm>
#include <bit>

namespace suede {
namespace {

// The number of the port's list for a delay; a new one where there is none yet.
uint32_t AckListOf(PortContext& port, Duration delay) {
  for (uint32_t i = 0; i < port.ack_due.size(); ++i) {
    if (port.ack_due[i].delay == delay) return i;
  }
  port.ack_due.push_back({.delay = delay, .due = {}});
  return static_cast<uint32_t>(port.ack_due.size() - 1);
}

}  // namespace

Instance::Instance(const InstanceParams& instance_params,
                   const std::vector<PortContext*>& plane_ports, InstanceStats* stats)
    : params(instance_params),
      counters(stats->counters),
      gauges(stats->gauges),
      histograms(stats->histograms),
      ports(plane_ports),
      plane_bits(static_cast<uint8_t>(std::countr_zero(plane_ports.size()))),
      vc_bits(instance_params.transport.psn_scope == PsnScope::kVc ? std::countr_zero(kVcCount)
                                                                   : 0),
      vc_mask(static_cast<uint8_t>((1u << vc_bits) - 1)),
      lane_is_plane(is_strict() || plane_bits == 0),
      own(params.xpuid, plane_count(), params.transport, params.paths, params.secret),
      scheduler(static_cast<uint32_t>(instance_params.peers.size())) {
  peer_of_xpu.fill(kNoPeer);
  const auto count = static_cast<uint32_t>(params.peers.size());
  const size_t planes = size_t{count} << plane_bits;
  connections.resize(planes << vc_bits);
  flags.resize(connections.size());
  last_given_up.resize(connections.size());
  sessions.resize(planes);
  headers.resize(planes * kClasses);
  paths.resize(count);
  blocked.resize(count);
  rx_credit.resize(size_t{count} * kVcCount);
  tx_credit.resize(rx_credit.size());
  ack_list.resize(ports.size());
  widest_window = params.transport.window_pdus;
  peers.reserve(count);
  for (uint32_t peer = 0; peer < count; ++peer) {
    const PeerParams& known = params.peers[peer];
    peer_of_xpu[known.xpuid] = static_cast<uint16_t>(peer);
    for (uint32_t plane = 0; plane < plane_count(); ++plane) {
      const PeerPlane& p = known.planes[plane];
      if (p.present) paths[peer].present |= static_cast<PlaneMask>(1u << plane);
      if (p.resolving) paths[peer].resolving |= static_cast<PlaneMask>(1u << plane);
      paths[peer].SetWeight(plane, params.planes[plane].weight);
    }
    WriteHeaders(peer);
    peers.emplace_back(&own, known.xpuid, known.plain,
                       Peer::Places{.paths = &paths[peer],
                                    .sessions = &sessions[PlaneIndex(peer, 0)],
                                    .connections = &connections[ConnectionIndex(peer, 0, 0)]});
    for (uint32_t vc = 0; known.plain && vc < kVcCount; ++vc) {
      scheduler.queue(Scheduler::QueueIndex(peer, vc)).most_lines = UINT16_MAX;
    }
  }
  SetHello();
}

// Bytes of commands in the largest PDU that fits every port of the instance.
uint32_t Instance::ReceiveBytes() const {
  uint32_t least = kMaxPackBytes;
  for (uint32_t plane = 0; plane < plane_count(); ++plane) {
    // Headers are as long for every peer and class.
    const uint32_t around = header(0, plane, 0).length + kRhBytes + kRcrcBytes;
    least = std::min(least, ports[plane]->link.max_frame_bytes() - around);
  }
  return least;
}

// What HELLO says of the parameters.
void Instance::SetHello() {
  if (params.peers.empty()) return;
  // Of a receive ring, that the commands of a PDU may take.
  const uint32_t lines = params.receive_lines == 0 ? 0 : params.receive_lines - kWrapLines;
  own.hello = {.psn_scope = static_cast<uint8_t>(params.transport.psn_scope),
               .answers_planes = true,
               .sends_generations = own.has_sessions,
               .counts_credit = params.counts_credit,
               .window_pdus = static_cast<uint16_t>(params.transport.window_pdus),
               .pack_limit_bytes = static_cast<uint16_t>(params.pack_limit_bytes),
               .receive_bytes = static_cast<uint16_t>(ReceiveBytes()),
               .receive_lines = static_cast<uint16_t>(std::min<uint32_t>(lines, UINT16_MAX)),
               .hears_pauses = true};
}

void Instance::WriteHeaders(uint32_t peer) {
  for (uint32_t plane = 0; plane < plane_count(); ++plane) {
    const PeerPlane& p = params.peers[peer].planes[plane];
    const PortParams& port = ports[plane]->params;
    for (uint32_t c = 0; c < kClasses; ++c) {
      headers[PlaneIndex(peer, plane) * kClasses + c] = MakeTemplate(
          port.rules.encap,
          {.source_mac = port.mac,
           .destination_mac = p.mac,
           .tagged = port.tagged,
           .vid = port.vid,
           .source = params.planes[plane].address,
           .destination = p.address,
           .udp_port = port.rules.udp_port,
           .session = port.session,
           .mac_prefix = port.rules.mac_prefix,
           .ether_type = port.rules.ether_type,
           .traffic_class = c == kAckClass ? params.ack_class : params.classes[c]});
    }
  }
}

ConnectionState Instance::StateOf(uint32_t number) const {
  const Connection& connection = connections[number];
  if (connection.lost()) return ConnectionState::kLost;
  if (connection.HasRetransmission()) return ConnectionState::kRetransmitting;
  if (connection.paused()) return ConnectionState::kPaused;
  if (connection.frozen()) return ConnectionState::kFrozen;
  const bool open = peers[PeerOfConnection(number)].handshake().open() || connection.HasHistory();
  return open ? ConnectionState::kOpen : ConnectionState::kNew;
}

bool Instance::IsOutOfService() const {
  bool all = true;
  for (uint32_t plane = 0; plane < plane_count(); ++plane) {
    all &= ports[plane]->link.down() || own.admin[plane] == PlaneAdmin::kDown;
  }
  return down || all;
}

bool Instance::IsUnreachable(uint32_t peer) const {
  for (uint32_t vc = 0; vc < kVcCount; ++vc) {
    if (scheduler.queue(Scheduler::QueueIndex(peer, vc)).lost) return true;
  }
  return false;
}

bool Instance::IsPaused(uint32_t peer) const {
  for (uint32_t plane = 0; plane < plane_count(); ++plane) {
    if ((paths[peer].usable & 1u << plane) == 0) continue;
    const uint32_t first = ConnectionIndex(peer, plane, 0);
    for (uint32_t i = 0; i < connections_per_plane(); ++i) {
      if (connections[first + i].paused()) return true;
    }
  }
  for (uint32_t vc = 0; vc < kVcCount; ++vc) {
    if (tx_credit[Scheduler::QueueIndex(peer, vc)].waiting) return true;
  }
  return false;
}

Pipeline::Pipeline()
    : client_credit_(kMaxClients),
      reporter_(instances_, clients_),
      requests_(mailbox_, clients_, reporter_, ports_, instances_) {}

uint32_t Pipeline::AddPort(Port* port, const PortParams& params, PacketLane* packets) {
  const auto number = static_cast<uint32_t>(ports_.size());
  ports_.push_back(std::make_unique<PortContext>(port, params, packets));
  ports_[number]->first_pair = number;
  const uint32_t own = Shares::OwnOf(params.packed_pdus, kMaxQueues, FrameShares::kMostOwnPacked);
  ports_[number]->own_shares.packed.Set(
      own, params.packed_pdus - std::min(params.packed_pdus, own * kMaxQueues));
  return number;
}

uint32_t Pipeline::AddPair(uint32_t port, Port* pair) {
  const PortContext& first = *ports_[port];
  const auto number = static_cast<uint32_t>(ports_.size());
  ports_.push_back(std::make_unique<PortContext>(pair, first.params, first.link.packets()));
  ports_[number]->first_pair = port;
  ports_[number]->shares = first.shares;
  return number;
}

uint32_t Pipeline::AddInstance(const InstanceParams& params) {
  const auto number = static_cast<uint32_t>(instances_.size());
  std::vector<PortContext*> ports;
  for (const PlaneParams& plane : params.planes) ports.push_back(ports_[plane.port].get());
  stats_.push_back(std::make_unique<InstanceStats>());
  instances_.push_back(std::make_unique<Instance>(params, ports, stats_.back().get()));
  Instance& instance = *instances_.back();
  instance.number = number;
  instance.first_timer = static_cast<uint32_t>(instance_of_timer_.size());
  const size_t timers =
      instance.connections.size() + instance.sessions.size() + 2 * instance.peers.size();
  instance_of_timer_.resize(instance_of_timer_.size() + timers, number);
  timers_.Resize(static_cast<uint32_t>(instance_of_timer_.size()));
  for (uint32_t plane = 0; plane < instance.plane_count(); ++plane) {
    PortContext& port = *ports[plane];
    for (const auto& pair : ports_) {
      if (pair->first_pair != port.first_pair) continue;
      pair->place_by_address[params.planes[plane].address] = {.instance = number, .plane = plane};
    }
    port.retransmit.Reserve(instance_of_timer_.size() + 1);
    port.ack_now.Reserve(instance_of_timer_.size() + 1);
    instance.ack_list[plane] = AckListOf(port, params.transport.ack_delay);
    port.ack_due[instance.ack_list[plane]].due.Reserve(instance_of_timer_.size() + 1);
  }
  ShareOut(*HomePort(instance).shares);
  watches_ports_ |= instance.own.has_sessions;
  active_.Reserve(instances_.size() * kMaxPlanes + 1);
  // One per connection from turn to turn; within a turn each received frame may bring another.
  refused_.Reserve(instance_of_timer_.size() + ports_.size() * 2 * kBurst);
  granting_.Reserve(instances_.size() * kVcCount + 1);
  clients_.AddInstance();
  reporter_.AddInstance();
  for (uint32_t vc = 0; vc < kVcCount; ++vc) JoinRing(instance, vc);
  waiting_.reserve(instances_.size() * kVcCount * 2);
  for (uint32_t peer = 0; peer < instance.peers.size(); ++peer) {
    Effects effects;
    instance.peers[peer].Start(effects);
    Apply(instance, peer, effects);
  }
  return number;
}

bool Pipeline::Poll(Time now) {
  const Duration since = now - last_turn_;
  last_turn_ = now;
  bool work = ServeRequests(now);
  if (watches_ports_ && now >= ports_due_) WatchPorts(now, since);
  if (change_ != nullptr) {
    ContinueChange(now);
    work = true;
  }
  for (const auto& port : ports_) work |= PollPort(*port, now);
  work |= DeliverUnclaimed();
  clients_.PublishReceived();
  work |= timers_.Advance(now, [&](uint32_t timer) { OnTimer(timer, now); });
  if (hook_ != nullptr) work |= hook_->Poll(now);
  work |= PollClients();
  for (const auto& port : ports_) work |= port->link.StagePacket(lcore_counters_);
  SendGrants(now);
  work |= StagePdus(now);
  SendReady();
  for (const auto& port : ports_) SendAcks(*port, now);
  for (const auto& port : ports_) {
    port->link.Transmit(lcore_counters_, now);
    port->link.FlushReleased();
  }
  clients_.PublishCompletions();
  if (now >= reporter_.gauges_due()) LetGoOfEnded(reporter_.PublishGauges(now));
  if (now >= reporter_.load_due()) reporter_.PublishLoad(now);
  return work;
}

bool Pipeline::IsQuiet() const {
  for (const uint16_t number : clients_.serving()) {
    if (clients_.queue(number).ring.HasWork()) return false;
  }
  return IsIdle();
}

bool Pipeline::IsIdle() const {
  if (queued_pdus_ != 0) return false;
  for (const auto& port : ports_) {
    if (!port->link.empty() || !port->ack_now.empty()) return false;
    for (const DelayedAcks& list : port->ack_due) {
      if (!list.due.empty()) return false;
    }
  }
  for (const auto& instance : instances_) {
    if (instance->inflight != 0) return false;
  }
  return true;
}

void Pipeline::CheckInvariants() const {
  uint64_t queued = 0;
  for (const auto& instance : instances_) {
    uint32_t inflight = 0;
    uint32_t bytes = 0;
    uint32_t bytes_on[kMaxPlanes] = {};
    // What is in flight beyond a window that was made smaller stays there until acknowledged.
    TransportParams widest = instance->params.transport;
    widest.window_pdus = instance->widest_window;
    for (const Peer& peer : instance->peers) peer.CheckInvariants(widest);
    for (uint32_t number = 0; number < instance->connections.size(); ++number) {
      const Connection& connection = instance->connections[number];
      if (connection.lost()) continue;
      inflight += connection.unacked_count();
      bytes += connection.unacked_bytes();
      bytes_on[instance->PlaneOfConnection(number)] += connection.unacked_bytes();
    }
    for (uint32_t plane = 0; plane < kMaxPlanes; ++plane) {
      if (bytes_on[plane] != instance->own.inflight_bytes[plane]) std::abort();
    }
    if (inflight != instance->inflight || bytes != instance->inflight_bytes) std::abort();
    queued += instance->queued;
  }
  if (queued != queued_pdus_) std::abort();
  clients_.CheckInvariants();
  CheckShares();
  CheckCredit();
}

}  // namespace suede
