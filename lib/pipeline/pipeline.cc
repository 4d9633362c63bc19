#include "pipeline/pipeline.h"

#include <algorithm>

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

Instance::Instance(const InstanceParams& instance_params, const PortParams& port_params,
                   InstanceStats* stats)
    : params(instance_params),
      counters(stats->counters),
      gauges(stats->gauges),
      histograms(stats->histograms),
      handshakes(instance_params.peers.size()),
      scheduler(static_cast<uint32_t>(instance_params.peers.size())) {
  peer_of_xpu.fill(kNoPeer);
  claimed_by.fill(kNoClient);
  const auto count = static_cast<uint32_t>(params.peers.size());
  const uint32_t per_peer = params.transport.psn_scope == PsnScope::kVc ? kVcCount : 1;
  connections.resize(size_t{count} * per_peer);
  blocked.resize(connections.size());
  resolving.reserve(count);
  flags.resize(connections.size());
  mismatched.resize(count);
  headers.resize(size_t{count} * kClasses);
  widest_window = params.transport.window_pdus;
  for (uint32_t peer = 0; peer < count; ++peer) {
    peer_of_xpu[params.peers[peer].xpuid] = static_cast<uint16_t>(peer);
    resolving.push_back(params.peers[peer].planes[0].resolving ? 1 : 0);
    WriteHeaders(peer, port_params);
  }
}

void Instance::WriteHeaders(uint32_t peer, const PortParams& port_params) {
  const PeerPlane& p = params.peers[peer].planes[0];
  for (uint32_t c = 0; c < kClasses; ++c) {
    headers[peer * kClasses + c] = MakeTemplate(
        port_params.rules.encap,
        {.source_mac = port_params.mac,
         .destination_mac = p.mac,
         .tagged = port_params.tagged,
         .vid = port_params.vid,
         .source = params.planes[0].address,
         .destination = p.address,
         .udp_port = port_params.rules.udp_port,
         .session = port_params.session,
         .mac_prefix = port_params.rules.mac_prefix,
         .ether_type = port_params.rules.ether_type,
         .traffic_class = c == kAckClass ? params.ack_class : params.classes[c]});
  }
}

bool Instance::HasHistory(uint32_t peer) const {
  for (uint32_t vc = 0; vc < kVcCount; ++vc) {
    if (connections[ConnectionIndex(peer, vc)].HasHistory()) return true;
  }
  return false;
}

ConnectionState Instance::StateOf(uint32_t number) const {
  const Connection& connection = connections[number];
  if (connection.lost()) return ConnectionState::kLost;
  if (connection.HasRetransmission()) return ConnectionState::kRetransmitting;
  if (connection.paused()) return ConnectionState::kPaused;
  const bool open = handshakes[PeerOfConnection(number)].open() || connection.HasHistory();
  return open ? ConnectionState::kOpen : ConnectionState::kNew;
}

Pipeline::Pipeline() : queues_(kMaxQueues), clients_(kMaxClients) {
  serving_.reserve(kMaxQueues);
  dirty_queues_.reserve(kMaxQueues);
  dirty_clients_.reserve(kMaxClients * kVcCount);
}

uint32_t Pipeline::AddPort(Port* port, const PortParams& params, PacketLane* packets) {
  ports_.push_back(std::make_unique<PortContext>(port, params, packets));
  return static_cast<uint32_t>(ports_.size() - 1);
}

uint32_t Pipeline::AddInstance(const InstanceParams& params) {
  const auto number = static_cast<uint32_t>(instances_.size());
  PortContext& port = *ports_[params.planes[0].port];
  stats_.push_back(std::make_unique<InstanceStats>());
  instances_.push_back(std::make_unique<Instance>(params, port.params, stats_.back().get()));
  Instance& instance = *instances_.back();
  instance.number = number;
  instance.first_timer = static_cast<uint32_t>(instance_of_timer_.size());
  const size_t timers = instance.connections.size() + instance.handshakes.size();
  instance_of_timer_.resize(instance_of_timer_.size() + timers, number);
  timers_.Resize(static_cast<uint32_t>(instance_of_timer_.size()));
  port.instance_by_address[params.planes[0].address] = number;
  port.active_instances.Reserve(instances_.size() + 1);
  port.retransmit.Reserve(instance_of_timer_.size() + 1);
  port.ack_now.Reserve(instance_of_timer_.size() + 1);
  instance.ack_list = AckListOf(port, params.transport.ack_delay);
  port.ack_due[instance.ack_list].due.Reserve(instance_of_timer_.size() + 1);
  // One per connection from turn to turn; within a turn each received frame may bring another.
  refused_.Reserve(instance_of_timer_.size() + ports_.size() * kBurst);
  waiting_.reserve(instances_.size() * kVcCount * 2);
  return number;
}

bool Pipeline::Poll(Time now) {
  last_turn_ = now;
  bool work = PollMailbox();
  if (change_ != nullptr) {
    ContinueChange(now);
    work = true;
  }
  for (const auto& port : ports_) work |= PollPort(*port, now);
  work |= DeliverUnclaimed();
  PublishReceived();
  work |= timers_.Advance(now, [&](uint32_t timer) { OnTimer(timer, now); });
  if (hook_ != nullptr) work |= hook_->Poll(now);
  work |= PollClients();
  for (const auto& port : ports_) {
    work |= StagePacket(*port);
    work |= StagePdus(*port, now);
  }
  SendReady();
  for (const auto& port : ports_) SendAcks(*port, now);
  for (const auto& port : ports_) {
    port->TransmitStaged(lcore_counters_);
    port->FlushReleased();
  }
  PublishCompletions();
  if (now >= gauges_due_) PublishGauges(now);
  return work;
}

bool Pipeline::IsQuiet() const {
  for (const uint16_t number : serving_) {
    if (queues_[number].ring.HasWork()) return false;
  }
  return IsIdle();
}

bool Pipeline::IsIdle() const {
  if (queued_pdus_ != 0) return false;
  for (const auto& port : ports_) {
    if (port->staged_count != 0 || !port->ack_now.empty()) return false;
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
    // What is in flight beyond a window that was made smaller stays there until acknowledged.
    TransportParams widest = instance->params.transport;
    widest.window_pdus = instance->widest_window;
    for (const Connection& connection : instance->connections) {
      connection.CheckInvariants(widest);
      if (connection.lost()) continue;
      inflight += connection.unacked_count();
      bytes += connection.unacked_bytes();
    }
    if (inflight != instance->inflight || bytes != instance->inflight_bytes) std::abort();
    queued += instance->queued;
  }
  if (queued != queued_pdus_) std::abort();
}

uint32_t FramesNeeded(const std::vector<InstanceParams>& instances, uint32_t aggregate_lines_total,
                      uint32_t rx_descriptors, uint32_t tx_descriptors) {
  // Beyond these bounds a port serves so many instances that they cannot all be at theirs at once;
  // a pool that runs dry then delays commands, and is counted.
  constexpr uint64_t kMostInFlight = 16384;
  constexpr uint64_t kMostUnclaimed = 4096;
  uint64_t inflight = 0;
  uint64_t unclaimed = 0;
  for (const InstanceParams& instance : instances) {
    inflight += instance.inflight_pdus;
    unclaimed += uint64_t{instance.unclaimed_pdus} * kVcCount;
  }
  return static_cast<uint32_t>(std::min(inflight, kMostInFlight) +
                               std::min(unclaimed, kMostUnclaimed) + aggregate_lines_total +
                               rx_descriptors + tx_descriptors + 16 * kBurst);
}

}  // namespace suede
