// SPDX-License-Identifier: Apache-2.0
// The load of memory operations: keeps a number of puts, gets or atomics under way and measures
// each.
//
// Never blocks: the thread of a daemon's client steps it, or the lcore of an endpoint in this
// process does. One thread uses it.
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
  // A load of operations of one size. All arguments outlive it.
  MemoryLoad(MemoryCalls& calls, const Options& options, uint32_t bytes,
             const std::atomic<bool>& stop, WorkerProgress* progress);

  // Does a step. Returns whether there was something to do.
  bool Turn(Time now);
  bool done() const { return step_ == Step::kOver; }
  // Once done: whether `calls` still knows operations of this load. It must not be polled then.
  bool has_open() const { return open_ != 0 || is_asked_; }
  RunResult TakeResult();

 private:
  enum class Step : uint8_t { kFind, kPrepare, kLoad, kDrain, kVerify, kOver };

  // An operation under way, with octets of its own at both ends.
  struct Slot {
    suede_mem_result result = {};
    Time start{};
    uint64_t offset = 0;  // in the window
    uint8_t* octets = nullptr;
    uint64_t number = 0;       // of the last operation
    uint32_t destination = 0;  // its place in options.destinations
    bool is_open = false;
    bool is_used = false;
  };

  // Each serves one step and begins the next.
  void FindServers(Time now);
  void Prepare();
  void Load(Time now, bool has_ends);
  void Drain(Time now, bool has_ends);
  void Verify();
  void Begin(Step step);

  // Asks for one operation beside the load: to be called again until its status is not PENDING.
  uint32_t Ask(MemoryOperation operation);
  void OnRefusal(uint32_t status, Time now);
  MemoryOperation AtomicOf(const Slot& slot) const;
  MemoryOperation OperationOf(Slot& slot) const;
  int Start(Slot& slot);
  void StartFree();
  void TakeEnds();
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
  size_t at_ = 0;  // the destination or slot that the step has got to
  suede_mem_result answer_ = {};
  bool is_asked_ = false;
  std::vector<uint8_t> room_;  // of the answer
  Time until_{};               // of the server that is looked for, or the drain
  Time again_{};               // when it is asked again
  std::vector<uint8_t> memory_;
  std::vector<Slot> slots_;
  size_t next_slot_ = 0;       // the one that was started longest ago
  uint64_t needed_bytes_ = 0;  // of the window
  Time measured_from_{};
  Time last_end_{};
  uint64_t started_ = 0;
  uint64_t open_ = 0;
  std::vector<uint64_t> values_;  // the next one that an atomic returns, by destination
  RateTrack track_;
  RunResult result_;
};

}  // namespace suede::perf

#endif  // SUEDE_APP_PERF_MEMORY_LOAD_H_
