// SPDX-License-Identifier: Apache-2.0
// Counters of the data path: one row each, from which all exporters, documents and tests derive.
//
// A CounterBlock has one writer (an lcore, or the control thread) and any number of readers.
#ifndef SUEDE_STATS_COUNTERS_H_
#define SUEDE_STATS_COUNTERS_H_

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "stats/counter_rows.h"

namespace suede {

// Meaning of an increasing counter for an operator.
enum class Severity : uint8_t {
  kInfo,   // traffic
  kDrop,   // discarded frames, PDUs or commands
  kError,  // an error: a misconfiguration, a broken client, a lack of resources
};

// Owner of the blocks with a counter: events of no known instance belong to an lcore.
enum class CounterOwner : uint8_t { kInstance, kLcore, kBoth };

enum class Counter : uint16_t {
#define SUEDE_COUNTER_ID(id, ...) k##id,
  SUEDE_COUNTERS(SUEDE_COUNTER_ID)
#undef SUEDE_COUNTER_ID
      kCount
};
inline constexpr size_t kCounterCount = static_cast<size_t>(Counter::kCount);

struct CounterRow {
  std::string_view name;
  Severity severity;
  std::string_view sentence;
  CounterOwner owner = CounterOwner::kInstance;
};

inline constexpr CounterRow kCounterRows[kCounterCount] = {
#define SUEDE_COUNTER_ROW(id, name, owner, severity, sentence) \
  {name, Severity::k##severity, sentence, CounterOwner::k##owner},
    SUEDE_COUNTERS(SUEDE_COUNTER_ROW)
#undef SUEDE_COUNTER_ROW
};

// Returns the rows, indexed by Counter.
constexpr std::span<const CounterRow, kCounterCount> CounterRows() { return kCounterRows; }

constexpr bool IsOfLcore(Counter counter) {
  return kCounterRows[static_cast<size_t>(counter)].owner != CounterOwner::kInstance;
}
constexpr bool IsOfInstance(Counter counter) {
  return kCounterRows[static_cast<size_t>(counter)].owner != CounterOwner::kLcore;
}

using CounterSnapshot = std::array<uint64_t, kCounterCount>;

// Returns " name=value" for each counter, or for nonzero ones only: the tail of a log line.
std::string FormatCounters(const CounterSnapshot& snapshot, bool nonzero_only);

// The counters of one owner. The first cache line has those that every PDU or acknowledgement uses.
class alignas(64) CounterBlock {
 public:
  // Writer's thread only.
  void Add(Counter counter, uint64_t n = 1) {
    std::atomic<uint64_t>& cell = cells_[CellOf(counter)];
    cell.store(cell.load(std::memory_order_relaxed) + n, std::memory_order_relaxed);
  }
  // Any thread.
  uint64_t Get(Counter counter) const {
    return cells_[CellOf(counter)].load(std::memory_order_relaxed);
  }
  const std::atomic<uint64_t>& Cell(Counter counter) const { return cells_[CellOf(counter)]; }
  // Adds every cell to `sum`; any thread.
  void AddTo(CounterSnapshot& sum) const {
    for (size_t i = 0; i < kCounterCount; ++i) {
      sum[i] += cells_[kCellOf[i]].load(std::memory_order_relaxed);
    }
  }

 private:
  static constexpr std::array kFirst = {
      Counter::kTxPdus, Counter::kTxCommands, Counter::kTxCommandBytes, Counter::kTxAcks,
      Counter::kRxPdus, Counter::kRxCommands, Counter::kRxCommandBytes, Counter::kRxAcks};
  // Places of the counters: kFirst, then the others by number.
  static constexpr std::array<uint16_t, kCounterCount> kCellOf = [] {
    std::array<uint16_t, kCounterCount> cells{};
    uint16_t next = 0;
    for (const Counter counter : kFirst) cells[static_cast<size_t>(counter)] = next++;
    for (size_t i = 0; i < kCounterCount; ++i) {
      if (std::ranges::find(kFirst, static_cast<Counter>(i)) == kFirst.end()) cells[i] = next++;
    }
    return cells;
  }();
  static constexpr size_t CellOf(Counter counter) { return kCellOf[static_cast<size_t>(counter)]; }

  std::array<std::atomic<uint64_t>, kCounterCount> cells_{};
};

}  // namespace suede

#endif  // SUEDE_STATS_COUNTERS_H_
