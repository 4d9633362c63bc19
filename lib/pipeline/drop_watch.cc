// SPDX-License-Identifier: Apache-2.0
#include "pipeline/drop_watch.h"

#include <algorithm>
#include <cstring>

namespace suede {

void DropWatch::Note(const CounterBlock& block, Counts& counts) {
  for (size_t i = 0; i < kCount; ++i) counts[i] = block.Get(kCounters[i]);
}

void DropWatch::Begin(const Frame& frame) {
  copy_.data = bytes_.data();
  copy_.length = std::min(frame.length, kMaxBytes);
  std::memcpy(copy_.data, frame.data, copy_.length);
  Note(lcore_.counters, before_of_lcore_);
  for (size_t i = 0; i < before_.size(); ++i) Note(lcore_.stats[i]->counters, before_[i]);
}

void DropWatch::Compare(const CounterBlock& block, const Counts& before, TapPoint& tap) const {
  for (size_t i = 0; i < kCount; ++i) {
    if (block.Get(kCounters[i]) == before[i]) [[likely]]
      continue;
    tap.CopyDropped(copy_, FrameDirection::kIn,
                    CounterRows()[static_cast<size_t>(kCounters[i])].name);
  }
}

void DropWatch::End(TapPoint& tap) {
  Compare(lcore_.counters, before_of_lcore_, tap);
  for (size_t i = 0; i < before_.size(); ++i) Compare(lcore_.stats[i]->counters, before_[i], tap);
}

}  // namespace suede
