// SPDX-License-Identifier: Apache-2.0
#include "pairs.h"

#include <cstdio>

#include "pairs_run.h"

namespace suede {
namespace {

// Each pair of levels is in a row or is refused by the configuration, with the message of the
// table.
bool IsTableRight(const std::vector<PairsRow>& rows) {
  bool right = true;
  if (const std::string missing = MissingPairs(rows); !missing.empty()) {
    std::printf("pairs: no row has %s\n", missing.c_str());
    right = false;
  }
  for (const RefusedPair& refused : RefusedPairs()) {
    const PairsRow row = RowWith(refused);
    const absl::StatusOr<Config> config = PairsConfig(row, 0, 600);
    const bool said =
        !config.ok() && config.status().message().find(refused.message) != std::string_view::npos;
    if (said) continue;
    std::printf("pairs: %s %s with %s %s: expected a refusal with \"%s\", got %s\n",
                NameOf(refused.one), row.Text(refused.one), NameOf(refused.other),
                row.Text(refused.other), refused.message,
                config.ok() ? "none" : std::string(config.status().message()).c_str());
    right = false;
  }
  return right;
}

// Counts the runs of a row without a full port: the load is random, and one in ten may have none.
struct RowChances {
  uint64_t runs = 0;
  uint64_t missed = 0;
  std::string last;  // MissedChance
  bool AreTooFew() const { return missed * 5 > runs; }
};

void PrintFailure(uint64_t seed, const std::string& verdict, const PairsRow& row) {
  std::printf("seed %llu: %s\n  %s\n  replay: sim_runner pairs %llu 1\n",
              static_cast<unsigned long long>(seed), verdict.c_str(), row.Description().c_str(),
              static_cast<unsigned long long>(seed));
}

// Prints the drops, and other counters that should be 0.
void PrintDrops(const PairsRun& run) {
  for (size_t i = 0; i < kCounterCount; ++i) {
    const uint64_t value = run.Sum(static_cast<Counter>(i));
    if (value == 0 || CounterRows()[i].severity == Severity::kInfo) continue;
    std::printf("  %s %llu\n", std::string(CounterRows()[i].name).c_str(),
                static_cast<unsigned long long>(value));
  }
}

}  // namespace

int RunPairs(uint64_t first, uint64_t count) {
  const std::vector<PairsRow> rows = CoveringRows();
  if (!IsTableRight(rows)) return 1;
  uint64_t failed = 0;
  uint64_t retransmissions = 0;
  std::vector<RowChances> chances(rows.size());
  for (uint64_t seed = first; seed < first + count; ++seed) {
    const size_t index = (seed - 1) % rows.size();
    const PairsRow& row = rows[index];
    PairsRun run(row, seed);
    const std::string verdict = run.Run();
    retransmissions += run.Sum(Counter::kTxRetransmissions);
    RowChances& of_row = chances[index];
    ++of_row.runs;
    if (const std::string missed = run.MissedChance(); !missed.empty()) {
      ++of_row.missed;
      of_row.last = missed;
    }
    if (verdict.empty()) continue;
    ++failed;
    PrintFailure(seed, verdict, row);
    if (count == 1) PrintDrops(run);
    std::fflush(stdout);
  }
  for (size_t i = 0; i < rows.size(); ++i) {
    if (!chances[i].AreTooFew()) continue;
    ++failed;
    std::printf("in %llu of %llu runs %s\n  %s\n",
                static_cast<unsigned long long>(chances[i].missed),
                static_cast<unsigned long long>(chances[i].runs), chances[i].last.c_str(),
                rows[i].Description().c_str());
  }
  std::printf("pairs: %zu rows, %llu seeds, %llu failed, %llu retransmissions\n", rows.size(),
              static_cast<unsigned long long>(count), static_cast<unsigned long long>(failed),
              static_cast<unsigned long long>(retransmissions));
  return failed == 0 ? 0 : 1;
}

}  // namespace suede
