// SPDX-License-Identifier: Apache-2.0
#include "config/config_check_link.h"

#include <set>

#include "config/config_encapsulation.h"

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

// Pairs of queues that the port has.
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

}  // namespace

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
    if (port.llr == OnOff::kOff) continue;
    const std::string path = Entry("ports", p);
    if (Status s = CheckLinkEtherType(draft, path + ".link_ether_type", port.link_ether_type,
                                      port.ether_type);
        !s.ok()) {
      return s;
    }
    const size_t pairs = PairsOf(draft.config, p);
    if (pairs <= 1) continue;
    return draft.Error(
        path + ".llr",
        StrCat(
            "the port has ", pairs,
            " queue pairs, and link-level retry has one sequence for the link; put its instances "
            "on one lcore with queues: lcore, or write llr: off"));
  }
  return OkStatus();
}

}  // namespace suede
