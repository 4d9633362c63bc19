// SPDX-License-Identifier: Apache-2.0
#include "perf/payload.h"

#include <array>
#include <cstring>

#include "base/sue.h"
#include "perf/protocol.h"

namespace suede::perf {
namespace {

constexpr uint64_t Mix(uint64_t x) {  // splitmix64
  x += 0x9e3779b97f4a7c15;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

// A word of content is the key's hash XOR a constant of its position: one instruction per word, and
// both other commands' content and shifted content are detected.
constexpr uint32_t kDataWords = kMaxDataBytes / 8;
constexpr uint32_t kControlWords = 2;  // bytes 8 to 17
constexpr auto kPlaces = [] {
  std::array<uint64_t, kDataWords + kControlWords> places{};
  for (uint64_t i = 0; i < places.size(); ++i) places[i] = Mix(i * 0x5851f42d4c957f2d + 1);
  return places;
}();
constexpr const uint64_t* kControlPlaces = kPlaces.data() + kDataWords;

uint64_t NumberOf(const ContentKey& key) {
  return Mix((uint64_t{key.source} << 54) ^ (uint64_t{key.destination} << 44) ^
             (uint64_t{key.vc} << 40) ^ (uint64_t{key.flow} << 32) ^ key.sequence);
}

void Fill(uint64_t number, const uint64_t* places, uint8_t* out, uint32_t bytes) {
  const uint32_t whole = bytes / 8;
  for (uint32_t i = 0; i < whole; ++i) {
    const uint64_t word = number ^ places[i];
    std::memcpy(out + i * 8, &word, 8);
  }
  if (const uint32_t rest = bytes % 8; rest != 0) {
    const uint64_t word = number ^ places[whole];
    std::memcpy(out + whole * 8, &word, rest);
  }
}

bool Matches(uint64_t number, const uint64_t* places, const uint8_t* in, uint32_t bytes) {
  uint64_t difference = 0;
  const uint32_t whole = bytes / 8;
  for (uint32_t i = 0; i < whole; ++i) {
    uint64_t word;
    std::memcpy(&word, in + i * 8, 8);
    difference |= word ^ number ^ places[i];
  }
  if (const uint32_t rest = bytes % 8; rest != 0) {
    const uint64_t expected = number ^ places[whole];
    uint64_t word = 0;
    std::memcpy(&word, in + whole * 8, rest);
    difference |= (word ^ expected) & (~uint64_t{0} >> (64 - 8 * rest));
  }
  return difference == 0;
}

uint32_t FreeControlBytes(uint32_t control_bytes) {
  return control_bytes > kSequencedControlBytes ? control_bytes - kSequencedControlBytes : 0;
}

}  // namespace

void FillContent(const ContentKey& key, uint8_t* control, uint32_t control_bytes, uint8_t* data,
                 uint32_t data_bytes) {
  const uint64_t number = NumberOf(key);
  Fill(number, kControlPlaces, control + kSequencedControlBytes, FreeControlBytes(control_bytes));
  Fill(number, kPlaces.data(), data, data_bytes);
}

bool ContentIsRight(const ContentKey& key, const uint8_t* control, uint32_t control_bytes,
                    const uint8_t* data, uint32_t data_bytes) {
  const uint64_t number = NumberOf(key);
  return Matches(number, kControlPlaces, control + kSequencedControlBytes,
                 FreeControlBytes(control_bytes)) &&
         Matches(number, kPlaces.data(), data, data_bytes);
}

}  // namespace suede::perf
