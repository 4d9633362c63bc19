// SPDX-License-Identifier: Apache-2.0
// One end of a memif without EAL, for tests against other implementations:
// memif_peer DEVICE QUEUES SECONDS sends each frame back on its queue, and prints what it saw.
#include <time.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "frame_pool.h"
#include "memif/device.h"

namespace suede::memif {
namespace {

int64_t NowNs() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

int Run(const DeviceOptions& options, int64_t duration_ns) {
  auto opened = Device::Open(options);
  if (!opened.ok()) {
    std::fprintf(stderr, "%s\n", opened.status().ToString().c_str());
    return 1;
  }
  Device& device = **opened;
  FramePool pool(256);
  uint64_t connections = 0;
  bool up = false;
  int64_t polled_ns = 0;
  const int64_t end_ns = NowNs() + duration_ns;
  for (int64_t now_ns = NowNs(); now_ns < end_ns; now_ns = NowNs()) {
    if (now_ns - polled_ns > 5'000'000) {
      polled_ns = now_ns;
      device.Poll(now_ns);
      if (device.up() != up) {
        up = !up;
        connections += up ? 1 : 0;
      }
    }
    for (uint32_t q = 0; q < device.queues(); ++q) {
      Frame* frames[32];
      const uint32_t got = device.queue(q).Receive(pool, frames, 32);
      device.queue(q).Send(frames, got);
      pool.Release(frames, got);
    }
    const timespec pause{0, 20'000};  // leaves the CPU to others
    nanosleep(&pause, nullptr);
  }
  for (uint32_t q = 0; q < device.queues(); ++q) {
    const QueueCounters& counters = device.queue(q).counters();
    std::printf("queue %u:", q);
#define SUEDE_MEMIF_PRINT(id, name, sentence) \
  std::printf(" " name "=%llu", static_cast<unsigned long long>(counters.id.Get()));
    SUEDE_MEMIF_COUNTERS(SUEDE_MEMIF_PRINT)
#undef SUEDE_MEMIF_PRINT
    std::printf("\n");
  }
  std::printf("connections=%llu queues=%u peer=%s\n", static_cast<unsigned long long>(connections),
              device.connected_queues(), device.peer().c_str());
#define SUEDE_MEMIF_PRINT(id, name, text)                                            \
  if (const uint64_t count = device.refused(Refusal::id)) {                          \
    std::printf("refused %llu: " text "\n", static_cast<unsigned long long>(count)); \
  }
  SUEDE_MEMIF_REFUSALS(SUEDE_MEMIF_PRINT)
#undef SUEDE_MEMIF_PRINT
  return 0;
}

}  // namespace
}  // namespace suede::memif

int main(int argc, char** argv) {
  if (argc != 4) {
    std::fprintf(stderr, "usage: memif_peer DEVICE QUEUES SECONDS\n");
    return 2;
  }
  suede::memif::DeviceOptions options = suede::memif::ParseDevice(argv[1]);
  options.name = "peer";
  options.queues = static_cast<uint16_t>(std::atoi(argv[2]));
  return suede::memif::Run(options, std::atoll(argv[3]) * 1'000'000'000);
}
