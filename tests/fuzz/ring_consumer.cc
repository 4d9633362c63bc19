// SPDX-License-Identifier: Apache-2.0
// The daemon's views of a segment that a client scribbles into, positions included. The input is a
// list of operations: scribbles, and turns of the daemon. With any content of the segment, the
// views stay within it, do bounded work, and give only what their contracts allow.
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "base/sue.h"
#include "client/load.h"
#include "client/rx_ring.h"
#include "client/segment.h"
#include "client/tx_ring.h"
#include "input.h"

namespace {

using suede::Input;
using suede::SegmentOffsets;
using suede::SegmentShape;

constexpr SegmentShape kShape{.queue_count = 1,
                              .tx_lines = 64,
                              .rx_lines = 64,
                              .completion_count = 64,
                              .credit_lines = 20,
                              .aggregate_lines = 40};

void Check(bool condition) {
  if (!condition) abort();
}

class Daemon {
 public:
  // The allocation is exactly the segment, so that ASan sees every step outside.
  Daemon() : memory_(static_cast<uint8_t*>(std::aligned_alloc(4096, offsets_.bytes))) {
    std::memset(memory_, 0, offsets_.bytes);
    suede::FormatSegment(memory_, kShape);
    tx_ = {memory_, kShape, 0};
    rx_ = {memory_, kShape, 0};
    credits_ = {memory_, kShape, 0};
    completions_ = {memory_, kShape, 0};
    load_ = {memory_, kShape, 0};
  }
  ~Daemon() { std::free(memory_); }
  Daemon(const Daemon&) = delete;
  Daemon& operator=(const Daemon&) = delete;

  void Scribble(Input* input) {
    const uint32_t to = (input->Byte() << 8 | input->Byte()) << 2;
    const uint32_t count = input->Byte() % 32;
    for (uint32_t i = 0; i < count; ++i) {
      memory_[(to + i) % offsets_.bytes] = static_cast<uint8_t>(input->Byte());
    }
  }
  // One of the words that both sides use, near its present value or anywhere.
  void Move(Input* input) {
    const uint32_t which = input->Byte();
    const uint64_t rings[3] = {offsets_.tx_ring[0], offsets_.completion_ring[0],
                               offsets_.rx_ring[0]};
    auto* ring = suede::AtOffset<suede_ring>(memory_, rings[which % 3]);
    uint32_t& word = (which & 4) != 0 ? ring->head.value : ring->tail.value;
    word = (which & 8) != 0 ? input->Word() : word + input->Byte() % 70;
  }
  // A well-formed head of a record at some line, that the fuzzer need not guess.
  void Record(Input* input) {
    uint8_t* line = memory_ + offsets_.tx_ring[0] + sizeof(suede_ring) + input->Byte() % 64 * 64;
    const uint32_t type = 1 + input->Byte() % 9;
    const uint32_t has_data = input->Byte() & 1;
    line[0] = static_cast<uint8_t>(1 + has_data);
    line[1] = static_cast<uint8_t>(input->Byte() & 3);
    line[14] = static_cast<uint8_t>(type | has_data << 4);
    line[15] = static_cast<uint8_t>(input->Byte());
  }
  void TakeCommands(Input* input) {
    suede::TxRecord records[16];
    const uint32_t max = 1 + input->Byte() % 16;
    const uint32_t count = tx_.Poll(records, max);
    uint32_t lines = 0;
    uint32_t taken = 0;
    for (uint32_t i = 0; i < count; ++i) {
      taken += records[i].count;
      lines += Use(records[i]);
    }
    Check(taken <= max);
    Check(lines <= kShape.tx_lines);
    if ((input->Byte() & 1) != 0) tx_.Release();
    if (tx_.broken()) {
      Check(tx_.Poll(records, max) == 0);
      if ((input->Byte() & 1) != 0) {
        tx_.Restart();
        credits_.Restart();
      }
    }
    completions_.Publish();
  }
  void Deliver(Input* input) {
    for (uint32_t n = input->Byte() % 16; n > 0; --n) {
      const uint32_t lines = 1 + input->Byte() % 5;
      const suede::RecordRoom room = rx_.Room(lines);
      if (room.lines == 0) break;
      const uint8_t* first = memory_ + offsets_.rx_ring[0] + sizeof(suede_ring);
      Check(room.lines >= lines);
      Check(room.first >= first && room.first + room.lines * 64 <= first + kShape.rx_lines * 64);
      const uint32_t records = 1 + input->Byte() % (room.lines / lines);
      std::memset(room.first, 1, size_t{records} * lines * 64);
      rx_.Take(records * lines);
    }
    if ((input->Byte() & 1) != 0) rx_.Rollback();
    rx_.Publish();
  }
  // Wishes are scribbled, and so are the values in their answers.
  void ShowLoad(Input* input) {
    suede::DestinationMap map;
    map.Set(static_cast<uint16_t>(input->Word() % suede::kMaxXpus), true);
    load_.Show({.load = input->Word()});
    load_.ShowMaps(map, map);
    for (uint32_t n = input->Byte() % 32; n > 0; --n) {
      const std::optional<suede::Wish> wish = load_.NextWish();
      if (!wish) continue;
      Check(wish->slot < SUEDE_WISHES && wish->xpuid() < suede::kMaxXpus);
      load_.Answer(*wish, {.queued_lines = credits_.OutstandingTo(wish->xpuid())});
    }
  }

