// SPDX-License-Identifier: Apache-2.0
// Commands inside a PDU (wire profile §3).
#ifndef SUEDE_WIRE_COMMAND_H_
#define SUEDE_WIRE_COMMAND_H_

#include <cstdint>
#include <cstring>

#include "base/sue.h"

namespace suede {

// The lengths that a command's first two bytes declare.
struct CommandShape {
  uint32_t control_bytes = 0;  // 2 to 18; 0: not a command
  uint32_t data_bytes = 0;     // 0 to 256
  bool has_data = false;
  // Bytes of control and data in a ring's record.
  uint32_t bytes() const { return control_bytes + data_bytes; }
  // Bytes in a PDU: even.
  uint32_t packed_bytes() const { return (bytes() + 1) & ~1u; }
};

// Reads type and length bytes. L = 0 and L > 9 give control_bytes 0.
inline CommandShape ReadCommandShape(uint8_t type, uint8_t length) {
  const uint32_t units = type & 0x0fu;
  if (units - 1 > 8) [[unlikely]]
    return {};
  const uint32_t has_data = type >> 4 & 1u;
  return {.control_bytes = units * 2,
          .data_bytes = (length + 1u) & (0u - has_data),
          .has_data = has_data != 0};
}

enum class CommandError : uint8_t { kNone, kBadLength, kOverrun, kBadPadding, kTooLong };

// Commands of a PDU that follow each other with the same first two bytes, so with one shape.
class CommandRun {
 public:
  // Begins with a command that is known to be valid; `end` is that of the PDU's commands.
  CommandRun(const uint8_t* command, const CommandShape& shape, const uint8_t* end)
      : at_(command),
        last_(end - shape.packed_bytes()),
        stride_(shape.packed_bytes()),
        word_(WordAt(command)),
        checked_at_((shape.bytes() & 1) != 0 ? stride_ - 1 : 0),
        checked_(command[checked_at_]) {}

  const uint8_t* command() const { return at_; }
  const uint8_t* end() const { return at_ + stride_; }
  // Moves to the next command if that is one of the run, and valid. Otherwise the run has ended,
  // and CommandReader judges the bytes behind it.
  bool Next() {
    const uint8_t* next = at_ + stride_;
    if (next > last_ || WordAt(next) != word_ || next[checked_at_] != checked_) return false;
    at_ = next;
    return true;
  }

 private:
  static uint16_t WordAt(const uint8_t* command) {
    uint16_t word;
    std::memcpy(&word, command, sizeof word);
    return word;
  }

  const uint8_t* at_;
  const uint8_t* last_;  // no command begins behind it
  uint32_t stride_;
  uint16_t word_;
  // The place of the byte that pads an odd length, and its value, 0 as in the first command. With
  // an even length there is none, and the command's first byte stands in for it.
  uint32_t checked_at_;
  uint8_t checked_;
};

// Walks the commands of a received PDU: from the end of the RH up to the R-CRC.
//
//   CommandReader reader(commands, bytes);
//   while (reader.Next()) Use(reader.command(), reader.shape());
// or, by runs:
//   while (reader.Next()) {
//     CommandRun run = reader.run();
//     do Use(run.command(), reader.shape()); while (run.Next());
//     reader.SkipRun(run);
//   }
//   if (reader.error() != CommandError::kNone) …none of them counts…
class CommandReader {
 public:
  CommandReader(const uint8_t* begin, uint32_t bytes)
      : begin_(begin), at_(begin), next_(begin), end_(begin + bytes) {}

  // Moves to the next command; false at the end, where command() is then the first byte behind the
  // commands, and on an error.
  bool Next() {
    at_ = next_;
    const auto left = static_cast<uint32_t>(end_ - at_);
    if (left < 2) return Finish();
    shape_ = ReadCommandShape(at_[0], at_[1]);
    if (shape_.control_bytes == 0) [[unlikely]]
      return Finish();
    if (left < shape_.packed_bytes()) [[unlikely]] {
      error_ = CommandError::kOverrun;
      return false;
    }
    next_ = at_ + shape_.packed_bytes();
    if ((shape_.bytes() & 1) != 0 && next_[-1] != 0) [[unlikely]] {
      error_ = CommandError::kBadPadding;
      return false;
    }
    return true;
  }
  const uint8_t* command() const { return at_; }
  const CommandShape& shape() const { return shape_; }
  // Whether bytes follow command(): others of its run may be there.
  bool IsFollowed() const { return next_ != end_; }
  // The run that begins with command().
  CommandRun run() const { return {at_, shape_, end_}; }
  // Next goes on behind the command that the run is at.
  void SkipRun(const CommandRun& run) { next_ = run.end(); }
  CommandError error() const { return error_; }
  bool ok() const { return error_ == CommandError::kNone; }

 private:
  // Judges the bytes behind the last command, and all of them.
  bool Finish() {
    if (at_ != end_) [[unlikely]]
      error_ = CheckRest(at_, end_);
    if (at_ - begin_ > kMaxPackBytes && error_ == CommandError::kNone) [[unlikely]] {
      error_ = CommandError::kTooLong;
    }
    return false;
  }
  // Judges bytes that begin with no command: zeros are right, others are an error.
  static CommandError CheckRest(const uint8_t* at, const uint8_t* end);

  const uint8_t* begin_;
  const uint8_t* at_;
  const uint8_t* next_;
  const uint8_t* end_;
  CommandShape shape_;
  CommandError error_ = CommandError::kNone;
};

// Bytes of the commands of a valid PDU without its padding, and how many they are.
struct CommandSummary {
  CommandError error = CommandError::kNone;
  uint32_t count = 0;
  uint32_t bytes = 0;
};
CommandSummary ValidateCommands(const uint8_t* begin, uint32_t bytes);

}  // namespace suede

#endif  // SUEDE_WIRE_COMMAND_H_
