// SPDX-License-Identifier: Apache-2.0
// Commands inside a PDU (wire profile §3).
#ifndef SUEDE_WIRE_COMMAND_H_
#define SUEDE_WIRE_COMMAND_H_

#include <cstdint>

#include "base/sue.h"

namespace suede {

// The lengths that a command's first two bytes declare.
struct CommandShape {
  uint16_t control_bytes = 0;  // 2 to 18; 0: not a command
  uint16_t data_bytes = 0;     // 0 to 256
  bool has_data = false;
  // Bytes of control and data in a ring's record.
  uint32_t bytes() const { return uint32_t{control_bytes} + data_bytes; }
  // Bytes in a PDU: even.
  uint32_t packed_bytes() const { return (bytes() + 1) & ~1u; }
};

// Reads type and length bytes. L = 0 and L > 9 give control_bytes 0.
inline CommandShape ReadCommandShape(uint8_t type, uint8_t length) {
  const uint32_t units = type & 0x0f;
  if (units - 1 > 8) return {};
  const bool has_data = (type & 0x10) != 0;
  return {.control_bytes = static_cast<uint16_t>(units * 2),
          .data_bytes = static_cast<uint16_t>(has_data ? length + 1 : 0),
          .has_data = has_data};
}

enum class CommandError : uint8_t { kNone, kBadLength, kOverrun, kBadPadding, kTooLong };

// Walks the commands of a received PDU: from the end of the RH up to the R-CRC.
//
//   CommandReader reader(commands, bytes);
//   while (reader.Next()) Use(reader.command(), reader.shape());
//   if (reader.error() != CommandError::kNone) …none of them counts…
class CommandReader {
 public:
  CommandReader(const uint8_t* begin, uint32_t bytes)
      : begin_(begin), at_(begin), next_(begin), end_(begin + bytes) {}

  // Moves to the next command; false at the end, where command() is then the first byte behind the
  // commands, and on an error.
  bool Next() {
    at_ = next_;
    if (end_ - at_ < 2) return Finish();
    shape_ = ReadCommandShape(at_[0], at_[1]);
    if (shape_.control_bytes == 0) return Finish();
    if (static_cast<uint32_t>(end_ - at_) < shape_.packed_bytes()) {
      error_ = CommandError::kOverrun;
      return false;
    }
    next_ = at_ + shape_.packed_bytes();
    if ((shape_.bytes() & 1) != 0 && next_[-1] != 0) {
      error_ = CommandError::kBadPadding;
      return false;
    }
    return true;
  }
  const uint8_t* command() const { return at_; }
  const CommandShape& shape() const { return shape_; }
  CommandError error() const { return error_; }
  bool ok() const { return error_ == CommandError::kNone; }

 private:
  bool Finish();  // judges the bytes behind the last command

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
