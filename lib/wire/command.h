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
  uint32_t control_bytes = 0;  // 2 to 18; 0: invalid
  uint32_t data_bytes = 0;     // 0 to 256
  bool has_data = false;
  // Bytes of control and data in a ring record.
  uint32_t bytes() const { return control_bytes + data_bytes; }
  // Bytes in a PDU, padded to an even number.
  uint32_t packed_bytes() const { return (bytes() + 1) & ~1u; }
};

// Reads the type and length bytes. L = 0 and L > 9 give control_bytes 0.
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

// Consecutive commands of a PDU with the same first two bytes, and so the same shape.
class CommandRun {
 public:
  // Begins with a command that is known to be valid; `end`: end of the PDU's commands.
  CommandRun(const uint8_t* command, const CommandShape& shape, const uint8_t* end)
      : at_(command),
        last_(end - shape.packed_bytes()),
        stride_(shape.packed_bytes()),
        word_(WordAt(command)),
        checked_at_((shape.bytes() & 1) != 0 ? stride_ - 1 : 0),
        checked_(command[checked_at_]) {}

  const uint8_t* command() const { return at_; }
  const uint8_t* end() const { return at_ + stride_; }
  // Moves to the next command if it belongs to the run and is valid. Otherwise returns false: the
  // run has ended, and CommandReader validates the bytes behind it.
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
  const uint8_t* last_;  // the last position at which a command may begin
  uint32_t stride_;
  uint16_t word_;
  // Position of the padding byte of an odd length, and its value, 0 as in the first command. An
  // even length has no padding; the command's first byte is compared instead.
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
//   if (reader.error() != CommandError::kNone) …discard all commands…
class CommandReader {
 public:
  CommandReader(const uint8_t* begin, uint32_t bytes)
      : begin_(begin), at_(begin), next_(begin), end_(begin + bytes) {}

  // Moves to the next command. Returns false on an error, and at the end, where command() is the
  // first byte behind the commands.
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
  // Whether bytes follow command(), which may be further commands of its run.
  bool IsFollowed() const { return next_ != end_; }
  // Returns the run that begins with command().
  CommandRun run() const { return {at_, shape_, end_}; }
  // Makes Next continue behind the current command of the run.
  void SkipRun(const CommandRun& run) { next_ = run.end(); }
  CommandError error() const { return error_; }
  bool ok() const { return error_ == CommandError::kNone; }

 private:
  // Validates the bytes behind the last command, and the total length.
  bool Finish() {
    if (at_ != end_) [[unlikely]]
      error_ = CheckRest(at_, end_);
    if (at_ - begin_ > kMaxPackBytes && error_ == CommandError::kNone) [[unlikely]] {
      error_ = CommandError::kTooLong;
    }
    return false;
  }
  // Validates bytes that begin with no command: they must be zeros.
  static CommandError CheckRest(const uint8_t* at, const uint8_t* end);

  const uint8_t* begin_;
  const uint8_t* at_;
  const uint8_t* next_;
  const uint8_t* end_;
  CommandShape shape_;
  CommandError error_ = CommandError::kNone;
};

// Number of commands in a valid PDU, and their bytes without the PDU's padding.
struct CommandSummary {
  CommandError error = CommandError::kNone;
  uint32_t count = 0;
  uint32_t bytes = 0;
};
CommandSummary ValidateCommands(const uint8_t* begin, uint32_t bytes);

}  // namespace suede

#endif  // SUEDE_WIRE_COMMAND_H_
