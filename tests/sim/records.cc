// SPDX-License-Identifier: Apache-2.0
#include "records.h"

#include <algorithm>
#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <numeric>
#include <string>
#include <string_view>
#include <vector>

#include "pairs_run.h"
#include "scenarios.h"

namespace suede {
namespace {

constexpr uint64_t kRecordSeeds = 5;  // of each scenario
constexpr uint32_t kMaxCommands = 400;
constexpr uint32_t kMaxFailed = 8;  // runs; then it ends
// Pairs whose links still hold frames of sessions 2 ms after the end.
constexpr uint64_t kHoldAtEnd[] = {298, 507};

uint64_t Mix(uint64_t hash, uint64_t word) {
  hash = (hash ^ word) * 0x9e3779b97f4a7c15u;
  return hash ^ hash >> 29;
}

// Counters go by their names, and those that are 0 do not count: a new one changes nothing where
// nothing is counted.
uint64_t Mix(uint64_t hash, std::string_view name, uint64_t value) {
  if (value == 0) return hash;
  for (const char c : name) hash = Mix(hash, static_cast<uint8_t>(c));
  return Mix(hash, value);
}

template <typename Run>
std::string RecordOf(std::string_view name, uint64_t seed, const Run& run) {
  uint64_t counters = 0;
  for (size_t i = 0; i < kCounterCount; ++i) {
    counters = Mix(counters, CounterRows()[i].name, run.Sum(static_cast<Counter>(i)));
  }
  for (size_t i = 0; i < LinkCounterRows().size(); ++i) {
    counters = Mix(counters, LinkCounterRows()[i].name, run.Sum(static_cast<LinkCounter>(i)));
  }
  char text[128];
  std::snprintf(text, sizeof text, "%.*s %" PRIu64 ": frames %016" PRIx64 ", counters %016" PRIx64,
                static_cast<int>(name.size()), name.data(), seed, run.digest(), counters);
  return text;
}

// Calls on_record(record) for each run, until it returns false.
template <typename OnRecord>
void Record(const OnRecord& on_record) {
  for (const Scenario& scenario : kScenarios) {
    for (uint64_t seed = 1; seed <= kRecordSeeds; ++seed) {
      WorldOptions options = OptionsOf(scenario, seed);
      options.commands = std::min(options.commands, kMaxCommands);
      World world(seed, options);
      world.TakeDigest();
      world.Run();
      if (!on_record(RecordOf(scenario.name, seed, world))) return;
    }
  }
  const std::vector<PairsRow> rows = CoveringRows();
  std::vector<uint64_t> seeds(rows.size());
  std::iota(seeds.begin(), seeds.end(), uint64_t{1});
  seeds.insert(seeds.end(), std::begin(kHoldAtEnd), std::end(kHoldAtEnd));
  for (const uint64_t seed : seeds) {
    PairsRun run(rows[(seed - 1) % rows.size()], seed);
    run.Run();
    if (!on_record(RecordOf("pairs", seed, run))) return;
  }
}

}  // namespace

int PrintRecords() {
  Record([](const std::string& record) { return std::printf("%s\n", record.c_str()) > 0; });
  return 0;
}

int CompareRecords(const char* path) {
  std::ifstream file(path);
  uint32_t runs = 0;
  uint32_t failed = 0;
  Record([&](const std::string& record) {
    ++runs;
    std::string recorded;
    std::getline(file, recorded);
    if (record == recorded) return true;
    std::printf("expected: %s\n     got: %s\n", recorded.c_str(), record.c_str());
    return ++failed < kMaxFailed;
  });
  std::string more;
  if (failed == 0 && std::getline(file, more)) {
    std::printf("no such run: %s\n", more.c_str());
    ++failed;
  }
  if (failed != 0) {
    std::printf("behaviour has changed; where it should: sim_runner records >%s\n", path);
  }
  std::printf("records: %u runs, %u failed\n", runs, failed);
  return failed == 0 ? 0 : 1;
}

}  // namespace suede
