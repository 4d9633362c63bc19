// SPDX-License-Identifier: Apache-2.0
#include "lcore/instance.h"

#include <algorithm>
#include <bit>
#include <cstdlib>

#include "base/line_counts.h"
#include "client/command_sink.h"
#include "lcore/port_context.h"

namespace suede {

Instance::Instance(const InstanceParams& instance_params,
                   const std::vector<PortContext*>& plane_ports, InstanceStats* stats)
    : params(instance_params),
      received_head(ReceivedHead(0, 0, params.xpuid, params.instance)),
      counters(stats->counters),
      gauges(stats->gauges),
      histograms(stats->histograms),
      ports(plane_ports),
      map(static_cast<uint32_t>(plane_ports.size()), params.sessions, params.transport.psn_scope),
      lane_is_plane(is_strict() || !map.has_planes()),
      has_homes(is_strict() && map.has_planes()),
      measures(params.paths.weights == PlaneWeights::kMeasured && map.has_planes()),
      spreads(!is_strict() && (map.has_planes() || map.has_groups())),
      own(params.xpuid, map, params.transport, params.paths, params.secret),
      scheduler(static_cast<uint32_t>(instance_params.peers.size())) {
  peer_of_xpu.fill(kNoPeer);
  const auto count = static_cast<uint32_t>(params.peers.size());
  const size_t path_count = size_t{count} * map.plane_count();
  connections.resize(path_count * map.path_connections());
  flags.resize(connections.size());
  last_given_up.resize(connections.size());
  sessions.resize(path_count);
  if (measures) rates.resize(path_count);
  slots.resize(path_count * map.session_count());
  groups.resize(path_count);
  headers.resize(path_count * map.session_count() * kClasses);
  sources.resize(path_count);
  paths.resize(count);
  blocked.resize(count);
  rx_credit.queues.resize(size_t{count} * kVcCount);
  tx_credit.resize(rx_credit.queues.size());
  ack_list.resize(ports.size());
  widest_window = params.transport.window_pdus;
  largest_pack_bytes = params.pack_limit_bytes;
  std::vector<PeerParts> parts;
  for (PlaneIndex plane = 0; plane < map.plane_count(); ++plane) {
    own.session_numbers[plane] = SessionCount(ports[plane]->params.rules.encap);
  }
  for (size_t i = 0; i < path_count; ++i) {
    groups[i].SetSlots(&slots[i * map.session_count()]);
    groups[i].Begin(1, 1, Time{});
  }
  for (PeerIndex peer = 0; peer < count; ++peer) {
    const PeerParams& known = params.peers[peer];
    peer_of_xpu[known.xpuid] = static_cast<uint16_t>(peer);
    for (PlaneIndex plane = 0; plane < map.plane_count(); ++plane) {
      const PeerPlane& p = known.planes[plane];
      sources[map.PathAt(peer, plane)] = p.address;
      if (p.present) paths[peer].present |= static_cast<PlaneMask>(1u << plane);
      if (p.resolving) paths[peer].resolving |= static_cast<PlaneMask>(1u << plane);
      paths[peer].SetWeight(plane, params.planes[plane].weight);
    }
    WriteHeaders(peer);
    parts.push_back({{.own = &own,
                      .xpuid = known.xpuid,
                      .paths = &paths[peer],
                      .sessions = &sessions[map.PathAt(peer, 0)],
                      .groups = &groups[map.PathAt(peer, 0)],
                      .connections = &connections[map.At(peer, 0, 0)],
                      .rates = measures ? &rates[map.PathAt(peer, 0)] : nullptr},
                     known.plain});
    for (Vc vc = 0; known.plain && vc < kVcCount; ++vc) {
      scheduler.queue(Scheduler::IndexOf(peer, vc)).max_lines = UINT16_MAX;
    }
  }
  peers = std::vector<Peer>(parts.begin(), parts.end());
  PeerPaths usual;
  for (PlaneIndex plane = 0; plane < map.plane_count(); ++plane) {
    usual.SetWeight(plane, params.planes[plane].weight);
  }
  usual.SetUsable(static_cast<PlaneMask>((1u << map.plane_count()) - 1));
  own.shares.Begin(usual.share);
  for (PlaneIndex plane = 0; count != 0 && plane < map.plane_count(); ++plane) {
    frame_octets = std::max(
        frame_octets, header(map.At(0, plane, 0), 0).length + kRhBytes + kRcrcBytes + kWireOctets);
  }
  own.frame_octets = frame_octets;
  for (PlaneIndex plane = 0; plane < map.plane_count(); ++plane) NoteLinkSpeed(plane);
  marks.resize(path_count);
  is_paced = params.congestion.control != CongestionControl::kFixed;
  if (is_paced) {
    congestion.resize(path_count);
    looked_at.resize(path_count);
    flying.resize(connections.size());
  }
  SetHello();
}

void Instance::StartSealing(Crypto* crypto, SealTurn* turn) {
  if (params.seal.mode == SealMode::kOff) return;
  seal_own.reset(new SealOwn);
  if (seal_own == nullptr) std::abort();
  seal_own->crypto = crypto;
  seal_own->turn = turn;
  seal_own->params = params.seal;
  seal_own->partition = params.partition;
  seal_own->xpuid = params.xpuid;
  seal_cells = std::vector<SealCell>(peers.size());
  for (size_t i = 0; i < peers.size(); ++i) {
    sealed_peers.emplace_back(new SealedPeer(*seal_own, peers[i].xpuid(), &seal_cells[i]));
    if (sealed_peers.back() == nullptr) std::abort();
  }
  for (PeerIndex peer = 0; peer < peers.size(); ++peer) paths[peer].alike = AlikeOf(peer);
  for (PortContext* port : ports) port->link.ExpectSealed();
  frame_octets += kSessionSealBytes;
  own.frame_octets = frame_octets;
  SetHello();
}

// Returns the planes whose addresses are also those of another plane that leads to the peer.
PlaneMask Instance::AlikeOf(PeerIndex peer) const {
  PlaneMask alike = 0;
  const std::vector<PeerPlane>& theirs = params.peers[peer].planes;
  for (PlaneIndex plane = 0; plane < map.plane_count(); ++plane) {
    for (uint32_t other = 0; other < map.plane_count(); ++other) {
      if (other != plane && theirs[other].present &&
          params.planes[other].address == params.planes[plane].address &&
          theirs[other].address == theirs[plane].address) {
        alike |= static_cast<PlaneMask>(1u << plane);
      }
    }
  }
  return alike;
}

// Bytes of commands in the largest PDU that fits every port of the instance.
uint32_t Instance::ReceiveBytes() const {
  uint32_t min = kMaxPackBytes;
  for (PlaneIndex plane = 0; plane < map.plane_count(); ++plane) {
    // Headers have the same length for every peer and class.
    const uint32_t around = header(map.At(0, plane, 0), 0).length + kRhBytes + kRcrcBytes +
                            (seals() ? kSessionSealBytes : 0);
    min = std::min(min, ports[plane]->link.max_frame_bytes() - around);
  }
  return min;
}

// Writes the parameters into our HELLO.
void Instance::SetHello() {
  if (params.peers.empty()) return;
  // Lines of a receive ring that the commands of a PDU may take.
  const uint32_t lines = params.receive_lines == 0 ? 0 : params.receive_lines - kWrapLines;
  own.hello = {.psn_scope = static_cast<uint8_t>(params.transport.psn_scope),
               .answers_planes = true,
               .sends_generations = own.has_sessions,
               .counts_credit = params.counts_credit,
               .window_pdus = static_cast<uint16_t>(params.transport.window_pdus),
               .pack_limit_bytes = static_cast<uint16_t>(params.pack_limit_bytes),
               .receive_bytes = static_cast<uint16_t>(ReceiveBytes()),
               .receive_lines = static_cast<uint16_t>(std::min<uint32_t>(lines, UINT16_MAX)),
               .sessions = static_cast<uint16_t>(map.session_count()),
               .hears_pauses = true,
               .answers_congestion = true,
               .wants_echoes = params.congestion.control != CongestionControl::kFixed};
}

void Instance::NoteLinkSpeed(PlaneIndex plane) {
  const PortContext& port = *ports[plane];
  own.link_bps[plane] =
      port.params.rate_bps != 0 ? port.params.rate_bps : port.link.state().speed_bps;
}

PathLimits Instance::LimitsOf(PlaneIndex plane, uint64_t speed_bps) const {
  return {.rate_bps = RateOf(ports[plane]->params.rate_bps, speed_bps),
          .largest_octets = OctetsOf(1, largest_pack_bytes)};
}

void Instance::WriteHeaders(PeerIndex peer) {
  for (PlaneIndex plane = 0; plane < map.plane_count(); ++plane) {
    const PathIndex path = map.PathAt(peer, plane);
    for (uint32_t c = 0; c < kClasses; ++c) {
      // The number of an only session is configured.
      const HeaderTemplate header = MakeHeader(peer, plane, c, ports[plane]->params.session);
      for (SessionIndex slot = 0; slot < map.session_count(); ++slot) {
        headers[map.SessionAt(path, slot) * kClasses + c] = header;
      }
    }
    for (SessionIndex slot = 0; has_groups() && slot < map.session_count(); ++slot) {
      Renumber(peer, plane, slot);
    }
  }
}

void Instance::Renumber(PeerIndex peer, PlaneIndex plane, SessionIndex slot) {
  const uint32_t at = map.SessionAt(map.PathAt(peer, plane), slot);
  for (uint32_t c = 0; c < kClasses; ++c) {
    SetSession(headers[at * kClasses + c], slots[at].number);
  }
}

HeaderTemplate Instance::MakeHeader(PeerIndex peer, PlaneIndex plane, uint32_t traffic_class,
                                    uint16_t number) const {
  const PeerPlane& p = params.peers[peer].planes[plane];
  const PortParams& port = ports[plane]->params;
  return MakeTemplate(port.rules.encap, {.source_mac = port.mac,
                                         .destination_mac = p.mac,
                                         .tagged = port.tagged,
                                         .vid = port.vid,
                                         .source = params.planes[plane].address,
                                         .destination = p.address,
                                         .udp_port = port.rules.udp_port,
                                         .session = number,
                                         .mac_prefix = port.rules.mac_prefix,
                                         .ether_type = port.rules.ether_type,
                                         .traffic_class = traffic_class == kAckClass
                                                              ? params.ack_class
                                                              : params.classes[traffic_class]});
}

bool Instance::AnyOpenCan(PeerIndex peer, PlaneIndex plane, Vc vc, uint32_t bytes) const {
  for (SlotMask left = groups[map.PathAt(peer, plane)].open(); left != 0; left &= left - 1) {
    const auto slot = Lowest<SessionIndex>(left);
    if (connections[map.At(peer, plane, slot, vc)].tx().CanSend(bytes, params.transport)) {
      return true;
    }
  }
  return false;
}

ConnectionState Instance::StateOf(ConnectionIndex number) const {
  const Connection& connection = connections[number];
  if (connection.tx().lost()) return ConnectionState::kLost;
  if (connection.in_flight().HasRetransmission()) return ConnectionState::kRetransmitting;
  if (connection.tx().paused()) return ConnectionState::kPaused;
  if (connection.tx().frozen()) return ConnectionState::kFrozen;
  const bool open = peers[map.PeerOf(number)].handshake().open() || connection.HasHistory();
  return open ? ConnectionState::kOpen : ConnectionState::kNew;
}

bool Instance::IsOutOfService() const {
  bool all = true;
  for (PlaneIndex plane = 0; plane < map.plane_count(); ++plane) {
    all &= ports[plane]->link.down() || own.admin[plane] == PlaneAdmin::kDown;
  }
  return down || all;
}

bool Instance::IsUnreachable(PeerIndex peer) const {
  for (Vc vc = 0; vc < kVcCount; ++vc) {
    if (scheduler.queue(Scheduler::IndexOf(peer, vc)).lost) return true;
  }
  return false;
}

bool Instance::IsPaused(PeerIndex peer) const {
  for (PlaneIndex plane = 0; plane < map.plane_count(); ++plane) {
    if ((paths[peer].usable & 1u << plane) == 0) continue;
    for (PathConnection i = 0; i < map.path_connections(); ++i) {
      if (connections[map.At(peer, plane, i)].tx().paused()) return true;
    }
  }
  for (Vc vc = 0; vc < kVcCount; ++vc) {
    if (tx_credit[Scheduler::IndexOf(peer, vc)].waiting) return true;
  }
  return false;
}

void Instance::Take(const Settings& settings) {
  const PsnScope scope = params.transport.psn_scope;
  widest_window = std::max(widest_window, settings.transport.window_pdus);
  params.partition = settings.partition;
  if (seals()) seal_own->partition = settings.partition;
  params.classes = settings.classes;
  params.ack_class = settings.ack_class;
  params.pack_limit_bytes = settings.pack_limit_bytes;
  largest_pack_bytes = std::max(largest_pack_bytes, settings.pack_limit_bytes);
  params.inflight_pdus = settings.inflight_pdus;
  params.unclaimed_pdus = settings.unclaimed_pdus;
  params.transport = settings.transport;
  params.transport.psn_scope = scope;
  const Ordering ordering = params.paths.ordering;
  params.paths = settings.paths;
  params.paths.ordering = ordering;
  SetHello();
}

}  // namespace suede
