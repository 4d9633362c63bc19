// SPDX-License-Identifier: Apache-2.0
#include "sim/class_queues.h"

#include <algorithm>
#include <utility>

namespace suede {
namespace {

constexpr uint32_t kNone = kSimClasses;

}  // namespace

uint32_t SimClassOf(std::span<const uint8_t> bytes, bool addresses_first) {
  if (bytes.size() < 16) return 0;
  // The compressed form has no class.
  if (addresses_first) return (bytes[0] & 0x80) != 0 ? 0 : bytes[6] >> 5;
  switch (bytes[12] << 8 | bytes[13]) {
    case 0x8100:
      return bytes[14] >> 5;
    case 0x0800:
    case 0x88b6:
      return bytes[15] >> 5;
    case 0x86dd:
      return (bytes[14] << 4 | bytes[15] >> 4) >> 5 & 7;
  }
  return 0;
}

bool ClassQueues::Push(SimFrame frame, const SimClasses& classes) {
  std::deque<SimFrame>& queue = queues_[frame.traffic_class];
  if (queue.size() >= classes.most_held) return false;
  queue.push_back(std::move(frame));
  return true;
}

uint32_t ClassQueues::Next(bool weighted, std::mt19937_64& random) const {
  uint32_t turns = 0;
  uint32_t highest = kNone;
  for (uint32_t c = 0; c < kSimClasses; ++c) {
    if (queues_[c].empty() || (paused_ & 1u << c) != 0) continue;
    turns += c + 1;
    highest = c;
  }
  if (highest == kNone || !weighted) return highest;
  uint64_t turn = random() % turns;
  for (uint32_t c = 0; c < highest; ++c) {
    if (queues_[c].empty() || (paused_ & 1u << c) != 0) continue;
    if (turn <= c) return c;
    turn -= c + 1;
  }
  return highest;
}

void ClassQueues::Begin(Time now, double bits_per_ns, const SimClasses& classes,
                        std::mt19937_64& random, uint64_t& lost) {
  if (done_at_ != kNever) return;
  for (;;) {
    const uint32_t next = Next(classes.weighted, random);
    if (next == kNone) return;
    const SimFrame& frame = queues_[next].front();
    if (now - frame.at > classes.most_wait) {
      ++lost;
      queues_[next].pop_front();
      continue;
    }
    const double bits = static_cast<double>(frame.bytes.size() + 24) * 8;
    sending_ = next;
    done_at_ = now + Duration(static_cast<int64_t>(bits / bits_per_ns));
    return;
  }
}

SimFrame ClassQueues::Finish() {
  SimFrame frame = std::move(queues_[sending_].front());
  queues_[sending_].pop_front();
  frame.at = std::exchange(done_at_, kNever);
  return frame;
}

bool ClassQueues::HoldsPaused() const {
  for (uint32_t c = 0; c < kSimClasses; ++c) {
    if ((paused_ & 1u << c) != 0 && !queues_[c].empty()) return true;
  }
  return false;
}

}  // namespace suede
