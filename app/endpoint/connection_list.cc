// SPDX-License-Identifier: Apache-2.0
#include "endpoint/connection_list.h"

#include <utility>

namespace suede {
namespace {

std::string_view NameOf(ConnectionState state) {
  switch (state) {
    case ConnectionState::kNew:
      return "new";
    case ConnectionState::kOpen:
      return "open";
    case ConnectionState::kPaused:
      return "paused";
    case ConnectionState::kRetransmitting:
      return "retransmitting";
    case ConnectionState::kFrozen:
      return "frozen";
    case ConnectionState::kLost:
      break;
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

bool ConnectionList::IsWanted(const InstanceConfig& instance) const {
  return wanted_.xpu.value_or(instance.xpu) == instance.xpu &&
         wanted_.instance.value_or(instance.instance) == instance.instance;
}

std::optional<ConnectionsView> ConnectionList::Poll() {
  Endpoint& endpoint = query_.endpoint();
  const auto& instances = endpoint.config().instances;
  while (true) {
    while (instance_ < instances.size() && !IsWanted(instances[instance_])) ++instance_;
    if (instance_ == instances.size() || view_.more) return std::move(view_);
    const ConnectionSnapshot* const snapshot =
        query_.Poll(endpoint.pipeline_of(instance_), [&](ConnectionSnapshot& asked) {
          asked.instance = endpoint.number_of(instance_);
          asked.first = connection_;
          asked.peer_xpuid = wanted_.peer.value_or(ConnectionSnapshot::kAnyPeer);
          asked.unused = wanted_.unused;
        });
    if (snapshot == nullptr) return std::nullopt;
    Take(*snapshot, instances[instance_]);
  }
}

void ConnectionList::Take(const ConnectionSnapshot& snapshot, const InstanceConfig& instance) {
  const TransportConfig& transport = query_.endpoint().config().transport;
  const bool is_per_vc = transport.psn_scope == TransportConfig::PsnScope::kVc;
  for (uint32_t i = 0; i < snapshot.count; ++i) {
    const ConnectionRow& row = snapshot.rows[i];
    if (view_.connections.size() == wanted_.limit) {
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
