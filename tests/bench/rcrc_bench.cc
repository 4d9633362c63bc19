// SPDX-License-Identifier: Apache-2.0
// Cycles per PDU of each way to compute its R-CRC, by size, beside a copy of as many bytes: a
// table. "one by one" waits for each CRC before the next begins; "64 at once" is a burst of
// independent PDUs. The PDUs of a burst lie 2 KiB (or their size) apart and stay in the nearest
// caches.
#include <rte_net_crc.h>
#include <x86intrin.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "bench_machine.h"
#include "dpdk/crc.h"
#include "dpdk/eal.h"
#include "wire/rcrc.h"

namespace suede {
namespace {

constexpr size_t kSizes[] = {44, 84, 128, 256, 512, 1024, 4096};
constexpr size_t kPdus = 64;
constexpr int kRounds = 60;

struct Burst {
  explicit Burst(size_t bytes) : memory(kPdus * std::max<size_t>(bytes, 2048) + 64, 0x5a) {
    for (size_t i = 0; i < kPdus; ++i) {
      spans.push_back({.data = memory.data() + i * std::max<size_t>(bytes, 2048) + 42,
                       .bytes = static_cast<uint32_t>(bytes - 4)});
    }
  }
  std::vector<uint8_t> memory;
  std::vector<RcrcSpan> spans;
};

// The least cycles per PDU of several rounds.
template <typename Work>
double Cycles(Work&& work) {
  uint64_t min = UINT64_MAX;
  for (int round = 0; round < kRounds; ++round) {
    const uint64_t start = __rdtsc();
    for (int i = 0; i < 8; ++i) work();
    min = std::min<uint64_t>(min, __rdtsc() - start);
  }
  return static_cast<double>(min) / (8 * kPdus);
}

double OneByOne(Burst& burst, RcrcFunction crc) {
  return Cycles([&] {
    uint32_t last = 0;
    for (RcrcSpan& span : burst.spans) {
      // The place of the data depends on the last result, which the CPU does not know to be 0 here.
      asm volatile("and $0, %0" : "+r"(last));
      last = crc(span.data + last, span.bytes);
    }
    asm volatile("" : : "r"(last));
  });
}
double Independent(Burst& burst, RcrcFunction crc) {
  return Cycles([&] {
    for (RcrcSpan& span : burst.spans) span.crc = crc(span.data, span.bytes);
    asm volatile("" : : : "memory");
  });
}
double AtOnce(Burst& burst, RcrcsFunction crcs) {
  return Cycles([&] {
    crcs(burst.spans.data(), burst.spans.size());
    asm volatile("" : : : "memory");
  });
}
double Copies(Burst& burst) {
  std::vector<uint8_t> to(4160);
  return Cycles([&] {
    for (const RcrcSpan& span : burst.spans) {
      std::memcpy(to.data(), span.data, span.bytes);
      asm volatile("" : : : "memory");
    }
  });
}

int Main() {
  if (!StartBenchEal(64)) return kNoEal;
  const double clock = CyclesPerNanosecond();
  std::printf("%.2f cycles of the TSC per nanosecond; cycles per PDU\n\n", clock);
  std::printf(
      "| PDU bytes | memcpy | GB/s | DPDK SSE4.2 | AVX-512 | folded, one by one | as calls "
      "| at once | GB/s | paired, one by one | as calls | at once | GB/s "
      "| wide, one by one | as calls | at once | GB/s |\n"
      "|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|\n");
  for (const size_t size : kSizes) {
    Burst burst(size);
    const auto rate = [&](double cycles) { return static_cast<double>(size) * clock / cycles; };
    const double copy = Copies(burst);
    rte_net_crc_set_alg(RTE_NET_CRC_SSE42);
    const double sse = Independent(burst, DpdkCrc32);
    rte_net_crc_set_alg(RTE_NET_CRC_AVX512);
    const double avx = HasWideCarrylessMultiply() ? Independent(burst, DpdkCrc32) : 0;
    std::printf("| %zu | %.1f | %.0f | %.1f | %.1f ", size, copy, rate(copy), sse, avx);
    const auto print = [&](bool has, RcrcFunction crc, RcrcsFunction crcs) {
      if (!has) {
        std::printf("| | | | ");
        return;
      }
      const double one = OneByOne(burst, crc);
      const double calls = Independent(burst, crc);
      const double many = AtOnce(burst, crcs);
      std::printf("| %.1f | %.1f | %.1f | %.1f ", one, calls, many, rate(many));
    };
    print(HasFoldedCrc(), FoldedCrc, FoldedCrcs);
    print(HasPairedCrc(), PairedCrc, PairedCrcs);
    print(HasWideCrc(), WideCrc, WideCrcs);
    std::printf("|\n");
  }
  StopEal();
  return 0;
}

}  // namespace
}  // namespace suede

int main() { return suede::Main(); }
