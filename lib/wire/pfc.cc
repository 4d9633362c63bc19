// SPDX-License-Identifier: Apache-2.0
#include "wire/pfc.h"

#include <cstring>

#include "base/big_endian.h"

namespace suede {
namespace {

constexpr uint16_t kOpcodePfc = 0x0101;
constexpr uint32_t kTypeAt = 12;
constexpr uint32_t kOpcodeAt = 14;
constexpr uint32_t kClassesAt = 16;
constexpr uint32_t kQuantaAt = 18;
constexpr uint32_t kMinBytes = kQuantaAt + 2 * kPfcClasses;
constexpr uint64_t kAssumedBps = 100'000'000'000;  // if the port's rate is unknown

}  // namespace

void EncodePfc(const PfcFrame& pfc, const std::array<uint8_t, 6>& source, uint8_t* frame) {
  std::memset(frame, 0, PfcFrame::kBytes);
  std::memcpy(frame, kPfcGroup.data(), kPfcGroup.size());
  std::memcpy(frame + 6, source.data(), source.size());
  StoreBe16(frame + kTypeAt, kTypeMacControl);
  StoreBe16(frame + kOpcodeAt, kOpcodePfc);
  StoreBe16(frame + kClassesAt, pfc.classes);
  for (uint32_t c = 0; c < kPfcClasses; ++c) StoreBe16(frame + kQuantaAt + 2 * c, pfc.quanta[c]);
}

bool ClaimsPfc(const uint8_t* frame, uint32_t bytes) {
  return bytes >= kOpcodeAt + 2 && LoadBe16(frame + kTypeAt) == kTypeMacControl &&
         LoadBe16(frame + kOpcodeAt) == kOpcodePfc;
}

std::optional<PfcFrame> DecodePfc(const uint8_t* frame, uint32_t bytes) {
  if (bytes < kMinBytes || !ClaimsPfc(frame, bytes) ||
      std::memcmp(frame, kPfcGroup.data(), kPfcGroup.size()) != 0) {
    return std::nullopt;
  }
  PfcFrame pfc{.classes = static_cast<uint8_t>(LoadBe16(frame + kClassesAt))};
  for (uint32_t c = 0; c < kPfcClasses; ++c) pfc.quanta[c] = LoadBe16(frame + kQuantaAt + 2 * c);
  return pfc;
}

Duration PauseOf(uint32_t quanta, uint64_t rate_bps) {
  const uint64_t rate = rate_bps != 0 ? rate_bps : kAssumedBps;
  return Duration(static_cast<int64_t>(quanta * 512'000'000'000u / rate));
}

// Refreshes at half of the pause time, which leaves enough time for a frame in transmission.
std::optional<PfcFrame> PauseSender::Poll(uint8_t wanted, Time now) {
  if (wanted == told_ && (told_ == 0 || now < refresh_at_)) [[likely]]
    return std::nullopt;
  PfcFrame pfc{.classes = static_cast<uint8_t>(wanted | told_)};
  for (uint32_t c = 0; c < kPfcClasses; ++c) {
    if ((wanted >> c & 1) == 0) continue;
    pfc.quanta[c] = quanta_;
    pauses_ += (told_ >> c & 1) == 0 ? 1 : 0;
  }
  told_ = wanted;
  refresh_at_ = now + refresh_;
  return pfc;
}

}  // namespace suede
