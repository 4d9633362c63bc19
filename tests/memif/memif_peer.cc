// SPDX-License-Identifier: Apache-2.0
// One end of a memif without EAL, for tests against other implementations:
// memif_peer DEVICE QUEUES FRAMES sends each frame back on its queue until it gets SIGTERM, and
// prints what it saw. Says when it is connected, and when each queue has received more than FRAMES
// frames.
#include <signal.h>
#include <time.h>

#include <algorithm>
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

volatile sig_atomic_t ended = 0;

void End(int) { ended = 1; }

void Say(const char* line) {
  std::puts(line);
  std::fflush(stdout);
}

int Run(const DeviceOptions& options, uint64_t frames_of_each) {
  signal(SIGTERM, End);
  auto opened = Device::Open(options);
  if (!opened.ok()) {
    std::fprintf(stderr, "%s\n", opened.status().ToString().c_str());
    return 1;
  }
  Device& device = **opened;
  FramePool pool(256);
  uint64_t connections = 0;
  bool up = false;
  bool busy = false;
  int64_t polled_ns = 0;
  while (!ended) {
    const int64_t now_ns = NowNs();
    if (now_ns - polled_ns > 5'000'000) {
      polled_ns = now_ns;
      device.Poll(now_ns);
      if (device.up() != up) {
        up = !up;
        connections += up ? 1 : 0;
        if (up) Say("connected");
      }
      uint64_t least = UINT64_MAX;
      for (uint32_t q = 0; q < device.queues(); ++q) {
        least = std::min<uint64_t>(least, device.queue(q).counters().rx_frames.Get());
      }
      if (!busy && least > frames_of_each) {
        busy = true;
        Say("busy");
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
    std::fprintf(stderr, "usage: memif_peer DEVICE QUEUES FRAMES\n");
    return 2;
  }
  suede::memif::DeviceOptions options = suede::memif::ParseDevice(argv[1]);
  options.name = "peer";
  options.queues = static_cast<uint16_t>(std::atoi(argv[2]));
  return suede::memif::Run(options, std::strtoull(argv[3], nullptr, 10));
}
