// SPDX-License-Identifier: Apache-2.0
#include "perf/worker_loop.h"

#include <cstdio>
#include <thread>

#include "perf/cacheline_probe.h"

namespace suede::perf {

void InWorkers(uint32_t count, const std::vector<uint32_t>& cpus,
               const std::function<void(uint32_t)>& body) {
  const auto pinned = [&](uint32_t worker) {
    if (worker < cpus.size() && !PinTo(cpus[worker])) {
      std::fprintf(stderr, "suede-perf: cannot pin a thread to CPU %u; running unpinned\n",
                   cpus[worker]);
    }
    body(worker);
  };
  std::vector<std::thread> threads;
  for (uint32_t worker = 1; worker < count; ++worker) threads.emplace_back(pinned, worker);
  pinned(0);
  for (std::thread& thread : threads) thread.join();
}

}  // namespace suede::perf
