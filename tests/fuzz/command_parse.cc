// SPDX-License-Identifier: Apache-2.0
// Arbitrary bytes as the commands of a PDU, and the decoded commands, packed and read again.
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <vector>

#include "wire/command.h"

namespace {

void Require(bool condition) {
  if (!condition) std::abort();
}

// Packs the commands that `begin` holds, each from its control and data alone.
std::vector<uint8_t> Repack(const uint8_t* begin, uint32_t bytes) {
  std::vector<uint8_t> packed;
  suede::CommandReader reader(begin, bytes);
  while (reader.Next()) {
    const suede::CommandShape& shape = reader.shape();
    Require(shape.control_bytes >= 2 && shape.control_bytes <= suede::kMaxControlBytes);
    Require(shape.data_bytes <= suede::kMaxDataBytes);
    Require(shape.has_data == (shape.data_bytes != 0));
    packed.insert(packed.end(), reader.command(), reader.command() + shape.bytes());
    packed.resize((packed.size() + 1) & ~size_t{1});
  }
  return packed;
}

// The same by runs.
suede::CommandSummary WalkRuns(const uint8_t* begin, uint32_t bytes) {
  suede::CommandReader reader(begin, bytes);
  uint32_t count = 0;
  while (reader.Next()) {
    suede::CommandRun run = reader.run();
    do {
      ++count;
      Require(suede::ReadCommandShape(run.command()[0], run.command()[1]).bytes() ==
              reader.shape().bytes());
    } while (run.Next());
    reader.SkipRun(run);
  }
  if (!reader.ok()) return {.error = reader.error()};
  return {.count = count, .bytes = static_cast<uint32_t>(reader.command() - begin)};
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto bytes = static_cast<uint32_t>(size);
  // Exactly as large as the input: the address sanitizer sees the first byte beyond it.
  const std::unique_ptr<uint8_t[]> commands(new uint8_t[bytes]);
  if (bytes != 0) std::memcpy(commands.get(), data, bytes);
  const suede::CommandSummary summary = suede::ValidateCommands(commands.get(), bytes);
  const suede::CommandSummary by_runs = WalkRuns(commands.get(), bytes);
  Require(by_runs.error == summary.error && by_runs.count == summary.count &&
          by_runs.bytes == summary.bytes);
  const std::vector<uint8_t> packed = Repack(commands.get(), bytes);
  if (summary.error != suede::CommandError::kNone) {
    Require(summary.count == 0 && summary.bytes == 0);
    return 0;
  }
  // A valid PDU is its commands and zeros, and no other bytes decode to them.
  Require(packed.size() == summary.bytes && summary.bytes <= bytes);
  Require(packed.empty() || std::memcmp(packed.data(), commands.get(), packed.size()) == 0);
  for (uint32_t i = summary.bytes; i < bytes; ++i) Require(commands[i] == 0);
  const suede::CommandSummary again =
      suede::ValidateCommands(packed.data(), static_cast<uint32_t>(packed.size()));
  Require(again.error == suede::CommandError::kNone);
  Require(again.count == summary.count && again.bytes == summary.bytes);
  return 0;
}
