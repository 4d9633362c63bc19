// SPDX-License-Identifier: Apache-2.0
#include "endpoint/connection_survey.h"

#include <utility>

namespace suede {
namespace {

std::string_view NameOf(ConnectionState state) {
  switch (state) {
    case ConnectionState::kNew: return "new";
    case ConnectionState::kOpen: return "open";
    case ConnectionState::kPaused: return "paused";
    case ConnectionState::kRetransmitting: return "retransmitting";
    case ConnectionState::kFrozen: return "frozen";
    case ConnectionState::kLost: break;
  }
  return "lost";
}

SessionView ViewOf(const SessionRow& row) {
  return {.number = row.number,
          .peer_number = row.peer_number,
          .state = suede::NameOf(row.state),
          .weight_percent = row.weight * 100 / SessionSlot::kWeightOne,
          .moves = row.moves,
          .age_ns = row.age_ns};
}

}  // namespace

SnapshotDesk::SnapshotDesk(Endpoint* endpoint) : endpoint_(endpoint) {
  for (uint32_t l = 0; l < endpoint->pipeline_count(); ++l) {
    places_.push_back(std::make_unique<Place>());
  }
}

ConnectionSurvey::~ConnectionSurvey() {
  if (place_ != nullptr) place_->taken = false;
}

bool ConnectionSurvey::IsWanted(const InstanceConfig& instance) const {
  return query_.xpu.value_or(instance.xpu) == instance.xpu &&
         query_.instance.value_or(instance.instance) == instance.instance;
}

std::optional<ConnectionsView> ConnectionSurvey::Poll() {
  const auto& instances = desk_->endpoint_->config().instances;
  if (place_ != nullptr) {
    if (!place_->snapshot.done.load(std::memory_order_acquire)) return std::nullopt;
    Take(place_->snapshot, instances[instance_]);
    std::exchange(place_, nullptr)->taken = false;
  }
  while (instance_ < instances.size() && !IsWanted(instances[instance_])) ++instance_;
  if (instance_ == instances.size() || view_.more) return std::move(view_);
  const uint32_t lcore = desk_->endpoint_->pipeline_of(instance_);
  SnapshotDesk::Place& place = *desk_->places_[lcore];
  // Somebody else's turn, or the lcore still owes one that nobody waits for any more.
  if (place.taken || !place.snapshot.done.load(std::memory_order_acquire)) return std::nullopt;
  Ask(place, lcore);
  return std::nullopt;
}

void ConnectionSurvey::Ask(SnapshotDesk::Place& place, uint32_t lcore) {
  ConnectionSnapshot& snapshot = place.snapshot;
  snapshot.instance = desk_->endpoint_->number_of(instance_);
  snapshot.first = connection_;
  snapshot.peer_xpuid = query_.peer.value_or(ConnectionSnapshot::kAnyPeer);
  snapshot.unused = query_.unused;
  snapshot.done.store(false, std::memory_order_relaxed);
  const bool asked = desk_->endpoint_->pipeline(lcore).mailbox().requests.Push(
      request::Connections{.snapshot = &snapshot});
  if (!asked) {
    snapshot.done.store(true, std::memory_order_relaxed);  // a full mailbox: the next time
    return;
  }
  place.taken = true;
  place_ = &place;
}

void ConnectionSurvey::Take(const ConnectionSnapshot& snapshot, const InstanceConfig& instance) {
  const TransportConfig& transport = desk_->endpoint_->config().transport;
  const bool is_per_vc = transport.psn_scope == TransportConfig::PsnScope::kVc;
  for (uint32_t i = 0; i < snapshot.count; ++i) {
    const ConnectionRow& row = snapshot.rows[i];
    if (view_.connections.size() == query_.limit) {
      view_.more = true;
      return;
    }
    view_.connections.push_back(
        {.xpu = instance.xpu,
         .instance = instance.instance,
         .peer = row.peer_xpuid,
         .plane = row.plane,
         .vc = is_per_vc ? std::optional<uint32_t>(row.vc) : std::nullopt,
         .slot = row.slot,
         .session = row.session ? std::optional(ViewOf(*row.session)) : std::nullopt,
         .state = NameOf(row.state),
         .next_psn = row.next_psn,
         .expected_psn = row.expected_psn,
         .unacked_pdus = row.unacked_pdus,
         .unacked_bytes = row.unacked_bytes,
         .window_pdus = transport.window_pdus,
         .window_bytes = transport.window_bytes,
         .srtt_ns = row.srtt_ns,
         .rto_ns = row.rto_ns,
         .congestion = row.congestion,
         .congestion_window_octets = row.congestion_window_octets,
         .base_rtt_ns = row.base_rtt_ns,
         .tries = row.tries,
         .tx_pdus = row.tx_pdus,
         .rx_pdus = row.rx_pdus,
         .retransmissions = row.retransmissions,
         .peer_waits = row.peer_waits});
  }
  if (snapshot.more) {
    connection_ = snapshot.next;
  } else {
    ++instance_;
    connection_ = 0;
  }
}

}  // namespace suede
