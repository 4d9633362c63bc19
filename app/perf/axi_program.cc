// SPDX-License-Identifier: Apache-2.0
// AXI4 of suede-perf: a client that issues bursts, and a server with a memory.
#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstdio>
#include <memory>
#include <vector>

#include "absl/strings/str_cat.h"
#include "perf/axi_load.h"
#include "perf/programs.h"
#include "perf/worker_loop.h"
#include "suede/axi.h"

namespace suede::perf {
namespace {

using PortPair = std::unique_ptr<suede_axi, decltype(&suede_axi_close)>;

// Opens the port pair of the own instance. Returns null, and stores the error in *status, on
// failure.
PortPair OpenPorts(const Options& options, absl::Status* status) {
  const suede_instance own{.xpuid = static_cast<uint16_t>(options.xpuid),
                           .instance = static_cast<uint8_t>(options.instance),
                           .reserved = 0};
  std::vector<suede_axi_route> routes(options.destinations.size());
  for (size_t i = 0; i < routes.size(); ++i) {
    routes[i].first = i * kAxiSpaceBytes;
    routes[i].last = routes[i].first + kAxiSpaceBytes - 1;
    routes[i].xpuid = options.destinations[i];
  }
  suede_axi_params params{};
  params.size = sizeof params;
  params.bus_bytes = options.bus_bits / 8;
  params.interface_count = options.xpuid >= 0 ? 1 : 0;
  params.interfaces = &own;
  params.route_count = static_cast<uint32_t>(routes.size());
  params.routes = routes.data();
  params.transactions = std::bit_ceil(std::max(options.inflight, 16u));
  params.transactions_to_target = std::max(options.inflight, 1u);
  params.manager_transactions = 4 * kMaxAxiInflight;
  params.transactions_per_source = kMaxAxiInflight;
  params.address_places = 256;
  params.beat_places = 256;
  params.unordered = options.unordered ? 1 : 0;
  params.request_vc = options.vcs[0];
  params.answer_vc = static_cast<uint8_t>((options.vcs[0] + 1) % kVcCount);
  suede_axi* opened = nullptr;
  const int error = suede_axi_open(options.endpoint.c_str(), &params, &opened);
  if (error != 0) {
    *status = StatusOfCall(error, absl::StrCat(options.endpoint, ": ", suede_axi_error_text()));
  }
  return PortPair(opened, &suede_axi_close);
}

StreamCounts CountsOf(suede_axi* axi) {
  suede_axi_counters counters{};
  counters.size = sizeof counters;
  suede_axi_get_counters(axi, &counters);
  StreamCounts sums;
  sums.received = counters.served_writes + counters.served_reads;
  sums.data_bytes = counters.served_bytes;
  sums.lost = counters.dropped + counters.expired;
  return sums;
}

// Serves until the end. Returns false if the daemon has gone.
bool Serve(const Options& options, suede_axi* axi, const std::atomic<bool>& stop) {
  constexpr uint32_t kBatch = 256;
  constexpr int kWaitMs = 20;
  const TscClock clock = TscClock::Calibrate();
  std::vector<uint8_t> memory(options.window_bytes);
  Progress progress(options, 0, 1);
  WorkerProgress* const board = progress.worker(0);
  board->stage = Stage::kServe;
  uint64_t served = 0;
  bool is_lost = false;
  ServeUntilEnd(
      options, clock, stop,
      [&](Time /*now*/) {
        const int moved = suede_axi_poll(axi);
        is_lost |= moved == -ECONNRESET;
        const int ended = suede_axi_serve_memory(axi, memory.data(), memory.size(), kBatch);
        if (ended > 0) {
          served += static_cast<uint32_t>(ended);
          board->received.store(served, std::memory_order_relaxed);
          suede_axi_poll(axi);
        }
        return moved > 0 || ended > 0;
      },
      [&] { return is_lost; }, [&] { is_lost |= suede_axi_wait(axi, kWaitMs) == -ECONNRESET; });
  return !is_lost;
}

}  // namespace

int RunAxi(const Options& options, Document document, const std::atomic<bool>& stop) {
  absl::Status status;
  const PortPair axi = OpenPorts(options, &status);
  if (axi == nullptr) return FailToConnect(status);
  const TscClock clock = TscClock::Calibrate();
  return RunClient(
      options,
      [&](const Options& step, uint32_t bytes) {
        return RunInOne<LoadRun<AxiLoad>>(step, bytes, clock, nullptr, stop, axi.get(), clock, step,
                                          bytes);
      },
      &document, stop);
}

int ServeAxi(const Options& options, Document document, const std::atomic<bool>& stop) {
  absl::Status status;
  const PortPair axi = OpenPorts(options, &status);
  if (axi == nullptr) return FailToConnect(status);
  std::fprintf(stderr, "suede-perf: serving AXI4 on a memory of %zu bytes\n",
               static_cast<size_t>(options.window_bytes));
  bool is_lost = false;
  InWorkers(1, options.cpus, [&](uint32_t) { is_lost = !Serve(options, axi.get(), stop); });
  const StreamCounts total = CountsOf(axi.get());
  return ConcludeServer(options, &total, 1, is_lost, &document);
}

}  // namespace suede::perf
