// SPDX-License-Identifier: Apache-2.0
// Runs seeds of a scenario: sim_runner SCENARIO [FIRST_SEED COUNT [COMMANDS]]; as many as the tests
// do where it is not said.
// A failing seed is printed with the command that replays it, and replayed alone with the log of
// its last events. With "selective:" in front of its name hosts repair selectively. Or measures the
// cost of loss: sim_runner goodput FIRST_SEED COUNT; and that with link-level retry, or selective
// repair: sim_runner llr_goodput|repair_goodput FIRST_SEED COUNT. Or the goodput of several planes:
// sim_runner plane_shares. Or the shares of planes of a fabric of which parts fail: sim_runner
// fabric_paths|fabric_changes FIRST_SEED COUNT HOSTS. Or the matrix of pairs of features:
// sim_runner pairs [FIRST_SEED COUNT]. Or a ring of hosts of which a plane dies: sim_runner
// plane_ring [FIRST_SEED COUNT]. Or prints records of runs, or compares runs with them: sim_runner
// records [FILE] (records.h).
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <string_view>

#include "fabric_paths.h"
#include "goodput.h"
#include "pairs.h"
#include "plane_ring.h"
#include "plane_shares.h"
#include "records.h"
#include "scenarios.h"

namespace suede {
namespace {

// SUEDE_SIM_SEEDS or 100. Planes have the most to vary and the least to do: four times as many.
uint64_t SeedsOfTests(const char* scenario) {
  const char* wanted = std::getenv("SUEDE_SIM_SEEDS");
  const uint64_t seeds = wanted != nullptr ? std::strtoull(wanted, nullptr, 10) : 100;
  return std::strcmp(scenario, "planes") == 0 ? 4 * seeds : seeds;
}

// Lets the hosts repair selectively; on one of eight seeds some do not.
void RepairSelectively(uint64_t seed, WorldOptions& options) {
  options.selective = seed % 8 == 7 ? static_cast<uint32_t>(seed / 8 % 15) : ~0u;
  options.transport.window_pdus = std::min(options.transport.window_pdus, kPsnBits);
}

// Whether the names are those of all scenarios: the list of tests/sim/meson.build.
int CompareScenarios(int count, char** names) {
  const bool same = std::equal(names, names + count, std::begin(kScenarios), std::end(kScenarios),
                               [](const char* name, const Scenario& scenario) {
                                 return std::strcmp(name, scenario.name) == 0;
                               });
  if (!same) std::printf("tests/sim/meson.build lists other scenarios than scenarios.h\n");
  return same ? 0 : 1;
}

}  // namespace
}  // namespace suede

int main(int argc, char** argv) {
  using namespace suede;
  if (argc == 2 && std::strcmp(argv[1], "plane_shares") == 0) return RunPlaneShares();
  if (argc > 1 && std::strcmp(argv[1], "records") == 0) {
    return argc == 2 ? PrintRecords() : CompareRecords(argv[2]);
  }
  if (argc > 2 && std::strcmp(argv[1], "scenarios") == 0) return CompareScenarios(argc - 2, argv + 2);
  if (argc < 2 || argc == 3) {
    std::fprintf(stderr,
                 "usage: sim_runner SCENARIO [FIRST_SEED COUNT [COMMANDS]]\nscenarios:");
    for (const Scenario& s : kScenarios) std::fprintf(stderr, " %s", s.name);
    std::fprintf(stderr,
                 "\nor: sim_runner goodput FIRST_SEED COUNT\n"
                 "or: sim_runner llr_goodput|repair_goodput FIRST_SEED COUNT\n"
                 "or: sim_runner fabric_paths|fabric_changes FIRST_SEED COUNT HOSTS\n"
                 "or: sim_runner plane_shares\nor: sim_runner pairs [FIRST_SEED COUNT]\n"
                 "or: sim_runner plane_ring [FIRST_SEED COUNT]\n"
                 "or: sim_runner records [FILE]\n");
    return 2;
  }
  const uint64_t first = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 1;
  const uint64_t count = argc > 3 ? std::strtoull(argv[3], nullptr, 10) : SeedsOfTests(argv[1]);
  if (std::strcmp(argv[1], "pairs") == 0) return RunPairs(first, count);
  if (std::strcmp(argv[1], "plane_ring") == 0) return RunPlaneRing(first, count);
  if (std::strcmp(argv[1], "goodput") == 0) return RunGoodput(first, count);
  if (std::strcmp(argv[1], "repair_goodput") == 0) return RunRepairGoodput(first, count);
  if (std::strcmp(argv[1], "llr_goodput") == 0) return RunLlrGoodput(first, count);
  if (argc == 5 && std::strncmp(argv[1], "fabric_", 7) == 0) {
    const auto hosts = static_cast<uint32_t>(std::strtoul(argv[4], nullptr, 10));
    if (std::strcmp(argv[1], "fabric_paths") == 0) return RunFabricPaths(first, count, hosts);
    if (std::strcmp(argv[1], "fabric_changes") == 0) return RunFabricChanges(first, count, hosts);
  }
  constexpr std::string_view kSelective = "selective:";
  const bool selective = std::string_view(argv[1]).starts_with(kSelective);
  const char* const name = argv[1] + (selective ? kSelective.size() : 0);
  for (const Scenario& scenario : kScenarios) {
    if (std::strcmp(scenario.name, name) != 0) continue;
    uint64_t failed = 0;
    uint64_t retransmissions = 0;
    uint64_t given_up = 0;
    uint64_t hits = 0;
    uint64_t fences = 0;
    uint64_t moves = 0;
    uint64_t by_chance = 0;
    for (uint64_t seed = first; seed < first + count; ++seed) {
      WorldOptions options = OptionsOf(scenario, seed);
      if (selective) RepairSelectively(seed, options);
      if (argc > 4) options.commands = static_cast<uint32_t>(std::strtoul(argv[4], nullptr, 10));
      options.verbose = count == 1;
      World world(seed, options);
      const std::string verdict = world.Run();
      retransmissions += world.Sum(Counter::kTxRetransmissions);
      given_up += world.given_up();
      hits += world.hits();
      fences += world.Sum(Counter::kSessionFences);
      moves += world.Sum(Counter::kSessionMoves);
      if (verdict.empty()) continue;
      ++(world.by_chance() ? by_chance : failed);
      std::printf("seed %llu: %s\n  replay: sim_runner %s %llu 1 %u\n",
                  static_cast<unsigned long long>(seed), verdict.c_str(), argv[1],
                  static_cast<unsigned long long>(seed), options.commands);
      if (count == 1) world.log().Print();
    }
    std::printf("%s: %llu seeds, %llu failed, %llu retransmissions, %llu given up", argv[1],
                static_cast<unsigned long long>(count), static_cast<unsigned long long>(failed),
                static_cast<unsigned long long>(retransmissions),
                static_cast<unsigned long long>(given_up));
    if (moves != 0) {
      std::printf(", sessions took %llu numbers and were fenced %llu times",
                  static_cast<unsigned long long>(moves), static_cast<unsigned long long>(fences));
    }
    if (hits != 0) std::printf(", %llu lucky guesses", static_cast<unsigned long long>(hits));
    if (by_chance != 0) std::printf(", %llu by chance", static_cast<unsigned long long>(by_chance));
    std::printf("\n");
    // About one of a thousand is.
    return failed == 0 && by_chance <= 2 + count / 250 ? 0 : 1;
  }
  std::fprintf(stderr, "no such scenario: %s\n", argv[1]);
  return 2;
}
