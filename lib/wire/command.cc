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

[[gnu::cold, gnu::noinline]] CommandError CommandReader::CheckRest(const uint8_t* at,
                                                                   const uint8_t* end) {
  // A type byte without a length byte is valid only if it means "no more commands".
  if (end - at >= 2 && (at[0] & 0x0f) != 0) return CommandError::kBadLength;
  return AllZero(at, end) ? CommandError::kNone : CommandError::kBadPadding;
}

CommandSummary ValidateCommands(const uint8_t* begin, uint32_t bytes) {
  CommandReader reader(begin, bytes);
  uint32_t count = 0;
  while (reader.Next()) ++count;
  if (reader.error() != CommandError::kNone) return {.error = reader.error()};
  return {.count = count, .bytes = static_cast<uint32_t>(reader.command() - begin)};
}

}  // namespace suede
