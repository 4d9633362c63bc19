// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string>
#include <string_view>

#include "base/text.h"
#include "config/config_checks.h"
#include "config/config_encapsulation.h"

namespace suede {
namespace {

bool ControlsFlow(const PortConfig& port) {
  return port.pfc != PortConfig::Pfc::kOff || port.cbfc == OnOff::kOn;
}

bool AnyPortControlsFlow(const Config& config) {
  return std::any_of(config.ports.begin(), config.ports.end(), ControlsFlow);
}

// VCs in one PSN sequence need one class, because classes overtake each other.
ClassesConfig DefaultClasses(const Config& config) {
  const bool separate = config.transport.psn_scope == PsnScope::kVc && AnyPortControlsFlow(config);
  return separate ? ClassesOfControlledPorts() : ClassesConfig();
}

// Warns of values of a class that no port sends.
template <class ValueOf>
void WarnOfUnsent(ConfigDraft& draft, std::string_view key, ValueOf value_of,
                  std::string_view problem) {
  const ClassesConfig defaults = DefaultClasses(draft.config);
  const ClassesConfig classes = draft.config.classes;
  for (size_t vc = 0; vc < classes.vc.size(); ++vc) {
    if (value_of(classes.vc[vc]) == value_of(defaults.vc[vc])) continue;
    Warn(draft, StrCat(Entry("classes.vc", vc), ".", key), problem);
  }
  if (value_of(classes.ack) != value_of(defaults.ack)) {
    Warn(draft, StrCat("classes.ack.", key), problem);
  }
}

// Whether the PCP determines the class of the port's frames.
bool GoesByPcp(const PortConfig& port) {
  const bool by_pcp =
      port.pfc_class == PortConfig::PfcClass::kPcp || TraitsOf(port.encapsulation).class_bits == 0;
  return port.vid.has_value() && by_pcp;
}

// Returns the class in which the port's neighbour puts such frames; lcore/params.h computes the
// same.
template <class Class>
uint32_t PfcClassAt(const PortConfig& port, const Class& c) {
  if (GoesByPcp(port)) return c.pcp;
  return TraitsOf(port.encapsulation).class_bits != 0 ? c.dscp / 8u : 0;
}

bool HasClasses(const PortConfig& port) {
  return GoesByPcp(port) || TraitsOf(port.encapsulation).class_bits != 0;
}

std::string KeyOfControl(const ConfigDraft& draft, size_t p) {
  const PortConfig& port = draft.config.ports[p];
  return StrCat(Entry("ports", p), port.pfc != PortConfig::Pfc::kOff ? ".pfc" : ".cbfc");
}

struct VcPair {
  size_t one = 0;
  size_t other = 0;
};

// Returns the key of the file that gives one of the VCs its class on the port; empty: none.
std::string KeyOfClass(const ConfigDraft& draft, size_t p, VcPair vcs) {
  const PortConfig& port = draft.config.ports[p];
  const std::string_view field = GoesByPcp(port) ? ".pcp" : ".dscp";
  for (const size_t vc : {vcs.other, vcs.one}) {
    const std::string path = StrCat(Entry("classes.vc", vc), field);
    if (HasClasses(port) && draft.Has(path)) return path;
  }
  return "";
}

// Returns the key that causes two VCs to share a class on the port.
std::string KeyOfShared(const ConfigDraft& draft, size_t p, VcPair vcs) {
  const std::string of_class = KeyOfClass(draft, p, vcs);
  if (!of_class.empty()) return of_class;
  if (HasClasses(draft.config.ports[p]) && draft.Has("transport.psn_scope")) {
    return "transport.psn_scope";
  }
  return KeyOfControl(draft, p);
}

std::string RemedyOfShared(const ConfigDraft& draft, size_t p, VcPair vcs) {
  const PortConfig& port = draft.config.ports[p];
  std::string classes =
      "add vlan: {vid: 0} to the port for a PCP, or use an encapsulation with a DSCP";
  if (GoesByPcp(port)) {
    classes = "give each VC a pcp of its own";
  } else if (HasClasses(port)) {
    classes = "give each VC a dscp of another eight";
  }
  if (draft.config.transport.psn_scope == PsnScope::kVc) return classes;
  const std::string scope = "set transport.psn_scope: vc at both ends";
  if (!HasClasses(port) || !KeyOfClass(draft, p, vcs).empty()) {
    return StrCat(scope, ", and ", classes);
  }
  return StrCat(scope, ", which gives each VC a class of its own");
}

// Warns of pairs of VCs, and VCs with acknowledgements, that a pause or a lack of credit stops
// together.
void WarnOfShared(ConfigDraft& draft) {
  const ClassesConfig classes = draft.config.classes;
  for (size_t p = 0; p < draft.config.ports.size(); ++p) {
    const PortConfig port = draft.config.ports[p];
    if (!ControlsFlow(port)) continue;
    for (size_t vc = 0; vc < classes.vc.size(); ++vc) {
      if (PfcClassAt(port, classes.vc[vc]) != PfcClassAt(port, classes.ack)) continue;
      Warn(draft, KeyOfControl(draft, p),
           StrCat("VC ", vc,
                  " and PDUs without commands are of one class there, so a pause of the "
                  "one holds up acknowledgements; give classes.ack a class of its own"));
      break;
    }
    for (size_t one = 0; one < classes.vc.size(); ++one) {
      for (size_t other = one + 1; other < classes.vc.size(); ++other) {
        const uint32_t shared = PfcClassAt(port, classes.vc[one]);
        if (shared != PfcClassAt(port, classes.vc[other])) continue;
        Warn(draft, KeyOfShared(draft, p, {one, other}),
             StrCat("VC ", one, " and VC ", other, " share class ", shared, " on port ", port.name,
                    ", so where the one waits for a receiver the other waits, too, and responses "
                    "may wait for requests; ",
                    RemedyOfShared(draft, p, {one, other})));
      }
    }
  }
}

// Warns of ports on which VCs of one PSN sequence have different classes.
void WarnOfOvertaking(ConfigDraft& draft) {
  if (draft.config.transport.psn_scope == PsnScope::kVc) return;
  const ClassesConfig classes = draft.config.classes;
  for (const PortConfig& port : draft.config.ports) {
    if (!ControlsFlow(port)) continue;
    const uint32_t first = PfcClassAt(port, classes.vc[0]);
    for (size_t vc = 1; vc < classes.vc.size(); ++vc) {
      const uint32_t other = PfcClassAt(port, classes.vc[vc]);
      if (other == first) continue;
      Warn(draft, "transport.psn_scope",
           StrCat("on port ", port.name, " VC 0 is of class ", first, " and VC ", vc, " of class ",
                  other,
                  ", so where one of them is paused the other overtakes it in the sequence of "
                  "PSNs that they share, and PDUs are sent again for nothing; use vc at both ends, "
                  "or give all VCs one class"));
      break;
    }
  }
}

// Warns of DSCPs that frames have no room for.
void WarnOfShortened(ConfigDraft& draft) {
  const ClassesConfig classes = draft.config.classes;
  const auto warn = [&](const std::string& path, uint32_t dscp) {
    if (dscp % 8 == 0) return;
    Warn(draft, path,
         StrCat(dscp, " is sent as ", dscp / 8 * 8,
                ", because the CoS of esun frames is a DSCP in steps of 8; use 0, 8, ... 56"));
  };
  if (std::ranges::none_of(draft.config.ports, [](const PortConfig& port) {
        return TraitsOf(port.encapsulation).class_bits == 3;
      })) {
    return;
  }
  for (size_t vc = 0; vc < classes.vc.size(); ++vc) {
    warn(StrCat(Entry("classes.vc", vc), ".dscp"), classes.vc[vc].dscp);
  }
  warn("classes.ack.dscp", classes.ack.dscp);
}

}  // namespace

ClassesConfig ClassesOfControlledPorts() {
  ClassesConfig classes;
  for (uint8_t vc = 0; vc < kVcCount; ++vc) {
    classes.vc[vc].pcp = vc;
    classes.vc[vc].dscp = static_cast<uint8_t>(8 * vc);
  }
  return classes;
}

void FillPsnScope(ConfigDraft& draft) {
  Config& config = draft.config;
  const bool all_say_hello =
      std::none_of(config.peers.begin(), config.peers.end(),
                   [](const PeerConfig& peer) { return peer.hello == PeerConfig::Hello::kNever; });
  const bool overtake = AnyPortControlsFlow(config) || !config.devices.empty();
  if (draft.Has("transport.psn_scope") || !overtake || !all_say_hello) return;
  config.transport.psn_scope = PsnScope::kVc;
}

void FillClasses(ConfigDraft& draft) {
  const ClassesConfig defaults = DefaultClasses(draft.config);
  for (size_t vc = 0; vc < kVcCount; ++vc) {
    const std::string path = Entry("classes.vc", vc);
    ConfigVcClass& of_vc = draft.config.classes.vc[vc];
    if (!draft.Has(path + ".pcp")) of_vc.pcp = defaults.vc[vc].pcp;
    if (!draft.Has(path + ".dscp")) of_vc.dscp = defaults.vc[vc].dscp;
  }
}

void WarnOfClasses(ConfigDraft& draft) {
  WarnOfShared(draft);
  WarnOfShortened(draft);
  WarnOfOvertaking(draft);
  bool tagged = false;
  bool can_be_tagged = false;
  bool has_dscp = false;
  for (const PortConfig& port : draft.config.ports) {
    const EncapTraits& traits = TraitsOf(port.encapsulation);
    tagged |= port.vid.has_value();
    can_be_tagged |= traits.can_be_tagged;
    has_dscp |= traits.class_bits != 0;
  }
  if (!tagged) {
    WarnOfUnsent(
        draft, "pcp", [](const auto& c) { return c.pcp; },
        StrCat("no port is tagged, so the PCP is not sent; ",
               can_be_tagged ? std::string("add vlan: {vid: 0} to the port, or remove it")
                             : ExpandTraits("remove it, as {untagged} have no tags")));
  }
  if (has_dscp) return;
  const EncapsulationSet roomy = EncapsWith(
      [](const EncapTraits& t) { return t.class_bits == 6 && t.macs == MacKind::kPrefixed; });
  const std::string no_room =
      StrCat(ExpandTraits("{classless} frames have no room for it, so it is not sent; use "),
             "encapsulation ", JoinNames(roomy), ", or remove it");
  WarnOfUnsent(
      draft, "dscp", [](const auto& c) { return c.dscp; }, no_room);
  WarnOfUnsent(
      draft, "ecn", [](const auto& c) { return c.ecn; }, no_room);
}

}  // namespace suede
