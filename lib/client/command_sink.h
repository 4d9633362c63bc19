// SPDX-License-Identifier: Apache-2.0
// The destination of received commands: the receive ring of a client's VC (rx_ring.h) is one sink.
// The code that delivers commands is written against the concept, and knows a sink by its type: no
// call is virtual.
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

// - Reserve gives room for a record of `lines` lines (1 to 5), contiguous and aligned to a line;
//   nullptr where there is none.
// - Mark and RollbackTo forget the reservations between them.
// - Publish shows the client the reserved records; before that it sees nothing of them.
// - HasRoom says whether there is credit for so many lines, FreeLines for how many, line_count for
// how
//   many there can be.
template <typename T>
concept CommandSink = requires(T sink, const T& view, uint32_t lines, uint32_t mark) {
  { sink.Reserve(lines) } -> std::same_as<uint8_t*>;
  { sink.RollbackTo(mark) } -> std::same_as<void>;
  { sink.Publish() } -> std::same_as<void>;
  { sink.HasRoom(lines) } -> std::same_as<bool>;
  { sink.FreeLines() } -> std::same_as<uint32_t>;
  { view.Mark() } -> std::same_as<uint32_t>;
  { view.line_count() } -> std::same_as<uint32_t>;
};

// Commands one after the other, as a received PDU has them (CommandReader of lib/wire).
template <typename T>
concept CommandSequence = requires(T commands, const T& view) {
  { commands.Next() } -> std::same_as<bool>;
  { view.ok() } -> std::same_as<bool>;  // once Next has said false
  { view.command() } -> std::same_as<const uint8_t*>;
  { view.shape().bytes() } -> std::convertible_to<uint32_t>;
  { view.shape().has_data } -> std::convertible_to<bool>;
};

// Lines of a record whose command has so many bytes of control and data.
constexpr uint32_t RecordLines(uint32_t command_bytes) {
  return (SUEDE_RECORD_CONTROL + command_bytes + SUEDE_LINE_BYTES - 1) / SUEDE_LINE_BYTES;
}

// A received record's first word but for its kind: where the command comes from and goes to.
constexpr uint64_t ReceivedHead(uint8_t vc, uint16_t source, uint16_t xpuid, uint8_t instance) {
  return uint64_t{vc} << 8 | uint64_t{source} << 16 | uint64_t{xpuid} << 32 |
         uint64_t{instance} << 48;
}

// The outcome of a delivery. Where `refused`, nothing was delivered, and `lines` counts the lines
// that the rest would have needed, too.
struct DeliveredCommands {
  uint32_t count = 0;
  uint32_t bytes = 0;
  uint32_t lines = 0;
  bool refused = false;  // the sink has no room for all of them
};

// The one copy of a command on its way in. Writes all of the commands, of which each may be read up
// to kCopyBytes bytes, or none: where one of them is malformed or the sink has no room for all.
template <CommandSink Sink, CommandSequence Commands>
[[gnu::always_inline]] inline DeliveredCommands DeliverCommands(Sink& sink, Commands& commands,
                                                                uint64_t head) {
  const uint32_t mark = sink.Mark();
  DeliveredCommands delivered;
  while (commands.Next()) {
    const auto& shape = commands.shape();
    const uint32_t lines = RecordLines(shape.bytes());
    delivered.lines += lines;
    if (delivered.refused) continue;  // counts the lines of all of them
    uint8_t* record = sink.Reserve(lines);
    if (record == nullptr) {
      delivered.refused = true;
      continue;
    }
    const uint64_t word = head | (shape.has_data ? SUEDE_KIND_COMMAND_DATA : SUEDE_KIND_COMMAND);
    const uint64_t rest = 0;
    std::memcpy(record, &word, sizeof word);
    std::memcpy(record + sizeof word, &rest, SUEDE_RECORD_CONTROL - sizeof word);
    CopyCommand(record + SUEDE_RECORD_CONTROL, commands.command(), shape.bytes());
    ++delivered.count;
    delivered.bytes += shape.bytes();
  }
  if (!commands.ok() || delivered.refused) sink.RollbackTo(mark);
  return delivered;
}

}  // namespace suede

#endif  // SUEDE_CLIENT_COMMAND_SINK_H_
