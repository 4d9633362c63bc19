// SPDX-License-Identifier: Apache-2.0
#include "wire/command.h"

#include <cstring>

namespace suede {
namespace {

bool AllZero(const uint8_t* begin, const uint8_t* end) {
  uint64_t seen = 0;
  for (; end - begin >= 8; begin += 8) {
    uint64_t word;
    std::memcpy(&word, begin, sizeof word);
    seen |= word;
  }
  for (; begin != end; ++begin) seen |= *begin;
  return seen == 0;
}

}  // namespace

bool CommandReader::Finish() {
  // Of a type byte alone nothing but "no more commands" can be right.
  if (end_ - at_ >= 2 && (at_[0] & 0x0f) != 0) {
    error_ = CommandError::kBadLength;
  } else if (!AllZero(at_, end_)) {
    error_ = CommandError::kBadPadding;
  } else if (at_ - begin_ > kMaxPackBytes) {
    error_ = CommandError::kTooLong;
  }
  return false;
}

CommandSummary ValidateCommands(const uint8_t* begin, uint32_t bytes) {
  CommandReader reader(begin, bytes);
  uint32_t count = 0;
  while (reader.Next()) ++count;
  if (reader.error() != CommandError::kNone) return {.error = reader.error()};
  return {.count = count, .bytes = static_cast<uint32_t>(reader.command() - begin)};
}

}  // namespace suede
