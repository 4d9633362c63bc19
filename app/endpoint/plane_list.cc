// SPDX-License-Identifier: Apache-2.0
#include "endpoint/plane_list.h"

#include <utility>

namespace suede {
namespace {

constexpr uint32_t kPeerPlaneUnknown = 0xff;
constexpr PathIndex kBehindAll{1u << 30};  // index beyond the paths of any instance

std::string_view StateOf(const PlaneRow& row) {
  if (!row.sessions) return "static";
  switch (row.state) {
    case PlaneState::kDown: return "down";
    case PlaneState::kInit: return "init";
    case PlaneState::kUp: break;
  }
  return "up";
}

PlanePeerView ToView(const PlaneRow& row, const InstanceConfig& instance) {
  PlanePeerView view{
      .name = {.xpu = instance.xpu, .instance = instance.instance, .plane = row.plane},
      .peer = row.peer_xpuid,
      .state = StateOf(row),
      .usable = row.usable,
      .home_vcs = row.home_vcs,
      .fencing = row.fencing,
      .tx_generation = row.tx_generation,
      .rx_generation = row.rx_generation,
      .weight = row.weight,
      .inflight_bytes = row.inflight_bytes,
      .held_ns = row.held_ns,
      .deaths = row.deaths};
  if (row.peer_plane != kPeerPlaneUnknown) view.peer_plane = row.peer_plane;
  if (row.measured_part != 0) {
    view.measured_percent = (row.measured_part * 100 + PathRate::kWhole / 2) / PathRate::kWhole;
  }
  if (row.measured_bps != 0) view.measured_bps = row.measured_bps;
  if (row.heard_ago_ns >= 0) view.heard_ago_ns = row.heard_ago_ns;
  return view;
}

}  // namespace

const PlaneSnapshot* PlaneQuery::Poll(uint32_t instance, PathIndex first, uint32_t peer_xpuid) {
  return query_.Poll(endpoint().pipeline_of(instance), [&](PlaneSnapshot& asked) {
    asked.instance = endpoint().number_of(instance);
    asked.first = first;
    asked.peer_xpuid = peer_xpuid;
  });
}

std::optional<std::vector<PlaneView>> PlaneList::Poll() {
  Endpoint& endpoint = query_.endpoint();
  if (views_.empty()) views_ = endpoint.administration().Planes();
  const auto& instances = endpoint.config().instances;
  // An instance's only plane has no sessions; its bytes are the instance's.
  while (instance_ < instances.size() && instances[instance_].ports.size() == 1) {
    const GaugeBlock& gauges =
        endpoint.instance_pipeline(instance_).gauges(endpoint.number_of(instance_));
    views_[begin_++].inflight_bytes = gauges.Get(Gauge::kInflightBytes);
    ++instance_;
  }
  if (instance_ == instances.size()) return std::move(views_);
  const bool done = query_.PollAll(instance_, PlaneSnapshot::kAnyPeer,
                                   [this](const PlaneSnapshot& snapshot) { Take(snapshot); });
  if (done) begin_ += instances[instance_++].ports.size();
  return std::nullopt;
}

void PlaneList::Take(const PlaneSnapshot& snapshot) {
  const size_t planes = query_.endpoint().config().instances[instance_].ports.size();
  for (size_t plane = 0; plane < planes; ++plane) {
    views_[begin_ + plane].inflight_bytes = snapshot.inflight_bytes[plane];
  }
  for (uint32_t i = 0; i < snapshot.count; ++i) {
    const PlaneRow& row = snapshot.rows[i];
    if (!row.sessions) continue;
    PlaneView& view = views_[begin_ + row.plane];
    ++(row.state == PlaneState::kUp ? view.peers_up : view.peers_down);
    view.peers_slow += row.measured_part != 0 && row.measured_part != PathRate::kWhole ? 1 : 0;
  }
}

bool PlanePeerList::IsWanted(const InstanceConfig& instance) const {
  return instance.ports.size() > 1 && wanted_.xpu.value_or(instance.xpu) == instance.xpu &&
         wanted_.instance.value_or(instance.instance) == instance.instance;
}

std::optional<PlanePeersView> PlanePeerList::Poll() {
  const auto& instances = query_.endpoint().config().instances;
  while (instance_ < instances.size() && !IsWanted(instances[instance_])) ++instance_;
  if (instance_ == instances.size() || view_.more) return std::move(view_);
  const bool done =
      query_.PollAll(instance_, wanted_.peer.value_or(PlaneSnapshot::kAnyPeer),
                     [&](const PlaneSnapshot& snapshot) { Take(snapshot, instances[instance_]); });
  if (done) ++instance_;
  return std::nullopt;
}

void PlanePeerList::Take(const PlaneSnapshot& snapshot, const InstanceConfig& instance) {
  for (uint32_t i = 0; i < snapshot.count; ++i) {
    const PlaneRow& row = snapshot.rows[i];
    if (wanted_.plane.value_or(row.plane) != row.plane) continue;
    if (view_.peers.size() == wanted_.limit) {
      view_.more = true;
      return;
    }
    view_.peers.push_back(ToView(row, instance));
  }
}

std::optional<uint64_t> PlaneLoad::Poll() {
  const PlaneSnapshot* const snapshot = query_.Poll(instance_, kBehindAll, PlaneSnapshot::kAnyPeer);
  if (snapshot == nullptr) return std::nullopt;
  return snapshot->inflight_bytes[plane_];
}

}  // namespace suede
