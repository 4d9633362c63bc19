// SPDX-License-Identifier: Apache-2.0
// Returns the part of a udp4 frame that a trimming switch leaves.
#ifndef SUEDE_TESTS_PIPELINE_TRIMMED_FRAME_H_
#define SUEDE_TESTS_PIPELINE_TRIMMED_FRAME_H_

#include <cstdint>
#include <vector>

#include "bench.h"

namespace suede {

inline constexpr uint8_t kTrimmedDscp = 40;

inline std::vector<uint8_t> Cut(std::vector<uint8_t> frame) {
  constexpr uint32_t kTrimmedBytes = 64;
  uint8_t* const ip = frame.data() + kEthernetBytes;
  ip[1] = kTrimmedDscp << 2;
  ip[10] = ip[11] = 0;
  uint32_t sum = 0;
  for (uint32_t i = 0; i < 20; i += 2) sum += static_cast<uint32_t>(ip[i] << 8 | ip[i + 1]);
  sum = (sum & 0xffff) + (sum >> 16);
  sum = (sum & 0xffff) + (sum >> 16);
  ip[10] = static_cast<uint8_t>(~sum >> 8);
  ip[11] = static_cast<uint8_t>(~sum);
  frame.resize(kTrimmedBytes);
  return frame;
}

}  // namespace suede

#endif  // SUEDE_TESTS_PIPELINE_TRIMMED_FRAME_H_
