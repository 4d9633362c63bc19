// SPDX-License-Identifier: Apache-2.0
#include "tx_side.h"

#include <algorithm>
#include <cstdio>
#include <utility>

namespace suede::rtl {

TxSide::TxSide(std::string name, uint32_t beat_bytes, std::unique_ptr<TxLink> link)
    : name_(std::move(name)), beat_bytes_(beat_bytes), link_(std::move(link)) {}

TxSide::Out TxSide::Edge(const In& in) {
  if (!in_reset_ && !in.reset_in && in.beat.valid != 0) TakeBeat(in);
  const bool is_ready = link_->IsReady();
  if (in.reset_in || !is_ready) {
    if (!in_reset_) DiscardAll();
    in_reset_ = true;
    if (in.reset_in && !was_reset_in_) link_->Reset();
  } else if (in_reset_) {
    in_reset_ = false;
    for (auto& of_kind : owed_) std::fill(std::begin(of_kind), std::end(of_kind), kSlots);
  }
  was_reset_in_ = in.reset_in;
  if (in_reset_) return {};
  HandOver();
  return {.credit = NextCredit(), .reset_out = false};
}

int64_t TxSide::TakeLost() {
  if (lost_.empty()) return link_->TakeLost();
  const uint64_t number = lost_.front();
  lost_.pop_front();
  return static_cast<int64_t>(number);
}

void TxSide::TakeBeat(const In& in) {
  const Beat& beat = in.beat;
  if (is_skipping_ && beat.cycle != 0) return;
  const char* rule = nullptr;
  if (next_cycle_ != 0 && (rule = CheckNext(beat)) != nullptr) {
    ++owed_[command_.kind()][command_.vc];
    next_cycle_ = 0;
  } else if (next_cycle_ == 0) {
    rule = Begin(beat);
  }
  is_skipping_ = rule != nullptr;
  if (rule != nullptr) {
    ++broken_;
    std::fprintf(stderr, "suede_tx %s: command discarded: %s\n", name_.c_str(), rule);
    return;
  }
  command_.is_error |= in.err;
  const uint32_t offset = next_cycle_ * beat_bytes_;
  const uint32_t bytes =
      std::min(beat_bytes_, command_.data_bytes() - std::min(offset, command_.data_bytes()));
  std::copy_n(beat.data.begin(), bytes, command_.data.begin() + offset);
  if (++next_cycle_ == command_.beats(beat_bytes_)) Finish();
}

const char* TxSide::Begin(const Beat& beat) {
  if (beat.valid > 2) return "tx_valid is 3";
  if (beat.cycle != 0) return "tx_cycle does not begin with 0";
  command_ = {};
  command_.control = beat.control;
  command_.vc = beat.vc;
  command_.xpuid = beat.xpuid;
  const uint32_t units = beat.control[0] & 0x0fu;
  if (units < 1 || units > 9) return "the length of the control is not 1 to 9";
  if (command_.kind() + 1 != beat.valid) return "bit 4 of the control disagrees with tx_valid";
  uint32_t& granted = granted_[command_.kind()][beat.vc];
  if (granted == 0) return "no credit";
  --granted;
  return nullptr;
}

const char* TxSide::CheckNext(const Beat& beat) const {
  if (beat.cycle != next_cycle_) return "tx_cycle is not the next one";
  if (beat.valid != command_.kind() + 1 || beat.vc != command_.vc || beat.xpuid != command_.xpuid ||
      beat.control != command_.control) {
    return "tx_valid, tx_vc, xpuid or tx_control changes";
  }
  return nullptr;
}

void TxSide::Finish() {
  command_.number = next_number_++;
  slots_[command_.vc].push_back(command_);
  next_cycle_ = 0;
}

void TxSide::DiscardAll() {
  for (std::deque<Command>& slots : slots_) {
    for (const Command& command : slots) lost_.push_back(command.number);
    slots.clear();
  }
  next_cycle_ = 0;
  is_skipping_ = false;
  for (auto& of_kind : granted_) std::fill(std::begin(of_kind), std::end(of_kind), 0);
}

void TxSide::HandOver() {
  bool any = false;
  for (std::deque<Command>& slots : slots_) {
    if (slots.empty() || !link_->Send(slots.front())) continue;
    ++owed_[slots.front().kind()][slots.front().vc];
    slots.pop_front();
    any = true;
  }
  if (any) link_->Flush();
}

uint8_t TxSide::NextCredit() {
  uint32_t credit = 0;
  for (uint32_t kind = 0; kind < kKinds; ++kind) {
    int found = -1;
    for (uint32_t i = 0; i < kVcs && found < 0; ++i) {
      const uint32_t vc = (next_vc_[kind] + i) % kVcs;
      if (owed_[kind][vc] != 0) found = static_cast<int>(vc);
    }
    credit |= CreditBits::Encode(found) << (3 * kind);
    if (found < 0) continue;
    --owed_[kind][found];
    ++granted_[kind][found];
    next_vc_[kind] = (static_cast<uint32_t>(found) + 1) % kVcs;
  }
  return static_cast<uint8_t>(credit);
}

}  // namespace suede::rtl