 private:
  uint32_t Use(const suede::TxRecord& record) {
    const uint8_t* first = memory_ + offsets_.tx_ring[0] + sizeof(suede_ring);
    const uint8_t* end = first + kShape.tx_lines * 64;
    Check(record.lines >= 1 && record.lines <= SUEDE_MAX_RECORD_LINES);
    Check(record.count >= 1);
    Check(record.line >= first && record.line + record.count * record.lines * 64 <= end);
    Check(record.xpuid() < suede::kMaxXpus && record.vc() < suede::kVcCount);
    if (record.verdict != suede::RecordVerdict::kMalformed) {
      Check(record.bytes >= 2 && record.bytes <= suede::kMaxCommandBytes);
      Check(SUEDE_RECORD_CONTROL + record.bytes <= record.lines * 64u);
      uint8_t copy[suede::kMaxCommandBytes];
      for (uint32_t i = 0; i < record.count; ++i) {
        const uint8_t* line = record.line + i * record.lines * 64;
        std::memcpy(copy, line + SUEDE_RECORD_CONTROL, record.bytes);
      }
    }
    const uint32_t credited =
        credits_.Take(record.xpuid(), record.vc(), record.lines, record.count);
    Check(credited <= record.count && credits_.outstanding() <= kShape.aggregate_lines);
    credits_.Return(record.xpuid(), record.vc(), credited * record.lines);
    completions_.Push(record.tag(), record.xpuid(), record.vc(), SUEDE_STATUS_OK);
    return uint32_t{record.count} * record.lines;
  }

  const SegmentOffsets offsets_{kShape};
  uint8_t* const memory_;
  suede::TxRingReader tx_;
  suede::RxRingWriter rx_;
  suede::CreditWriter credits_;
  suede::CompletionWriter completions_;
  suede::LoadWriter load_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  Input input(data, size);
  Daemon daemon;
  while (!input.empty()) {
    switch (input.Byte() % 6) {
      case 0:
        daemon.Scribble(&input);
        break;
      case 1:
        daemon.Move(&input);
        break;
      case 2:
        daemon.Record(&input);
        break;
      case 3:
        daemon.TakeCommands(&input);
        break;
      case 4:
        daemon.ShowLoad(&input);
        break;
      default:
        daemon.Deliver(&input);
        break;
    }
  }
  return 0;
}
