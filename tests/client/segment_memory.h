// SPDX-License-Identifier: Apache-2.0
// A formatted segment in private memory, for tests.
#ifndef SUEDE_TESTS_XPU_SEGMENT_MEMORY_H_
#define SUEDE_TESTS_XPU_SEGMENT_MEMORY_H_

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <vector>

#include "client/client_queue.h"
#include "client/rx_ring.h"
#include "client/segment.h"
#include "client/tx_ring.h"

namespace suede {

class SegmentMemory {
 public:
  explicit SegmentMemory(const SegmentShape& segment_shape)
      : shape(segment_shape), offsets(shape), memory_(std::aligned_alloc(4096, offsets.bytes)) {
    std::memset(memory_.get(), 0, offsets.bytes);
    FormatSegment(base(), shape);
  }
  void* base() { return memory_.get(); }
  suede_segment* head() { return static_cast<suede_segment*>(base()); }
  suede_ring* tx(uint32_t q = 0) { return AtOffset<suede_ring>(base(), offsets.tx_ring[q]); }
  suede_record* tx_record(uint32_t line) {
    return reinterpret_cast<suede_record*>(tx() + 1) + line;
  }
  suede_ring* rx(uint32_t vc) { return AtOffset<suede_ring>(base(), offsets.rx_ring[vc]); }
  suede_ring* completions() { return AtOffset<suede_ring>(base(), offsets.completion_ring[0]); }

  const SegmentShape shape;
  const SegmentOffsets offsets;

 private:
  struct Free {
    void operator()(void* p) const { std::free(p); }
  };
  std::unique_ptr<void, Free> memory_;
};

// Polls up to `max` records and gives each by itself, without runs. Returns their number.
template <typename Source>
uint32_t PollEach(Source& source, TxRecord* records, uint32_t max) {
  std::vector<TxRecord> runs(max);
  const uint32_t run_count = source.Poll(runs.data(), max);
  uint32_t count = 0;
  for (uint32_t i = 0; i < run_count; ++i) {
    for (uint32_t r = 0; r < runs[i].count; ++r, ++count) {
      records[count] = runs[i];
      records[count].count = 1;
      records[count].line += size_t{r} * runs[i].lines * SUEDE_LINE_BYTES;
    }
  }
  return count;
}

// A command of `control_bytes` (2 to 18) and `data_bytes` (0 to 256) with contents made of `seed`.
struct TestCommand {
  TestCommand(uint32_t control_bytes, uint32_t data_bytes, uint8_t seed)
      : control(control_bytes), data(data_bytes) {
    for (uint32_t i = 0; i < control_bytes; ++i) control[i] = static_cast<uint8_t>(seed + i);
    for (uint32_t i = 0; i < data_bytes; ++i) data[i] = static_cast<uint8_t>(seed * 3 + i);
    control[0] =
        static_cast<uint8_t>(control_bytes / 2 | (data_bytes != 0 ? 0x10 : 0) | (seed & 0xe0));
    if (data_bytes != 0) control[1] = static_cast<uint8_t>(data_bytes - 1);
  }
  ClientCommand To(uint16_t xpuid, uint8_t vc, uint8_t flags = 0, uint64_t tag = 0) const {
    return {.xpuid = xpuid,
            .vc = vc,
            .flags = flags,
            .tag = tag,
            .control = control.data(),
            .data = data.empty() ? nullptr : data.data()};
  }
  uint32_t lines() const {
    return static_cast<uint32_t>(SUEDE_RECORD_CONTROL + control.size() + data.size() + 63) / 64;
  }
  // Control and data as they lie in a record.
  std::vector<uint8_t> bytes() const {
    std::vector<uint8_t> all = control;
    all.insert(all.end(), data.begin(), data.end());
    return all;
  }
  std::vector<uint8_t> control;
  std::vector<uint8_t> data;
};

}  // namespace suede

#endif  // SUEDE_TESTS_XPU_SEGMENT_MEMORY_H_
