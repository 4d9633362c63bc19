// SPDX-License-Identifier: Apache-2.0
#include "fabric/impairment.h"

#include <algorithm>
#include <utility>

namespace suede::fabric {
bool ImpairmentParams::is_clean() const {
  return rate_bps == 0 && delay == Duration::zero() && jitter == Duration::zero() &&
         (loss | to_bad | reorder | duplicate | bad_fcs | flip) == 0 && max_bytes == UINT32_MAX &&
         !down && hole_classes == 0 && hole_destinations.empty() && !rewrites() &&
         of_class == std::array<OfClass, kClasses>{};
}

bool ImpairmentParams::rewrites() const {
  const RewriteParams none;
  return strip_tag || rewrite != none ||
         std::ranges::any_of(of_class, [&](const OfClass& own) { return own.rewrite != none; });
}

Impairment::Impairment(uint64_t seed, uint32_t max, ViewRule rule, SwitchPortCounters& counters)
    : random_(seed), max_(max), rule_(rule), counters_(counters) {
  cable_.reserve(max);
}

void Impairment::Set(const ImpairmentParams& params) {
  ImpairmentParams copy = params;
  Swap(copy);
}

void Impairment::Swap(ImpairmentParams& params) {
  std::swap(params_, params);
  clean_ = params_.is_clean();
  rewrites_ = params_.rewrites();
  if (params_.to_bad == 0) bad_ = false;
}

bool Impairment::InHole(const Frame* frame) const {
  const FrameNote& note = NoteOfFrame(frame);
  if ((params_.hole_classes >> note.traffic_class & 1) != 0) return true;
  const std::vector<uint64_t>& holes = params_.hole_destinations;
  return std::find(holes.begin(), holes.end(), note.destination) != holes.end();
}

// Returns whether the frame is lost, and counts the reason.
bool Impairment::IsLost(const Frame* frame) {
  const auto lost = [&](SwitchPortCounter reason) {
    counters_.Add(reason);
    return true;
  };
  if (params_.to_bad != 0)
    bad_ = bad_ ? !random_.Chance(params_.to_good) : random_.Chance(params_.to_bad);
  if (params_.down) return lost(SwitchPortCounter::kImpairDown);
  if (InHole(frame)) return lost(SwitchPortCounter::kImpairHole);
  if (frame->length > params_.max_bytes) return lost(SwitchPortCounter::kImpairLong);
  if (bad_ && random_.Chance(params_.loss_in_bad)) return lost(SwitchPortCounter::kImpairBurst);
  if (random_.Chance(params_.loss)) return lost(SwitchPortCounter::kImpairLoss);
  if (random_.Chance(OfClass(frame).loss)) return lost(SwitchPortCounter::kImpairLoss);
  if (random_.Chance(params_.bad_fcs)) return lost(SwitchPortCounter::kImpairBadFcs);
  if (cable_.size() >= max_) return lost(SwitchPortCounter::kImpairFull);
  return false;
}

void Impairment::Rewrite(Frame* frame) {
  const FrameView view =
      ViewFrame(rule_.forwarding, frame->data, frame->length, rule_.esun_ether_type);
  const RewriteParams to = OfClass(frame).rewrite.Over(params_.rewrite);
  bool changed = RewriteFields(to, view, frame->data);
  if (params_.strip_tag) changed |= StripTag(view, frame);
  if (changed) counters_.Add(SwitchPortCounter::kImpairRewritten);
}

Impairment::Fate Impairment::Send(Frame* frame, Time now) {
  Time leaves = now;
  if (params_.rate_bps != 0) {
    const uint64_t bits = uint64_t{frame->length + kWireOctets} * 8;
    leaves = std::max(now, free_at_) +
             Duration(static_cast<int64_t>(bits * 1'000'000'000 / params_.rate_bps));
    free_at_ = leaves;
  }
  if (IsLost(frame)) return Fate::kLost;
  if (rewrites_) Rewrite(frame);
  if (frame->length != 0 && random_.Chance(params_.flip)) {
    counters_.Add(SwitchPortCounter::kImpairFlipped);
    const uint64_t bit = random_.Below(uint64_t{frame->length} * 8);
    frame->data[bit / 8] ^= static_cast<uint8_t>(1u << bit % 8);
  }
  Time at = leaves + params_.delay;
  if (params_.jitter != Duration::zero()) at += UpTo(params_.jitter);
  const ImpairmentParams::OfClass& own = OfClass(frame);
  if (random_.Chance(params_.reorder) || random_.Chance(own.reorder)) {
    counters_.Add(SwitchPortCounter::kImpairReordered);
    Push(frame, std::max(at, last_at_) + own.delay + UpTo(params_.reorder_delay));
  } else {
    last_at_ = std::max(last_at_, at);
    Push(frame, last_at_ + own.delay);
  }
  return random_.Chance(params_.duplicate) && cable_.size() < max_ ? Fate::kDuplicate
                                                                   : Fate::kTaken;
}

void Impairment::Duplicate(Frame* copy) {
  counters_.Add(SwitchPortCounter::kImpairDuplicated);
  Push(copy, last_at_ + OfClass(copy).delay + UpTo(params_.reorder_delay));
}

void Impairment::Push(Frame* frame, Time at) {
  cable_.push_back({.at = at, .order = order_++, .frame = frame});
  std::push_heap(cable_.begin(), cable_.end());
}

Frame* Impairment::Arrived(Time now) {
  if (cable_.empty() || cable_.front().at > now) return nullptr;
  Frame* const frame = cable_.front().frame;
  std::pop_heap(cable_.begin(), cable_.end());
  cable_.pop_back();
  return frame;
}

}  // namespace suede::fabric
