// SPDX-License-Identifier: Apache-2.0
#include "endpoint/lcore_lists.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <span>
#include <string_view>
#include <tuple>
#include <utility>

#include "base/text.h"
#include "endpoint/pipeline_params.h"
#include "endpoint/window_service.h"

namespace suede {
namespace {

constexpr uint32_t kPeerPlaneUnknown = 0xff;
constexpr uint32_t kBehindAll = 1u << 30;  // index beyond the paths of any instance

using PlaneQuery = LcoreQuery<PlaneSnapshot, request::Planes>;

auto RowsOf(const auto& snapshot) { return std::span(snapshot.rows).first(snapshot.count); }

// Returns a query of the rows of the instances, with at least `min_ports`, and peers that `wanted`
// names. `ask(snapshot)` adds to the request; `view_of(row, instance)` returns what is appended to
// the list of View, or nullopt.
template <typename Request, typename View, typename Snapshot, typename Wanted, typename Row>
Question<View> ListRows(SnapshotPool<Snapshot>* pool, const Wanted& wanted, size_t min_ports,
                        std::vector<Row> View::*views, auto ask, auto view_of) {
  auto listing = std::make_shared<Listing<LcoreQuery<Snapshot, Request>, View>>(pool);
  return [=]() -> std::optional<View> {
    auto& [query, view] = *listing;
    const bool done = query.PollInstances(
        [&](const InstanceConfig& instance) {
          return instance.ports.size() >= min_ports && NamesInstance(wanted, instance);
        },
        [&](Snapshot& asked) {
          asked.peer_xpuid = wanted.peer.value_or(Snapshot::kAnyPeer);
          ask(asked);
        },
        [&, &view = view](const Snapshot& snapshot, const InstanceConfig& instance) {
          for (const auto& row : RowsOf(snapshot)) {
            std::optional<Row> listed = view_of(row, instance);
            if (!listed) continue;
            view.more = (view.*views).size() == wanted.limit;
            if (view.more) return false;
            (view.*views).push_back(*std::move(listed));
          }
          return true;
        });
    return done ? std::optional(std::move(view)) : std::nullopt;
  };
}

std::string_view NameOf(ConnectionState state) {
  constexpr std::string_view kNames[] = {"new",    "open", "paused", "retransmitting",
                                         "frozen", "lost"};
  static_assert(std::size(kNames) == kConnectionStates);
  return kNames[static_cast<size_t>(state)];
}

std::string_view NameOf(WaitCause cause) {
  static const std::vector<std::string_view> kNames = Split(kWaitCauseNames, '|');
  return kNames[static_cast<size_t>(cause)];
}
static_assert(std::ranges::count(kWaitCauseNames, '|') + 1 == kWaitCauses);

// Returns a time that is -1 where there is none.
std::optional<int64_t> KnownNs(int64_t ns) { return ns < 0 ? std::nullopt : std::optional(ns); }

WaitView ToView(const WaitRow& row, const InstanceConfig& instance) {
  return {
      .xpu = instance.xpu,
      .instance = instance.instance,
      .peer = row.peer_xpuid,
      .vc = row.vc,
      .cause = NameOf(row.cause),
      .plane = row.plane == WaitRow::kAnyPlane ? std::nullopt : std::optional<uint32_t>(row.plane),
      .since_ns = KnownNs(row.since_ns),
      .queued_bytes = row.queued_octets,
      .queued_ns = KnownNs(row.queued_ns),
      .inflight_pdus = row.inflight_pdus,
      .inflight_ns = KnownNs(row.inflight_ns),
      .credit_lines = row.credit_lines,
      .tx_pdus = row.tx_pdus};
}

ReaderView ToView(const ReaderRow& row, uint32_t vc, const InstanceConfig& instance) {
  ReaderView view{.xpu = instance.xpu,
                  .instance = instance.instance,
                  .vc = vc,
                  .ring_lines = row.ring_lines,
                  .filled_lines = row.filled_lines,
                  .unclaimed_pdus = row.unclaimed_pdus};
  if (row.ring_lines != 0) view.client = row.client & ~WindowService::kTargetBit;
  return view;
}

ConnectionView ToView(const ConnectionRow& row, const InstanceConfig& instance,
                      const TransportConfig& transport) {
  const bool is_per_vc = transport.psn_scope == PsnScope::kVc;
  ConnectionView view{.xpu = instance.xpu,
                      .instance = instance.instance,
                      .peer = row.peer_xpuid,
                      .plane = row.plane,
                      .vc = is_per_vc ? std::optional<uint32_t>(row.vc) : std::nullopt,
                      .session = row.slot,
                      .state = NameOf(row.state),
                      .next_psn = row.next_psn,
                      .expected_psn = row.expected_psn,
                      .unacked_pdus = row.unacked_pdus,
                      .window_pdus = transport.window_pdus,
                      .unacked_bytes = row.unacked_bytes,
                      .window_bytes = transport.window_bytes,
                      .srtt_ns = row.srtt_ns,
                      .rto_ns = row.rto_ns,
                      .congestion = row.congestion,
                      .congestion_window_octets = row.base_rtt_ns != 0
                                                      ? std::optional(row.congestion_window_octets)
                                                      : std::nullopt,
                      .base_rtt_ns = row.base_rtt_ns,
                      .tries = row.tries,
                      .tx_pdus = row.tx_pdus,
                      .rx_pdus = row.rx_pdus,
                      .retransmissions = row.retransmissions,
                      .peer_waits = row.peer_waits};
  if (!row.session) return view;
  const SessionRow& session = *row.session;
  view.of_session = SessionView{.xpu = view.xpu,
                                .instance = view.instance,
                                .peer = view.peer,
                                .plane = view.plane,
                                .session = view.session,
                                .state = suede::NameOf(session.state),
                                .number = session.number,
                                .peer_number = session.peer_number,
                                .weight_percent = session.weight * 100 / SessionSlot::kWeightOne,
                                .moves = session.moves,
                                .age_ns = session.age_ns,
                                .srtt_ns = view.srtt_ns,
                                .tx_pdus = view.tx_pdus,
                                .rx_pdus = view.rx_pdus,
                                .retransmissions = view.retransmissions};
  return view;
}

std::string_view StateOf(const PlaneRow& row) {
  if (!row.sessions) return "static";
  switch (row.state) {
    case PlaneState::kDown:
      return "down";
    case PlaneState::kInit:
      return "init";
    case PlaneState::kUp:
      break;
  }
  return "up";
}

PlanePeerView ToView(const PlaneRow& row, const InstanceConfig& instance) {
  PlanePeerView view{.xpu = instance.xpu,
                     .instance = instance.instance,
                     .peer = row.peer_xpuid,
                     .plane = row.plane,
                     .state = StateOf(row),
                     .usable = row.usable,
                     .home = row.home_vcs != 0,
                     .fencing = row.fencing,
                     .tx_generation = row.tx_generation,
                     .rx_generation = row.rx_generation,
                     .weight = row.weight,
                     .inflight_bytes = row.inflight_bytes,
                     .held_ns = row.held_ns,
                     .deaths = row.deaths};
  for (uint32_t vc = 0; vc < kVcCount; ++vc) {
    if ((row.home_vcs & 1u << vc) != 0) view.home_vcs.push_back(vc);
  }
  if (row.peer_plane != kPeerPlaneUnknown) view.peer_plane = row.peer_plane;
  if (row.measured_part != 0) {
    view.measured_percent = (row.measured_part * 100 + PathRate::kWhole / 2) / PathRate::kWhole;
  }
  if (row.measured_bps != 0) view.measured_bps = row.measured_bps;
  if (row.heard_ago_ns >= 0) view.heard_ago_ns = row.heard_ago_ns;
  return view;
}

}  // namespace

Question<ConnectionsView> LcoreLists::Connections(const ConnectionQuery& wanted) {
  return ListRows<request::Connections>(
      &connections_, wanted, 1, &ConnectionsView::connections,
      [unused = wanted.unused](ConnectionSnapshot& asked) { asked.unused = unused; },
      [this](const ConnectionRow& row, const InstanceConfig& instance) {
        return std::optional(ToView(row, instance, endpoint_->config().transport));
      });
}

Question<WaitsView> LcoreLists::Waits(const ConnectionQuery& wanted) {
  using Query = LcoreQuery<WaitSnapshot, request::Waits>;
  auto listing = std::make_shared<Listing<Query, WaitsView>>(&waits_);
  return [listing, wanted]() -> std::optional<WaitsView> {
    auto& [query, view] = *listing;
    const bool done = query.PollInstances(
        [&](const InstanceConfig& instance) { return NamesInstance(wanted, instance); },
        [&](WaitSnapshot& asked) { asked.peer_xpuid = wanted.peer.value_or(asked.kAnyPeer); },
        [&, &view = view](const WaitSnapshot& snapshot, const InstanceConfig& instance) {
          for (const WaitRow& row : RowsOf(snapshot)) {
            view.more = view.waits.size() == wanted.limit;
            if (view.more) return false;
            view.waits.push_back(ToView(row, instance));
          }
          if (snapshot.more) return true;
          for (uint32_t vc = 0; vc < kVcCount; ++vc) {
            view.readers.push_back(ToView(snapshot.readers[vc], vc, instance));
          }
          return true;
        });
    return done ? std::optional(std::move(view)) : std::nullopt;
  };
}

Question<PlanePeersView> LcoreLists::PlanePeers(const PlanePeerQuery& wanted) {
  return ListRows<request::Planes>(
      &planes_, wanted, 2, &PlanePeersView::peers, [](PlaneSnapshot&) {},
      [plane = wanted.plane](const PlaneRow& row, const InstanceConfig& instance) {
        const bool is_listed = plane.value_or(row.plane) == row.plane;
        return is_listed ? std::optional(ToView(row, instance)) : std::nullopt;
      });
}

Question<std::vector<PlaneView>> LcoreLists::Planes() {
  auto list = std::make_shared<Listing<PlaneQuery, std::vector<PlaneView>>>(&planes_);
  return [this, list]() -> std::optional<std::vector<PlaneView>> {
    auto& [query, views] = *list;
    if (views.empty()) views = endpoint_->administration().Planes();
    const bool done = query.PollInstances(
        [](const InstanceConfig& instance) { return instance.ports.size() > 1; },
        [](PlaneSnapshot& asked) { asked.peer_xpuid = PlaneSnapshot::kAnyPeer; },
        [&views = views](const PlaneSnapshot& snapshot, const InstanceConfig& instance) {
          auto first = std::find_if(views.begin(), views.end(), [&](const PlaneView& view) {
            return view.xpu == instance.xpu && view.instance == instance.instance;
          });
          for (size_t plane = 0; plane < instance.ports.size(); ++plane) {
            first[static_cast<ptrdiff_t>(plane)].inflight_bytes = snapshot.inflight_bytes[plane];
          }
          for (const PlaneRow& row : RowsOf(snapshot)) {
            if (!row.sessions) continue;
            PlaneView& view = first[row.plane];
            ++(row.state == PlaneState::kUp ? view.peers_up : view.peers_down);
            const bool slow = row.measured_part != 0 && row.measured_part != PathRate::kWhole;
            view.peers_slow += slow ? 1 : 0;
          }
          return true;
        });
    if (!done) return std::nullopt;
    // An instance's only plane has no sessions; its bytes are the instance's.
    size_t begin = 0;
    for (uint32_t i = 0; i < endpoint_->config().instances.size(); ++i) {
      const size_t planes = endpoint_->config().instances[i].ports.size();
      if (planes == 1) {
        views[begin].inflight_bytes = endpoint_->instance_pipeline(i)
                                          .gauges(endpoint_->number_of(i))
                                          .Get(Gauge::kInflightBytes);
      }
      begin += planes;
    }
    return std::move(views);
  };
}

Question<uint64_t> LcoreLists::PlaneLoad(uint32_t instance, uint32_t plane) {
  return [this, instance, plane,
          query = std::make_shared<PlaneQuery>(&planes_)]() -> std::optional<uint64_t> {
    const PlaneSnapshot* const snapshot =
        query->Poll(endpoint_->pipeline_of(instance), [&](PlaneSnapshot& asked) {
          asked.instance = endpoint_->number_of(instance);
          asked.first = kBehindAll;
          asked.peer_xpuid = PlaneSnapshot::kAnyPeer;
        });
    if (snapshot == nullptr) return std::nullopt;
    return snapshot->inflight_bytes[plane];
  };
}

QueueView LcoreLists::ViewOf(uint32_t pipeline, const QueueRow& row) const {
  const Config& config = endpoint_->config();
  const InstanceConfig& instance = config.instances[endpoint_->instance_at(pipeline, row.instance)];
  VcMask paused = kEveryVc;  // by the neighbours of all of the instance's ports
  for (const InstancePort& at : instance.ports) paused &= endpoint_->PausedFlows(at.port);
  return {.client = row.client & ~WindowService::kTargetBit,
          .queue = row.number,
          .of_lcore = (row.client & WindowService::kTargetBit) != 0,
          .xpu = instance.xpu,
          .instance = instance.instance,
          .state = row.broken    ? "broken"
                   : row.leaving ? "leaving"
                                 : "open",
          .ring_lines = config.clients.ring_lines,
          .waiting_lines = row.waiting_lines,
          .credit_lines = config.clients.aggregate_lines,
          .credit_used = row.credit_lines,
          .discarded = row.discarded,
          .paused = FlowNames(paused)};
}

Question<std::vector<QueueView>> LcoreLists::Queues() {
  using Query = LcoreQuery<QueueSnapshot, request::Queues>;
  auto list = std::make_shared<Listing<Query, std::vector<QueueView>>>(&queues_);
  return [this, list, pipeline = 0u]() mutable -> std::optional<std::vector<QueueView>> {
    auto& [query, queues] = *list;
    for (; pipeline < endpoint_->pipeline_count(); ++pipeline) {
      const QueueSnapshot* const snapshot = query.Poll(pipeline, [](QueueSnapshot&) {});
      if (snapshot == nullptr) return std::nullopt;
      for (const QueueRow& row : RowsOf(*snapshot)) queues.push_back(ViewOf(pipeline, row));
    }
    std::sort(queues.begin(), queues.end(), [](const QueueView& a, const QueueView& b) {
      return std::tuple(a.client, a.of_lcore, a.queue) < std::tuple(b.client, b.of_lcore, b.queue);
    });
    return std::move(queues);
  };
}

}  // namespace suede
