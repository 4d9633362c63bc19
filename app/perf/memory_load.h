// SPDX-License-Identifier: Apache-2.0
// The load of memory operations, as the backend of a LoadRun.
//
//   connect  finds the servers, and initializes their memory
//   finish   verifies the servers' memory
//
// Never blocks: stepped by the thread of a daemon's client, or on the lcore of an endpoint in this
// process. Not thread-safe.
#ifndef SUEDE_APP_PERF_MEMORY_LOAD_H_
#define SUEDE_APP_PERF_MEMORY_LOAD_H_

#include <cstdint>
#include <vector>

#include "base/time.h"
#include "perf/memory_calls.h"
#include "perf/operation_load.h"

namespace suede::perf {

class MemoryLoad : public OperationLoad<MemoryLoad> {
 public:
  static constexpr uint32_t kStartsPerClockRead = 16;

  // A load of operations of one size. All arguments must outlive it. `calls` must not be polled any
  // more once a run's result is unfinished.
  MemoryLoad(LoadRecord& record, MemoryCalls& calls, const Options& options, uint32_t bytes);

  bool Poll(Time now);
  Advance Connect(Time now);
  Advance Finish(Time now);
  void Flush() { calls_.Flush(); }

  // For OperationLoad.
  Time Now() const { return calls_.Now(); }
  bool ends_in_order() const { return options_.destinations.size() == 1 && !options_.unordered; }
  int Start(size_t at);
  void FailStart(int /*error*/) { record_.Fail(Outcome::kEndpointLost, calls_.Error()); }
  bool HasEnded(size_t at) const { return slots_[at].result.status != SUEDE_MEM_PENDING; }
  bool OnEnd(size_t at);

 private:
  // An operation in flight, with separate memory at both ends.
  struct Slot {
    suede_mem_result result = {};
    uint64_t offset = 0;  // in the server's window
    uint8_t* octets = nullptr;
    uint64_t number = 0;       // of the last operation, among those to the destination
    uint32_t destination = 0;  // index in options.destinations
    bool is_used = false;
  };

  // Executes one operation outside of the load. To be called again while it returns PENDING.
  uint32_t Execute(mem::Call call, uint32_t deadline_ms = 0);
  void FindServer(Time now);
  void OnRefusal(uint32_t status, Time now);
  mem::Call AtomicOf(const Slot& slot) const;
  mem::Call CallOf(Slot& slot) const;
  void CheckValue(Slot& slot);
  void VerifyWord();
  void VerifySlot();
  bool IsAtomic() const { return options_.mode == Mode::kAtomic; }

  MemoryCalls& calls_;
  size_t found_ = 0;  // number of destinations with a server
  size_t at_ = 0;     // current destination or slot of the initialization or verification
  suede_mem_result single_result_ = {};
  bool is_executing_ = false;
  std::vector<uint8_t> buffer_;  // memory of Execute's operation
  Time deadline_ = kNever;       // deadline of finding the server
  Time retry_at_{};              // time of the next attempt to find the server
  std::vector<uint8_t> memory_;
  std::vector<Slot> slots_;
  uint64_t needed_bytes_ = 0;     // minimum size of the window
  std::vector<uint64_t> values_;  // expected next result of an atomic, by destination
};

}  // namespace suede::perf

#endif  // SUEDE_APP_PERF_MEMORY_LOAD_H_
