// SPDX-License-Identifier: Apache-2.0
#include "pipeline/pipeline.h"

#include <algorithm>
#include <cstdlib>
#include <memory>

namespace suede {
namespace {

// Returns the number of the port's list for a delay; adds a list if there is none yet.
uint32_t AckListOf(PortContext& port, const TransportParams& transport) {
  for (uint32_t i = 0; i < port.ack_due.size(); ++i) {
    if (port.ack_due[i].IsFor(transport)) return i;
  }
  port.ack_due.emplace_back(transport);
  return static_cast<uint32_t>(port.ack_due.size() - 1);
}

}  // namespace

Pipeline::Pipeline()
    : request_work_(requests_, {.lcore = lcore_,
                                .run_queue = run_queue_,
                                .ring_drainer = ring_drainer_,
                                .stager = stager_,
                                .granter = granter_,
                                .deliverer = deliverer_,
                                .effector = effector_,
                                .planes = planes_,
                                .settings = settings_,
                                .pings = pings_,
                                .path_prober = path_prober_,
                                .seals = seals_,
                                .sampler = sampler_,
                                .tracer = tracer_}) {}

uint32_t Pipeline::AddPort(Port* port, const PortParams& params, PacketLane* packets) {
  const auto number = static_cast<uint32_t>(lcore_.ports.size());
  PortParams own_params = params;
  if (own_params.rate_share == nullptr) {
    own_params.rate_share = std::make_shared<std::atomic<uint32_t>>(0);
  }
  lcore_.ports.push_back(std::make_unique<PortContext>(port, own_params, packets));
  lcore_.ports[number]->first_pair = number;
  const uint32_t own = Shares::OwnOf({.limit = params.packed_pdus,
                                      .users = ClientTable::kMaxQueues,
                                      .max_own = FrameShares::kMaxOwnPacked});
  lcore_.ports[number]->own_shares.packed.Set(
      own, params.packed_pdus - std::min(params.packed_pdus, own * ClientTable::kMaxQueues));
  has_pauses_ |= lcore_.ports[number]->link.credit() != nullptr;
  return number;
}

uint32_t Pipeline::AddPair(uint32_t port, Port* pair) {
  const PortContext& first = *lcore_.ports[port];
  const auto number = static_cast<uint32_t>(lcore_.ports.size());
  lcore_.ports.push_back(std::make_unique<PortContext>(pair, first.params, first.link.packets()));
  lcore_.ports[number]->first_pair = port;
  lcore_.ports[number]->shares = first.shares;
  return number;
}

uint32_t Pipeline::AddInstance(const InstanceParams& params) {
  const auto number = static_cast<uint32_t>(lcore_.instances.size());
  PlanePorts ports;
  for (const PlaneParams& plane : params.planes) ports.push_back(lcore_.ports[plane.port].get());
  lcore_.stats.push_back(std::make_unique<InstanceStats>());
  lcore_.instances.push_back(
      std::make_unique<Instance>(number, params, ports, *lcore_.stats.back()));
  Instance& instance = *lcore_.instances.back();
  instance.StartSealing(lcore_.crypto, &lcore_.seal_turn);
  lcore_.timers.Add(instance.peers, number);
  for (PlaneIndex plane = 0; plane < instance.map.plane_count(); ++plane) {
    PortContext& port = *ports[plane];
    for (const auto& pair : lcore_.ports) {
      if (pair->first_pair != port.first_pair) continue;
      pair->AddLocation(params.planes[plane].address, {.instance = number, .plane = plane});
    }
    port.retransmit.Reserve(lcore_.timers.count() + 1);
    port.paused_retransmit.Reserve(lcore_.timers.count() + 1);
    port.ack_now.Reserve(lcore_.timers.count() + 1);
    instance.rx.ack_list[plane] = AckListOf(port, params.transport);
    port.ack_due[instance.rx.ack_list[plane]].due.Reserve(lcore_.timers.count() + 1);
  }
  shares_.ShareOut(instance.tx.shares);
  run_queue_.Reserve(lcore_.instances.size());
  stager_.AddPeers(instance.peers.size());
  refusals_.AddInstance();
  early_keeper_.AddInstance();
  planes_.AddInstance(instance.peers.own);
  lcore_.clients.AddInstance();
  reporter_.AddInstance();
  drop_watch_.AddInstance();
  granter_.AddInstance(instance.rx.credit);
  congestion_.AddInstance(instance);
  congestion_grants_.AddInstance(instance);
  deliverer_.AddInstance();
  pause_requester_.AddInstance(instance.ports);
  for (PortContext* port : ports) port->SetPauseClasses(params.classes, params.ack_class);
  for (PeerIndex peer = 0; peer < instance.peers.size(); ++peer) {
    Effects effects;
    instance.peers[peer].Start(effects);
    effector_.Apply(instance, peer, effects);
  }
  return number;
}

void Pipeline::SetPauses(uint32_t pair, PortPauses* pauses, bool sends) {
  lcore_.ports[pair]->link.SetPauses(pauses, sends);
  has_pauses_ = true;
}

void Pipeline::SharePort(uint32_t number, const PortNeighbour& neighbour) {
  for (const auto& owned : lcore_.ports) {
    PortContext& port = *owned;
    if (port.first_pair != number) continue;
    const uint32_t index = port.link.handover().Add(neighbour);
    for (const NetAddress& address : neighbour.addresses) {
      port.AddLocation(address,
                       {.instance = PortContext::Location::kElsewhere, .plane = PlaneIndex(index)});
    }
  }
}

bool Pipeline::Poll(Time now) {
  const Duration since = now - lcore_.now;
  lcore_.now = now;
  bool work = lcore_.crypto != nullptr && seals_.Begin(now);
  work |= request_work_.Poll(now);
  planes_.Poll(now, since);
  work |= settings_.Poll(now);
  for (const auto& port : lcore_.ports) work |= PollPort(*port, now);
  if (has_pauses_) [[unlikely]]
    ObeyPauses(now);
  work |= deliverer_.DeliverUnclaimed();
  early_keeper_.Poll();
  lcore_.clients.PublishReceived();
  work |= due_timers_.Poll(now);
  work |= congestion_.Poll(now);
  if (hook_ != nullptr) work |= hook_->Poll(now);
  if (path_prober_.is_active()) [[unlikely]]
    path_prober_.Poll(now);
  if (!targets_.empty()) [[unlikely]]
    work |= targets_.Poll();
  work |= ring_drainer_.Poll();
  for (const auto& port : lcore_.ports) work |= port->link.StagePacket(lcore_.counters);
  grants_.SendGrants(now);
  work |= StagePdus(now);
  refusals_.SendReady();
  congestion_.SendRequests(now);
  congestion_grants_.Send(now);
  for (const auto& port : lcore_.ports) ack_scheduler_.Send(*port, now);
  if (has_pauses_) [[unlikely]]
    work |= RequestPauses(now);
  if (lcore_.crypto != nullptr) [[unlikely]]
    seals_.Flush();
  for (const auto& port : lcore_.ports) {
    port->link.Transmit(lcore_.counters, now);
    port->link.frames().Flush();
  }
  if (tracer_.is_active()) [[unlikely]]
    tracer_.Poll(now);
  lcore_.clients.PublishCompletions();
  Report(now);
  return work;
}

// Processes received frames. Executes a frame's effects before the next frame is classified.
// Returns their bytes.
inline uint64_t Pipeline::Process(PortContext& port, Frame* const* frames, uint32_t count,
                                  Time now) {
  const uint64_t bytes = receiver_.Begin(port, frames, count);
  while (PeerEffects* const wanted = receiver_.GoOn(port, now)) {
    effector_.Apply(*lcore_.instances[wanted->peer().instance], wanted->peer().peer,
                    wanted->effects());
  }
  return bytes;
}

// Processes frames one at a time, to find those that are dropped.
[[gnu::cold, gnu::noinline]] uint64_t Pipeline::ProcessWatched(PortContext& port,
                                                               Frame* const* frames, uint32_t count,
                                                               Time now) {
  uint64_t bytes = 0;
  for (uint32_t i = 0; i < count; ++i) {
    drop_watch_.Begin(*frames[i]);
    bytes += Process(port, frames + i, 1, now);
    if (port.link.handover().is_shared()) receiver_.HandOver(port);
    drop_watch_.End(port.drops);
  }
  return bytes;
}

bool Pipeline::PollPort(PortContext& port, Time now) {
  Frame* frames[2 * kBurst];
  const uint32_t count = port.link.Receive(frames, now);
  if (count == 0) return false;
  port.ack_budget.OnReceived(count, now);
  const uint64_t bytes = port.drops.is_set() ? ProcessWatched(port, frames, count, now)
                                             : Process(port, frames, count, now);
  const Handover& handover = port.link.handover();
  lcore_.counters.Add(Counter::kRxFrames, count - handover.frames());
  lcore_.counters.Add(Counter::kRxFrameBytes, bytes - handover.bytes());
  if (handover.is_shared()) [[unlikely]]
    receiver_.HandOver(port);
  return true;
}

// Checks the pauses of the neighbours, resumes PDUs that waited for credit or for the end of a
// pause, and emits events for pauses that do not end.
[[gnu::noinline]] void Pipeline::ObeyPauses(Time now) {
  for (const auto& port : lcore_.ports) {
    CreditGate* const credit = port->link.credit();
    if (credit != nullptr && credit->TakeOpened()) stager_.Resume(*port);
    LinkPauses* const pauses = port->link.pauses();
    if (pauses == nullptr) continue;
    port->link.CheckPauses(now);
    if (pauses->TakeEnded()) stager_.Resume(*port);
    const VcMask storms = pauses->TakeStorms(now);
    if (storms == 0) [[likely]]
      continue;
    if (const VcMask news = pauses->TakeNewStorms(); news != 0) EmitStorm(*port, news);
    if ((storms & kAckBit) != 0) planes_.OnMute(*port, now);
  }
}

void Pipeline::EmitStorm(const PortContext& port, VcMask flows) {
  lcore_.counters.Add(Counter::kPfcStorms);
  for (const auto& instance : lcore_.instances) {
    for (PlaneIndex plane = 0; plane < instance->map.plane_count(); ++plane) {
      if (instance->ports[plane] != &port) continue;
      return lcore_.events.Emit({.kind = LcoreEventKind::kPfcStorm,
                                 .plane = static_cast<uint8_t>(plane),
                                 .what = flows,
                                 .instance = instance->number});
    }
  }
}

// Sends PFC frames that are due, in front of the staged frames of the poll iteration.
[[gnu::noinline]] bool Pipeline::RequestPauses(Time now) {
  bool sent = false;
  pause_requester_.Poll(now);
  for (const auto& port : lcore_.ports) {
    if (port->link.pauses() == nullptr) continue;
    sent |= port->link.SendPfc(port->params.mac, lcore_.counters, now);
  }
  return sent;
}

bool Pipeline::StagePdus(Time now) {
  const bool staged = stager_.StagePdus(now);
  for (PeerRef of; stager_.TakeWaiting(of);) {
    Instance& instance = *lcore_.instances[of.instance];
    Effects effects;
    instance.peers[of.peer].association().OnWaiting(now, effects);
    effector_.Apply(instance, of.peer, effects);
  }
  return staged;
}

// Updates link speeds: a link may negotiate another speed, or have none before it is up.
void Pipeline::FollowLinkSpeeds() {
  for (const auto& port : lcore_.ports) {
    const LinkState link = port->link.state();
    if (!link.up || link.speed_bps == port->speed_bps) continue;
    port->speed_bps = link.speed_bps;
    for (const auto& instance : lcore_.instances) {
      for (PlaneIndex plane = 0; plane < instance->map.plane_count(); ++plane) {
        if (instance->ports[plane] != port.get()) continue;
        instance->NoteLinkSpeed(plane);
        CongestionUse::OnLinkSpeed(*instance, plane);
        congestion_grants_.OnLinkSpeed(*instance, plane);
      }
    }
  }
}

void Pipeline::Report(Time now) {
  if (now >= reporter_.gauges_due()) {
    FollowLinkSpeeds();
    congestion_grants_.PublishGauges();
    const Reporter::Counted counted = reporter_.PublishGauges(now);
    if (counted.first != counted.end) {
      Instance& of = *lcore_.instances[counted.instance];
      completions_.LetGoOfEnded(of.peers, of.tx, counted.first, counted.end);
    }
  }
  if (now >= reporter_.load_due()) {
    reporter_.PublishLoad(now);
    const bool is_round_over = now < reporter_.load_due();
    if (is_round_over && wait_poller_ != nullptr) wait_poller_->Poll(now);
  }
}

bool Pipeline::IsQuiet() const {
  for (const uint16_t number : lcore_.clients.serving()) {
    if (lcore_.clients.queue(number).ring.HasWork()) return false;
  }
  return lcore_.IsIdle();
}

void Pipeline::CheckInvariants() const {
  for (const auto& instance : lcore_.instances) {
    uint32_t inflight = 0;
    uint32_t bytes = 0;
    uint32_t bytes_on[kMaxPlanes] = {};
    uint32_t busy[kMaxPlanes] = {};
    // PDUs in flight beyond a reduced window stay there until acknowledged.
    TransportParams widest = instance->params.transport;
    widest.window_pdus = instance->peers.widest_window;
    for (const Peer& peer : instance->peers.all) peer.CheckInvariants(widest);
    for (ConnectionIndex number = 0; number < instance->peers.connections.size(); ++number) {
      const Connection& connection = instance->peers.connections[number];
      if (connection.tx().lost()) continue;
      inflight += connection.in_flight().count();
      for (const Pdu* pdu = connection.in_flight().oldest(); pdu != nullptr; pdu = pdu->next) {
        bytes += pdu->bytes;
      }
      bytes_on[instance->map.PlaneOf(number)] += connection.in_flight().bytes();
      busy[instance->map.PlaneOf(number)] += connection.in_flight().oldest() != nullptr ? 1 : 0;
    }
    for (PlaneIndex plane = 0; plane < kMaxPlanes; ++plane) {
      const OwnEnd& own = instance->peers.own;
      if (bytes_on[plane] != own.inflight_bytes[plane] + own.aside_bytes[plane]) std::abort();
      if (instance->peers.own.has_sessions && busy[plane] != instance->peers.own.busy[plane])
        std::abort();
    }
    if (inflight != instance->tx.inflight || bytes != instance->tx.inflight_bytes) std::abort();
    for (uint32_t index = 0; index < instance->peers.size() * kVcCount; ++index) {
      const TxQueue& queue = instance->tx.scheduler.queue(index);
      uint32_t octets = 0;
      for (const Pdu* pdu = queue.pdus.head(); pdu != nullptr; pdu = pdu->next) {
        octets += instance->tx.OctetsOf(1, pdu->bytes);
      }
      if (octets != instance->tx.OctetsOf(queue)) std::abort();
    }
    for (const CongestionContext& context : instance->tx.contexts) context.CheckInvariants();
  }
  lcore_.clients.CheckInvariants();
  shares_.CheckInvariants();
  grants_.CheckInvariants();
  congestion_grants_.CheckInvariants();
}

}  // namespace suede
