// SPDX-License-Identifier: Apache-2.0
#include "fabric/switch_port.h"

namespace suede::fabric {
namespace {

Impairment::ViewRule ViewRuleOf(const SwitchParams& params) {
  return {.forwarding = params.forwarding, .esun_ether_type = params.esun_ether_type};
}

}  // namespace

SwitchPort::SwitchPort(const SwitchParams& params, uint32_t number, SharedBuffer& buffer)
    : in_(SeedOf(params.seed, 2 * number), params.max_on_cable, ViewRuleOf(params), counters_),
      out_(SeedOf(params.seed, 2 * number + 1), params.max_on_cable, ViewRuleOf(params), counters_),
      output_(params, number, buffer, of_class_),
      pfc_(params.ports[number].pfc, params.ports[number].rate_bps),
      blocked_(params.ports.size()) {
  const PortParams& own = params.ports[number];
  if (const LinkParams of_link = LinkOf(params, number); of_link.on()) {
    link_ = std::make_unique<LinkPort>(of_link, params.cbfc.largest_octets);
    if (CreditEnd* const credit = link_->credit(); credit != nullptr) {
      output_.SetCredit(&credit->sender(), &link_->end().counters());
    }
  }
  if (!own.strict_vlans) return;
  vlans_.resize(4096);
  for (const uint16_t vid : own.vlans) vlans_[vid] = true;
}

void SwitchPort::SetBlocked(uint32_t out, bool blocked) {
  if (blocked_[out] == blocked) return;
  blocked_[out] = blocked;
  blocked ? ++blocks_ : --blocks_;
}

// (A frame that counts as none of the drops has ended as it should.)
[[gnu::cold]] void SwitchPort::CopyDropped(SwitchPortCounter reason, const Frame& frame) {
  const CounterRow& row = SwitchPortRows()[static_cast<size_t>(reason)];
  if (row.severity == Severity::kDrop) {
    drop_tap_.CopyDropped(frame, FrameDirection::kIn, row.name);
  }
}

[[gnu::cold]] void SwitchPort::CopyDropped(SwitchClassCounter reason, const Frame& frame) {
  drop_tap_.CopyDropped(frame, FrameDirection::kOut,
                        SwitchClassRows()[static_cast<size_t>(reason)].name);
}

SwitchPortCounter SwitchPort::FaultOf(ViewError error) {
  switch (error) {
    case ViewError::kNone:
      break;
    case ViewError::kRunt:
      return SwitchPortCounter::kRxRunt;
    case ViewError::kForeign:
      return SwitchPortCounter::kRxForeign;
    case ViewError::kRevision:
      return SwitchPortCounter::kRxRevision;
    case ViewError::kLinkLocal:
      return SwitchPortCounter::kRxLinkLocal;
  }
  return SwitchPortCounter::kRxVlan;
}

}  // namespace suede::fabric
