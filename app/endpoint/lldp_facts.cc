// SPDX-License-Identifier: Apache-2.0
#include "endpoint/lldp_facts.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/text.h"
#include "config/config_encapsulation.h"
#include "config/link_config.h"
#include "daemon/version.h"
#include "endpoint/pipeline_params.h"

namespace suede {
namespace {

constexpr uint32_t kFrameOverhead = 18;    // header and FCS
constexpr uint8_t kLinkVcWithoutData = 6;  // of PDUs without commands in class 0 (docs/link.md)

// A flow of a port: PDUs on a VC, or those without commands.
struct Flow {
  TrafficClass traffic;
  uint8_t priority = 0;
};

std::vector<Flow> FlowsOf(const Config& config, const PortParams& params) {
  std::vector<Flow> flows;
  const auto add = [&](const TrafficClass& traffic) {
    flows.push_back({.traffic = traffic, .priority = PfcClassOf(params, traffic)});
  };
  for (const ConfigVcClass& of_vc : config.classes.vc) add(of_vc);
  add(config.classes.ack);
  return flows;
}

lldp::Pfc PfcOf(const PortConfig& port, const std::vector<Flow>& flows) {
  uint32_t classes = 0;
  for (const Flow& flow : flows) classes |= 1u << flow.priority;
  if (port.pfc == PortConfig::Pfc::kOff) classes = 0;
  return {.max_classes = 8, .classes = static_cast<uint8_t>(classes)};
}

// Returns the priority of each DSCP, or of the EtherType; without those that have several.
std::vector<lldp::Application> ApplicationsOf(const PortConfig& port,
                                              const std::vector<Flow>& flows) {
  const uint8_t class_bits = TraitsOf(port.encapsulation).class_bits;
  const bool has_dscp = class_bits != 0;
  const uint8_t selector = has_dscp ? lldp::Application::kDscp : lldp::Application::kEtherType;
  std::map<uint16_t, std::optional<uint8_t>> priorities;
  for (const Flow& flow : flows) {
    // A header with three bits has the upper ones.
    const int dscp = class_bits == 3 ? flow.traffic.dscp & ~7 : flow.traffic.dscp;
    const auto protocol =
        static_cast<uint16_t>(has_dscp ? dscp : EtherTypeOf(port.encapsulation, port.ether_type));
    const auto [at, is_new] = priorities.emplace(protocol, flow.priority);
    if (!is_new && at->second != flow.priority) at->second = std::nullopt;
  }
  std::vector<lldp::Application> all;
  for (const auto& [protocol, priority] : priorities) {
    if (!priority) continue;
    all.push_back({.selector = selector, .protocol = protocol, .priority = *priority});
  }
  return all;
}

lldp::LinkOptions LinkOf(const Config& config, const PortConfig& port, const PortParams& params,
                         const std::vector<Flow>& flows) {
  lldp::LinkOptions link{.llr = port.llr == OnOff::kOn,
                         .by_pcp = params.link.class_rule.pcp_first,
                         .ether_type = port.link_ether_type};
  link.cbfc_sender = link.cbfc_receiver = port.cbfc == OnOff::kOn;
  for (uint32_t flow = 0; flow < lldp::kVcs; ++flow) {
    const auto own = flow < kVcCount ? static_cast<uint8_t>(flow) : kLinkVcWithoutData;
    link.link_vc_of[flow] = flows[flow].priority != 0 ? flows[flow].priority : own;
  }
  if (!link.cbfc_receiver) return link;
  const CreditGrant grant = CreditGrantOf(config, port);
  link.credit_octets = static_cast<uint16_t>(grant.rule.credit_octets());
  std::copy_n(grant.limits.begin(), lldp::kPriorities, link.credits.begin());
  return link;
}

}  // namespace

lldp::AddressPolicy AddressPolicyOf(const Config& config, uint32_t port,
                                    const std::optional<lldp::Assignment>& used) {
  lldp::AddressPolicy policy{.accepts = config.ports[port].lldp_addresses == OnOff::kOn,
                             .is_v6 = IsIpv6(config.ports[port].encapsulation),
                             .used = used,
                             .taken = {}};
  if (!policy.accepts) return policy;
  const auto take = [&](uint32_t at, const NetAddress& address) {
    policy.taken.push_back({.is_v6 = IsIpv6(config.ports[at].encapsulation),
                            .high = address.high,
                            .low = address.low});
  };
  const InstancePort* const own = AssignedPlane(config, port);
  uint32_t xpu = 0;  // that takes the address
  for (const InstanceConfig& instance : config.instances) {
    for (const InstancePort& at : instance.ports) {
      if (&at == own) xpu = instance.xpu;
      const bool is_known = !at.assigned || at.address != NetAddress{};
      if (&at != own && is_known && kUdp.Has(config.ports[at.port].encapsulation)) {
        take(at.port, at.address);
      }
    }
  }
  for (const PeerConfig& peer : config.peers) {
    for (const PeerPort& at : peer.ports) {
      if (at.port == port && at.address && peer.xpu != xpu) take(port, *at.address);
    }
  }
  return policy;
}

lldp::Lldpdu LldpFactsOf(const Config& config, uint32_t number, const MacAddress& chassis,
                         std::string_view driver) {
  static_assert(lldp::kVcs == kVcCount + 1);
  const PortConfig& port = config.ports[number];
  const PortParams params = PortParamsOf(config, port, {});
  const std::vector<Flow> flows = FlowsOf(config, params);
  return {.chassis = {.subtype = lldp::Id::kChassisMac,
                      .value = std::string(chassis.begin(), chassis.end())},
          .port = {.subtype = lldp::Id::kPortInterface, .value = port.name},
          .port_description = StrCat(port.name, " (", driver, ")"),
          .system_name = config.name,
          .system_description = StrCat("suede ", std::string_view(kVersion)),
          .max_frame_bytes = static_cast<uint16_t>(port.mtu_bytes + kFrameOverhead),
          .pfc = PfcOf(port, flows),
          .applications = ApplicationsOf(port, flows),
          .link = LinkOf(config, port, params, flows)};
}

}  // namespace suede
