// SPDX-License-Identifier: Apache-2.0
#include "fabric/pfc.h"

#include <algorithm>
#include <cstring>

#include "base/big_endian.h"

namespace suede::fabric {
namespace {

constexpr uint8_t kDestination[6] = {0x01, 0x80, 0xc2, 0x00, 0x00, 0x01};
constexpr uint16_t kOpcodePfc = 0x0101;
constexpr uint32_t kTypeAt = 12;
constexpr uint32_t kOpcodeAt = 14;
constexpr uint32_t kClassesAt = 16;
constexpr uint32_t kQuantaAt = 18;
constexpr uint32_t kLeastBytes = kQuantaAt + 2 * kClasses;
constexpr uint64_t kAssumedBps = 100'000'000'000;  // of a port whose rate is not known

}  // namespace

void EncodePfc(const PfcFrame& pfc, const std::array<uint8_t, 6>& source, uint8_t* frame) {
  std::memset(frame, 0, PfcFrame::kBytes);
  std::memcpy(frame, kDestination, sizeof kDestination);
  std::memcpy(frame + 6, source.data(), source.size());
  StoreBe16(frame + kTypeAt, kTypeMacControl);
  StoreBe16(frame + kOpcodeAt, kOpcodePfc);
  StoreBe16(frame + kClassesAt, pfc.classes);
  for (uint32_t c = 0; c < kClasses; ++c) StoreBe16(frame + kQuantaAt + 2 * c, pfc.quanta[c]);
}

std::optional<PfcFrame> DecodePfc(const uint8_t* frame, uint32_t bytes) {
  if (bytes < kLeastBytes || LoadBe16(frame + kTypeAt) != kTypeMacControl ||
      LoadBe16(frame + kOpcodeAt) != kOpcodePfc ||
      std::memcmp(frame, kDestination, sizeof kDestination) != 0) {
    return std::nullopt;
  }
  PfcFrame pfc{.classes = static_cast<ClassMask>(LoadBe16(frame + kClassesAt))};
  for (uint32_t c = 0; c < kClasses; ++c) pfc.quanta[c] = LoadBe16(frame + kQuantaAt + 2 * c);
  return pfc;
}

Duration PauseOf(uint32_t quanta, uint64_t rate_bps) {
  const uint64_t rate = rate_bps != 0 ? rate_bps : kAssumedBps;
  return Duration(static_cast<int64_t>(quanta * 512'000'000'000u / rate));
}

PfcReceiver::PfcReceiver(const PfcParams& params, uint64_t rate_bps)
    : params_(params), rate_bps_(rate_bps) {
  stuck_since_.fill(kNever);
}

void PfcReceiver::OnFrame(const PfcFrame& pfc, Time now) {
  for (uint32_t c = 0; c < kClasses; ++c) {
    const auto bit = static_cast<ClassMask>(1u << c);
    if ((pfc.classes & bit) == 0) continue;
    until_[c] = now + PauseOf(pfc.quanta[c], rate_bps_);
    if (pfc.quanta[c] == 0) continue;
    asked_at_[c] = now;
    if ((paused_ & bit) != 0) continue;
    paused_ |= bit;
    since_[c] = now;
  }
  deadline_ = now;
}

// A class of which a pause may have ended or a storm begun or ended.
void PfcReceiver::Look(uint32_t c, bool waits, Time now) {
  const auto bit = static_cast<ClassMask>(1u << c);
  if ((paused_ & bit) != 0 && now >= until_[c]) {
    paused_ &= static_cast<ClassMask>(~bit);
    total_[c] += std::max(since_[c], std::min(now, until_[c])) - since_[c];
  }
  if ((stormy_ & bit) != 0) {
    if ((paused_ & bit) == 0 && now - asked_at_[c] >= params_.calm) {
      stormy_ &= static_cast<ClassMask>(~bit);
    }
    return;
  }
  if ((paused_ & bit) == 0 || !waits) {
    stuck_since_[c] = kNever;
    return;
  }
  if (stuck_since_[c] == kNever) stuck_since_[c] = now;
  if (params_.storm == Duration::zero() || now - stuck_since_[c] < params_.storm) return;
  stuck_since_[c] = kNever;
  stormy_ |= bit;
  ++storms_;
}

ClassMask PfcReceiver::Paused(ClassMask waiting, Time now) {
  if ((paused_ | stormy_) == 0) [[likely]]
    return 0;
  deadline_ = kNever;
  for (uint32_t c = 0; c < kClasses; ++c) {
    const auto bit = static_cast<ClassMask>(1u << c);
    if (((paused_ | stormy_) & bit) == 0) continue;
    Look(c, (waiting & bit) != 0, now);
    if ((paused_ & bit) != 0) deadline_ = std::min(deadline_, until_[c]);
    if ((stormy_ & bit) != 0) deadline_ = std::min(deadline_, asked_at_[c] + params_.calm);
    if (stuck_since_[c] != kNever && params_.storm != Duration::zero()) {
      deadline_ = std::min(deadline_, stuck_since_[c] + params_.storm);
    }
  }
  // A class in a storm is not held up: its frames go, into nothing.
  return static_cast<ClassMask>(paused_ & ~stormy_);
}

Duration PfcReceiver::paused_for(uint32_t c, Time now) const {
  if ((paused_ >> c & 1) == 0) return total_[c];
  return total_[c] + (std::max(since_[c], std::min(now, until_[c])) - since_[c]);
}

// Half of a pause is over: time enough for a frame that is being sent.
PfcSender::PfcSender(const PfcParams& params, uint64_t rate_bps)
    : quanta_(params.quanta), refresh_(PauseOf(params.quanta, rate_bps) / 2) {}

std::optional<PfcFrame> PfcSender::Poll(ClassMask wanted, Time now) {
  if (wanted == told_ && (told_ == 0 || now < refresh_at_)) [[likely]]
    return std::nullopt;
  PfcFrame pfc{.classes = static_cast<ClassMask>(wanted | told_)};
  for (uint32_t c = 0; c < kClasses; ++c) {
    if ((wanted >> c & 1) == 0) continue;
    pfc.quanta[c] = quanta_;
    pauses_ += (told_ >> c & 1) == 0 ? 1 : 0;
  }
  told_ = wanted;
  refresh_at_ = now + refresh_;
  return pfc;
}

}  // namespace suede::fabric
