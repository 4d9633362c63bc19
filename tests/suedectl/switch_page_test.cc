// SPDX-License-Identifier: Apache-2.0
// docs/switches.md has a row for each encapsulation: its needs of a switch, by its traits. With
// SUEDE_UPDATE_DOCS=1 the table is written instead of compared.
#include <string>

#include "base/text.h"
#include "config/config_encapsulation.h"
#include "page_tables.h"
#include "wire/encap/traits.h"

namespace suede::ctl {
namespace {

std::string AddressesOf(const EncapTraits& traits) {
  switch (traits.macs) {
    case MacKind::kAddresses:
      return "MAC addresses of the ports";
    case MacKind::kPrefixed:
      return "a MAC address for each XPU: prefix and forwarding address";
    case MacKind::kOther:
      return "none; `suede-switch` with `forwarding: afh2`, else flooding";
  }
  return "";
}

std::string ClassOf(Encapsulation encap, const EncapTraits& traits) {
  const std::string tag = traits.can_be_tagged ? "PCP of a tag" : "none";
  if (kUdp.Has(encap)) return "DSCP, or PCP of a tag";
  if (kWithoutClass.Has(encap)) return tag;
  return StrCat(tag, traits.class_bits == 3 ? "; CoS" : "; DSCP",
                " where the switch knows the header");
}

std::string PathsOf(Encapsulation encap, const EncapTraits& traits) {
  if (kUdp.Has(encap)) return "UDP source port";
  if (encap == Encapsulation::kEsun) return "flow label, where the switch knows the header";
  return traits.sessions > 1 ? "session, where the switch knows the header" : "–";
}

std::string MarksOf(Encapsulation encap) {
  if (kUdp.Has(encap)) return "ECN, trimming";
  if (kWithoutClass.Has(encap)) return "–";
  return StrCat(kTrimmable.Has(encap) ? "ECN, trimming" : "ECN",
                " where the switch knows the header");
}

std::string Table() {
  std::string out =
      "| name | MTU: commands and | static addresses | class by | hash field | marks, cuts |\n"
      "|---|---|---|---|---|---|\n";
  for (size_t i = 0; i < kEncapCount; ++i) {
    const auto encap = static_cast<Encapsulation>(i);
    const EncapTraits& traits = TraitsOf(encap);
    StrAppend(&out, "| `", traits.name, "` | ", OverheadBytes(encap), " | ", AddressesOf(traits),
              " | ", ClassOf(encap, traits), " | ", PathsOf(encap, traits), " | ", MarksOf(encap),
              " |\n");
  }
  return out;
}

TEST(SwitchesPage, HasTheEncapsulations) {
  ExpectTable("docs/switches.md", "encapsulations", Table());
}

}  // namespace
}  // namespace suede::ctl
