// SPDX-License-Identifier: Apache-2.0
#include "config/link_config.h"

#include <algorithm>
#include <bit>

namespace suede {

CreditGrant CreditGrantWith(const CbfcConfig& config, uint32_t usual) {
  CreditGrant grant;
  grant.rule.shift = static_cast<uint8_t>(std::countr_zero(config.credit_bytes));
  grant.rule.overhead = static_cast<int16_t>(config.overhead_bytes);
  if (config.credits.empty()) {
    std::fill_n(grant.limits.begin(), kNamedLinkVcs, std::min(usual, kMaxLinkCredits));
  } else {
    const size_t count = std::min<size_t>(config.credits.size(), kNamedLinkVcs);
    std::copy_n(config.credits.begin(), count, grant.limits.begin());
  }
  return grant;
}

CreditGrant CreditGrantOf(const Config& config, const PortConfig& port) {
  const uint32_t for_credit = std::max(port.rx_descriptors, kFreeDescriptors) - kFreeDescriptors;
  return CreditGrantWith(config.cbfc, for_credit / kNamedLinkVcs);
}

}  // namespace suede
