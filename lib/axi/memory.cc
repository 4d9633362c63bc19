// SPDX-License-Identifier: Apache-2.0
#include "axi/memory.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace suede::axi {
namespace {

bool IsWithin(std::span<const uint8_t> memory, uint64_t address, uint32_t bytes) {
  return address < memory.size() && memory.size() - address >= bytes;
}

// Writes the strobed octets of `bytes` lanes from `lane` on.
void WriteLanes(const WriteBeat& beat, uint32_t lane, uint32_t bytes, uint8_t* to) {
  for (uint32_t i = 0; i < bytes;) {
    // A whole word, or the rest of one.
    const uint32_t bit = (lane + i) % 64;
    const uint32_t count = std::min(bytes - i, 64 - bit);
    const uint64_t all = ~uint64_t{0} >> (64 - count);
    const uint64_t strobes = beat.strobes[(lane + i) / 64] >> bit & all;
    if (strobes == all) {
      std::memcpy(to + i, beat.data + lane + i, count);
    } else {
      for (uint64_t left = strobes; left != 0; left &= left - 1) {
        const auto octet = static_cast<uint32_t>(std::countr_zero(left));
        to[i + octet] = beat.data[lane + i + octet];
      }
    }
    i += count;
  }
}

}  // namespace

uint32_t Memory::Serve(Manager& port, std::span<uint8_t> memory, uint32_t max) {
  uint32_t ended = 0;
  for (; ended < max; ++ended) {
    if (!is_writing_) {
      if (!port.TakeAw(&write_)) break;
      is_writing_ = true;
      beat_ = 0;
      response_ = SUEDE_AXI_OKAY;
    }
    if (!Write(port, memory)) break;
  }
  Address burst;
  for (; ended < max && port.TakeAr(&burst); ++ended) Read(port, memory, burst);
  return ended;
}

bool Memory::Write(Manager& port, std::span<uint8_t> memory) {
  WriteBeat beat;
  while (port.TakeW(&beat)) {
    const uint64_t address = BeatAddress(write_, beat_);
    const uint32_t bytes = BeatBytes(write_, beat_);
    const auto lane = static_cast<uint32_t>(address & (bus_bytes_ - 1));
    if (!IsWithin(memory, address, bytes)) {
      response_ = SUEDE_AXI_DECERR;
    } else {
      WriteLanes(beat, lane, bytes, memory.data() + address);
    }
    ++beat_;
    if (beat.last == 0) continue;
    is_writing_ = false;
    WriteResponse response = {};
    response.id = write_.id;
    response.response = response_;
    port.SendB(response);
    return true;
  }
  return false;
}

void Memory::Read(Manager& port, std::span<uint8_t> memory, const Address& burst) {
  for (uint32_t number = 0; number < BeatsOf(burst); ++number) {
    const uint64_t address = BeatAddress(burst, number);
    const uint32_t bytes = BeatBytes(burst, number);
    ReadBeat beat = {};
    beat.id = burst.id;
    beat.last = number == burst.len ? 1 : 0;
    if (IsWithin(memory, address, bytes)) {
      std::memcpy(beat.data + (address & (bus_bytes_ - 1)), memory.data() + address, bytes);
    } else {
      beat.response = SUEDE_AXI_DECERR;
    }
    port.SendR(beat);
  }
}

}  // namespace suede::axi
