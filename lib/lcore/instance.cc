// SPDX-License-Identifier: Apache-2.0
#include "lcore/instance.h"

#include <algorithm>

#include "base/line_counts.h"

namespace suede {

Instance::Instance(uint32_t number_of, const InstanceParams& instance_params,
                   const PlanePorts& plane_ports, InstanceStats& instance_stats)
    : params(instance_params),
      number(number_of),
      map(static_cast<uint32_t>(plane_ports.size()), params.sessions, params.transport.psn_scope),
      stats(instance_stats),
      ports(plane_ports),
      headers(params, ports, map),
      peers(params, map),
      tx(number, params, map, home()),
      rx(number, params, map) {
  for (PlaneIndex plane = 0; plane < map.plane_count(); ++plane) {
    peers.own.session_numbers[plane] = SessionCount(ports[plane]->params.rules.encap);
    NoteLinkSpeed(plane);
  }
  for (PeerIndex peer = 0; peer < peers.size(); ++peer) headers.Write(peer, peers);
  SetFrameOctets();
  if (params.path_probes_per_s != 0) {
    path.rate.emplace(TokenBucket::QuarterAtOnce(params.path_probes_per_s));
  }
  SetHello();
}

void Instance::StartSealing(Crypto* crypto, SealTurn* turn) {
  if (params.seal.mode == SealMode::kOff) return;
  sealing.Begin(params, crypto, turn);
  for (PeerIndex peer = 0; peer < peers.size(); ++peer) {
    peers.paths[peer].alike = PeerArrays::AlikeOf(params, peer);
  }
  for (PortContext* port : ports) port->link.ExpectSealed();
  SetFrameOctets();
  SetHello();
}

void Instance::SetFrameOctets() {
  if (peers.size() == 0) return;
  uint32_t octets = 0;
  for (PlaneIndex plane = 0; plane < map.plane_count(); ++plane) {
    octets = std::max(octets, headers.BytesAround(plane) + kWireOctets);
  }
  tx.frame_octets = peers.own.frame_octets = octets + (sealing.on() ? kSessionSealBytes : 0);
}

// Bytes of commands in the largest PDU that fits every port of the instance.
uint32_t Instance::ReceiveBytes() const {
  uint32_t min = kMaxPackBytes;
  for (PlaneIndex plane = 0; plane < map.plane_count(); ++plane) {
    const uint32_t around = headers.BytesAround(plane) + (sealing.on() ? kSessionSealBytes : 0);
    min = std::min(min, ports[plane]->link.max_frame_bytes() - around);
  }
  return min;
}

// Writes the parameters into our HELLO.
void Instance::SetHello() {
  if (params.peers.empty()) return;
  // Lines of a receive ring that the commands of a PDU may take.
  const uint32_t lines = params.receive_lines == 0 ? 0 : params.receive_lines - kWrapLines;
  const bool selective = params.transport.recovery == LossRecovery::kSelective;
  peers.own.hello = {.psn_scope = static_cast<uint8_t>(params.transport.psn_scope),
                     .answers_planes = true,
                     .sends_generations = peers.own.has_sessions,
                     .counts_credit = params.counts_credit,
                     .window_pdus = static_cast<uint16_t>(params.transport.window_pdus),
                     .pack_limit_bytes = static_cast<uint16_t>(params.pack_limit_bytes),
                     .receive_bytes = static_cast<uint16_t>(ReceiveBytes()),
                     .receive_lines = static_cast<uint16_t>(std::min<uint32_t>(lines, UINT16_MAX)),
                     .sessions = static_cast<uint16_t>(map.session_count()),
                     .hears_pauses = true,
                     .answers_congestion = true,
                     .wants_echoes = tx.is_paced,
                     .answers_path = path.rate.has_value(),
                     .selective = selective,
                     .unordered = selective && !peers.own.is_strict()};
}

void Instance::NoteLinkSpeed(PlaneIndex plane) {
  const PortContext& port = *ports[plane];
  peers.own.link_bps[plane] =
      port.params.rate_bps != 0 ? port.params.rate_bps : port.link.state().speed_bps;
}

PathLimits Instance::LimitsOf(PlaneIndex plane, uint64_t speed_bps) const {
  return {.rate_bps = RateOf(ports[plane]->params.rate_bps, speed_bps),
          .largest_octets = tx.OctetsOf(1, tx.largest_pack_bytes)};
}

bool Instance::IsOutOfService() const {
  bool all = true;
  for (PlaneIndex plane = 0; plane < map.plane_count(); ++plane) {
    all &= ports[plane]->link.down() || peers.own.admin[plane] == PlaneAdmin::kDown;
  }
  return down || all;
}

void Instance::Take(const Settings& settings) {
  const PsnScope scope = params.transport.psn_scope;
  const LossRecovery recovery = params.transport.recovery;
  const Ordering ordering = params.paths.ordering;
  const uint16_t partition = params.has_own_partition ? params.partition : settings.partition;
  static_cast<Settings&>(params) = settings;
  params.partition = partition;
  params.transport.psn_scope = scope;
  params.transport.recovery = recovery;
  params.paths.ordering = ordering;
  peers.widest_window = std::max(peers.widest_window, settings.transport.window_pdus);
  if (sealing.on()) sealing.own->partition = partition;
  tx.largest_pack_bytes = std::max(tx.largest_pack_bytes, settings.pack_limit_bytes);
  SetHello();
}

}  // namespace suede
