// SPDX-License-Identifier: Apache-2.0
#include "lldp/comparison.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "base/text.h"

namespace suede::lldp {
namespace {

// Systems count the FCS and one or two VLAN tags as part of a frame, or do not.
constexpr int kFrameBytesApart = 8;

class Comparison {
 public:
  void Add(std::string_view what, std::string own, std::string theirs) {
    if (own == theirs) return;
    list_.push_back({.what = what, .own = std::move(own), .theirs = std::move(theirs)});
  }
  std::vector<Difference> Take() { return std::move(list_); }

 private:
  std::vector<Difference> list_;
};

template <class Octets>
std::string ListText(const Octets& octets) {
  std::vector<uint32_t> numbers(octets.begin(), octets.end());
  return StrJoin(numbers, ",");
}

std::string_view SelectionName(uint8_t algorithm) {
  switch (algorithm) {
    case Ets::kStrict:
      return "strict";
    case Ets::kCreditShaper:
      return "shaper";
    case Ets::kWeighted:
      return "ets";
    default:
      return "vendor";
  }
}

std::string SelectionText(const Ets& ets) {
  std::vector<std::string> names;
  for (const uint8_t algorithm : ets.selection) names.emplace_back(SelectionName(algorithm));
  return StrJoin(names, ",");
}

std::string HexText(uint16_t value) {
  char hex[8];
  std::snprintf(hex, sizeof hex, "0x%04x", value);
  return hex;
}

std::string ProtocolText(const Application& one) {
  if (one.selector == Application::kDscp) return StrCat("dscp ", one.protocol);
  if (one.selector != Application::kEtherType) return StrCat("port ", one.protocol);
  return StrCat("ethertype ", HexText(one.protocol));
}

std::string PriorityText(const Application& one) {
  return StrCat(ProtocolText(one), " priority ", one.priority);
}

std::string CreditText(bool sends, bool receives) {
  if (sends && receives) return "on";
  if (sends) return "sender";
  return receives ? "receiver" : "off";
}

std::string_view OnOffText(bool on) { return on ? "on" : "off"; }

void CompareMaxFrame(uint16_t own, uint16_t theirs, Comparison& out) {
  if (std::abs(int{own} - int{theirs}) <= kFrameBytesApart) return;
  out.Add("max_frame_bytes", StrCat(own), StrCat(theirs));
}

void CompareEts(const Ets& own, const Ets& theirs, Comparison& out) {
  out.Add("ets_classes", ListText(own.class_of_priority), ListText(theirs.class_of_priority));
  out.Add("ets_selection", SelectionText(own), SelectionText(theirs));
  out.Add("ets_percent", ListText(own.percent), ListText(theirs.percent));
}

void CompareApplications(const std::vector<Application>& own,
                         const std::vector<Application>& theirs, Comparison& out) {
  for (const Application& one : own) {
    const auto found = std::ranges::find_if(theirs, [&one](const Application& other) {
      return other.selector == one.selector && other.protocol == one.protocol;
    });
    if (found == theirs.end()) continue;
    out.Add("application_priority", PriorityText(one), PriorityText(*found));
  }
}

void CompareVcs(const LinkOptions& own, const LinkOptions& theirs, Comparison& out) {
  const auto is_known = [](uint8_t vc) { return vc != LinkOptions::kUnknownVc; };
  if (!std::ranges::all_of(own.link_vc_of, is_known) ||
      !std::ranges::all_of(theirs.link_vc_of, is_known)) {
    return;
  }
  out.Add("vc_map", ListText(own.link_vc_of), ListText(theirs.link_vc_of));
}

void CompareLink(const LinkOptions& own, const LinkOptions& theirs, Comparison& out) {
  out.Add("llr", std::string(OnOffText(own.llr)), std::string(OnOffText(theirs.llr)));
  // Each direction has its sender at one end and its receiver at the other.
  out.Add("cbfc", CreditText(own.cbfc_sender, own.cbfc_receiver),
          CreditText(theirs.cbfc_receiver, theirs.cbfc_sender));
  const auto is_used = [](const LinkOptions& link) {
    return link.llr || link.cbfc_sender || link.cbfc_receiver;
  };
  if (!is_used(own) || !is_used(theirs)) return;
  out.Add("link_ether_type", HexText(own.ether_type), HexText(theirs.ether_type));
  if (!own.cbfc_sender || !theirs.cbfc_sender) return;
  out.Add("class_field", own.by_pcp ? "pcp" : "dscp", theirs.by_pcp ? "pcp" : "dscp");
  CompareVcs(own, theirs, out);
}

}  // namespace

std::vector<Difference> Compare(const Lldpdu& own, const Lldpdu& theirs) {
  Comparison out;
  if (own.max_frame_bytes && theirs.max_frame_bytes) {
    CompareMaxFrame(*own.max_frame_bytes, *theirs.max_frame_bytes, out);
  }
  if (own.pfc && theirs.pfc) {
    out.Add("pfc_classes", ClassesText(own.pfc->classes), ClassesText(theirs.pfc->classes));
  }
  if (own.ets && theirs.ets) CompareEts(*own.ets, *theirs.ets, out);
  if (own.applications && theirs.applications) {
    CompareApplications(*own.applications, *theirs.applications, out);
  }
  if (own.link && theirs.link) CompareLink(*own.link, *theirs.link, out);
  return out.Take();
}

}  // namespace suede::lldp
