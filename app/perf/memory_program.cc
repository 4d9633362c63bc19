// SPDX-License-Identifier: Apache-2.0
// Memory operations of suede-perf: a client that starts them, and a server with a window.
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <memory>

#include "perf/memory_load.h"
#include "perf/programs.h"
#include "perf/worker_loop.h"
#include "suede/mem.h"

namespace suede::perf {
namespace {

// Memory operations through libsuede-mem, as a client of a daemon.
class LibraryCalls final : public MemoryCalls {
 public:
  // `mem` must outlive the object.
  LibraryCalls(suede_mem* mem, const TscClock& clock) : mem_(mem), clock_(clock) {}

  int Start(const mem::Call& call, uint32_t deadline_ms) override;
  int Poll(Time /*now*/) override { return suede_mem_poll(mem_); }
  void Flush() override { suede_mem_flush(mem_); }
  Time Now() const override { return clock_.Now(); }
  std::string Error() const override { return suede_mem_error_text(); }

 private:
  suede_mem* const mem_;
  const TscClock clock_;
};

int LibraryCalls::Start(const mem::Call& call, uint32_t deadline_ms) {
  suede_mem_call to{};
  to.size = sizeof to;
  to.xpuid = call.xpuid;
  to.window = kMemoryWindow;
  to.offset = call.offset;
  to.plane = SUEDE_MEM_AUTO;
  to.vc = SUEDE_MEM_AUTO;
  to.deadline_ms = deadline_ms;
  to.result = call.result;
  const uint32_t bits = call.is_wide ? 64 : 32;
  switch (call.opcode) {
    case mem::Opcode::kPut:
      return suede_mem_put(mem_, &to, call.source, call.bytes);
    case mem::Opcode::kGet:
      return suede_mem_get(mem_, &to, call.room, call.bytes);
    case mem::Opcode::kFetchAdd:
      return suede_mem_fetch_add(mem_, &to, bits, call.operand);
    case mem::Opcode::kCompareSwap:
      return suede_mem_compare_swap(mem_, &to, bits, call.operand, call.desired);
    case mem::Opcode::kSwap:
      return suede_mem_swap(mem_, &to, bits, call.operand);
    case mem::Opcode::kIncrement:
      return suede_mem_increment(mem_, &to, bits, call.operand, call.boundary);
    case mem::Opcode::kReadIncrement:
      return suede_mem_read_increment(mem_, &to, bits, call.operand, call.boundary);
    case mem::Opcode::kPutImmediate:
      break;
  }
  return -EINVAL;
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
  const TscClock clock = TscClock::Calibrate();
  Progress progress(options, 0, 1);
  WorkerProgress* const board = progress.worker(0);
  board->stage = Stage::kServe;
  uint64_t served = 0;
  bool is_lost = false;
  const auto wait = [&] { is_lost |= suede_mem_target_wait(target, kWaitMs) == -ECONNRESET; };
  ServeUntilEnd(
      options, clock, stop,
      [&](Time /*now*/) {
        const int now_served = suede_mem_target_serve(target, kBatch);
        is_lost |= now_served < 0;
        if (now_served > 0) {
          served += static_cast<uint32_t>(now_served);
          board->received.store(served, std::memory_order_relaxed);
          return true;
        }
        if (now_served == 0 && options.by_lcore) wait();  // for nothing: the lcore serves
        return false;
      },
      [&] { return is_lost; }, wait);
  return !is_lost;
}

}  // namespace

int RunMemory(const Options& options, Document document, const std::atomic<bool>& stop) {
  auto params = ParamsOf<suede_mem_params>(options);
  params.request_vcs = MaskOf(options.vcs);
  params.response_vcs = 1u << ResponseVc(params.request_vcs);
  params.unordered = options.unordered ? 1 : 0;
  params.max_requests_to_target = RequestsToTarget(options.inflight);
  suede_mem* opened = nullptr;
  const int error = suede_mem_open(options.endpoint.c_str(), &params, &opened);
  if (error != 0) return FailToConnect(StatusOfMemoryCall(error, options));
  const std::unique_ptr<suede_mem, decltype(&suede_mem_close)> mem(opened, &suede_mem_close);
  LibraryCalls calls(mem.get(), TscClock::Calibrate());
  return RunClient(
      options,
      [&](const Options& step, uint32_t bytes) {
        return RunInOne<LoadRun<MemoryLoad>>(step, bytes, calls, nullptr, stop, calls, step, bytes);
      },
      &document, stop);
}

int ServeMemory(const Options& options, Document document, const std::atomic<bool>& stop) {
  auto params = ParamsOf<suede_mem_target_params>(options);
  params.request_vcs = MaskOf(options.vcs);
  suede_mem_target* opened = nullptr;
  int error = suede_mem_target_open(options.endpoint.c_str(), &params, &opened);
  if (error != 0) return FailToConnect(StatusOfMemoryCall(error, options));
  const Target target(opened, &suede_mem_target_close);
  const WindowMemory memory(options.window_bytes);
  suede_mem_window window = WindowOf(memory, options.by_lcore);
  if (!memory.ok()) {
    return FailToConnect(absl::InvalidArgumentError("--window: there is not so much memory"));
  }
  error = suede_mem_target_add_window(target.get(), &window);
  if (error != 0) return FailToConnect(StatusOfMemoryCall(error, options));
  std::fprintf(stderr, "suede-perf: serving memory operations, window of %zu bytes%s\n",
               static_cast<size_t>(window.bytes), options.by_lcore ? ", by the lcore" : "");
  bool is_lost = false;
  InWorkers(1, options.cpus, [&](uint32_t) { is_lost = !Serve(options, target.get(), stop); });
  // The daemon counts the requests that the lcore executes, in memory_requests_total.
  const StreamCounts total = CountsOf(target.get());
  return ConcludeServer(options, options.by_lcore ? nullptr : &total, 1, is_lost, &document);
}

}  // namespace suede::perf
