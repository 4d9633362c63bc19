// SPDX-License-Identifier: Apache-2.0
#include "config/config_check_classes.h"

#include <algorithm>
#include <string>
#include <string_view>

#include "base/text.h"
#include "config/config_encapsulation.h"

namespace suede {
namespace {

bool ControlsFlow(const PortConfig& port) {
  return port.pfc != PortConfig::Pfc::kOff || port.cbfc == OnOff::kOn;
}

ClassesConfig DefaultClasses(const Config& config) {
  const bool controls = std::any_of(config.ports.begin(), config.ports.end(), ControlsFlow);
  return controls ? ClassesOfControlledPorts() : ClassesConfig();
}

// Values of a class that no port sends.
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

// Whether the class of the port's frames is that of their PCP.
bool GoesByPcp(const PortConfig& port) {
  const bool by_pcp =
      port.pfc_class == PortConfig::PfcClass::kPcp || !TraitsOf(port.encapsulation).has_class;
  return port.vid.has_value() && by_pcp;
}

// The class by which the port's neighbour sorts such frames; lcore/params.h computes the same.
template <class Class>
uint32_t PfcClassAt(const PortConfig& port, const Class& c) {
  if (GoesByPcp(port)) return c.pcp;
  return TraitsOf(port.encapsulation).has_class ? c.dscp / 8u : 0;
}

// The key that puts two VCs into one class on the port: of a class where the file has it.
std::string KeyOfShared(const ConfigDraft& draft, size_t p, size_t one, size_t other) {
  const PortConfig& port = draft.config.ports[p];
  const std::string_view field = GoesByPcp(port) ? ".pcp" : ".dscp";
  const bool has_field = GoesByPcp(port) || TraitsOf(port.encapsulation).has_class;
  for (const size_t vc : {other, one}) {
    const std::string path = StrCat(Entry("classes.vc", vc), field);
    if (has_field && draft.Has(path)) return path;
  }
  return StrCat(Entry("ports", p), port.pfc != PortConfig::Pfc::kOff ? ".pfc" : ".cbfc");
}

std::string MendOfShared(const PortConfig& port) {
  if (GoesByPcp(port)) return "give each VC a pcp of its own";
  if (TraitsOf(port.encapsulation).has_class) return "give each VC a dscp of another eight";
  return "add vlan: {vid: 0} to the port for a PCP, or use an encapsulation with a DSCP";
}

// Pairs of VCs, and VCs with acknowledgements, that a pause or a lack of credit holds up together.
void WarnOfShared(ConfigDraft& draft) {
  const ClassesConfig classes = draft.config.classes;
  for (size_t p = 0; p < draft.config.ports.size(); ++p) {
    const PortConfig port = draft.config.ports[p];
    if (!ControlsFlow(port)) continue;
    for (size_t vc = 0; vc < classes.vc.size(); ++vc) {
      if (PfcClassAt(port, classes.vc[vc]) != PfcClassAt(port, classes.ack)) continue;
      Warn(draft,
           StrCat(Entry("ports", p), port.pfc != PortConfig::Pfc::kOff ? ".pfc" : ".cbfc"),
           StrCat("VC ", vc,
                  " and PDUs without commands are of one class there, so a pause of the "
                  "one holds up acknowledgements; give classes.ack a class of its own"));
      break;
    }
    for (size_t one = 0; one < classes.vc.size(); ++one) {
      for (size_t other = one + 1; other < classes.vc.size(); ++other) {
        const uint32_t shared = PfcClassAt(port, classes.vc[one]);
        if (shared != PfcClassAt(port, classes.vc[other])) continue;
        Warn(draft, KeyOfShared(draft, p, one, other),
             StrCat("VC ", one, " and VC ", other, " share class ", shared, " on port ", port.name,
                    ", so where the one waits for a receiver the other waits, too, and responses "
                    "may wait for requests; ",
                    MendOfShared(port)));
      }
    }
  }
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
  bool tagged = false;
  bool can_be_tagged = false;
  bool has_dscp = false;
  for (const PortConfig& port : draft.config.ports) {
    const EncapTraits& traits = TraitsOf(port.encapsulation);
    tagged |= port.vid.has_value();
    can_be_tagged |= traits.can_be_tagged;
    has_dscp |= traits.has_class;
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
      [](const EncapTraits& t) { return t.has_class && t.macs == MacKind::kPrefixed; });
  const std::string no_room =
      StrCat(ExpandTraits("{classless} frames have no room for it, so it is not sent; use "),
             "encapsulation ", JoinNames(roomy), ", or remove it");
  WarnOfUnsent(
      draft, "dscp", [](const auto& c) { return c.dscp; }, no_room);
  WarnOfUnsent(
      draft, "ecn", [](const auto& c) { return c.ecn; }, no_room);
}

}  // namespace suede
