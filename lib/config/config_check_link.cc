// SPDX-License-Identifier: Apache-2.0
#include <numeric>
#include <set>

#include "config/config_checks.h"
#include "config/config_encapsulation.h"
#include "config/link_config.h"

namespace suede {
namespace {

using absl::OkStatus;
using absl::Status;

struct KnownType {
  uint16_t value;
  std::string_view name;
};
constexpr KnownType kKnownTypes[] = {
    {0x0800, "IPv4"},      {0x0806, "ARP"},         {0x86dd, "IPv6"}, {0x8100, "VLAN tags"},
    {0x88a8, "VLAN tags"}, {0x8808, "MAC control"}, {0x88b5, "AFH"},  {0x88b6, "AFH"},
};

// Returns the number of the port's queue pairs.
size_t PairsOf(const Config& config, uint32_t port) {
  std::set<uint32_t> owners;
  for (uint32_t i = 0; i < config.instances.size(); ++i) {
    const InstanceConfig& instance = config.instances[i];
    const bool of_instances = config.ports[port].queues == PortConfig::Queues::kInstance;
    for (const InstancePort& at : instance.ports) {
      if (at.port == port) owners.insert(of_instances ? i : instance.lcore);
    }
  }
  return owners.size();
}

// Checks that the port has one queue pair, as the frame sequence and the ring behind the credits
// belong to one.
Status CheckPairs(const ConfigDraft& draft, uint32_t port) {
  const size_t pairs = PairsOf(draft.config, port);
  if (pairs <= 1) return OkStatus();
  const bool retries = draft.config.ports[port].llr == OnOff::kOn;
  const std::string_view key = retries ? "llr" : "cbfc";
  return draft.Error(
      StrCat(Entry("ports", port), ".", key),
      StrCat("the port has ", pairs, " queue pairs, and ",
             retries ? "link-level retry has one sequence for the link"
                     : "credit-based flow control has one receive ring for the link",
             "; put its instances on one lcore with queues: lcore, or write ", key, ": off"));
}

// Checks the size of the ring: each frame uses a descriptor and at least one credit.
Status CheckRing(const ConfigDraft& draft, uint32_t p) {
  const PortConfig& port = draft.config.ports[p];
  const CreditGrant grant = CreditGrantOf(draft.config, port);
  const uint32_t max = MaxBytesOnCredit(port);
  if (draft.config.cbfc.credits.empty() && !grant.Permits(max)) {
    const uint32_t min = kNamedLinkVcs * grant.rule.CreditsOf(max) + kFreeDescriptors;
    return draft.Error(
        Entry("ports", p) + ".rx_descriptors",
        StrCat(port.rx_descriptors, " are too few to grant each link VC credit for a frame of ",
               max, " bytes; use ", min,
               " or more, a larger cbfc.credit_bytes, or write cbfc.credits"));
  }
  if (Status s = CheckCredits(draft, draft.config.cbfc, grant, max); !s.ok()) return s;
  const uint64_t sum = std::accumulate(grant.limits.begin(), grant.limits.end(), uint64_t{0});
  if (sum + kFreeDescriptors <= port.rx_descriptors) return OkStatus();
  return draft.Error(Entry("ports", p) + ".rx_descriptors",
                     StrCat(port.rx_descriptors, " cannot hold the ", sum,
                            " frames that cbfc.credits permits and ", kFreeDescriptors,
                            " others; use ", sum + kFreeDescriptors, " or more, or grant less"));
}

}  // namespace

Status CheckCredits(const ConfigDraft& draft, const CbfcConfig& config, const CreditGrant& grant,
                    uint32_t max) {
  constexpr std::string_view kKey = "cbfc.credits";
  const size_t count = config.credits.size();
  if (count != 0 && count != kNamedLinkVcs) {
    return draft.Error(kKey, StrCat(count, " limits; write eight, for link VC 0 to 7"));
  }
  const uint32_t min = grant.rule.CreditsOf(max);
  for (uint32_t vc = 0; vc < kNamedLinkVcs; ++vc) {
    const uint32_t limit = grant.limits[vc];
    if (limit == 0 || limit >= min) continue;
    return draft.Error(
        kKey, StrCat(limit, " of link VC ", vc, " are less than a frame of ", max,
                     " bytes needs; use ", min, " or more (twice as many keep it going), or 0"));
  }
  return OkStatus();
}

Status CheckLinkEtherType(const ConfigDraft& draft, const std::string& path, uint16_t ether_type,
                          uint16_t of_pdus) {
  for (const KnownType& known : kKnownTypes) {
    if (known.value != ether_type) continue;
    return draft.Error(path, StrCat(FormatEtherType(ether_type), " is that of ", known.name,
                                    "; use another, such as 0xFE50"));
  }
  if (ether_type != of_pdus) return OkStatus();
  return draft.Error(path, StrCat(FormatEtherType(ether_type),
                                  " is the ether_type of the port's PDUs; use another"));
}

Status CheckLinks(const ConfigDraft& draft) {
  for (uint32_t p = 0; p < draft.config.ports.size(); ++p) {
    const PortConfig& port = draft.config.ports[p];
    if (port.llr == OnOff::kOff && port.cbfc == OnOff::kOff) continue;
    const std::string path = Entry("ports", p);
    if (Status s = CheckLinkEtherType(draft, path + ".link_ether_type", port.link_ether_type,
                                      port.ether_type);
        !s.ok()) {
      return s;
    }
    if (Status s = CheckPairs(draft, p); !s.ok()) return s;
    if (port.cbfc == OnOff::kOff || IsOfCable(draft.config, p)) continue;
    if (TraitsOf(port.encapsulation).forwarding_bits != 0 &&
        !kWithoutEtherType.Has(port.encapsulation) &&
        port.ether_type != TraitsOf(port.encapsulation).ether_type) {
      return draft.Error(
          path + ".ether_type",
          StrCat(FormatEtherType(port.ether_type),
                 " hides the class and the VC of frames from the neighbour, which "
                 "credit goes by; use ",
                 FormatEtherType(TraitsOf(port.encapsulation).ether_type), ", or write cbfc: off"));
    }
    if (Status s = CheckRing(draft, p); !s.ok()) return s;
  }
  return OkStatus();
}

}  // namespace suede
