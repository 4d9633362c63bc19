// SPDX-License-Identifier: Apache-2.0
#include "link/credit_end.h"

#include <bit>
#include <utility>

namespace suede {

CreditGrant GrantOf(const LinkOffer& offer) {
  const bool is_power = std::has_single_bit(offer.credit_octets);
  const int shift = is_power ? std::countr_zero(offer.credit_octets) : 0;
  return {.rule = {.shift = static_cast<uint8_t>(shift), .overhead = offer.credit_overhead},
          .limits = offer.credits};
}

LinkOffer OfferOf(const CreditGrant& grant) {
  return {.cbfc = true,
          .credit_octets = static_cast<uint16_t>(grant.rule.credit_octets()),
          .credit_overhead = grant.rule.overhead,
          .credits = grant.limits};
}

CreditEnd::CreditEnd(const LinkParams& params, uint32_t largest_octets)
    : largest_octets_(largest_octets),
      level_bits_(params.class_rule.levels ? std::countr_zero(kLevelsOfClass) : 0),
      sender_(params.credit_times.repeat),
      receiver_(GrantOf(params.credit), params.credit_times) {}

// Restarts or ends credit: another session has begun, or the neighbour's offer has changed, or
// whether it hears this end.
[[gnu::noinline]] void CreditEnd::Change(LinkEnd& link, Time now) {
  if (std::exchange(session_, link.sessions()) != link.sessions()) {
    link.SetOffersCredit(true, now);
  }
  agreed_ = IsAgreed(link);
  sender_.Stop();
  receiver_.Stop();
  if (!agreed_) return;
  const CreditGrant grant = GrantOf(link.session().peer_offer());
  if (!grant.Permits(largest_octets_)) {
    // Otherwise the neighbour waits for this end's credit.
    link.SetOffersCredit(false, now);
    return link.counters().Add(LinkCounter::kCreditRefused);
  }
  sender_.Start(grant, now);
  receiver_.Start();
}

bool CreditEnd::TakeUpdate(LinkEnd& link, const Frame& frame, bool& opened, Time now) {
  if (!link.IsLinkFrame(frame) || frame.length < kLinkBodyAt) return false;
  LinkCounters& counters = link.counters();
  const LinkWord word = LoadLinkWord(frame.data);
  const bool is_freed = word.kind == LinkKind::kCfUpdate;
  if (!is_freed && word.kind != LinkKind::kCcUpdate) return false;
  // The tag of an update that arrived as a numbered frame was not checked before.
  if (word.tag != link.session().rx_tag()) {
    counters.Add(LinkCounter::kCreditStale);
    return true;
  }
  auto update = DecodeCreditUpdate(frame.data + kLinkBodyAt, frame.length - kLinkBodyAt);
  if (!update) {
    counters.Add(LinkCounter::kRxMalformed);
    return true;
  }
  update->serial = word.sequence;
  const CreditVerdict verdict =
      is_freed ? sender_.OnFreed(*update) : receiver_.OnConsumed(*update, now);
  if (verdict.kind != CreditVerdict::Kind::kTaken) {
    counters.Add(LinkCounter::kCreditStale);
    return true;
  }
  counters.Add(is_freed ? LinkCounter::kCreditRxFreed : LinkCounter::kCreditRxConsumed);
  counters.Add(LinkCounter::kCreditImpossible, verdict.impossible);
  counters.Add(LinkCounter::kCreditRepaired, verdict.repaired);
  opened |= verdict.opened;
  return true;
}

uint32_t CreditEnd::Write(const LinkEnd& link, LinkKind kind, const CreditUpdate& update,
                          uint8_t* at) {
  link.Begin(kind, update.serial, at);
  const uint32_t bytes = kLinkBodyAt + EncodeCreditUpdate(update, at + kLinkBodyAt);
  return std::max(bytes, kMinLinkFrameBytes);
}

uint32_t CreditEnd::NextFreed(LinkEnd& link, uint8_t* at, Time now) {
  const auto update = receiver_.Poll(now);
  if (!update) return 0;
  freed_ = *update;
  link.counters().Add(LinkCounter::kCreditTxFreed);
  return Write(link, LinkKind::kCfUpdate, *update, at);
}

uint32_t CreditEnd::NextConsumed(LinkEnd& link, uint8_t* at, Time now) {
  const auto update = sender_.Poll(now);
  if (!update) return 0;
  link.counters().Add(LinkCounter::kCreditTxConsumed);
  return Write(link, LinkKind::kCcUpdate, *update, at);
}

[[gnu::noinline]] void CreditEnd::ShowChanged(LinkVcMask changed, LinkCounters& counters) const {
  counters.Set(LinkGauge::kCreditOn, is_on() ? 1 : 0);
  const uint32_t vcs = 1u << level_bits_;  // that are shown as one
  LinkVcMask left = changed;
  if (level_bits_ == 0) left &= (LinkVcMask{1} << LinkCounters::kShownVcs) - 1;
  while (left != 0) {
    const uint32_t shown = static_cast<uint32_t>(std::countr_zero(left)) >> level_bits_;
    ShownCredit sum;
    for (uint32_t vc = shown << level_bits_; vc < (shown + 1) << level_bits_; ++vc) {
      sum.limit += sender_.limit(vc);
      sum.free += sender_.free(vc);
      sum.granted += is_on() ? receiver_.grant().limits[vc] : 0;
      sum.held += receiver_.held(vc);
    }
    counters.SetCredit(shown, sum);
    left &= ~(((LinkVcMask{1} << vcs) - 1) << (shown << level_bits_));
  }
}

}  // namespace suede
