// SPDX-License-Identifier: Apache-2.0
// A tap that keeps the dropped frames that it gets.
#ifndef SUEDE_TESTS_PORT_DROP_RECORDER_H_
#define SUEDE_TESTS_PORT_DROP_RECORDER_H_

#include <cstdint>
#include <string_view>
#include <vector>

#include "port/frame_tap.h"

namespace suede {

struct DropRecorder : FrameTap {
  struct Dropped {
    std::vector<uint8_t> bytes;
    FrameDirection direction = FrameDirection::kIn;
    std::string_view counter;
    bool operator==(const Dropped&) const = default;
  };
  void Add(Frame* const*, uint32_t, FrameDirection) override {}
  void AddDropped(const Frame& frame, FrameDirection direction, std::string_view counter) override {
    dropped.push_back({.bytes = {frame.data, frame.data + frame.length},
                       .direction = direction,
                       .counter = counter});
  }
  std::vector<Dropped> dropped;
};

}  // namespace suede

#endif  // SUEDE_TESTS_PORT_DROP_RECORDER_H_
