// SPDX-License-Identifier: Apache-2.0
// A source and a sink of commands over plain memory: no segment and no client.
#ifndef SUEDE_TESTS_CLIENT_MEMORY_COMMANDS_H_
#define SUEDE_TESTS_CLIENT_MEMORY_COMMANDS_H_

#include <cstring>
#include <deque>
#include <vector>

#include "client/command_sink.h"
#include "client/command_source.h"
#include "segment_memory.h"

namespace suede {

// Gives the commands that were put into it.
class MemorySource {
 public:
  void Put(const TestCommand& command, uint16_t xpuid, uint8_t vc, uint64_t tag) {
    Item item;
    item.line.resize(SUEDE_RECORD_CONTROL);
    const std::vector<uint8_t> bytes = command.bytes();
    item.line.insert(item.line.end(), bytes.begin(), bytes.end());
    const uint64_t kind = command.data.empty() ? SUEDE_KIND_COMMAND : SUEDE_KIND_COMMAND_DATA;
    item.record.word0 = kind | uint64_t{vc} << 8 | uint64_t{xpuid} << 16 | tag << 32;
    item.record.word1 = tag >> 32 | uint64_t{bytes[0]} << 48 | uint64_t{bytes[1]} << 56;
    item.record.bytes = static_cast<uint16_t>(bytes.size());
    item.record.lines = static_cast<uint8_t>(command.lines());
    items_.push_back(std::move(item));
  }

  uint32_t Poll(TxRecord* records, uint32_t max) {
    uint32_t count = 0;
    for (; count < max && polled_ < items_.size(); ++count, ++polled_) {
      records[count] = items_[polled_].record;
      records[count].line = items_[polled_].line.data();
    }
    return count;
  }
  void Release() {
    items_.erase(items_.begin(), items_.begin() + static_cast<long>(polled_));
    polled_ = 0;
  }
  void Restart() {
    items_.clear();
    polled_ = 0;
  }
  bool HasWork() const { return polled_ < items_.size(); }
  uint32_t Waiting() const {
    uint32_t lines = 0;
    for (size_t i = polled_; i < items_.size(); ++i) lines += items_[i].record.lines;
    return lines;
  }
  bool broken() const { return false; }

 private:
  struct Item {
    TxRecord record;
    std::vector<uint8_t> line;
  };
  std::deque<Item> items_;
  size_t polled_ = 0;
};
static_assert(CommandSource<MemorySource>);

// Keeps the records that it was given, of up to so many lines.
class MemorySink {
 public:
  explicit MemorySink(uint32_t line_count) : memory_(size_t{line_count} * SUEDE_LINE_BYTES) {}

  RecordRoom Room(uint32_t lines) {
    if (!HasRoom(lines)) return {};
    return {memory_.data() + size_t{used_} * SUEDE_LINE_BYTES, FreeLines()};
  }
  void Take(uint32_t lines) { used_ += lines; }
  uint32_t Mark() const { return used_; }
  void RollbackTo(uint32_t mark) { used_ = mark; }
  void Publish() { published_ = used_; }
  bool HasRoom(uint32_t lines) const { return FreeLines() >= lines; }
  uint32_t FreeLines() const { return line_count() - used_; }
  uint32_t line_count() const { return static_cast<uint32_t>(memory_.size() / SUEDE_LINE_BYTES); }

  const uint8_t* memory() const { return memory_.data(); }
  uint32_t published() const { return published_; }

 private:
  std::vector<uint8_t> memory_;
  uint32_t used_ = 0;
  uint32_t published_ = 0;
};
static_assert(CommandSink<MemorySink>);

}  // namespace suede

#endif  // SUEDE_TESTS_CLIENT_MEMORY_COMMANDS_H_
