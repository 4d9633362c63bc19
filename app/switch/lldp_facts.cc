// SPDX-License-Identifier: Apache-2.0
#include "switch/lldp_facts.h"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "base/text.h"
#include "daemon/version.h"
#include "switch/switch_check.h"

namespace suede {
namespace {

using fabric::kClasses;

constexpr uint32_t kFrameOverhead = 18;  // header and FCS

// Divides 100 % by the weights: each class has its share rounded down, and the first ones a
// percent of what is left.
void Divide(const fabric::SwitchParams& params, lldp::Ets* ets) {
  uint32_t weights = 0;
  for (const fabric::ClassParams& one : params.of_class) weights += one.strict ? 0 : one.weight;
  if (weights == 0) return;
  uint32_t left = 100;
  for (uint32_t c = 0; c < kClasses; ++c) {
    if (params.of_class[c].strict) continue;
    ets->percent[c] = static_cast<uint8_t>(params.of_class[c].weight * 100u / weights);
    left -= ets->percent[c];
  }
  for (uint32_t c = 0; left != 0; c = (c + 1) % kClasses) {
    if (params.of_class[c].strict) continue;
    ++ets->percent[c];
    --left;
  }
}

lldp::Ets EtsOf(const fabric::SwitchParams& params) {
  lldp::Ets ets{.class_of_priority = params.classes.of_pcp};
  for (uint32_t c = 0; c < kClasses; ++c) {
    ets.selection[c] = params.of_class[c].strict ? lldp::Ets::kStrict : lldp::Ets::kWeighted;
  }
  Divide(params, &ets);
  return ets;
}

lldp::Pfc PfcOf(const fabric::SwitchParams& params, uint32_t port) {
  uint32_t classes = 0;
  for (uint32_t c = 0; c < kClasses; ++c) {
    if (params.of_class[c].lossless) classes |= 1u << c;
  }
  if (!params.ports[port].pfc.on) classes = 0;
  return {.max_classes = kClasses, .classes = static_cast<uint8_t>(classes)};
}

std::vector<lldp::Application> ApplicationsOf(const fabric::SwitchParams& params) {
  std::vector<lldp::Application> all;
  for (uint32_t dscp = 0; dscp < params.classes.of_dscp.size(); ++dscp) {
    all.push_back({.selector = lldp::Application::kDscp,
                   .protocol = static_cast<uint16_t>(dscp),
                   .priority = params.classes.of_dscp[dscp]});
  }
  return all;
}

lldp::LinkOptions LinkOf(const SwitchConfig& config, const SwitchPortConfig& port) {
  lldp::LinkOptions link{.llr = port.llr == OnOff::kOn,
                         .by_pcp = config.classes.pcp_first == OnOff::kOn,
                         .ether_type = port.link_ether_type};
  link.cbfc_sender = link.cbfc_receiver = port.cbfc == OnOff::kOn;
  if (!link.cbfc_receiver) return link;
  const CreditGrant grant = CreditGrantOf(config);
  link.credit_octets = static_cast<uint16_t>(grant.rule.credit_octets());
  std::copy_n(grant.limits.begin(), lldp::kPriorities, link.credits.begin());
  return link;
}

}  // namespace

lldp::Lldpdu SwitchLldpFactsOf(const SwitchConfig& config, const fabric::SwitchParams& params,
                               uint32_t number, const MacAddress& chassis,
                               std::string_view driver) {
  static_assert(lldp::kPriorities == kClasses);
  const SwitchPortConfig& port = config.ports[number];
  lldp::Lldpdu facts{.chassis = {.subtype = lldp::Id::kChassisMac,
                                 .value = std::string(chassis.begin(), chassis.end())},
                     .port = {.subtype = lldp::Id::kPortInterface, .value = port.name},
                     .port_description = StrCat(port.name, " (", driver, ")"),
                     .system_name = config.name(),
                     .system_description = StrCat("suede-switch ", std::string_view(kVersion)),
                     .max_frame_bytes = static_cast<uint16_t>(port.mtu_bytes + kFrameOverhead),
                     .ets = EtsOf(params),
                     .pfc = PfcOf(params, number),
                     .applications = ApplicationsOf(params),
                     .link = LinkOf(config, port)};
  facts.recommended_ets = facts.ets;
  if (port.lldp_assign) facts.assignment = AssignmentOf(*port.lldp_assign);
  return facts;
}

}  // namespace suede
