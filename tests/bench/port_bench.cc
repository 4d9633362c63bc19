// What the Port layer costs per frame: Allocate + Transmit + Release over net_null, and the CRC.
// The same loop on DPDK's own calls needs its headers and is port_bench_raw.cc.
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "dpdk/crc.h"
#include "dpdk/dpdk_port.h"
#include "dpdk/eal.h"
#include "dpdk/lcores.h"

double RawNsPerFrame(const char* device, unsigned rounds);  // port_bench_raw.cc

namespace suede {
namespace {

constexpr uint32_t kBurst = 32;

double PortNsPerFrame(Port* port, unsigned rounds, const TscClock& clock) {
  Frame* frames[kBurst];
  const uint64_t start = TscClock::Cycles();
  for (unsigned round = 0; round < rounds; ++round) {
    const uint32_t count = port->Allocate(frames, kBurst);
    for (uint32_t i = 0; i < count; ++i) {
      frames[i]->data = frames[i]->buffer + 64;
      frames[i]->length = 80;
    }
    port->Transmit(frames, count);
    port->Release(frames, count);
  }
  return static_cast<double>(clock.ToNsSinceStart(TscClock::Cycles() - start)) / rounds / kBurst;
}

double CrcNs(size_t bytes, const TscClock& clock) {
  static std::vector<uint8_t> data(4096, 0x5a);
  constexpr unsigned kRounds = 200'000;
  uint32_t sum = 0;
  const uint64_t start = TscClock::Cycles();
  for (unsigned i = 0; i < kRounds; ++i) {
    data[0] = static_cast<uint8_t>(sum);
    sum += DpdkCrc32(data.data(), bytes);
  }
  return static_cast<double>(clock.ToNsSinceStart(TscClock::Cycles() - start)) / kRounds;
}

template <typename Measure>
double MedianOf5(Measure measure) {
  double values[5];
  for (double& value : values) value = measure();
  std::sort(values, values + 5);
  return values[2];
}

int Run() {
  const TscClock clock;
  PortOptions options;
  options.name = "null";
  options.device = "net_null0";
  options.pool_frames = 4096;
  auto port = DpdkPort::Open(options);
  if (!port.ok()) {
    std::fprintf(stderr, "%s\n", port.status().ToString().c_str());
    return 1;
  }
  constexpr unsigned kRounds = 200'000;
  const double mine = MedianOf5([&] { return PortNsPerFrame(port->get(), kRounds, clock); });
  const double raw = MedianOf5([] { return RawNsPerFrame("net_null1", kRounds); });
  std::printf("net_null, ns per frame: port %.2f, raw %.2f\n", mine, raw);
  for (const size_t bytes : {16, 80, 256, 2048}) {
    std::printf("crc of %zu octets: %.1f ns\n", bytes,
                MedianOf5([&] { return CrcNs(bytes, clock); }));
  }
  return 0;
}

}  // namespace
}  // namespace suede

int main(int argc, char** argv) {
  suede::EalOptions eal;
  eal.file_prefix = "suede_port_bench_" + std::to_string(getpid());
  eal.no_huge = true;
  eal.memory_mb = 128;
  eal.vdevs = {"net_null0", "net_null1"};
  eal.extra.assign(argv + 1, argv + argc);
  if (const absl::Status status = suede::StartEal(eal); !status.ok()) {
    std::fprintf(stderr, "%s\n", status.ToString().c_str());
    return 1;
  }
  const int result = suede::Run();
  return suede::StopEal() ? result : 1;
}
