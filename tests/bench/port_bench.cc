// SPDX-License-Identifier: Apache-2.0
// The cost of the port layer per frame, over a device that throws frames away and over a memif
// whose other end is in the same thread or on another CPU, and of DPDK's CRC. For the first, frames
// on loan (drivers/dpdk/lending.h) are measured beside frames to which the device gets a reference.
#include <benchmark/benchmark.h>
#include <pthread.h>
#include <rte_lcore.h>
#include <rte_mempool.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <tuple>
#include <vector>

#include "absl/strings/str_cat.h"
#include "dpdk/crc.h"
#include "dpdk/dpdk_port.h"
#include "dpdk/eal.h"

namespace suede {
namespace {

constexpr uint32_t kBurst = 32;

void PinTo(unsigned cpu) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(cpu, &set);
  pthread_setaffinity_np(pthread_self(), sizeof set, &set);
}

// Frames that a transport keeps for a window of PDUs, and releases in bursts when they are
// acknowledged.
class Window {
 public:
  Window(Port* port, uint32_t bytes) : port_(port) {
    for (auto& burst : bursts_) {
      if (port_->Allocate(burst.data(), kBurst) != kBurst) std::abort();
      for (Frame* frame : burst) Fill(frame, bytes);
    }
  }
  ~Window() {
    for (auto& burst : bursts_) port_->Release(burst.data(), kBurst);
  }
  // Releases the oldest burst, fills a new one and sends it.
  uint32_t Send(uint32_t bytes) {
    auto& burst = bursts_[next_++ % bursts_.size()];
    port_->Release(burst.data(), kBurst);
    if (port_->Allocate(burst.data(), kBurst) != kBurst) std::abort();
    for (Frame* frame : burst) Fill(frame, bytes);
    return port_->Transmit(burst.data(), kBurst);
  }

