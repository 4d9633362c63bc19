// SPDX-License-Identifier: Apache-2.0
// Rules for which user may act as which XPU, on which VCs: "1000:3", "1001:4-7:0,1", "1002:3.1". A
// user id, an XPU or a range of XPUs, the number of an instance, and VCs; without instance or VCs,
// all of them. Several rules of a user add up.
#ifndef SUEDE_BASE_CLIENT_RULES_H_
#define SUEDE_BASE_CLIENT_RULES_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/numbers.h"
#include "base/sue.h"
#include "base/text.h"

namespace suede {

inline constexpr uint32_t kAllVcs = (1u << kVcCount) - 1;

// Returns the text form of a mask: "0,1".
inline std::string VcsOfMask(uint32_t mask) {
  std::string text;
  for (uint32_t vc = 0; vc < kVcCount; ++vc) {
    if ((mask >> vc & 1) != 0) StrAppend(&text, text.empty() ? "" : ",", vc);
  }
  return text;
}

struct ClientRule {
  static constexpr uint32_t kEveryInstance = ~0u;

  uint32_t uid = 0;
  uint32_t first_xpu = 0;
  uint32_t last_xpu = 0;
  uint32_t vc_mask = kAllVcs;
  uint32_t instance = kEveryInstance;  // of the XPU

  std::string text() const {
    std::string all = StrCat(uid, ":", first_xpu);
    if (last_xpu != first_xpu) StrAppend(&all, "-", last_xpu);
    if (instance != kEveryInstance) StrAppend(&all, ".", instance);
    if (vc_mask != kAllVcs) StrAppend(&all, ":", VcsOfMask(vc_mask));
    return all;
  }
  friend bool operator==(const ClientRule&, const ClientRule&) = default;
};

inline std::optional<ClientRule> ParseClientRule(std::string_view text) {
  constexpr uint32_t kMaxUid = UINT32_MAX - 1;  // UINT32_MAX stands for no user
  const std::vector<std::string_view> parts = Split(text, ':');
  if (parts.size() < 2 || parts.size() > 3) return std::nullopt;
  const std::vector<std::string_view> names = Split(parts[1], '.');
  const std::vector<std::string_view> xpus = Split(names.front(), '-');
  const auto uid = ParseNumber<uint32_t>(parts[0], kMaxUid);
  const auto first_xpu = ParseNumber<uint32_t>(xpus.front(), kMaxXpus - 1);
  const auto last_xpu = ParseNumber<uint32_t>(xpus.back(), kMaxXpus - 1);
  if (xpus.size() > 2 || !uid || !first_xpu || !last_xpu || *first_xpu > *last_xpu) {
    return std::nullopt;
  }
  ClientRule rule{.uid = *uid, .first_xpu = *first_xpu, .last_xpu = *last_xpu};
  if (names.size() > 1) {
    const auto instance = ParseNumber<uint32_t>(names[1], kMaxInstances - 1);
    if (names.size() > 2 || !instance) return std::nullopt;
    rule.instance = *instance;
  }
  if (parts.size() == 2) return rule;
  rule.vc_mask = 0;
  for (const std::string_view part : Split(parts[2], ',')) {
    const auto vc = ParseNumber<uint32_t>(part, kVcCount - 1);
    if (!vc) return std::nullopt;
    rule.vc_mask |= 1u << *vc;
  }
  return rule;
}

// Returns the mask of VCs on which the user may act as the instance of the XPU. Without any rule
// every user may act as every XPU.
inline uint32_t PermittedVcs(const std::vector<ClientRule>& rules, uint32_t uid, uint32_t xpu,
                             uint32_t instance = 0) {
  if (rules.empty()) return kAllVcs;
  uint32_t mask = 0;
  for (const ClientRule& rule : rules) {
    if (rule.uid != uid || xpu < rule.first_xpu || xpu > rule.last_xpu) continue;
    if (rule.instance == ClientRule::kEveryInstance || rule.instance == instance) {
      mask |= rule.vc_mask;
    }
  }
  return mask;
}

}  // namespace suede

#endif  // SUEDE_BASE_CLIENT_RULES_H_
