// SPDX-License-Identifier: Apache-2.0
#include "lcore/peer_arrays.h"

namespace suede {

PeerArrays::PeerArrays(const InstanceParams& params, const ConnectionMap& map)
    : own(params.xpuid, map, params.transport, params.paths, params.secret),
      measures(params.paths.weights == PlaneWeights::kMeasured && map.has_planes()),
      widest_window(params.transport.window_pdus) {
  of_xpu.fill(kNoPeer);
  const auto count = static_cast<uint32_t>(params.peers.size());
  const size_t path_count = size_t{count} * map.plane_count();
  connections.resize(path_count * map.path_connections());
  if (params.transport.recovery == LossRecovery::kSelective) early.resize(connections.size());
  sessions.resize(path_count);
  if (measures) rates.resize(path_count);
  slots.resize(path_count * map.session_count());
  groups.resize(path_count);
  paths.resize(count);
  for (size_t i = 0; i < path_count; ++i) {
    groups[i].SetSlots(&slots[i * map.session_count()]);
    groups[i].Begin(1, 1, Time{});
  }
  std::vector<PeerParts> parts;
  for (PeerIndex peer = 0; peer < count; ++peer) {
    const PeerParams& known = params.peers[peer];
    of_xpu[known.xpuid] = static_cast<uint16_t>(peer);
    for (PlaneIndex plane = 0; plane < map.plane_count(); ++plane) {
      const PeerPlane& p = known.planes[plane];
      if (p.present) paths[peer].present |= static_cast<PlaneMask>(1u << plane);
      if (p.resolving) paths[peer].resolving |= static_cast<PlaneMask>(1u << plane);
      paths[peer].SetWeight(plane, params.planes[plane].weight);
    }
    parts.push_back({{.own = &own,
                      .xpuid = known.xpuid,
                      .paths = &paths[peer],
                      .sessions = &sessions[map.PathAt(peer, 0)],
                      .groups = &groups[map.PathAt(peer, 0)],
                      .connections = &connections[map.At(peer, 0, 0)],
                      .rates = measures ? &rates[map.PathAt(peer, 0)] : nullptr,
                      .early = early.empty() ? nullptr : &early[map.At(peer, 0, 0)]},
                     known.plain});
  }
  all = std::vector<Peer>(parts.begin(), parts.end());
  PeerPaths usual;
  for (PlaneIndex plane = 0; plane < map.plane_count(); ++plane) {
    usual.SetWeight(plane, params.planes[plane].weight);
  }
  usual.SetUsable(static_cast<PlaneMask>((1u << map.plane_count()) - 1));
  own.shares.Begin(usual.share);
}

PlaneMask PeerArrays::AlikeOf(const InstanceParams& params, PeerIndex peer) {
  PlaneMask alike = 0;
  const std::vector<PeerPlane>& theirs = params.peers[peer].planes;
  for (size_t plane = 0; plane < params.planes.size(); ++plane) {
    for (size_t other = 0; other < params.planes.size(); ++other) {
      if (other != plane && theirs[other].present &&
          params.planes[other].address == params.planes[plane].address &&
          theirs[other].address == theirs[plane].address) {
        alike |= static_cast<PlaneMask>(1u << plane);
      }
    }
  }
  return alike;
}

ConnectionState PeerArrays::StateOf(ConnectionIndex number) const {
  const Connection& connection = connections[number];
  if (connection.tx().lost()) return ConnectionState::kLost;
  if (connection.in_flight().HasRetransmission()) return ConnectionState::kRetransmitting;
  if (connection.tx().paused()) return ConnectionState::kPaused;
  if (connection.tx().frozen()) return ConnectionState::kFrozen;
  const bool open = all[own.map.PeerOf(number)].handshake().open() || connection.HasHistory();
  return open ? ConnectionState::kOpen : ConnectionState::kNew;
}

bool PeerArrays::IsPaused(PeerIndex peer) const {
  for (PlaneIndex plane = 0; plane < own.map.plane_count(); ++plane) {
    if ((paths[peer].usable & 1u << plane) == 0) continue;
    for (PathConnection i = 0; i < own.map.path_connections(); ++i) {
      if (connections[own.map.At(peer, plane, i)].tx().paused()) return true;
    }
  }
  return false;
}

bool PeerArrays::AnyOpenCan(PeerIndex peer, PlaneIndex plane, Vc vc, uint32_t bytes) const {
  for (SlotMask left = group(peer, plane).open(); left != 0; left &= left - 1) {
    const auto slot = Lowest<SessionIndex>(left);
    if (connections[own.map.At(peer, plane, slot, vc)].tx().CanSend(bytes, own.transport)) {
      return true;
    }
  }
  return false;
}

}  // namespace suede
