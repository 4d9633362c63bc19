// SPDX-License-Identifier: Apache-2.0
#include "rx_side.h"

#include <algorithm>
#include <utility>

namespace suede::rtl {

RxSide::RxSide(uint32_t beat_bytes, std::unique_ptr<RxLink> link)
    : beat_bytes_(beat_bytes), link_(std::move(link)) {}

RxSide::Out RxSide::Edge(const In& in) {
  if (!in_reset_ && !in.reset_in) TakeCredit(in.credit);
  const bool is_ready = link_->IsReady();
  const bool was_in_reset = in_reset_;
  if (in.reset_in) {
    next_cycle_ = 0;
    for (std::optional<Command>& head : heads_) head.reset();
    if (!was_reset_in_) link_->Reset();
    in_reset_ = true;
  } else if (is_ready) {
    in_reset_ = false;
  } else if (next_cycle_ == 0) {  // SUE's own reset lets a command end
    in_reset_ = true;
  }
  was_reset_in_ = in.reset_in;
  if (in_reset_ && !was_in_reset) {
    for (auto& of_kind : credit_) std::fill(std::begin(of_kind), std::end(of_kind), 0);
  }
  if (in_reset_) return {};
  if (next_cycle_ == 0 && is_ready) Choose();
  return {.beat = NextBeat(), .reset_out = false};
}

void RxSide::TakeCredit(uint8_t credit) {
  for (uint32_t kind = 0; kind < kKinds; ++kind) {
    const int vc = CreditBits::Decode(credit, kind);
    if (vc >= 0 && credit_[kind][vc] < kMaxCredit) ++credit_[kind][vc];
  }
}

void RxSide::Choose() {
  command_.control = {};
  for (uint32_t i = 0; i < kVcs; ++i) {
    const uint32_t vc = (next_vc_ + i) % kVcs;
    std::optional<Command>& head = heads_[vc];
    if (!head && !link_->Receive(static_cast<uint8_t>(vc), &head.emplace())) head.reset();
    if (!head || credit_[head->kind()][vc] == 0) continue;
    --credit_[head->kind()][vc];
    command_ = *head;
    head.reset();
    next_vc_ = (vc + 1) % kVcs;
    return;
  }
}

Beat RxSide::NextBeat() {
  if (command_.control_bytes() == 0) return {};
  Beat beat{.valid = static_cast<uint8_t>(command_.kind() + 1),
            .cycle = static_cast<uint8_t>(next_cycle_),
            .vc = command_.vc,
            .xpuid = command_.xpuid,
            .control = command_.control,
            .data = {}};
  const uint32_t offset = next_cycle_ * beat_bytes_;
  const uint32_t bytes =
      std::min(beat_bytes_, command_.data_bytes() - std::min(offset, command_.data_bytes()));
  std::copy_n(command_.data.begin() + offset, bytes, beat.data.begin());
  if (++next_cycle_ == command_.beats(beat_bytes_)) next_cycle_ = 0;
  return beat;
}

}  // namespace suede::rtl
