// SPDX-License-Identifier: Apache-2.0
#include "cacheline_probe.h"

#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <thread>
#include <vector>

namespace suede {

bool PinTo(uint32_t cpu) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(cpu, &set);
  return pthread_setaffinity_np(pthread_self(), sizeof(set), &set) == 0;
}

namespace {

constexpr uint32_t kSamples = 4000;
constexpr uint32_t kTripsPerSample = 16;  // amortizes the cost of reading the clock
constexpr uint32_t kTrips = kSamples * kTripsPerSample;
constexpr uint32_t kAbandoned = UINT32_MAX;

struct alignas(64) Line {
  std::atomic<uint32_t> value{0};
};

// Waits until `value` is `wanted`. Returns false if the other side has failed. Yields at times, so
// that it terminates even with both threads on one CPU.
bool Await(const std::atomic<uint32_t>& value, uint32_t wanted) {
  for (uint32_t spins = 1;; ++spins) {
    const uint32_t now = value.load(std::memory_order_acquire);
    if (now == wanted) return true;
    if (now == kAbandoned) return false;
    if (spins % 100'000 == 0) sched_yield();
  }
}

// Answers each odd value, stored by Measure, with the next even one.
void Serve(uint32_t cpu, Line* line) {
  if (!PinTo(cpu)) {
    line->value.store(kAbandoned);
    return;
  }
  line->value.store(2, std::memory_order_release);
  for (uint32_t trip = 1; trip <= kTrips; ++trip) {
    if (!Await(line->value, 2 * trip + 1)) return;
    line->value.store(2 * trip + 2, std::memory_order_release);
  }
}

double Measure(uint32_t cpu, Line* line) {
  if (!Await(line->value, 2)) return -1;
  if (!PinTo(cpu)) {
    line->value.store(kAbandoned);
    return -1;
  }
  std::vector<double> samples;
  samples.reserve(kSamples);
  uint32_t trip = 1;
  for (uint32_t sample = 0; sample < kSamples; ++sample) {
    const auto start = std::chrono::steady_clock::now();
    for (uint32_t i = 0; i < kTripsPerSample; ++i, ++trip) {
      line->value.store(2 * trip + 1, std::memory_order_release);
      if (!Await(line->value, 2 * trip + 2)) return -1;
    }
    const std::chrono::duration<double, std::nano> taken = std::chrono::steady_clock::now() - start;
    samples.push_back(taken.count() / kTripsPerSample);
  }
  std::nth_element(samples.begin(), samples.begin() + kSamples / 2, samples.end());
  return samples[kSamples / 2];
}

}  // namespace

double CachelineRoundTripNs(int cpu_a, int cpu_b) {
  if (cpu_a < 0 || cpu_b < 0 || cpu_a >= CPU_SETSIZE || cpu_b >= CPU_SETSIZE) return -1;
  Line line;
  double result = -1;
  std::thread server(Serve, static_cast<uint32_t>(cpu_b), &line);
  std::thread client([&] { result = Measure(static_cast<uint32_t>(cpu_a), &line); });
  server.join();
  client.join();
  return result;
}

}  // namespace suede
