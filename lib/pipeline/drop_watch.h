// SPDX-License-Identifier: Apache-2.0
// Copies the received frames that are dropped, each with the name of the counter that counts it, to
// the tap of their port (docs/dpdk.md, "Captures of a port's frames").
//
// The places that drop frames only count them. While a port has a tap, its frames are processed one
// at a time, between Begin and End: the counters that have grown in between name the reason. A port
// without a tap pays one branch for each burst. Owned by the lcore.
#ifndef SUEDE_PIPELINE_DROP_WATCH_H_
#define SUEDE_PIPELINE_DROP_WATCH_H_

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "lcore/lcore.h"
#include "port/frame.h"
#include "port/frame_tap.h"
#include "stats/counters.h"

namespace suede {

// Whether a counter is of received frames that were dropped.
constexpr bool CountsDroppedFrames(const CounterRow& row) {
  constexpr std::string_view kOfPackets = "mgmt_rx_drop_";
  return row.name.starts_with("rx_drop_") || row.name.starts_with(kOfPackets) ||
         (row.name.starts_with("rx_") && row.severity == Severity::kDrop);
}

class DropWatch {
 public:
  // `lcore` outlives this object.
  explicit DropWatch(const Lcore& lcore) : lcore_(lcore), bytes_(kMaxBytes) {}
  // Adds the instance that was added to the lcore last.
  void AddInstance() { before_.emplace_back(); }

  // A frame is about to be processed, which may change it.
  void Begin(const Frame& frame);
  // The frame was processed: copies it to the tap if it was dropped.
  void End(TapPoint& tap);

 private:
  static constexpr uint32_t kMaxBytes = UINT16_MAX;
  static constexpr size_t kCount = [] {
    size_t count = 0;
    for (const CounterRow& row : CounterRows()) count += CountsDroppedFrames(row) ? 1 : 0;
    return count;
  }();
  static constexpr std::array<Counter, kCount> kCounters = [] {
    std::array<Counter, kCount> counters{};
    size_t next = 0;
    for (size_t i = 0; i < kCounterCount; ++i) {
      if (CountsDroppedFrames(CounterRows()[i])) counters[next++] = static_cast<Counter>(i);
    }
    return counters;
  }();
  using Counts = std::array<uint64_t, kCount>;

  static void Note(const CounterBlock& block, Counts& counts);
  void Compare(const CounterBlock& block, const Counts& before, TapPoint& tap) const;

  const Lcore& lcore_;
  std::vector<uint8_t> bytes_;
  Frame copy_;
  // Counts of each instance, and of the lcore.
  std::vector<Counts> before_;
  Counts before_of_lcore_{};
};

}  // namespace suede

#endif  // SUEDE_PIPELINE_DROP_WATCH_H_
