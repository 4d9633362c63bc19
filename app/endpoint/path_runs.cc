// SPDX-License-Identifier: Apache-2.0
#include "endpoint/path_runs.h"

#include <algorithm>
#include <array>
#include <bit>
#include <chrono>
#include <utility>

#include "base/text.h"
#include "wire/encap.h"

namespace suede {
namespace {

// In the order of PathState; a run is not shown before it has ended.
constexpr std::array<std::string_view, 9> kStates = {
    "", "done", "down", "no_link", "no_mac", "no_association", "no_consent", "no_field", "no_pfc"};

MarksView ViewOf(const FrameMarks& marks) {
  MarksView view;
  if (marks.has_ds) {
    view.dscp = marks.ds >> 2;
    view.ecn = marks.ds & 3;
  }
  if (marks.has_hops) view.hops = marks.hops;
  if (marks.tagged) {
    view.vid = marks.tci & 0xfff;
    view.pcp = marks.tci >> 13;
  }
  return view;
}

PathProbeView ViewOf(uint32_t number, const PathRun::Row& row) {
  PathProbeView view{.number = number,
                     .session = row.session,
                     .sent_ns = ToNs(row.sent),
                     .lost_here = row.lost_here,
                     .answered = row.copies != 0,
                     .copies = row.copies};
  if (row.copies == 0) return view;
  view.received_ns = row.report.received_ns;
  view.order = row.report.order;
  view.bytes = row.report.bytes;
  view.there = ViewOf(row.report.there);
  view.returned_ns = ToNs(row.returned);
  view.reply_bytes = row.reply_bytes;
  view.reply_sent = ViewOf(row.report.sent);
  view.here = ViewOf(row.here);
  return view;
}

// Returns the growth of the peer's counters over the reported probes, in order of arrival.
std::optional<PathDropsView> DropsOf(const std::vector<PathRun::Row>& rows) {
  const Path* first = nullptr;
  const Path* last = nullptr;
  for (const PathRun::Row& row : rows) {
    if (row.copies == 0) continue;
    if (first == nullptr) first = last = &row.report;
    if (static_cast<int32_t>(row.report.order - first->order) < 0) first = &row.report;
    if (static_cast<int32_t>(row.report.order - last->order) > 0) last = &row.report;
  }
  if (first == nullptr) return std::nullopt;
  return PathDropsView{.address = last->address_drops - first->address_drops,
                       .crc = last->rcrc_drops - first->rcrc_drops,
                       .not_sue = last->not_sue_drops - first->not_sue_drops,
                       .trimmed = last->trimmed - first->trimmed,
                       .pauses = last->pauses - first->pauses};
}

std::optional<uint8_t> ByteOf(const std::optional<uint32_t>& value) {
  return value ? std::optional(static_cast<uint8_t>(*value)) : std::nullopt;
}

PathRun::Spec SpecOf(const PathQuery& query, const PeerPlanes& at) {
  return {.peer = at.peer,
          .plane = PlaneIndex(static_cast<uint32_t>(std::countr_zero(at.planes))),
          .traffic_class = query.traffic_class,
          .bytes = query.bytes,
          .long_reply = query.long_reply,
          .sessions = query.sessions,
          .first_session = query.first_session,
          .dscp = ByteOf(query.dscp),
          .ecn = ByteOf(query.ecn),
          .hop_limit = ByteOf(query.hop_limit),
          .to = query.to == "stranger"     ? PathTarget::kStranger
                : query.to == "ether_type" ? PathTarget::kEtherType
                                           : PathTarget::kPeer,
          .pause = query.pause,
          .interval = std::chrono::microseconds(query.interval_us),
          .timeout = std::chrono::milliseconds(query.timeout_ms)};
}

}  // namespace

absl::StatusOr<EndpointView::PathQuestion> PathRuns::Begin(const PathQuery& query) {
  const absl::StatusOr<PeerPlanes> at = FindPeerPlanes(*endpoint_, query);
  if (!at.ok()) return at.status();
  std::unique_ptr<PathRun>& run = of_instance_[at->instance];
  if (run != nullptr && run->state.load(std::memory_order_acquire) == PathState::kRunning) {
    return absl::ResourceExhaustedError(
        "the instance probes a path already; try again when that has ended");
  }
  run = std::make_unique<PathRun>();
  run->spec = SpecOf(query, *at);
  run->rows.resize(query.count);
  run->state.store(PathState::kRunning, std::memory_order_relaxed);
  const Counts before = CountsOf(at->instance, run->spec);
  const bool is_asked = endpoint_->pipeline(endpoint_->pipeline_of(at->instance))
                            .mailbox()
                            .requests.Push(request::ProbePath{
                                .instance = endpoint_->number_of(at->instance), .run = run.get()});
  if (!is_asked) {
    run = nullptr;
    return absl::ResourceExhaustedError("the instance's lcore has no time; try again");
  }
  return [this, at = *at, before](bool is_last) { return Poll(at, before, is_last); };
}

std::optional<absl::StatusOr<PathView>> PathRuns::Poll(const PeerPlanes& at, const Counts& before,
                                                       bool is_last) const {
  const PathRun& run = *of_instance_[at.instance];
  if (run.state.load(std::memory_order_acquire) != PathState::kRunning) return ViewOf(at, before);
  if (!is_last) return std::nullopt;
  return absl::DeadlineExceededError(
      "the probes have not left: the instance's lcore or its port has no time; try again");
}

PathRuns::Counts PathRuns::CountsOf(uint32_t instance, const PathRun::Spec& spec) const {
  const Pipeline& pipeline = endpoint_->instance_pipeline(instance);
  const uint32_t port = endpoint_->config().instances[instance].ports[spec.plane].port;
  Counts counts{
      .pfc = pipeline.port_counters().Get(Counter::kRxPfc),
      .marked = pipeline.counters(endpoint_->number_of(instance)).Get(Counter::kRxMarked)};
  if (const PortPauses* const pauses = endpoint_->pauses(port); pauses != nullptr) {
    counts.paused =
        pauses->PausedFor(pauses->ClassOf(spec.traffic_class), endpoint_->clock().Now());
  }
  return counts;
}

PathView PathRuns::ViewOf(const PeerPlanes& at, const Counts& before) const {
  const Config& config = endpoint_->config();
  const InstanceConfig& instance = config.instances[at.instance];
  const PathRun& run = *of_instance_[at.instance];
  const Instance& own =
      endpoint_->instance_pipeline(at.instance).instance(endpoint_->number_of(at.instance));
  const PortConfig& port = config.ports[instance.ports[run.spec.plane].port];
  const Counts now = CountsOf(at.instance, run.spec);
  PathView view{.xpu = instance.xpu,
                .instance = instance.instance,
                .peer = own.params.peers[at.peer].xpuid,
                .plane = run.spec.plane,
                .port = port.name,
                .encapsulation = EncapName(port.encapsulation),
                .state = kStates[static_cast<size_t>(run.state.load(std::memory_order_acquire))],
                .rate_bps = run.rate_bps != 0 ? std::optional(run.rate_bps) : std::nullopt,
                .sent = suede::ViewOf(run.sent)};
  view.own = {.pfc_received = now.pfc - before.pfc,
              .paused_ns = std::max<int64_t>((now.paused - before.paused).count(), 0),
              .credit_waits = run.credit_waits,
              .ecn_marked = now.marked - before.marked};
  if (view.state != "done") return view;
  view.drops = DropsOf(run.rows);
  for (uint32_t i = 0; i < run.rows.size(); ++i) {
    view.probes.push_back(suede::ViewOf(i, run.rows[i]));
  }
  return view;
}

}  // namespace suede
