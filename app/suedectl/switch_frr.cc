// SPDX-License-Identifier: Apache-2.0
// switch-config --for frr: the leaf of a plane, which announces the bandwidth toward each server
// (docs/fare.md). Servers have conf/frr/host.conf.
#include <algorithm>

#include "base/text.h"
#include "config/config_values.h"
#include "suedectl/switch_targets.h"

namespace suede::ctl {
namespace {

constexpr uint32_t kLinkStep = 256;  // addresses between the links of two servers

std::string AddressOf(const TargetOptions& options, const SwitchPort& port, uint32_t end) {
  const uint32_t number = options.link_base_number + kLinkStep * port.file + end;
  return FormatIp({.is_v6 = false, .value = {.low = number}});
}

std::string Interfaces(const SwitchNeeds& needs, const TargetOptions& options) {
  std::string lines;
  for (const SwitchPort& port : needs.ports) {
    StrAppend(&lines, "interface ", port.name, "\n description ", port.end, "\n ip address ",
              AddressOf(options, port, 2), "/30\nexit\n");
  }
  return lines;
}

std::string Policies(const SwitchNeeds& needs, const TargetOptions& options) {
  std::string lines = "bgp route-map delay-timer 1\n";
  for (const SwitchPort& port : needs.ports) {
    StrAppend(&lines, "bgp as-path access-list FROM-", port.file, " permit _",
              options.host_as + port.file, "$\n");
  }
  for (const SwitchPort& port : needs.ports) {
    StrAppend(&lines, "route-map TO-HOSTS permit ", 10 * (port.file + 1), "\n match as-path FROM-",
              port.file, "\n set extcommunity bandwidth ", port.link_mbps, "\nexit\n");
  }
  return lines;
}

std::string Sessions(const SwitchNeeds& needs, const TargetOptions& options) {
  std::string lines = StrCat(
      "router bgp ", options.leaf_as, "\n bgp router-id ", AddressOf(options, needs.ports[0], 2),
      "\n no bgp ebgp-requires-policy\n no bgp default ipv4-unicast\n"
      " bgp bestpath as-path multipath-relax\n timers bgp 1 3\n neighbor HOSTS peer-group\n"
      " neighbor HOSTS timers connect 1\n neighbor HOSTS advertisement-interval 0\n");
  for (const SwitchPort& port : needs.ports) {
    const std::string host = AddressOf(options, port, 1);
    StrAppend(&lines, " neighbor ", host, " remote-as ", options.host_as + port.file,
              "\n neighbor ", host, " peer-group HOSTS\n");
  }
  StrAppend(&lines, " address-family ipv4 unicast\n  neighbor HOSTS activate\n",
            "  neighbor HOSTS route-map TO-HOSTS out\n exit-address-family\nexit\n");
  return lines;
}

Section Routes(const SwitchNeeds& needs, const TargetOptions& options) {
  Section section;
  for (size_t i = 0; i < needs.ports.size(); ++i) {
    for (size_t j = 0; j < i; ++j) {
      if (needs.ports[i].file != needs.ports[j].file) continue;
      section.unset.push_back(StrCat(needs.ports[i].end, " and ", needs.ports[j].end,
                                     " are planes of one server on one leaf, whose bandwidths BGP "
                                     "does not tell apart; connect "
                                     "each plane to a leaf of its own, with --port ",
                                     needs.ports[i].end, "=none here"));
      return section;
    }
  }
  section.lines =
      StrCat(Interfaces(needs, options), Policies(needs, options), Sessions(needs, options));
  if (needs.route_scale > 1) {
    section.unset.push_back(
        StrCat("FRR takes bandwidths of up to 25600 Mb/s, so these are in units of ",
               needs.route_scale, " Mb/s; set scale: ", needs.route_scale,
               " in suede-fare's configuration, and the same on all leaves"));
  }
  return section;
}

}  // namespace

std::string FrrHead(const SwitchNeeds&, const TargetOptions& options) {
  return StrCat("! Links from ", options.link_base,
                " on (--link_base): each server has the first "
                "address of its /30, and AS ",
                options.host_as,
                " and up (--host_as).\n"
                "! The AS of this leaf is ",
                options.leaf_as,
                " (--leaf_as). Each leaf needs "
                "addresses and an AS of its own.\n");
}

Section FrrSection(Need need, const SwitchNeeds& needs, const TargetOptions& options) {
  if (need == Need::kRoutes) return Routes(needs, options);
  Section section;
  section.unset.emplace_back(
      need == Need::kUnknown || need == Need::kAddresses || need == Need::kVlan
          ? "a leaf routes the endpoints' frames to peers by IP; use the ports of a bridge, --for "
            "linux, sonic or nvue, for headers without IP"
          : "FRR sets routes alone; use --for linux, sonic or nvue");
  return section;
}

}  // namespace suede::ctl
