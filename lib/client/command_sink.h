// SPDX-License-Identifier: Apache-2.0
// The destination of received commands, such as the receive ring of a client's VC (rx_ring.h). The
// code that delivers commands uses the concept, with the sink's static type: no call is virtual.
//
// A sink belongs to one lcore.
#ifndef SUEDE_CLIENT_COMMAND_SINK_H_
#define SUEDE_CLIENT_COMMAND_SINK_H_

#include <concepts>
#include <cstdint>
#include <cstring>

#include "base/copy.h"
#include "suede/layout.h"

namespace suede {

// Contiguous room for records, aligned to a line.
struct RecordRoom {
  uint8_t* first = nullptr;
  uint32_t lines = 0;  // 0: no room
};

// - Room returns room for records of `lines` lines each (1 to 5): for at least one record, and for
//   all contiguous lines. Without room for one record it returns none. Take reserves the first
//   `lines` lines of that room. Room itself reserves the lines that a ring skips at its end.
// - Mark and RollbackTo forget the reservations between them.
// - Publish makes the reserved records visible to the client.
// - HasRoom returns whether there is credit for `lines`, FreeLines for how many lines, and
//   line_count the total lines.
template <typename T>
concept CommandSink = requires(T sink, const T& view, uint32_t lines, uint32_t mark) {
  { sink.Room(lines) } -> std::same_as<RecordRoom>;
  { sink.Take(lines) } -> std::same_as<void>;
  { sink.RollbackTo(mark) } -> std::same_as<void>;
  { sink.Publish() } -> std::same_as<void>;
  { sink.HasRoom(lines) } -> std::same_as<bool>;
  { sink.FreeLines() } -> std::same_as<uint32_t>;
  { view.Mark() } -> std::same_as<uint32_t>;
  { view.line_count() } -> std::same_as<uint32_t>;
};

// Successive commands of one shape. A run begins at its first command.
template <typename T>
concept CommandsOfOneShape = requires(T run, const T& view) {
  { run.Next() } -> std::same_as<bool>;
  { view.command() } -> std::same_as<const uint8_t*>;
};

// A sequence of commands, such as those of a received PDU (CommandReader of lib/wire). Any part of
// the run that begins with the present command may be taken at once.
template <typename T>
concept CommandSequence = requires(T commands, const T& view) {
  { commands.Next() } -> std::same_as<bool>;
  { view.IsFollowed() } -> std::same_as<bool>;  // data follows the present command
  { view.run() } -> CommandsOfOneShape;
  { commands.SkipRun(view.run()) } -> std::same_as<void>;
  { view.ok() } -> std::same_as<bool>;  // valid once Next has returned false
  { view.command() } -> std::same_as<const uint8_t*>;
  { view.shape().bytes() } -> std::convertible_to<uint32_t>;
  { view.shape().has_data } -> std::convertible_to<bool>;
};

// Lines of a record whose command has `command_bytes` of control and data.
constexpr uint32_t RecordLines(uint32_t command_bytes) {
  return (SUEDE_RECORD_CONTROL + command_bytes + SUEDE_LINE_BYTES - 1) / SUEDE_LINE_BYTES;
}

// A received record's first word without its kind: source and destination of the command.
constexpr uint64_t ReceivedHead(uint32_t vc, uint16_t source, uint16_t xpuid, uint8_t instance) {
  return uint64_t{vc} << 8 | uint64_t{source} << 16 | uint64_t{xpuid} << 32 |
         uint64_t{instance} << 48;
}

enum class CommandsFate : uint32_t {
  kDelivered,
  kRefused,    // the sink has no room for all of them
  kMalformed,  // one of the commands is malformed
};

// The outcome of a delivery. Unless the fate is kDelivered, nothing was delivered; of a refused
// sequence `lines` then counts the lines of all its commands.
struct DeliveredCommands {
  uint32_t count = 0;
  uint32_t bytes = 0;
  uint32_t lines = 0;
  CommandsFate fate = CommandsFate::kDelivered;
};

// Writes the head of a record, and the bytes between it and the command, whose first two bytes
// overwrite the last two.
[[gnu::always_inline]] inline void WriteRecordHead(uint8_t* record, uint64_t word) {
  const uint64_t head[2] = {word, 0};
  std::memcpy(record, head, sizeof head);
}

// Writes records of `lines` lines for the commands of a run, until the run or the room ends.
// Returns how many.
template <CommandsOfOneShape Run, typename CopyBytes>
[[gnu::always_inline]] inline uint32_t WriteRun(const RecordRoom& room, uint32_t lines, Run& run,
                                                uint64_t word, CopyBytes&& copy) {
  const size_t stride = size_t{lines} * SUEDE_LINE_BYTES;
  uint8_t* record = room.first;
  const uint8_t* last = record + size_t{room.lines} * SUEDE_LINE_BYTES - stride;
  uint32_t count = 0;
  do {
    WriteRecordHead(record, word);
    copy(record + SUEDE_RECORD_CONTROL, run.command());
    record += stride;
    ++count;
  } while (record <= last && run.Next());
  return count;
}

// The kind of a record is part of its first word.
constexpr uint64_t ReceivedWord(uint64_t head, bool has_data) {
  return head | (has_data ? SUEDE_KIND_COMMAND_DATA : SUEDE_KIND_COMMAND);
}

// DeliverCommands, for any sequence.
template <CommandSequence Commands, CommandSink Sink, typename... Begin>
[[gnu::noinline]] DeliveredCommands DeliverRuns(Sink& sink, uint64_t head, Begin... begin) {
  Commands commands(begin...);
  const uint32_t mark = sink.Mark();
  DeliveredCommands delivered;
  while (commands.Next()) {
    const uint32_t bytes = commands.shape().bytes();
    const uint32_t lines = RecordLines(bytes);
    const RecordRoom room = sink.Room(lines);
    if (room.lines == 0) [[unlikely]] {
      delivered.fate = CommandsFate::kRefused;
      do {
        delivered.lines += RecordLines(commands.shape().bytes());
      } while (commands.Next());
      break;
    }
    const uint64_t word = ReceivedWord(head, commands.shape().has_data);
    auto run = commands.run();
    const uint32_t count = bytes <= kCopyBytes
                               ? WriteRun(room, lines, run, word, CopyShort)
                               : WriteRun(room, lines, run, word, [bytes](auto* to, auto* from) {
                                   CopyLong(to, from, bytes);
                                 });
    commands.SkipRun(run);
    sink.Take(count * lines);
    delivered.lines += count * lines;
    delivered.count += count;
    delivered.bytes += count * bytes;
  }
  if (!commands.ok()) [[unlikely]]
    delivered.fate = CommandsFate::kMalformed;
  if (delivered.fate != CommandsFate::kDelivered) [[unlikely]]
    sink.RollbackTo(mark);
  return delivered;
}

// Makes the only copy of a received command. Writes all commands of the sequence
// Commands(begin...), or none, if one is malformed or the sink has no room for all. Up to
// kCopyBytes bytes of each command may be read.
template <CommandSequence Commands, CommandSink Sink, typename... Begin>
[[gnu::always_inline]] inline DeliveredCommands DeliverCommands(Sink& sink, uint64_t head,
                                                                Begin... begin) {
  Commands commands(begin...);
  if (!commands.Next() || commands.IsFollowed()) {
    return DeliverRuns<Commands>(sink, head, begin...);
  }
  // The command is alone in its PDU: no data behind it needs checks.
  const uint32_t bytes = commands.shape().bytes();
  const uint32_t lines = RecordLines(bytes);
  uint8_t* record = sink.Room(lines).first;
  if (record == nullptr) [[unlikely]]
    return {.lines = lines, .fate = CommandsFate::kRefused};
  WriteRecordHead(record, ReceivedWord(head, commands.shape().has_data));
  CopyCommand(record + SUEDE_RECORD_CONTROL, commands.command(), bytes);
  sink.Take(lines);
  return {.count = 1, .bytes = bytes, .lines = lines};
}

}  // namespace suede

#endif  // SUEDE_CLIENT_COMMAND_SINK_H_
