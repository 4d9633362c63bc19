// SPDX-License-Identifier: Apache-2.0
// The cost of the port layer per frame, over a device that throws frames away, and of DPDK's CRC.
#include <benchmark/benchmark.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include "dpdk/crc.h"
#include "dpdk/dpdk_port.h"
#include "dpdk/eal.h"

namespace suede {
namespace {

constexpr uint32_t kBurst = 32;

void BM_PortBurst(benchmark::State& state, Port* port) {
  Frame* frames[kBurst];
  for (auto _ : state) {
    const uint32_t count = port->Allocate(frames, kBurst);
    for (uint32_t i = 0; i < count; ++i) {
      frames[i]->data = frames[i]->buffer + Frame::kCommandOffset;
      frames[i]->length = 80;
    }
    benchmark::DoNotOptimize(port->Transmit(frames, count));
    port->Release(frames, count);
  }
  state.SetItemsProcessed(state.iterations() * kBurst);
}

void BM_DpdkCrc32(benchmark::State& state) {
  const std::vector<uint8_t> bytes(static_cast<size_t>(state.range(0)), 0x5a);
  const uint8_t* data = bytes.data();
  for (auto _ : state) {
    benchmark::DoNotOptimize(data);
    benchmark::DoNotOptimize(DpdkCrc32(data, bytes.size()));
  }
  state.SetItemsProcessed(state.iterations());
  state.SetBytesProcessed(state.iterations() * state.range(0));
}
BENCHMARK(BM_DpdkCrc32)->Arg(16)->Arg(80)->Arg(256)->Arg(2048);

int Run() {
  EalOptions eal;
  eal.file_prefix = "suede_port_bench_" + std::to_string(getpid());
  eal.no_huge = true;
  eal.memory_mb = 128;
  eal.vdevs = {"net_null0"};
  eal.log = [](EalLogLevel, std::string_view) {};
  if (const absl::Status status = StartEal(eal); !status.ok()) {
    std::fprintf(stderr, "%s\n", status.ToString().c_str());
    return 1;
  }
  bool opened = false;
  {
    const auto port =
        DpdkPort::Open({.name = "null", .device = "net_null0", .pool_frames = 4096});
    opened = port.ok();
    if (opened) {
      benchmark::RegisterBenchmark("BM_PortBurst", BM_PortBurst, &(*port)->pair());
      benchmark::RunSpecifiedBenchmarks();
    } else {
      std::fprintf(stderr, "%s\n", port.status().ToString().c_str());
    }
  }
  return StopEal() && opened ? 0 : 1;
}

}  // namespace
}  // namespace suede

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  return suede::Run();
}
