// SPDX-License-Identifier: Apache-2.0
// The cost of the wire room per frame and per PDU.
#include <benchmark/benchmark.h>

#include <cstdint>
#include <vector>

#include "wire/command.h"
#include "wire/frame_builder.h"

namespace suede {
namespace {

HeaderSpec Spec() {
  return {.source = {.low = 0xc6120301},
          .destination = {.low = 0xc6120302},
          .traffic_class = {.dscp = 26}};
}

void BM_Udp4Write(benchmark::State& state) {
  const HeaderTemplate header = Udp4::MakeTemplate(Spec());
  std::vector<uint8_t> buffer(256);
  uint32_t pdu_bytes = 64;
  for (auto _ : state) {
    benchmark::DoNotOptimize(pdu_bytes);
    benchmark::DoNotOptimize(
        WriteHeader(header, buffer.data() + 100, pdu_bytes, state.range(0) != 0));
    benchmark::ClobberMemory();
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(BM_Udp4Write)->ArgName("offload")->Arg(0)->Arg(1);

void BM_Udp4Parse(benchmark::State& state) {
  std::vector<uint8_t> buffer(FrameBufferBytes(64));
  const std::vector<uint8_t> commands(64, 0x01);
  const auto frame = BuildFrame(Udp4::MakeTemplate(Spec()), {}, commands, buffer);
  uint8_t* bytes = frame.data();
  for (auto _ : state) {
    benchmark::DoNotOptimize(bytes);
    benchmark::DoNotOptimize(
        ParseFrame({}, bytes, static_cast<uint32_t>(frame.size()), state.range(0) != 0));
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(BM_Udp4Parse)->ArgName("checksums_good")->Arg(0)->Arg(1);

void BM_Rcrc(benchmark::State& state) {
  const std::vector<uint8_t> bytes(static_cast<size_t>(state.range(0)), 0x5a);
  const uint8_t* data = bytes.data();
  for (auto _ : state) {
    benchmark::DoNotOptimize(data);
    benchmark::DoNotOptimize(Rcrc(data, bytes.size()));
  }
  state.SetItemsProcessed(state.iterations());
  state.SetBytesProcessed(state.iterations() * state.range(0));
}
BENCHMARK(BM_Rcrc)->Arg(80)->Arg(2048);

// A PDU of 48 commands with 10 bytes of control and 32 of data each.
void BM_CommandReader(benchmark::State& state) {
  constexpr uint32_t kCommands = 48;
  std::vector<uint8_t> bytes;
  for (uint32_t i = 0; i < kCommands; ++i) {
    bytes.resize(bytes.size() + 42, 0x5a);
    bytes[bytes.size() - 42] = 0x15;
    bytes[bytes.size() - 41] = 31;
  }
  const uint8_t* begin = bytes.data();
  for (auto _ : state) {
    benchmark::DoNotOptimize(begin);
    const CommandSummary summary = ValidateCommands(begin, static_cast<uint32_t>(bytes.size()));
    if (summary.count != kCommands) state.SkipWithError("the commands are not valid");
  }
  state.SetItemsProcessed(state.iterations() * kCommands);
}
BENCHMARK(BM_CommandReader);

}  // namespace
}  // namespace suede

BENCHMARK_MAIN();
