// SPDX-License-Identifier: Apache-2.0
#include "port/frame_tap.h"

namespace suede {

void TapPoint::Set(FrameTap* tap) {
  if (is_set()) gate_.Close();
  tap_.store(tap, std::memory_order_relaxed);
  if (tap != nullptr) gate_.Open();
}

[[gnu::noinline]] void TapPoint::CopyToTap(Frame* const* frames, uint32_t count,
                                           FrameDirection direction) {
  if (count == 0 || !gate_.Enter()) return;
  tap_.load(std::memory_order_relaxed)->Add(frames, count, direction);
  gate_.Leave();
}

[[gnu::noinline]] void TapPoint::CopyDroppedToTap(const Frame& frame, FrameDirection direction,
                                                  std::string_view counter) {
  if (!gate_.Enter()) return;
  tap_.load(std::memory_order_relaxed)->AddDropped(frame, direction, counter);
  gate_.Leave();
}

}  // namespace suede
