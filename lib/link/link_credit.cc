// SPDX-License-Identifier: Apache-2.0
#include "link/link_credit.h"

#include <bit>

#include "base/big_endian.h"

namespace suede {
namespace {

constexpr uint32_t kCountAt = 0;
constexpr uint32_t kVcShift = 27;
constexpr uint32_t kStartBit = 1u << 26;

}  // namespace

uint32_t EncodeCreditUpdate(const CreditUpdate& update, uint8_t* body) {
  StoreBe32(body, 0);
  body[kCountAt] = static_cast<uint8_t>(std::popcount(update.vcs));
  uint8_t* at = body + CreditUpdate::kHeadBytes;
  for (LinkVcMask left = update.vcs; left != 0; left &= left - 1) {
    const auto vc = static_cast<uint32_t>(std::countr_zero(left));
    const uint32_t start = (update.starts >> vc & 1) != 0 ? kStartBit : 0;
    StoreBe32(at, vc << kVcShift | start | update.counters[vc].value());
    at += CreditUpdate::kEntryBytes;
  }
  return static_cast<uint32_t>(at - body);
}

std::optional<CreditUpdate> DecodeCreditUpdate(const uint8_t* body, uint32_t bytes) {
  if (bytes < CreditUpdate::kHeadBytes) return std::nullopt;
  const uint32_t count = body[kCountAt];
  if (count == 0 || count > kLinkVcs ||
      bytes < CreditUpdate::kHeadBytes + count * CreditUpdate::kEntryBytes) {
    return std::nullopt;
  }
  CreditUpdate update;
  const uint8_t* at = body + CreditUpdate::kHeadBytes;
  uint32_t min = 0;  // the min link VC of the next entry
  for (uint32_t i = 0; i < count; ++i, at += CreditUpdate::kEntryBytes) {
    const uint32_t entry = LoadBe32(at);
    const uint32_t vc = entry >> kVcShift;
    if (vc < min) return std::nullopt;
    min = vc + 1;
    update.vcs |= LinkVcMask{1} << vc;
    if ((entry & kStartBit) != 0) update.starts |= LinkVcMask{1} << vc;
    update.counters[vc] = Credit20(entry);
  }
  return update;
}

}  // namespace suede
