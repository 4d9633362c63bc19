// SPDX-License-Identifier: Apache-2.0
#include "config/switch_values.h"

#include <cmath>

#include "absl/strings/numbers.h"
#include "absl/strings/str_format.h"
#include "base/text.h"

namespace suede {
namespace {

constexpr std::string_view kForwardings[] = {"mac", "afh1", "afh2", "ip"};
constexpr std::string_view kUnknowns[] = {"flood", "drop"};

}  // namespace

std::span<const std::string_view> NamesOf(SwitchRoot::Forwarding) { return kForwardings; }
std::span<const std::string_view> NamesOf(SwitchRoot::Unknown) { return kUnknowns; }

Problem ReadValue(const ConfigNode& node, const ValueLimits& limits, Decimal& out) {
  double value = 0;
  if (node.kind != ConfigNode::Kind::kScalar || !absl::SimpleAtod(TextPart(node.text), &value) ||
      !std::isfinite(value)) {
    return StrCat(Quoted(node.text), " is no number; write ", limits.min, " to ", limits.max,
                  ", as in 0.01");
  }
  if (value < static_cast<double>(limits.min) || value > static_cast<double>(limits.max)) {
    return StrCat(node.text, " is out of range; use ", limits.min, " to ", limits.max);
  }
  out.value = value;
  return {};
}

Problem ReadValue(const ConfigNode& node, const ValueLimits& limits, std::vector<uint32_t>& out) {
  constexpr size_t kMaxEntries = 4096;
  out.clear();
  if (node.kind == ConfigNode::Kind::kNull) return {};
  if (node.kind != ConfigNode::Kind::kList) return "a list belongs here; write [0, 1]";
  if (node.items.size() > kMaxEntries) {
    return StrCat(node.items.size(), " entries; use at most ", kMaxEntries);
  }
  for (const ConfigNode& item : node.items) {
    if (Problem p = ReadValue(item, limits, out.emplace_back()); !p.empty()) return p;
  }
  return {};
}

Written WriteValue(const Decimal& value, const ValueLimits&) {
  return absl::StrFormat("%.10g", value.value);
}
Written WriteValue(const std::vector<uint32_t>& value, const ValueLimits&) {
  return StrCat("[", StrJoin(value, ", "), "]");
}

}  // namespace suede
