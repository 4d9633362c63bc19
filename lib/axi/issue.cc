// SPDX-License-Identifier: Apache-2.0
#include "axi/issue.h"

#include <algorithm>
#include <bit>

namespace suede::axi {

Issue::Issue(const Address& burst, uint32_t bus_bytes)
    : burst_(burst),
      bus_bytes_(bus_bytes),
      octets_(ActiveBytes(burst)),
      first_bytes_(BeatBytes(burst, 0)) {}

uint64_t Issue::AddressAt(uint32_t position) const {
  switch (burst_.burst) {
    case SUEDE_AXI_FIXED:
      return burst_.address + position % first_bytes_;
    case SUEDE_AXI_WRAP: {
      // All octets from the lower boundary to the upper one are active.
      const uint64_t lower = WrapBoundary(burst_);
      return lower + (burst_.address - lower + position) % octets_;
    }
    default:
      return burst_.address + position;
  }
}

uint32_t Issue::RangeEnd(uint32_t position) const {
  if (burst_.burst == SUEDE_AXI_FIXED) return (position / first_bytes_ + 1) * first_bytes_;
  if (burst_.burst != SUEDE_AXI_WRAP) return octets_;
  const auto before = static_cast<uint32_t>(burst_.address - WrapBoundary(burst_));
  return position < octets_ - before ? octets_ - before : octets_;
}

uint32_t Issue::BurstEnd(uint32_t position) const {
  if (!is_split()) return octets_;
  // Bursts of one range end after 256 beats, so at a multiple of 256 beats from the aligned start.
  const uint32_t range_end = RangeEnd(position);
  const auto lane = static_cast<uint32_t>(AddressAt(position) & (bus_bytes_ - 1));
  return std::min(range_end, position + kMaxBeats * bus_bytes_ - lane);
}

Address Issue::BurstAt(uint32_t position) const {
  Address issued = burst_;
  if (!is_split()) return issued;
  issued.address = AddressAt(position);
  issued.burst = SUEDE_AXI_INCR;
  issued.size = static_cast<uint8_t>(std::countr_zero(bus_bytes_));
  // Ranges end at a multiple of the bus's width.
  const auto lane = static_cast<uint32_t>(issued.address & (bus_bytes_ - 1));
  issued.len = static_cast<uint8_t>((BurstEnd(position) - position + lane) / bus_bytes_ - 1);
  return issued;
}

uint32_t Issue::IndexAt(uint32_t position) const {
  if (burst_.burst == SUEDE_AXI_FIXED) return position / first_bytes_;
  return position < first_bytes_ ? 0 : 1 + ((position - first_bytes_) >> burst_.size);
}

Issue::Beat Issue::BeatAt(uint32_t position) const {
  const uint64_t address = AddressAt(position);
  const uint32_t size = SizeOf(burst_);
  const uint32_t unit = std::min(size, bus_bytes_);
  const auto in_unit = static_cast<uint32_t>(address & (unit - 1));
  const auto in_container = static_cast<uint32_t>(address & (size - 1));
  const uint32_t index = IndexAt(position);
  const uint32_t bytes = unit - in_unit;
  return {.lane = static_cast<uint32_t>(address & (bus_bytes_ - 1)),
          .wide_lane = static_cast<uint32_t>(address & (kMaxBusBytes - 1)),
          .bytes = bytes,
          .index = index,
          .begins = position == 0 || IndexAt(position - 1) != index,
          .ends = in_container + bytes == size};
}

}  // namespace suede::axi