 private:
  // The headers' lines are written, as the data path does.
  static void Fill(Frame* frame, uint32_t bytes) {
    frame->data = frame->buffer + Frame::kCommandOffset - 50;
    frame->length = bytes;
    for (uint32_t at = 0; at < bytes; at += 64) std::memset(frame->data + at, 1, 8);
  }
  Port* const port_;
  std::array<std::array<Frame*, kBurst>, 16> bursts_;
  uint32_t next_ = 0;
};

uint32_t Drain(Port* port) {
  Frame* frames[kBurst];
  const uint32_t got = port->Receive(frames, kBurst);
  port->Release(frames, got);
  return got;
}

void BM_PortBurst(benchmark::State& state, Port* port) {
  Window window(port, 80);
  for (auto _ : state) benchmark::DoNotOptimize(window.Send(80));
  state.SetItemsProcessed(state.iterations() * kBurst);
}

// Both ends in this thread.
void BM_MemifBothEnds(benchmark::State& state, Port* from, Port* to) {
  const auto bytes = static_cast<uint32_t>(state.range(0));
  Window window(from, bytes);
  uint64_t sent = 0;
  for (auto _ : state) {
    sent += window.Send(bytes);
    Drain(to);
  }
  state.SetItemsProcessed(static_cast<int64_t>(sent));
}

double MedianPerFrame(std::vector<uint64_t>& cycles) {
  if (cycles.empty()) return 0;
  const auto middle = cycles.begin() + static_cast<std::ptrdiff_t>(cycles.size() / 2);
  std::nth_element(cycles.begin(), middle, cycles.end());
  return static_cast<double>(*middle) / kBurst;
}

// The other end drains on a CPU of its own. The figure is the median of cycles per frame, of the
// bursts that the memif took whole and while which the other end ran: other programs on the CPUs do
// not show.
void BM_MemifTwoCpus(benchmark::State& state, Port* from, Port* to) {
  const auto bytes = static_cast<uint32_t>(state.range(0));
  std::atomic<bool> stop = false;
  std::atomic<uint64_t> drained = 0;
  std::thread far([&] {
    PinTo(1);
    rte_thread_register();  // for a cache of its own in the pool
    while (!stop.load(std::memory_order_relaxed)) drained.fetch_add(Drain(to));
    while (Drain(to) != 0) continue;
    rte_thread_unregister();
  });
  PinTo(0);
  Window window(from, bytes);
  std::vector<uint64_t> cycles;
  for (auto _ : state) {
    const uint64_t before = drained.load(std::memory_order_relaxed);
    const uint64_t start = __builtin_ia32_rdtsc();
    const uint32_t sent = window.Send(bytes);
    const uint64_t took = __builtin_ia32_rdtsc() - start;
    if (sent == kBurst && drained.load(std::memory_order_relaxed) != before) {
      cycles.push_back(took);
    }
  }
  stop = true;
  far.join();
  state.counters["cycles"] = MedianPerFrame(cycles);
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

std::string MemifDevice(const char* name, const char* role, const std::string& socket) {
  return absl::StrCat(name, ",role=", role,
                      ",id=0,rsize=10,bsize=2112,socket-abstract=no,socket=", socket);
}

// A pair of its own over the port's device, to which the device gets references.
std::unique_ptr<QueuePair> WithReferences(const DpdkPort& port) {
  auto pair = std::make_unique<QueuePair>(
      QueuePairParams{.device = &port,
                      .id = port.id(),
                      .frame_bytes = port.max_frame_bytes(),
                      .pool = rte_mempool_lookup(absl::StrCat("frames_", port.id()).c_str())});
  pair->gate().Open();
  return pair;
}

bool WaitForLink(DpdkPort& server, DpdkPort& client) {
  for (int i = 0; i < 5000; ++i) {
    server.RefreshLink();
    client.RefreshLink();
    if (server.link().up && client.link().up) return true;
    usleep(1000);
  }
  return false;
}

void Register(DpdkPort& null, DpdkPort& server, DpdkPort& client, QueuePair* referring) {
  benchmark::RegisterBenchmark("Null/lent", BM_PortBurst, &null.pair());
  benchmark::RegisterBenchmark("Null/referenced", BM_PortBurst, referring);
  for (const auto& [name, from, to] :
       {std::tuple("MemifServer", &server, &client), std::tuple("MemifClient", &client, &server)}) {
    const auto called = [name = name](const char* kind) { return absl::StrCat(name, kind); };
    benchmark::RegisterBenchmark(called("/both_ends").c_str(), BM_MemifBothEnds, &from->pair(),
                                 &to->pair())
        ->Arg(126)
        ->Arg(2048);
    if (std::thread::hardware_concurrency() < 2) continue;
    benchmark::RegisterBenchmark(called("/two_cpus").c_str(), BM_MemifTwoCpus, &from->pair(),
                                 &to->pair())
        ->Arg(126)
        ->Arg(2048);
  }
}

int Run() {
  const std::string id = std::to_string(getpid());
  const std::string socket = "/tmp/suede_port_bench_" + id + ".sock";
  const std::string devices[] = {"net_null0", MemifDevice("net_memif0", "server", socket),
                                 MemifDevice("net_memif1", "client", socket)};
  EalOptions eal;
  eal.file_prefix = "suede_port_bench_" + id;
  eal.no_huge = true;
  eal.memory_mb = 256;
  eal.vdevs = {devices[0]};
  eal.log = [](EalLogLevel, std::string_view) {};
  if (const absl::Status status = StartEal(eal); !status.ok()) {
    std::fprintf(stderr, "%s\n", status.ToString().c_str());
    return 1;
  }
  bool ran = false;
  {
    std::vector<std::unique_ptr<DpdkPort>> ports;
    for (const std::string& device : devices) {
      auto port = DpdkPort::Open(
          {.name = "p", .device = device, .mtu = 2080, .frame_bytes = 2094, .pool_frames = 4096});
      if (!port.ok()) {
        std::fprintf(stderr, "%s\n", port.status().ToString().c_str());
        break;
      }
      ports.push_back(*std::move(port));
    }
    ran = ports.size() == std::size(devices) && WaitForLink(*ports[1], *ports[2]);
    std::unique_ptr<QueuePair> referring;
    if (ran) {
      referring = WithReferences(*ports[0]);
      Register(*ports[0], *ports[1], *ports[2], referring.get());
      benchmark::RunSpecifiedBenchmarks();
    }
  }
  unlink(socket.c_str());
  return StopEal() && ran ? 0 : 1;
}

}  // namespace
}  // namespace suede

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  return suede::Run();
}
