// SPDX-License-Identifier: Apache-2.0
// Memory operations of suede-perf: a client that starts them, and a server with a window.
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <memory>

#include "absl/strings/str_cat.h"
#include "perf/call_error.h"
#include "perf/library_calls.h"
#include "perf/memory_load.h"
#include "perf/peers_of.h"
#include "perf/programs.h"
#include "perf/serve_loop.h"
#include "perf/worker_loop.h"
#include "suede/mem.h"

namespace suede::perf {
namespace {

absl::Status Explain(int error, const Options& options) {
  return StatusOfCall(
      error, absl::StrCat("endpoint \"", options.endpoint, "\": ", suede_mem_error_text()));
}

// Returns the parameters of a suede_mem or its target, for the own instance of the options.
template <class Params>
Params ParamsOf(const Options& options) {
  Params params{};
  params.size = sizeof params;
  params.request_vcs = MaskOf(options.vcs);
  if (options.xpuid >= 0) {
    params.plane_count = 1;
    params.planes[0] = {.xpuid = static_cast<uint16_t>(options.xpuid),
                        .instance = static_cast<uint8_t>(options.instance),
                        .reserved = 0};
  }
  return params;
}

using Target = std::unique_ptr<suede_mem_target, decltype(&suede_mem_target_close)>;

// A zeroed memfd that can be shared with the daemon and cannot shrink.
class WindowMemory {
 public:
  explicit WindowMemory(uint64_t bytes) : bytes_(bytes / kPage * kPage) {
    fd_ = memfd_create("suede-perf-window", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    ok_ = fd_ >= 0 && fallocate(fd_, 0, 0, static_cast<off_t>(bytes_)) == 0 &&
          fcntl(fd_, F_ADD_SEALS, F_SEAL_SHRINK) == 0;
  }
  ~WindowMemory() { close(fd_); }
  WindowMemory(const WindowMemory&) = delete;
  WindowMemory& operator=(const WindowMemory&) = delete;
  bool ok() const { return ok_; }
  int fd() const { return fd_; }
  uint64_t bytes() const { return bytes_; }

 private:
  static constexpr uint64_t kPage = 4096;
  const uint64_t bytes_;
  int fd_ = -1;
  bool ok_ = false;
};

suede_mem_window WindowOf(const WindowMemory& memory, bool by_lcore) {
  suede_mem_window window{};
  window.size = sizeof window;
  window.id = kMemoryWindow;
  window.rights = SUEDE_MEM_RIGHT_READ | SUEDE_MEM_RIGHT_WRITE | SUEDE_MEM_RIGHT_ATOMIC;
  window.flags = by_lcore ? SUEDE_MEM_SERVED_BY_LCORE : 0;
  window.partition = -1;
  window.bytes = memory.bytes();
  window.fd = memory.fd();
  return window;
}

// Converts a server's counters: executed requests count as received, dropped ones as lost.
StreamCounts CountsOf(suede_mem_target* target) {
  suede_mem_target_counts counts{};
  counts.size = sizeof counts;
  suede_mem_target_get_counts(target, &counts);
  StreamCounts sums;
  sums.received = counts.puts + counts.puts_with_immediate + counts.gets + counts.atomics;
  sums.data_bytes = counts.written_bytes + counts.read_bytes;
  sums.lost = counts.dropped;
  return sums;
}

// Serves until the end. Returns false if the daemon has gone.
bool Serve(const Options& options, suede_mem_target* target, const std::atomic<bool>& stop) {
  constexpr uint32_t kBatch = 256;
  constexpr int kWaitMs = 20;
  Progress progress(options, 0, 1);
  WorkerProgress* const board = progress.worker(0);
  board->stage = Stage::kServe;
  uint64_t served = 0;
  bool is_lost = false;
  ServeUntilEnd(
      options, stop, options.by_lcore,
      [&] {
        const int now_served = suede_mem_target_serve(target, kBatch);
        is_lost = now_served < 0;
        if (is_lost) return Served::kOver;
        if (now_served == 0) return Served::kNothing;
        served += static_cast<uint32_t>(now_served);
        board->received.store(served, std::memory_order_relaxed);
        return Served::kSomething;
      },
      [&] {
        is_lost = suede_mem_target_wait(target, kWaitMs) == -ECONNRESET;
        return !is_lost;
      });
  return !is_lost;
}

}  // namespace

void FinishMemoryRun(const Options& options, uint32_t bytes, double cacheline_before,
                     RunResult result, Document* document) {
  if (result.outcome == Outcome::kPeerSilent && !options.embed) {
    result.explanation += PeersOf(options.endpoint);
  }
  if (result.outcome == Outcome::kDone && !result.explanation.empty()) {
    std::fprintf(stderr, "suede-perf: %s\n", result.explanation.c_str());
  }
  FinishRun(options, bytes, cacheline_before, std::move(result), document);
}

int RunMemory(const Options& options, Document document, const std::atomic<bool>& stop) {
  auto params = ParamsOf<suede_mem_params>(options);
  params.response_vcs = 1u << ResponseVc(params.request_vcs);
  params.unordered = options.unordered ? 1 : 0;
  params.max_requests_to_target = RequestsToTarget(options.inflight);
  suede_mem* opened = nullptr;
  const int error = suede_mem_open(options.endpoint.c_str(), &params, &opened);
  if (error != 0) return FailToConnect(Explain(error, options));
  const std::unique_ptr<suede_mem, decltype(&suede_mem_close)> mem(opened, &suede_mem_close);
  LibraryCalls calls(mem.get(), TscClock::Calibrate());
  PrintHead(options, document);
  for (const uint32_t bytes : options.sizes) {
    const double before = ProbeCacheline(options);
    Progress progress(options, bytes, 1);
    RunResult result;
    bool has_open = false;
    InWorkers(1, options.cpus, [&](uint32_t) {
      MemoryLoad load(calls, options, bytes, stop, progress.worker(0));
      WorkerLoop(calls, options.spin)
          .Run([&](Time now) { return load.Turn(now); }, [&] { return load.done(); });
      has_open = load.has_open();
      result = load.TakeResult();
    });
    FinishMemoryRun(options, bytes, before, std::move(result), &document);
    if (document.results.back().outcome != Outcome::kDone || has_open || stop) break;
  }
  document.end = std::chrono::system_clock::now();
  return Conclude(options, document);
}

int ServeMemory(const Options& options, Document document, const std::atomic<bool>& stop) {
  const auto params = ParamsOf<suede_mem_target_params>(options);
  suede_mem_target* opened = nullptr;
  int error = suede_mem_target_open(options.endpoint.c_str(), &params, &opened);
  if (error != 0) return FailToConnect(Explain(error, options));
  const Target target(opened, &suede_mem_target_close);
  const WindowMemory memory(options.window_bytes);
  suede_mem_window window = WindowOf(memory, options.by_lcore);
  if (!memory.ok()) {
    return FailToConnect(absl::InvalidArgumentError("--window: there is not so much memory"));
  }
  error = suede_mem_target_add_window(target.get(), &window);
  if (error != 0) return FailToConnect(Explain(error, options));
  std::fprintf(stderr, "suede-perf: serving memory operations, window of %zu bytes%s\n",
               static_cast<size_t>(window.bytes), options.by_lcore ? ", by the lcore" : "");
  bool is_lost = false;
  InWorkers(1, options.cpus, [&](uint32_t) { is_lost = !Serve(options, target.get(), stop); });
  // The daemon counts the requests that the lcore executes, in memory_requests_total.
  if (!options.by_lcore) {
    document.served = CountsOf(target.get());
    std::fputs(ServerTable(*document.served, 1).c_str(), document.table);
  }
  document.end = std::chrono::system_clock::now();
  const int code = Conclude(options, document);
  if (!is_lost) return code;
  std::fprintf(stderr, "suede-perf: the daemon went away\n");
  return kExitUnreachable;
}

}  // namespace suede::perf
