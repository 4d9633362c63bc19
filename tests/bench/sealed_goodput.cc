// SPDX-License-Identifier: Apache-2.0
// Goodput of sealed PDUs beside that of plain ones, both ends on one core (datapath.h):
// sealed_goodput [LIBRARY [PAIRS]]. For each size of PDU a plain and a sealed pair of endpoints run
// in turn, some hundred PDUs each; a table has the medians over all turns of what a PDU takes,
// whole and by stage, and the median of the ratios of neighbouring turns. So what else runs on the
// machine concerns both alike.
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <tuple>
#include <vector>

#include "bench_machine.h"
#include "datapath.h"
#include "dpdk/eal.h"

namespace suede {
namespace {

constexpr size_t kStages = std::tuple_size_v<Bench::Stages>;
constexpr uint64_t kPdusOfTurn = 512;

struct Shape {
  uint32_t data_bytes;
  uint32_t commands;  // of a PDU
};
// PDUs of 64 and of 2,048 octets of commands.
constexpr Shape kShapes[] = {{.data_bytes = 56, .commands = 1}, {.data_bytes = 248, .commands = 8}};

double Median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

// One of the two that are compared.
struct Runner {
  explicit Runner(const Traffic& traffic) : bench(traffic) { bench.WarmUp(); }
  // Cycles for each PDU of another turn.
  double Turn() {
    Bench::Stages cycles{};
    const uint64_t wanted = received + kPdusOfTurn * bench.traffic.pack;
    const uint64_t before = received;
    while (received < wanted) {
      received += bench.Turn(received, cycles);
    }
    const double pdus = static_cast<double>(received - before) / bench.traffic.pack;
    double sum = 0;
    for (size_t i = 0; i < kStages; ++i) {
      stages[i].push_back(static_cast<double>(cycles[i]) / pdus);
      sum += stages[i].back();
    }
    all.push_back(sum);
    return sum;
  }
  Bench bench;
  uint64_t received = 0;
  std::array<std::vector<double>, kStages> stages;
  std::vector<double> all;
};

void PrintRow(const Shape& shape, const char* name, const Runner& runner, double cycles_per_ns) {
  std::printf("| %u | %s | %.0f | %.0f |", (shape.data_bytes + kControlBytes) * shape.commands,
              name, Median(runner.all) / cycles_per_ns,
              *std::min_element(runner.all.begin(), runner.all.end()) / cycles_per_ns);
  for (const std::vector<double>& stage : runner.stages) {
    std::printf(" %.0f |", Median(stage) / cycles_per_ns);
  }
}

void Compare(const Shape& shape, const std::string& library, uint32_t pairs, double cycles_per_ns) {
  Traffic traffic{.data_bytes = shape.data_bytes, .pack = shape.commands, .destinations = 1};
  Runner plain(traffic);
  traffic.crypto = library;
  Runner sealed(traffic);
  std::vector<double> ratios;
  // The first turns of each fill the caches.
  plain.Turn();
  sealed.Turn();
  for (uint32_t i = 0; i < pairs; ++i) {
    const double before = plain.Turn();
    const double between = sealed.Turn();
    ratios.push_back(before / between);
  }
  PrintRow(shape, "plain", plain, cycles_per_ns);
  std::printf(" 1 |\n");
  PrintRow(shape, library.c_str(), sealed, cycles_per_ns);
  std::printf(" %.2f |\n", Median(ratios));
}

int Main(int argc, char** argv) {
  const std::string library = argc > 1 ? argv[1] : "ipsec_mb";
  const uint32_t pairs = argc > 2 ? static_cast<uint32_t>(std::atoi(argv[2])) : 500;
  if (!StartBenchEal(64)) return kNoEal;
  const double cycles_per_ns = CyclesPerNanosecond();
  std::printf(
      "| octets | sealing | ns per PDU, median | least | produce | sender's turn | receiver's turn "
      "| consume | goodput |\n|---|---|---|---|---|---|---|---|---|\n");
  for (const Shape& shape : kShapes) Compare(shape, library, std::max(1u, pairs), cycles_per_ns);
  StopEal();
  return 0;
}

}  // namespace
}  // namespace suede

int main(int argc, char** argv) { return suede::Main(argc, argv); }
