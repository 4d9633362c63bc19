// SPDX-License-Identifier: Apache-2.0
// A histogram over the memory of several XPUs, over the C++ layer of memory operations: each XPU
// has a part of the bins, and adds what it has counted to the bins of all.
//
//   memory NAME-OR-SOCKET XPUS VALUES SECONDS [OWN]
//
// Started at the endpoints of all XPUS (2 or 0,1,2), each counts VALUES drawn values. An endpoint
// of several XPUs is told which one the program is, OWN. It ends with 0 once its own bins have got
// their share of all values; with 1 after SECONDS, 2 on wrong usage, 3 where an operation failed, 4
// where the daemon is not reachable or goes away.
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "suede/mem.hpp"

namespace {

using suede::client::MakeMemCall;
using suede::client::Memory;
using suede::client::MemoryTarget;
using Clock = std::chrono::steady_clock;

constexpr uint16_t kWindow = 2;
constexpr uint32_t kBinsOfXpu = 16;

// Of the own XPU; the others add to it.
struct Share {
  alignas(64) std::atomic<uint64_t> bins[kBinsOfXpu];
  std::atomic<uint64_t> done;  // XPUs that have added all they had
};

int Fail(int error) {
  std::fprintf(stderr, "memory: %s\n", suede_mem_error_text());
  if (error == -ENOENT || error == -ECONNREFUSED || error == -ECONNRESET) return 4;
  return error == -EIO ? 3 : 1;
}

Share g_share;

// Adds to a word of an XPU's share; waits for room. The own one is memory like any other.
int Add(Memory& memory, uint16_t xpuid, uint64_t offset, uint64_t amount) {
  if (xpuid == memory.xpuid()) {
    reinterpret_cast<std::atomic<uint64_t>*>(&g_share)[offset / 8] += amount;
    return 0;
  }
  const suede_mem_call call =
      MakeMemCall({.xpuid = xpuid, .window = kWindow, .offset = offset, .key = 0});
  int error;
  while ((error = memory.Increment<uint64_t>(call, amount, 63)) == -EAGAIN) memory.Poll();
  return error;
}

// Waits until an XPU answers: it may not be there yet.
int Find(Memory& memory, uint16_t xpuid, Clock::time_point deadline) {
  for (;;) {
    suede_mem_handle handle = 0;
    suede_mem_call call =
        MakeMemCall({.xpuid = xpuid, .window = kWindow, .offset = 0, .key = 0}, nullptr, &handle);
    call.deadline_ms = 500;
    int error = memory.FetchAdd<uint64_t>(call, 0);
    if (error == 0) error = memory.Wait(handle);
    if (error != -EIO || Clock::now() >= deadline) return error;
  }
}

int Count(Memory& memory, const std::vector<uint16_t>& xpus, long values) {
  std::mt19937 random(memory.xpuid());
  const auto bins = static_cast<uint32_t>(xpus.size() * kBinsOfXpu);
  for (long i = 0; i < values; ++i) {
    const auto bin = static_cast<uint32_t>(random() % bins);
    const int error = Add(memory, xpus[bin / kBinsOfXpu], bin % kBinsOfXpu * 8, 1);
    if (error != 0) return error;
  }
  // All of it is committed before anybody is told so.
  if (const int error = memory.WriteBarrier(); error != 0) return error;
  for (const uint16_t xpuid : xpus) {
    if (const int error = Add(memory, xpuid, offsetof(Share, done), 1); error != 0) return error;
  }
  return memory.WriteBarrier();
}

std::vector<uint16_t> ParseXpus(const char* text) {
  std::vector<uint16_t> xpus;
  char* end = nullptr;
  do {
    xpus.push_back(static_cast<uint16_t>(std::strtoul(text, &end, 10)));
    text = end + 1;
  } while (*end == ',');
  return xpus;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 5 && argc != 6) {
    std::fprintf(stderr, "usage: memory NAME-OR-SOCKET XPUS VALUES SECONDS [OWN]\n");
    return 2;
  }
  const std::vector<uint16_t> xpus = ParseXpus(argv[2]);
  const Clock::time_point deadline = Clock::now() + std::chrono::seconds(std::atol(argv[4]));
  suede_mem_target_params of_target{};
  suede_mem_params of_memory{};
  if (argc == 6) {
    of_target.plane_count = of_memory.plane_count = 1;
    of_target.planes[0].xpuid = of_memory.planes[0].xpuid =
        static_cast<uint16_t>(std::atoi(argv[5]));
  }
  MemoryTarget target;
  int error = target.Open(argv[1], of_target);
  if (error == 0) error = target.AddWindow(kWindow, std::as_writable_bytes(std::span(&g_share, 1)));
  if (error == 0) error = target.Start();
  Memory memory;
  if (error == 0) error = memory.Open(argv[1], of_memory);
  for (const uint16_t xpuid : xpus) {
    if (error == 0 && xpuid != memory.xpuid()) error = Find(memory, xpuid, deadline);
  }
  if (error == 0) error = Count(memory, xpus, std::atol(argv[3]));
  if (error != 0) return Fail(error);
  while (g_share.done < xpus.size()) {
    if (Clock::now() >= deadline) {
      std::fprintf(stderr, "memory: time is up\n");
      return 1;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  uint64_t sum = 0;
  for (const auto& bin : g_share.bins) sum += bin;
  std::printf("bins of XPU %u: %llu values\n", memory.xpuid(),
              static_cast<unsigned long long>(sum));
  return 0;
}
