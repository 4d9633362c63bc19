// SPDX-License-Identifier: Apache-2.0
// The load of memory operations: keeps a number of puts, gets or atomics in flight and measures
// each.
//
// Never blocks. Turn is called by the thread of a daemon's client, or on the lcore of an endpoint
// in this process. Not thread-safe.
#ifndef SUEDE_APP_PERF_MEMORY_LOAD_H_
#define SUEDE_APP_PERF_MEMORY_LOAD_H_

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "base/time.h"
#include "perf/memory_calls.h"
#include "perf/options.h"
#include "perf/progress.h"
#include "perf/results.h"

namespace suede::perf {

class MemoryLoad {
 public:
  // A load of operations of one size. All arguments must outlive it.
  MemoryLoad(MemoryCalls& calls, const Options& options, uint32_t bytes,
             const std::atomic<bool>& stop, WorkerProgress* progress);

  // Performs one step. Returns whether an operation completed.
  bool Turn(Time now);
  bool done() const { return step_ == Step::kOver; }
  // Whether operations of this load are still open. If so once done, `calls` must not be polled any
  // more.
  bool has_open() const { return open_ != 0 || is_executing_; }
  RunResult TakeResult();

 private:
  enum class Step : uint8_t { kFind, kPrepare, kLoad, kDrain, kVerify, kOver };

  // An operation in flight, with separate memory at both ends.
  struct Slot {
    suede_mem_result result = {};
    Time start{};
    uint64_t offset = 0;  // in the server's window
    uint8_t* octets = nullptr;
    uint64_t number = 0;       // of the last operation
    uint32_t destination = 0;  // index in options.destinations
    bool is_open = false;
    bool is_used = false;
  };

  // Handlers of the steps. Each begins the next step when done.
  void FindServers(Time now);
  void Prepare();
  void Load(Time now, bool has_completions);
  void Drain(Time now, bool has_completions);
  void Verify();
  void Begin(Step step);

  // Executes one operation outside of the load. To be called again while it returns PENDING.
  uint32_t Ask(MemoryOperation operation);
  void OnRefusal(uint32_t status, Time now);
  MemoryOperation AtomicOf(const Slot& slot) const;
  MemoryOperation OperationOf(Slot& slot) const;
  int Start(Slot& slot);
  void StartFree();
  void CollectCompletions();
  void OnEnd(Slot& slot, Time now);
  void CheckValue(Slot& slot);
  void VerifyWord();
  void VerifySlot();
  bool IsOver(Time now) const;
  bool HasFailed() const { return result_.outcome != Outcome::kDone; }
  void EndWith(Outcome outcome, std::string explanation);
  bool IsAtomic() const { return options_.mode == Mode::kAtomic; }

  MemoryCalls& calls_;
  const Options& options_;
  const uint32_t bytes_;
  const std::atomic<bool>& stop_;
  WorkerProgress* const progress_;
  Step step_ = Step::kFind;
  size_t at_ = 0;  // current destination or slot of the step
  suede_mem_result answer_ = {};
  bool is_executing_ = false;
  std::vector<uint8_t> room_;  // memory of Ask's operation
  Time until_{};               // deadline of finding the server, or of the drain
  Time again_{};               // time of the next attempt to find the server
  std::vector<uint8_t> memory_;
  std::vector<Slot> slots_;
  size_t next_slot_ = 0;       // the oldest operation's
  uint64_t needed_bytes_ = 0;  // minimum size of the window
  Time measured_from_{};
  Time last_end_{};
  uint64_t started_ = 0;
  uint64_t open_ = 0;
  std::vector<uint64_t> values_;  // expected next result of an atomic, by destination
  RateTrack track_;
  RunResult result_;
};

}  // namespace suede::perf

#endif  // SUEDE_APP_PERF_MEMORY_LOAD_H_
