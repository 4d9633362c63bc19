// SPDX-License-Identifier: Apache-2.0
#include "endpoint/pipeline_params.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "base/big_endian.h"
#include "config/link_config.h"
#include "endpoint/router_params.h"
#include "link/credit_gate.h"
#include "link/staged_burst.h"
#include "wire/frame_builder.h"

namespace suede {
namespace {

PathParams ToPaths(const Config& config) {
  PathParams paths = config.planes;
  paths.sessions = config.sessions;
  return paths;
}

// Returns the MAC address of an AFH Gen 1 frame to the instance.
MacAddress AfhMac(const ConfigMacPrefix& prefix, const NetAddress& address) {
  return {prefix[0],
          prefix[1],
          prefix[2],
          prefix[3],
          static_cast<uint8_t>(address.low >> 8),
          static_cast<uint8_t>(address.low)};
}

// Returns the peer as reached by the instance's planes. No plane is present if none leads there; an
// instance is not its own peer.
PeerParams PeerParamsOf(const Config& config, const InstanceConfig& instance,
                        const PeerConfig& peer) {
  PeerParams params{.xpuid = static_cast<uint16_t>(peer.xpu),
                    .planes = {},
                    .plain = peer.hello == PeerConfig::Hello::kNever};
  for (const InstancePort& own : instance.ports) {
    PeerPlane& plane = params.planes.emplace_back(PeerPlane{.present = false});
    const PeerPort* at = FindPeerPort(peer, own.port, instance.instance);
    if (at == nullptr) continue;
    const NetAddress address = PeerAddress(config, peer, *at, instance.instance);
    if (address == own.address) continue;
    plane = {.address = address,
             .mac = at->mac,
             .resolving = at->mac == MacAddress{} && LearnsNeighbours(config.ports[at->port])};
  }
  return params;
}

}  // namespace

Settings SettingsOf(const Config& config) {
  Settings settings{.partition = static_cast<uint16_t>(config.partition),
                    .ack_class = config.classes.ack,
                    .pack_limit_bytes = config.packing.limit_bytes,
                    .inflight_pdus = config.transport.inflight_pdus,
                    .unclaimed_pdus = config.clients.unclaimed_pdus,
                    .transport = config.transport,
                    .paths = ToPaths(config)};
  std::copy(config.classes.vc.begin(), config.classes.vc.end(), settings.classes.begin());
  return settings;
}

FrameRules RulesOf(const PortConfig& port) {
  return {.encap = port.encapsulation,
          .udp_port = port.udp_port,
          .mac_prefix = LoadBe32(port.mac_prefix.data()),
          .ether_type = port.ether_type};
}

std::string FlowNames(VcMask flows) {
  std::string names;
  for (uint32_t flow = 0; flow < kLinkFlows; ++flow) {
    if ((flows >> flow & 1) == 0) continue;
    if (!names.empty()) names += ',';
    names += flow == kVcCount ? "ack" : std::to_string(flow);
  }
  return names;
}

PauseParams PauseParamsOf(const Config& config, const PortConfig& port) {
  return {.quanta = config.pfc.quanta,
          .rate_bps = uint64_t{port.bandwidth_gbps.value_or(0)} * 1'000'000'000,
          .storm = config.pfc.storm};
}

uint32_t PackedPdusOf(const Config& config) {
  const ClientsConfig& clients = config.clients;
  const uint64_t lines =
      uint64_t{clients.aggregate_lines} * clients.max_queues * clients.max_clients;
  return static_cast<uint32_t>(std::min<uint64_t>(lines, config.packing.packed_pdus));
}

CongestionParams CongestionParamsOf(const Config& config, const InstanceConfig& instance) {
  CongestionParams params = config.congestion;
  params.control = instance.congestion;
  return params;
}

TargetParams TargetParamsOf(const Config& config) {
  const CongestionConfig& c = config.congestion;
  return {.slice = c.slice,
          .base_rtt = c.base_rtt,
          .initial_percent = c.initial_percent,
          .hold_bdp = c.hold_bdp,
          .age = std::max(TargetParams{}.age, TargetParams::kMinRepeats * c.repeat_max)};
}

namespace {

LinkParams LinkOf(const Config& config, const PortConfig& port, const MacAddress& mac) {
  LinkParams link = LinkParamsOf(config.llr, port.llr, port.link_ether_type, mac);
  link.class_rule = ClassRuleFor(RulesOf(port), port.pfc_class == PortConfig::PfcClass::kPcp);
  if (port.cbfc == OnOff::kOff) return link;
  link.credit = OfferOf(CreditGrantOf(config, port));
  link.credit_times = config.cbfc;
  link.credit_storm = config.pfc.storm;
  return link;
}

}  // namespace

PortParams PortParamsOf(const Config& config, const PortConfig& port,
                        const MacAddress& device_mac) {
  return {.rules = RulesOf(port),
          .session = port.session,
          .hop_limit = port.hop_limit,
          .tagged = port.vid.has_value(),
          .vid = port.vid.value_or(0),
          .mac = port.mac.value_or(device_mac),
          .class_by_pcp = port.pfc_class == PortConfig::PfcClass::kPcp,
          .rate_bps = uint64_t{port.bandwidth_gbps.value_or(0)} * 1'000'000'000,
          .receive_bps = uint64_t{port.receive_mbps.value_or(0)} * 1'000'000,
          .trimmed_dscp = port.trimmed_dscp,
          .packed_pdus = PackedPdusOf(config),
          .link = LinkOf(config, port, port.mac.value_or(device_mac))};
}

SealParams SealParamsOf(const SealingConfig& config, InstanceConfig::Sealing sealing) {
  return {.mode = static_cast<SealMode>(sealing),
          .cipher = config.cipher == SealingConfig::Cipher::kAes128Gcm ? SealCipher::kAes128Gcm
                                                                       : SealCipher::kAes256Gcm,
          .rotate = std::chrono::seconds(config.rotate_s),
          .rotate_pdus = config.rotate_pdus};
}

InstanceParams InstanceParamsOf(const Config& config, const InstanceConfig& instance) {
  InstanceParams params{SettingsOf(config)};
  params.partition = static_cast<uint16_t>(PartitionOf(config, instance));
  params.has_own_partition = instance.partition.has_value();
  params.xpuid = static_cast<uint16_t>(instance.xpu);
  params.instance = static_cast<uint8_t>(instance.instance);
  for (const InstancePort& at : instance.ports) {
    params.planes.push_back({.address = at.address});
  }
  params.sessions = config.sessions.max;
  params.receive_lines = config.clients.receive_lines;
  params.path_probes_per_s = config.transport.path_probes_per_s;
  for (uint32_t vc = 0; vc < kVcCount; ++vc) {
    params.xoff_percent[vc] = config.classes.vc[vc].xoff_percent;
    params.xon_percent[vc] = config.classes.vc[vc].xon_percent;
  }
  params.congestion = CongestionParamsOf(config, instance);
  params.seal = SealParamsOf(config.sealing, instance.sealing);
  params.target = TargetParamsOf(config);
  params.paths.ordering = instance.ordering;
  for (const PeerConfig& peer : config.peers) {
    PeerParams of_peer = PeerParamsOf(config, instance, peer);
    if (std::any_of(of_peer.planes.begin(), of_peer.planes.end(),
                    [](const PeerPlane& plane) { return plane.present; })) {
      params.peers.push_back(std::move(of_peer));
    }
  }
  return params;
}

std::vector<PairUse> PairsOf(const Config& config, uint32_t port) {
  const bool of_instances = config.ports[port].queues == PortConfig::Queues::kInstance;
  std::vector<PairUse> pairs;
  for (uint32_t i = 0; i < config.instances.size(); ++i) {
    const InstanceConfig& instance = config.instances[i];
    if (std::none_of(instance.ports.begin(), instance.ports.end(),
                     [port](const InstancePort& at) { return at.port == port; })) {
      continue;
    }
    auto pair = of_instances ? pairs.end()
                             : std::find_if(pairs.begin(), pairs.end(), [&](const PairUse& use) {
                                 return use.lcore == instance.lcore;
                               });
    if (pair == pairs.end()) pair = pairs.insert(pair, {.lcore = instance.lcore, .instances = {}});
    pair->instances.push_back(i);
  }
  if (IsCentre(config.ports[port])) {
    for (const DeviceConfig& device : config.devices) {
      if (std::ranges::find(pairs, device.lcore, &PairUse::lcore) != pairs.end()) continue;
      pairs.push_back({.lcore = device.lcore, .instances = {}});
    }
  }
  std::stable_sort(pairs.begin(), pairs.end(),
                   [](const PairUse& a, const PairUse& b) { return a.lcore < b.lcore; });
  return pairs;
}

std::vector<PairUse>::const_iterator PairOf(const std::vector<PairUse>& pairs, uint32_t instance) {
  return std::find_if(pairs.begin(), pairs.end(), [instance](const PairUse& pair) {
    return std::find(pair.instances.begin(), pair.instances.end(), instance) !=
           pair.instances.end();
  });
}

std::vector<NetAddress> AddressesOf(const Config& config, uint32_t port, uint32_t lcore) {
  std::vector<NetAddress> addresses;
  for (const InstanceConfig& instance : config.instances) {
    for (const InstancePort& at : instance.ports) {
      if (at.port == port && instance.lcore == lcore) addresses.push_back(at.address);
    }
  }
  return addresses;
}

// Sets the last bytes of a MAC address, where AFH Gen 2 has the destination address. The preceding
// bytes change in transit (hop count) or with each PDU.
void SetAfh2Address(const PortConfig& port, uint64_t address, SteeredAddress* steered) {
  const uint32_t bytes = TraitsOf(port.encapsulation).forwarding_bits / 8;
  for (uint32_t i = 0; i < bytes; ++i) {
    steered->bytes[5 - i] = static_cast<uint8_t>(address >> 8 * i);
    steered->mask[5 - i] = 0xff;
  }
}

SteeredAddress SteeredAddressOf(const PortConfig& port, const NetAddress& address, uint16_t queue) {
  const EncapTraits& traits = TraitsOf(port.encapsulation);
  SteeredAddress steered{.queue = queue};
  if (traits.addresses == AddressKind::kIpv4) {
    StoreBe32(steered.bytes.data(), static_cast<uint32_t>(address.low));
  } else if (traits.addresses == AddressKind::kIpv6) {
    steered.kind = SteeredAddress::Kind::kIpv6;
    StoreBe64(steered.bytes.data(), address.high);
    StoreBe64(steered.bytes.data() + 8, address.low);
  } else {
    steered.kind = SteeredAddress::Kind::kEthernet;
    if (traits.macs == MacKind::kPrefixed) {
      const MacAddress mac = AfhMac(port.mac_prefix, address);
      std::copy(mac.begin(), mac.end(), steered.bytes.begin());
      steered.mask.fill(0xff);
    } else {
      SetAfh2Address(port, address.low, &steered);
    }
  }
  return steered;
}

SteeringPlan SteeringPlanOf(const Config& config, uint32_t p, const std::vector<PairUse>& pairs) {
  const PortConfig& port = config.ports[p];
  const bool by_ip = TraitsOf(port.encapsulation).addresses != AddressKind::kForwarding;
  SteeringPlan plan{
      .addresses = {},
      .ether_type = by_ip ? uint16_t{0} : EtherTypeOf(port.encapsulation, port.ether_type),
      .udp_port = by_ip ? port.udp_port : uint16_t{0},
      .tagged = port.vid.has_value()};
  if (pairs.size() < 2 || IsCentre(port)) return plan;
  for (uint32_t queue = 0; queue < pairs.size(); ++queue) {
    for (const uint32_t instance : pairs[queue].instances) {
      for (const InstancePort& at : config.instances[instance].ports) {
        if (at.port == p && !at.assigned)
          plan.addresses.push_back(
              SteeredAddressOf(port, at.address, static_cast<uint16_t>(queue)));
      }
    }
  }
  return plan;
}

namespace {

// Returns the MAC addresses of the instances on the port, in addition to the port's own.
std::vector<MacAddress> MacsOfInstances(const Config& config, uint32_t p) {
  const PortConfig& port = config.ports[p];
  std::vector<MacAddress> macs;
  if (TraitsOf(port.encapsulation).macs != MacKind::kPrefixed) return macs;
  for (const InstanceConfig& instance : config.instances) {
    for (const InstancePort& at : instance.ports) {
      if (at.port == p) macs.push_back(AfhMac(port.mac_prefix, at.address));
    }
  }
  return macs;
}

// Returns the use of the port's pool, except for its queue pairs.
PortUse UseOf(const Config& config, uint32_t p) {
  PortUse use{.rx_descriptors = config.ports[p].rx_descriptors, .homes = {}};
  std::map<uint32_t, PortHome> homes;  // by lcore
  // Queues on which frames of the pool leave: the port, and the lcore or instance that owns the
  // queue.
  std::set<std::pair<uint32_t, uint32_t>> queues;
  const auto add_queue = [&](uint32_t of, uint32_t instance) {
    const bool is_own = config.ports[of].queues == PortConfig::Queues::kInstance;
    queues.emplace(of, is_own ? instance : config.instances[instance].lcore);
  };
  const bool of_vcs = config.transport.psn_scope == PsnScope::kVc;
  for (uint32_t i = 0; i < config.instances.size(); ++i) {
    const InstanceConfig& instance = config.instances[i];
    for (size_t plane = 0; plane < instance.ports.size(); ++plane) {
      if (instance.ports[plane].port != p) continue;
      add_queue(p, i);
      // Commands are packed into frames of plane 0's port, and may leave on any port. Frames of the
      // other ports hold received PDUs and the transport's own messages.
      use.unclaimed_pdus += (uint64_t{config.clients.unclaimed_pdus} + kMaxPromisedPdus) * kVcCount;
      if (config.transport.recovery == LossRecovery::kSelective)
        use.unclaimed_pdus += kMaxEarlyPdus;
      if (plane != 0) continue;
      for (const InstancePort& other : instance.ports) add_queue(other.port, i);
      PortHome& home = homes[instance.lcore];
      home.inflight_pdus.push_back(config.transport.inflight_pdus);
      home.destinations += static_cast<uint32_t>(config.peers.size()) * (of_vcs ? kVcCount : 1);
      home.packed_pdus = PackedPdusOf(config);
      home.seals |= instance.sealing != InstanceConfig::Sealing::kOff;
    }
  }
  for (const auto& [lcore, home] : homes) use.homes.push_back(home);
  for (const auto& [other, user] : queues) {
    use.tx_descriptors += config.ports[other].tx_descriptors;
  }
  return use;
}

// Returns the classes that the device of a port with pfc: device is to pause and to obey.
std::optional<DevicePfc> DevicePfcOf(const Config& config, const PortConfig& port) {
  if (port.pfc != PortConfig::Pfc::kDevice) return std::nullopt;
  const PortParams params = PortParamsOf(config, port, {});
  uint32_t classes = 1u << PfcClassOf(params, config.classes.ack);
  for (const ConfigVcClass& c : config.classes.vc) classes |= 1u << PfcClassOf(params, c);
  return DevicePfc{.classes = static_cast<uint8_t>(classes), .quanta = config.pfc.quanta};
}

// The ports of devices have one pool: a frame that one receives leaves by another, and is held in
// routers.
void SharePool(const Config& config, PortOptions& options) {
  options.pool = "frames_mesh";
  uint64_t frames = RouterFramesOf(config);
  for (uint32_t p = 0; p < config.ports.size(); ++p) {
    const PortConfig& port = config.ports[p];
    if (!IsCentre(port) && !IsOfCable(config, p)) continue;
    PortUse use = UseOf(config, p);
    use.queue_pairs = use.lcores =
        std::max<uint32_t>(1, static_cast<uint32_t>(PairsOf(config, p).size()));
    frames += FramesNeeded(use) + port.rx_descriptors + port.tx_descriptors;
    options.pool_frame_bytes =
        std::max(options.pool_frame_bytes, kEthernetBytes + port.mtu_bytes + kLinkShimBytes);
  }
  options.pool_frames = static_cast<uint32_t>(frames);
}

// The modes of both have one order.
FecMode FecOf(PortConfig::Fec fec) {
  static_assert(static_cast<FecMode>(PortConfig::Fec::kDevice) == FecMode::kNone &&
                static_cast<FecMode>(PortConfig::Fec::kOff) == FecMode::kOff &&
                static_cast<FecMode>(PortConfig::Fec::kAuto) == FecMode::kAuto &&
                static_cast<FecMode>(PortConfig::Fec::kBaser) == FecMode::kBaser &&
                static_cast<FecMode>(PortConfig::Fec::kRs) == FecMode::kRs);
  return static_cast<FecMode>(fec);
}

}  // namespace

std::string DeviceOf(const PortConfig& port) {
  if (!IsCentre(port)) return port.device;
  return "net_null_mesh" + std::to_string(*port.plane) + ",no-rx=1";
}

PortOptions PortOptionsOf(const Config& config, uint32_t p) {
  const PortConfig& port = config.ports[p];
  const std::vector<PairUse> pairs = PairsOf(config, p);
  std::set<uint32_t> lcores;
  for (const PairUse& pair : pairs) lcores.insert(pair.lcore);
  PortUse use = UseOf(config, p);
  use.queue_pairs = static_cast<uint16_t>(std::max<size_t>(pairs.size(), 1));
  use.lcores = static_cast<uint16_t>(std::max<size_t>(lcores.size(), 1));
  // A TAP device may carry the kernel's own VLANs.
  const uint32_t tag_bytes = port.vid.has_value() || port.tap.has_value() ? 4 : 0;
  const bool has_shim = port.llr == OnOff::kOn;
  const uint32_t shim_bytes = has_shim ? kLinkShimBytes : 0;
  if (has_shim) use.link_frames = config.llr.window_frames + kBurst;
  if (port.cbfc == OnOff::kOn) use.link_frames += CreditGate::kMaxWaiting;
  const bool takes_pfc = port.pfc == PortConfig::Pfc::kSoftware;
  PortOptions options{.name = port.name,
                      .device = DeviceOf(port),
                      .socket_mode = port.socket_mode,
                      .mtu = static_cast<uint16_t>(port.mtu_bytes + shim_bytes),
                      .frame_bytes = std::max<uint32_t>(
                          kMinFrameBytes, 14 + tag_bytes + port.mtu_bytes + shim_bytes),
                      .lcores = static_cast<uint16_t>(use.lcores),
                      .queue_pairs = static_cast<uint16_t>(use.queue_pairs),
                      .rx_descriptors = static_cast<uint16_t>(port.rx_descriptors),
                      .tx_descriptors = static_cast<uint16_t>(port.tx_descriptors),
                      .mac = port.mac,
                      .addresses = MacsOfInstances(config, p),
                      .promiscuous = TraitsOf(port.encapsulation).macs == MacKind::kOther,
                      .groups = GroupsOf(PortParamsOf(config, port, {}).link, takes_pfc),
                      .sends_udp6 = port.encapsulation == PortConfig::Encapsulation::kUdp6,
                      .takes_mac_control = takes_pfc,
                      .vid = port.tap ? std::nullopt : port.vid,
                      .steering = SteeringPlanOf(config, p, pairs),
                      .numa_node = -1,
                      .pool_frames = FramesNeeded(use),
                      .pfc = DevicePfcOf(config, port),
                      .link_speeds_gbps = port.link_speeds_gbps,
                      .autoneg = port.autoneg == OnOff::kOn,
                      .has_rate = port.bandwidth_gbps.has_value(),
                      .fec = FecOf(port.fec)};
  // The group of LLDP is that of link frames.
  if (port.lldp == OnOff::kOn && std::ranges::count(options.groups, kLinkGroup) == 0) {
    options.groups.push_back(kLinkGroup);
  }
  if (IsCentre(port) || IsOfCable(config, p)) SharePool(config, options);
  return options;
}

std::vector<uint32_t> PlaneWeightsOf(const Config& config, const InstanceConfig& instance,
                                     const std::vector<uint64_t>& speeds_bps) {
  constexpr uint64_t kGbps = 1'000'000'000;
  std::vector<uint32_t> weights;
  for (const InstancePort& at : instance.ports) {
    const uint64_t gbps = config.ports[at.port].bandwidth_gbps.value_or(0);
    const uint64_t speed = speeds_bps[at.port];
    const uint64_t weight = gbps != 0    ? gbps
                            : speed != 0 ? std::max(speed / kGbps, uint64_t{1})
                                         : 0;
    weights.push_back(static_cast<uint32_t>(std::min<uint64_t>(weight, kMaxPlaneWeight)));
  }
  // Planes of which no rate is known are alike. MissingRate refuses a mixture for links that are
  // up.
  constexpr uint32_t kAlike = 100;
  const uint32_t fastest = *std::max_element(weights.begin(), weights.end());
  std::replace(weights.begin(), weights.end(), 0u, fastest != 0 ? fastest : kAlike);
  return weights;
}

}  // namespace suede
