// SPDX-License-Identifier: Apache-2.0
#include "switch/switch_params.h"

#include <algorithm>
#include <cmath>

#include "config/config_values.h"
#include "config/link_config.h"
#include "fabric/random.h"
#include "switch/address_text.h"
#include "switch/switch_check.h"

namespace suede {
namespace {

using fabric::ChanceOf;

constexpr uint32_t kOnCables = 16384;  // frames on impaired cables, in addition to the buffer
constexpr uint32_t kInHand = 1024;     // of a port: in rings, in bursts, or rejected by the device

fabric::Forwarding ForwardingOf(SwitchRoot::Forwarding forwarding) {
  switch (forwarding) {
    case SwitchRoot::Forwarding::kAfh1:
      return fabric::Forwarding::kAfh1;
    case SwitchRoot::Forwarding::kAfh2:
      return fabric::Forwarding::kAfh2;
    case SwitchRoot::Forwarding::kIp:
      return fabric::Forwarding::kIp;
    case SwitchRoot::Forwarding::kEsun:
      return fabric::Forwarding::kEsun;
    case SwitchRoot::Forwarding::kMac:
      break;
  }
  return fabric::Forwarding::kMac;
}

fabric::ClassParams ClassOf(const SwitchConfig& config, const SwitchClassConfig& one) {
  fabric::ClassParams params{.lossless = one.lossless == OnOff::kOn,
                             .strict = one.strict == OnOff::kOn,
                             .weight = static_cast<uint16_t>(one.weight),
                             .reserved_bytes = one.reserved_bytes,
                             .alpha_16th = static_cast<uint16_t>(std::lround(one.alpha.value * 16)),
                             .headroom_bytes = HeadroomOf(config, one),
                             .resume_bytes = one.resume_bytes};
  if (one.max_wait.count() != 0) params.max_wait = one.max_wait;
  if (one.ecn) {
    params.ecn = {
        .least_bytes = one.ecn->least_bytes,
        .most_bytes = one.ecn->most_bytes,
        .probability = static_cast<uint16_t>(std::lround(one.ecn->probability.value * UINT16_MAX))};
  }
  return params;
}

fabric::PortParams PortOf(const SwitchConfig& config, const SwitchPortConfig& port) {
  fabric::PortParams params{.rate_bps = BpsOf(port.rate_gbps),
                            .marks = port.ecn == OnOff::kOn,
                            .strict_vlans = port.strict_vlans == OnOff::kOn,
                            .mac = port.mac.value_or(MacAddress{}),
                            .pfc = {.on = port.pfc == OnOff::kOn,
                                    .quanta = static_cast<uint16_t>(config.pfc.quanta),
                                    .storm = config.pfc.storm,
                                    .calm = config.pfc.calm},
                            .link = LinkParamsOf(config.llr, port.llr, port.link_ether_type,
                                                 port.mac.value_or(MacAddress{})),
                            .decrements_hops = port.decrements_hops == OnOff::kOn,
                            .hairpins = port.hairpin == OnOff::kOn,
                            .cbfc = port.cbfc == OnOff::kOn};
  params.vlans.assign(port.vlans.begin(), port.vlans.end());
  return params;
}

fabric::Spread SpreadOf(SwitchGroupConfig::Spread spread) {
  switch (spread) {
    case SwitchGroupConfig::Spread::kFlow:
      break;
    case SwitchGroupConfig::Spread::kRoundRobin:
      return fabric::Spread::kRoundRobin;
    case SwitchGroupConfig::Spread::kQueue:
      return fabric::Spread::kQueue;
  }
  return fabric::Spread::kFlow;
}

fabric::ClassMap ClassesOf(const SwitchConfig& config) {
  fabric::ClassMap map{.other = static_cast<uint8_t>(config.classes.other),
                       .pcp_first = config.classes.pcp_first == OnOff::kOn};
  for (size_t pcp = 0; pcp < 8; ++pcp) {
    map.of_pcp[pcp] = static_cast<uint8_t>(config.classes.pcp[pcp]);
  }
  for (const SwitchDscpConfig& entry : config.dscps) {
    map.of_dscp[entry.dscp] = static_cast<uint8_t>(entry.traffic_class);
  }
  return map;
}

}  // namespace

fabric::SwitchParams SwitchParamsOf(const SwitchConfig& config) {
  fabric::SwitchParams params{.forwarding = ForwardingOf(config.root.forwarding),
                              .esun_ether_type = config.root.esun_ether_type.value_or(0),
                              .learns = config.root.learning == OnOff::kOn,
                              .floods = config.root.unknown == SwitchRoot::Unknown::kFlood,
                              .addresses = config.table.addresses,
                              .addresses_of_port = config.table.of_port,
                              .max_age = std::chrono::seconds(config.table.max_age_s),
                              .buffer_bytes = config.buffer.bytes,
                              .cell_bytes = config.buffer.cell_bytes,
                              .classes = ClassesOf(config),
                              .seed = config.root.seed};
  for (const SwitchGroupConfig& group : config.groups) {
    params.groups.push_back({.ports = group.port_numbers,
                             .weights = {group.weights.begin(), group.weights.end()},
                             .spread = SpreadOf(group.spread),
                             .by_addresses = group.hash == SwitchGroupConfig::Hash::kAddresses});
  }
  for (const SwitchClassConfig& one : config.of_class) {
    params.of_class[one.traffic_class] = ClassOf(config, one);
  }
  const CreditGrant grant = CreditGrantOf(config);
  params.cbfc = {
      .rule = grant.rule, .times = config.cbfc, .largest_octets = MaxBytesOnCredit(config)};
  for (uint32_t c = 0; c < fabric::kClasses; ++c) params.of_class[c].credits = grant.limits[c];
  params.trim = {.on = !config.trim.dscps.empty(),
                 .ipv4_bytes = config.trim.ipv4_bytes,
                 .ipv6_bytes = config.trim.ipv6_bytes,
                 .max_queue_bytes =
                     config.trim.max_queue_bytes != 0 ? config.trim.max_queue_bytes : UINT32_MAX,
                 .trimmed_dscp = static_cast<uint8_t>(config.trim.trimmed_dscp),
                 .trimmed_class = static_cast<uint8_t>(config.trim.trimmed_class)};
  for (const uint32_t dscp : config.trim.dscps) params.trim.dscps |= uint64_t{1} << dscp;
  for (const SwitchPortConfig& port : config.ports) params.ports.push_back(PortOf(config, port));
  return params;
}

fabric::ImpairmentParams ImpairmentOf(const SwitchImpairConfig& config) {
  fabric::ImpairmentParams params{.rate_bps = BpsOf(config.rate_gbps),
                                  .delay = config.delay,
                                  .jitter = config.jitter,
                                  .loss = ChanceOf(config.loss.value),
                                  .to_bad = ChanceOf(config.burst_begins.value),
                                  .to_good = ChanceOf(config.burst_ends.value),
                                  .loss_in_bad = ChanceOf(config.burst_loss.value),
                                  .reorder = ChanceOf(config.reorder.value),
                                  .reorder_delay = config.reorder_delay,
                                  .duplicate = ChanceOf(config.duplicate.value),
                                  .bad_fcs = ChanceOf(config.bad_fcs.value),
                                  .flip = ChanceOf(config.flip.value),
                                  .down = config.down == OnOff::kOn,
                                  .rewrite = {.dscp = config.dscp,
                                              .ecn = config.ecn,
                                              .pcp = config.pcp,
                                              .hop_limit = config.hop_limit},
                                  .strip_tag = config.strip_tag == OnOff::kOn};
  if (config.longest_bytes != 0) params.max_bytes = config.longest_bytes;
  for (const uint32_t one : config.hole_classes) {
    params.hole_classes |= static_cast<fabric::ClassMask>(1u << one);
  }
  for (const std::string& destination : config.hole_destinations) {
    params.hole_destinations.push_back(MacOrNumber(destination).value_or(0));
  }
  return params;
}

NetAddress AddressKeyOf(const SwitchAddressConfig& address) {
  if (address.forwarding_address)
    return fabric::ForwardingTable::ForwardingKey(*address.forwarding_address);
  if (address.mac) {
    return fabric::ForwardingTable::MacKey(MacNumber(*address.mac),
                                           static_cast<uint16_t>(address.vlan));
  }
  IpText ip;
  const ConfigNode text{.kind = ConfigNode::Kind::kScalar, .text = *address.ip};
  if (!ReadValue(text, {}, ip).empty()) return {};  // validated with the configuration
  return ip.is_v6 ? fabric::ForwardingTable::Ipv6Key({.high = ip.value.high, .low = ip.value.low})
                  : fabric::ForwardingTable::Ipv4Key(static_cast<Ipv4Address>(ip.value.low));
}

uint32_t PoolFramesOf(const SwitchConfig& config) {
  uint64_t frames = uint64_t{config.buffer.bytes} / config.buffer.cell_bytes + kOnCables +
                    CachedFrames(static_cast<uint32_t>(config.lcores.size()) + 1);
  for (const SwitchPortConfig& port : config.ports) {
    frames += port.rx_descriptors + port.tx_descriptors + kInHand;
    if (port.llr == OnOff::kOn) frames += config.llr.window_frames;
  }
  return static_cast<uint32_t>(frames);
}

PortOptions PortOptionsOf(const SwitchConfig& config, uint32_t p) {
  const SwitchPortConfig& port = config.ports[p];
  const uint32_t shim_bytes = port.llr == OnOff::kOn ? kLinkShimBytes : 0;
  uint32_t max = 0;
  for (const SwitchPortConfig& one : config.ports) max = std::max(max, MaxFrameBytes(one));
  PortOptions options{.name = port.name,
                      .device = port.device,
                      .socket_mode = port.socket_mode,
                      .mtu = static_cast<uint16_t>(port.mtu_bytes + shim_bytes),
                      .frame_bytes = std::max<uint32_t>(64, MaxFrameBytes(port)),
                      .lcores = static_cast<uint16_t>(config.lcores.size()),
                      .rx_descriptors = static_cast<uint16_t>(port.rx_descriptors),
                      .tx_descriptors = static_cast<uint16_t>(port.tx_descriptors),
                      .mac = port.mac,
                      .promiscuous = true,
                      .takes_mac_control = port.pfc == OnOff::kOn,
                      .pool_frames = PoolFramesOf(config),
                      .pool = "frames_switch"};
  options.pool_frame_bytes = std::max<uint32_t>(64, max);
  return options;
}

}  // namespace suede
