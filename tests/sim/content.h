// SPDX-License-Identifier: Apache-2.0
// The bytes of a command: derived from its stream and from its place in the stream, so that its
// receiver can tell both, and whether a byte is wrong.
#ifndef SUEDE_TESTS_SIM_CONTENT_H_
#define SUEDE_TESTS_SIM_CONTENT_H_

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "base/sue.h"

namespace suede {

// Commands of one source queue, in one life of its host's daemon, to one {destination, VC}.
struct StreamName {
  uint32_t source = 0;
  uint32_t life = 0;
  uint32_t queue = 0;
  uint32_t destination = 0;
  uint32_t vc = 0;
  uint64_t Key() const {
    return uint64_t{source} << 40 | uint64_t{queue} << 36 | uint64_t{destination} << 24 |
           uint64_t{vc} << 20 | life;
  }
};

struct Content {
  uint8_t control[kMaxControlBytes];
  uint8_t data[kMaxDataBytes];
  uint32_t control_bytes;
  uint32_t data_bytes;

  // `fixed_data_bytes` 0: sizes are random.
  Content(const StreamName& stream, uint32_t sequence, uint32_t fixed_data_bytes) {
    const uint64_t key = Mix(stream.Key()) ^ Mix(sequence);
    control_bytes = 8 + 2 * static_cast<uint32_t>(Mix(key) % 6);
    data_bytes = fixed_data_bytes != 0 ? fixed_data_bytes
                 : Mix(key + 1) % 4 == 0 ? 0
                                         : 1 + static_cast<uint32_t>(Mix(key + 2) % kMaxDataBytes);
    control[0] = static_cast<uint8_t>(control_bytes / 2 | (data_bytes != 0 ? 0x10 : 0) | 0x20);
    control[1] = static_cast<uint8_t>(data_bytes != 0 ? data_bytes - 1 : 0xaa);
    control[2] = static_cast<uint8_t>(stream.queue);
    control[3] = static_cast<uint8_t>(stream.life);
    std::memcpy(control + 4, &sequence, 4);
    for (uint32_t i = 8; i < control_bytes; ++i) control[i] = static_cast<uint8_t>(key >> i);
    for (uint32_t i = 0; i < data_bytes; i += 8) {
      const uint64_t word = (key + i) * 0x9e3779b97f4a7c15u;
      std::memcpy(data + i, &word, std::min(data_bytes - i, 8u));
    }
  }
  static uint32_t QueueOf(const uint8_t* control) { return control[2]; }
  static uint32_t LifeOf(const uint8_t* control) { return control[3]; }
  static uint32_t SequenceOf(const uint8_t* control) {
    uint32_t sequence;
    std::memcpy(&sequence, control + 4, 4);
    return sequence;
  }

 private:
  static uint64_t Mix(uint64_t x) {
    x += 0x9e3779b97f4a7c15u;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
  }
};

}  // namespace suede

#endif  // SUEDE_TESTS_SIM_CONTENT_H_
