// SPDX-License-Identifier: Apache-2.0
#include "axi/transfer.h"

namespace suede::axi {
namespace {

constexpr uint64_t kBoundaryBytes = 4096;
constexpr uint32_t kMaxExclusiveBytes = 128;

constexpr bool IsPowerOfTwo(uint32_t value) { return (value & (value - 1)) == 0; }

const char* FindLengthViolation(const Address& burst) {
  const uint32_t beats = BeatsOf(burst);
  switch (burst.burst) {
    case SUEDE_AXI_FIXED:
      return beats <= kMaxShortBeats ? nullptr : "a FIXED burst has more than 16 beats";
    case SUEDE_AXI_INCR: {
      const uint64_t end = BeatAddress(burst, burst.len) + BeatBytes(burst, burst.len) - 1;
      return burst.address / kBoundaryBytes == end / kBoundaryBytes
                 ? nullptr
                 : "a burst crosses a 4 KiB boundary";
    }
    case SUEDE_AXI_WRAP:
      if (beats < 2 || beats > kMaxShortBeats || !IsPowerOfTwo(beats)) {
        return "a WRAP burst does not have 2, 4, 8 or 16 beats";
      }
      return burst.address % SizeOf(burst) == 0 ? nullptr : "a WRAP burst is not aligned";
    default:
      return "AxBURST is 3";
  }
}

const char* FindExclusiveViolation(const Address& burst) {
  const uint32_t bytes = BeatsOf(burst) * SizeOf(burst);
  if (BeatsOf(burst) > kMaxShortBeats) return "an exclusive access has more than 16 beats";
  if (bytes > kMaxExclusiveBytes || !IsPowerOfTwo(bytes)) {
    return "the bytes of an exclusive access are not a power of 2 up to 128";
  }
  return burst.address % bytes == 0 ? nullptr : "an exclusive access is not aligned";
}

}  // namespace

uint64_t WrapBoundary(const Address& burst) {
  const uint64_t bytes = uint64_t{BeatsOf(burst)} * SizeOf(burst);
  return burst.address & ~(bytes - 1);
}

uint64_t BeatAddress(const Address& burst, uint32_t beat) {
  const uint64_t size = SizeOf(burst);
  if (beat == 0 || burst.burst == SUEDE_AXI_FIXED) return burst.address;
  const uint64_t next = (burst.address & ~(size - 1)) + beat * size;
  if (burst.burst != SUEDE_AXI_WRAP) return next;
  const uint64_t lower = WrapBoundary(burst);
  return lower + (next - lower) % (BeatsOf(burst) * size);
}

uint32_t BeatBytes(const Address& burst, uint32_t beat) {
  const uint32_t size = SizeOf(burst);
  return size - static_cast<uint32_t>(BeatAddress(burst, beat) & (size - 1));
}

uint32_t BeatOffset(const Address& burst, uint32_t beat) {
  if (beat == 0) return 0;
  const uint32_t first = BeatBytes(burst, 0);
  const uint32_t others = burst.burst == SUEDE_AXI_FIXED ? first : SizeOf(burst);
  return first + (beat - 1) * others;
}

uint32_t ActiveBytes(const Address& burst) {
  return BeatOffset(burst, burst.len) + BeatBytes(burst, burst.len);
}

Range RangeOf(const Address& burst) {
  const uint64_t first = burst.burst == SUEDE_AXI_WRAP ? WrapBoundary(burst) : burst.address;
  const uint32_t bytes = burst.burst == SUEDE_AXI_FIXED ? BeatBytes(burst, 0) : ActiveBytes(burst);
  return {.first = first, .last = first + bytes - 1};
}

const char* FindViolation(const Address& burst, uint32_t bus_bytes) {
  if (burst.size > 7 || SizeOf(burst) > bus_bytes) return "AxSIZE exceeds the bus";
  if (burst.lock > 1 || burst.cache > 15 || burst.prot > 7 || burst.qos > 15 || burst.region > 15) {
    return "a field exceeds its bits";
  }
  if (const char* const violation = FindLengthViolation(burst)) return violation;
  return burst.lock == 0 ? nullptr : FindExclusiveViolation(burst);
}

}  // namespace suede::axi
