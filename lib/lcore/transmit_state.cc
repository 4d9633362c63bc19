// SPDX-License-Identifier: Apache-2.0
#include "lcore/transmit_state.h"

#include "lcore/port_context.h"

namespace suede {

TransmitState::TransmitState(uint32_t instance, const InstanceParams& instance_params,
                             const ConnectionMap& connections, PortContext& home_port)
    : number(instance),
      map(connections),
      params(instance_params),
      home(home_port.link),
      lanes(params.paths.ordering == Ordering::kStrict ? map.plane_count() : 1),
      lane_is_plane(params.paths.ordering == Ordering::kStrict || !map.has_planes()),
      has_homes(lanes != 1),
      spreads(params.paths.ordering != Ordering::kStrict && (map.has_planes() || map.has_groups())),
      largest_pack_bytes(params.pack_limit_bytes),
      shares(*home_port.shares),
      is_paced(params.congestion.control != CongestionControl::kFixed),
      scheduler(static_cast<uint32_t>(params.peers.size())) {
  const size_t path_count = params.peers.size() * map.plane_count();
  const size_t connection_count = path_count * map.path_connections();
  credit.resize(params.peers.size() * kVcCount);
  blocked.resize(params.peers.size());
  last_given_up.resize(connection_count);
  flags.resize(connection_count);
  if (is_paced) {
    contexts.resize(path_count);
    changed.resize(path_count);
    flying.resize(connection_count);
  }
  for (PeerIndex peer = 0; peer < params.peers.size(); ++peer) {
    for (Vc vc = 0; params.peers[peer].plain && vc < kVcCount; ++vc) {
      scheduler.queue(Scheduler::IndexOf(peer, vc)).max_lines = UINT16_MAX;
    }
  }
}

[[gnu::cold]] void TransmitState::TraceStaged(ConnectionIndex connection, Vc vc, const Pdu* first,
                                              uint32_t count, Time now) {
  trace->OnStaged(TracePathOf(map, params, connection, vc), first, count, now);
}

}  // namespace suede
