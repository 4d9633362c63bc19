// SPDX-License-Identifier: Apache-2.0
// Publishes gauges periodically, which is cheaper than at every change and as useful; and load for
// a balancer that chooses among several queues.
#include "pipeline/reporter.h"

#include <algorithm>
#include <chrono>
#include <limits>

#include "lcore/port_context.h"
#include "send/wait_causes.h"

namespace suede {
namespace {

constexpr Duration kGaugesEvery = std::chrono::milliseconds(10);
// Connections counted per publication: bounds the time of a poll iteration, whatever the number of
// peers. A round over 1023 connections takes 160 ms.
constexpr uint32_t kCountedPerCall = 64;
constexpr Duration kRoundEvery = std::chrono::microseconds(64);  // of rounds over the queues
constexpr Duration kHeartbeat = std::chrono::milliseconds(10);   // of idle instances
constexpr uint32_t kQueuesPerIteration = 4;
// Destinations checked with each publication of load: bounds the cost, with any number of them.
constexpr uint32_t kDestinations = 16;

static_assert(static_cast<size_t>(ConnectionState::kLost) + 1 == kConnectionStates);
static_assert(static_cast<size_t>(Gauge::kConnectionsLost) -
                  static_cast<size_t>(Gauge::kConnectionsNew) + 1 ==
              kConnectionStates);

Gauge GaugeOf(size_t state) {
  return static_cast<Gauge>(static_cast<size_t>(Gauge::kConnectionsNew) + state);
}

uint32_t Saturated(uint64_t n) {
  return static_cast<uint32_t>(std::min<uint64_t>(n, std::numeric_limits<uint32_t>::max()));
}

SessionRow SessionOf(const SessionSlot& slot, Time now) {
  return {.number = slot.number,
          .peer_number = slot.rx_number,
          .state = slot.state,
          .weight = slot.weight,
          .moves = slot.turn,
          .age_ns = slot.since == Time{} ? 0 : (now - slot.since).count()};
}

ConnectionRow RowOf(const Instance& instance, ConnectionIndex number, ConnectionState state,
                    Time now) {
  const Connection& connection = instance.peers.connections[number];
  ConnectionRow row{.peer_xpuid = instance.params.peers[instance.map.PeerOf(number)].xpuid,
                    .plane = static_cast<uint8_t>(instance.map.PlaneOf(number)),
                    .slot = static_cast<uint8_t>(instance.map.SessionOf(number)),
                    .vc = static_cast<uint8_t>(instance.map.VcOf(number)),
                    .state = state,
                    .peer_waits = connection.rx().not_ready(),
                    .tries = static_cast<uint8_t>(connection.tx().tries()),
                    .next_psn = connection.in_flight().next_psn().value(),
                    .expected_psn = connection.rx().expected().value(),
                    .unacked_pdus = connection.in_flight().count(),
                    .unacked_bytes = connection.in_flight().bytes(),
                    .tx_pdus = connection.tx().tx_pdus(),
                    .rx_pdus = connection.rx().rx_pdus(),
                    .retransmissions = connection.tx().retransmissions(),
                    .srtt_ns = connection.tx().round_trip().srtt().count(),
                    .rto_ns = connection.tx().round_trip().rto(instance.params.transport).count()};
  const PathIndex index = instance.map.PathOf(number);
  if (const SessionGroup& group = instance.peers.groups[index];
      row.slot < group.count() && group.count() != 1) {
    row.session = SessionOf(group.slot(SessionIndex(row.slot)), now);
  }
  if (!instance.tx.is_paced) return row;
  const CongestionContext& context = instance.tx.contexts[index];
  row.congestion = context.state_name();
  if (context.control() == CongestionControl::kFixed) return row;
  row.congestion_window_octets = context.window_octets();
  row.base_rtt_ns = context.base_rtt().count();
  return row;
}

// The VCs whose home the plane is, a mask.
uint8_t HomeVcs(const ConnectionMap& map, const PeerPaths& paths, PlaneIndex plane) {
  uint32_t vcs = 0;
  for (Vc vc = 0; vc < kVcCount; ++vc) {
    if (paths.home[map.KeyOf(vc)] == plane) vcs |= 1u << vc;
  }
  return static_cast<uint8_t>(vcs);
}

PlaneRow RowOf(const Instance& instance, PeerIndex peer, PlaneIndex plane, Time now) {
  const PeerPaths& paths = instance.peers.paths[peer];
  const PlaneSession& session = instance.peers.sessions[instance.map.PathAt(peer, plane)];
  const bool received = session.last_received() != Time{};
  const PathRate* const rate =
      instance.peers.measures ? &instance.peers.rates[instance.map.PathAt(peer, plane)] : nullptr;
  return {
      .peer_xpuid = instance.params.peers[peer].xpuid,
      .plane = static_cast<uint8_t>(plane),
      .peer_plane = session.peer_plane(),
      .state = session.state(),
      .sessions = paths.sessions,
      .usable = (paths.usable & 1u << plane) != 0,
      .home_vcs = instance.peers.own.is_strict() ? HomeVcs(instance.map, paths, plane) : uint8_t{0},
      .fencing = session.fencing(),
      .tx_generation = session.tx_generation(),
      .rx_generation = session.rx_generation(),
      .weight = paths.weight[plane],
      .measured_part = static_cast<uint16_t>(rate == nullptr ? 0 : rate->part()),
      .measured_bps = rate == nullptr ? 0 : rate->rate_bps(),
      .inflight_bytes = paths.InFlightOn(plane),
      .deaths = session.deaths(),
      .heard_ago_ns = received ? (now - session.last_received()).count() : -1,
      .held_ns = std::max<int64_t>(0, (session.held_until() - now).count())};
}

}  // namespace

// ---- Gauges.

Reporter::Counted Reporter::PublishGauges(Time now) {
  gauges_due_ = now + kGaugesEvery;
  for (OfInstance& row : of_instances_) row.taken_lines = 0;
  for (const uint16_t number : clients_.serving()) {
    const QueueSlot& slot = clients_.queue(number);
    of_instances_[slot.instance].taken_lines += slot.credits.outstanding();
  }
  for (const auto& each : instances_) {
    const Instance& instance = *each;
    uint64_t unclaimed = 0;
    uint64_t promised = 0;
    for (const CreditFeed& feed : instance.rx.credit.feeds) promised += feed.promised;
    for (const uint32_t count : instance.rx.unclaimed_count) unclaimed += count;
    GaugeBlock& gauges = instance.stats.gauges;
    gauges.Set(Gauge::kInflightPdus, instance.tx.inflight);
    gauges.Set(Gauge::kInflightBytes, instance.tx.inflight_bytes);
    gauges.Set(Gauge::kQueuedPdus, instance.tx.queued);
    gauges.Set(Gauge::kCreditLines, of_instances_[instance.number].taken_lines);
    gauges.Set(Gauge::kUnclaimedPdus, unclaimed);
    gauges.Set(Gauge::kPromisedLines, promised);
    gauges.Set(Gauge::kReorderPdus, instance.rx.kept_early);
  }
  return CountConnections();
}

// Continues to count connections by state, and publishes an instance's counts when all are counted.
Reporter::Counted Reporter::CountConnections() {
  if (instances_.empty()) return {};
  const Instance& instance = *instances_[counting_instance_];
  OfInstance& of = of_instances_[counting_instance_];
  auto& states = of.states;
  const auto end = static_cast<uint32_t>(instance.peers.connections.size());
  const Counted counted{
      .instance = counting_instance_,
      .first = counting_connection_,
      .end = ConnectionIndex(std::min(end, counting_connection_ + kCountedPerCall))};
  for (; counting_connection_ < counted.end; ++counting_connection_) {
    ++states[static_cast<size_t>(instance.peers.StateOf(counting_connection_))];
    if (!instance.tx.is_paced || instance.map.NumberOf(counting_connection_) != 0) continue;
    of.window_octets +=
        instance.tx.contexts[instance.map.PathOf(counting_connection_)].window_octets();
  }
  if (counting_connection_ < end) return counted;
  for (size_t state = 0; state < kConnectionStates; ++state) {
    instance.stats.gauges.Set(GaugeOf(state), states[state]);
  }
  instance.stats.gauges.Set(Gauge::kCongestionWindow, of.window_octets);
  states.fill(0);
  of.window_octets = 0;
  counting_connection_ = 0;
  counting_instance_ = (counting_instance_ + 1) % static_cast<uint32_t>(instances_.size());
  return counted;
}

// ---- Load.

void Reporter::PublishLoad(Time now) {
  const std::vector<uint16_t>& serving = clients_.serving();
  for (uint32_t i = 0; i < kQueuesPerIteration && load_next_ < serving.size(); ++i) {
    MeasureLoad(clients_.queue(serving[load_next_++]), now);
  }
  if (load_next_ < serving.size()) return;  // the next poll iteration continues
  load_next_ = 0;
  ++load_round_;
  load_due_ = now + kRoundEvery;
}

void Reporter::ShowLoadOf(uint32_t client, Time now) {
  for (const uint16_t number : clients_.serving()) {
    QueueSlot& slot = clients_.queue(number);
    if (slot.client == client && slot.state == QueueSlot::State::kServing) ShowLoad(slot, now);
  }
}

void Reporter::MeasureLoad(QueueSlot& slot, Time now) {
  const Instance& instance = *instances_[slot.instance];
  OfInstance& load = of_instances_[slot.instance];
  if (load.round != load_round_) {
    const bool is_last = load.round + 1 == load_round_;
    load.credit_lines = is_last ? load.counted_lines : 0;
    load.counted_lines = 0;
    load.round = load_round_;
  }
  load.counted_lines += slot.credits.outstanding();
  const bool holds =
      (instance.tx.inflight | instance.tx.queued | load.credit_lines | load.counted_lines) != 0;
  if (!holds && !slot.held && now - slot.load_shown < kHeartbeat) return;
  slot.held = holds;
  ShowLoad(slot, now);
}

void Reporter::ShowLoad(QueueSlot& slot, Time now) {
  const Instance& instance = *instances_[slot.instance];
  const OfInstance& load = of_instances_[slot.instance];
  slot.load_shown = now;
  CheckDestinations(instance);
  const uint64_t inflight_lines = instance.tx.inflight_bytes / SUEDE_LINE_BYTES;
  slot.load.Show({.flags = instance.IsOutOfService() ? SUEDE_LOAD_DOWN : 0,
                  .load = Saturated(load.credit_lines + inflight_lines),
                  .queued_pdus = instance.tx.queued,
                  .inflight_pdus = instance.tx.inflight,
                  .inflight_bytes = Saturated(instance.tx.inflight_bytes),
                  .credit_lines = load.credit_lines,
                  .paused = load.paused,
                  .unreachable = load.unreachable});
  if (slot.map_changes != load.map_changes) {
    slot.map_changes = load.map_changes;
    slot.load.ShowMaps(load.unreachable_map, load.paused_map);
  }
  if (const std::optional<Wish> wish = slot.load.NextWish()) {
    slot.load.Answer(*wish, DestinationOf(instance, slot, wish->xpuid()));
  }
}

void Reporter::CheckDestinations(const Instance& instance) {
  OfInstance& load = of_instances_[instance.number];
  const auto count = static_cast<uint32_t>(instance.params.peers.size());
  for (uint32_t i = std::min(count, kDestinations); i != 0; --i) {
    const PeerIndex peer(load.next_peer);
    load.next_peer = peer + 1 < count ? peer + 1 : 0;
    const uint16_t xpuid = instance.params.peers[peer].xpuid;
    const bool unreachable = instance.tx.IsUnreachable(peer);
    if (load.unreachable_map.Set(xpuid, unreachable)) {
      load.unreachable += unreachable ? 1 : ~0u;
      ++load.map_changes;
    }
    const bool paused = instance.IsPaused(peer);
    if (load.paused_map.Set(xpuid, paused)) {
      load.paused += paused ? 1 : ~0u;
      ++load.map_changes;
    }
  }
}

DestinationState Reporter::DestinationOf(const Instance& instance, const QueueSlot& slot,
                                         uint16_t xpuid) {
  const PeerIndex peer = instance.peers.OfXpu(xpuid);
  if (peer == Instance::kNoPeer) return {};
  DestinationState state{.flags = SUEDE_DESTINATION_KNOWN,
                         .queued_lines = slot.credits.OutstandingTo(xpuid)};
  if (instance.tx.IsUnreachable(peer)) state.flags |= SUEDE_DESTINATION_UNREACHABLE;
  if (instance.IsPaused(peer)) state.flags |= SUEDE_DESTINATION_PAUSED;
  const ConnectionIndex first = instance.map.At(peer, 0, 0);
  const uint32_t count = instance.map.peer_connections();
  for (uint32_t i = 0; i < count; ++i) {
    const Connection& connection = instance.peers.connections[first + i];
    if (connection.tx().lost()) continue;  // its PDUs in flight have been given up
    state.inflight_pdus += connection.in_flight().count();
    state.inflight_bytes += connection.in_flight().bytes();
  }
  return state;
}

// ---- Snapshots.

void Reporter::Write(ConnectionSnapshot& out, Time now) const {
  out.count = 0;
  out.next = out.first;
  out.more = false;
  if (out.instance < instances_.size()) {
    const Instance& instance = *instances_[out.instance];
    const auto end = static_cast<uint32_t>(instance.peers.connections.size());
    const uint32_t stop = std::min(end, out.first + ConnectionSnapshot::kMaxVisited);
    for (; out.next < stop && out.count < ConnectionSnapshot::kMaxRows; ++out.next) {
      const ConnectionIndex number(out.next);
      const uint16_t xpuid = instance.params.peers[instance.map.PeerOf(number)].xpuid;
      if (out.peer_xpuid != ConnectionSnapshot::kAnyPeer && xpuid != out.peer_xpuid) continue;
      const ConnectionState state = instance.peers.StateOf(number);
      if (state == ConnectionState::kNew && !out.unused) continue;
      out.rows[out.count++] = RowOf(instance, number, state, now);
    }
    out.more = out.next < end;
  }
  out.done.store(true, std::memory_order_release);
}

void Reporter::Write(PlaneSnapshot& out, Time now) const {
  out.count = 0;
  out.next = out.first;
  out.more = false;
  if (out.instance < instances_.size()) {
    const Instance& instance = *instances_[out.instance];
    for (PlaneIndex plane = 0; plane < kMaxPlanes; ++plane) {
      out.inflight_bytes[plane] =
          instance.peers.own.inflight_bytes[plane] + instance.peers.own.aside_bytes[plane];
    }
    const auto end = static_cast<uint32_t>(instance.peers.sessions.size());
    const uint32_t stop = std::min(end, out.first + PlaneSnapshot::kMaxVisited);
    for (; out.next < stop && out.count < PlaneSnapshot::kMaxRows; ++out.next) {
      const PeerIndex peer = instance.map.PeerOf(PathIndex(out.next));
      const PlaneIndex plane = instance.map.PlaneOf(PathIndex(out.next));
      if ((instance.peers.paths[peer].present & 1u << plane) == 0) continue;
      const uint16_t xpuid = instance.params.peers[peer].xpuid;
      if (out.peer_xpuid != PlaneSnapshot::kAnyPeer && xpuid != out.peer_xpuid) continue;
      out.rows[out.count++] = RowOf(instance, peer, plane, now);
    }
    out.more = out.next < end;
  }
  out.done.store(true, std::memory_order_release);
}

void Reporter::Write(WaitSnapshot& out, Time now) const {
  out.count = 0;
  out.next = out.first;
  out.more = false;
  if (out.instance < instances_.size()) {
    const Instance& instance = *instances_[out.instance];
    const WaitCauses causes(instance, now);
    const auto end = static_cast<uint32_t>(instance.params.peers.size()) * kVcCount;
    const uint32_t stop = std::min(end, out.first + WaitSnapshot::kMaxVisited);
    for (; out.next < stop && out.count < WaitSnapshot::kMaxRows; ++out.next) {
      const PeerIndex peer = Scheduler::PeerOf(out.next);
      const uint16_t xpuid = instance.params.peers[peer].xpuid;
      if (out.peer_xpuid != WaitSnapshot::kAnyPeer && xpuid != out.peer_xpuid) continue;
      const std::optional<WaitRow> row = causes.RowOf(peer, Scheduler::VcOf(out.next));
      if (row) out.rows[out.count++] = *row;
    }
    out.more = out.next < end;
    for (Vc vc = 0; vc < kVcCount; ++vc) out.readers[vc] = ReaderOf(instance, vc);
  }
  out.done.store(true, std::memory_order_release);
}

ReaderRow Reporter::ReaderOf(const Instance& instance, Vc vc) const {
  ReaderRow row{.unclaimed_pdus = instance.rx.unclaimed_count[vc]};
  const uint32_t client = clients_.claimant(instance.number, vc);
  if (client == ClientTable::kNone) return row;
  RxRingWriter& ring = clients_.ring(client, vc);
  row.client = clients_.client(client).client;
  row.ring_lines = ring.line_count();
  row.filled_lines = ring.line_count() - ring.FreeLines();
  return row;
}

void Reporter::Write(QueueSnapshot& out, Time /*now*/) const {
  out.count = 0;
  for (const uint16_t number : clients_.serving()) {
    const QueueSlot& slot = clients_.queue(number);
    out.rows[out.count++] = {.client = slot.client,
                             .instance = slot.instance,
                             .number = slot.number,
                             .broken = slot.ring.broken(),
                             .leaving = slot.state == QueueSlot::State::kDraining,
                             .waiting_lines = slot.ring.Waiting(),
                             .credit_lines = slot.credits.outstanding(),
                             .discarded = slot.discarded};
  }
  out.done.store(true, std::memory_order_release);
}

}  // namespace suede
