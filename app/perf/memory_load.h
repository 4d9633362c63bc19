// SPDX-License-Identifier: Apache-2.0
// The load of memory operations: keeps a number of puts, gets or atomics under way and measures
// each.
//
// Over libsuede-mem; blocks. One thread uses it.
#ifndef SUEDE_APP_PERF_MEMORY_LOAD_H_
#define SUEDE_APP_PERF_MEMORY_LOAD_H_

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "base/time.h"
#include "perf/clock.h"
#include "perf/options.h"
#include "perf/progress.h"
#include "perf/results.h"
#include "suede/mem.h"

namespace suede::perf {

// The window of a server of memory operations.
inline constexpr uint16_t kMemoryWindow = 0;

class MemoryLoad {
 public:
  // Of one size. All outlive it.
  MemoryLoad(suede_mem* mem, const Options& options, uint32_t bytes, const TscClock& clock,
             const std::atomic<bool>& stop, WorkerProgress* progress);

  RunResult Run();

 private:
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

  // They return false where the run is over.
  bool FindServers();
  bool Prepare();
  void Load();
  void Drain();
  void Verify();

  bool FindServer(uint16_t xpuid);
  suede_mem_call CallOf(uint16_t xpuid, uint64_t offset, suede_mem_result* result) const;
  int Start(Slot& slot);
  int StartAtomic(const suede_mem_call& call, uint64_t number);
  // Polls until the operation is complete; its status, PENDING where a signal came before.
  uint32_t Await(const suede_mem_result& result);
  void StartFree(Time now);
  bool TakeEnds();
  void OnEnd(Slot& slot, Time now);
  void CheckValue(Slot& slot);
  bool IsOver(Time now) const;
  void Rest(bool worked);
  bool EndWith(Outcome outcome, std::string explanation);
  bool IsAtomic() const { return options_.mode == Mode::kAtomic; }

  suede_mem* const mem_;
  const Options& options_;
  const uint32_t bytes_;
  const TscClock clock_;
  const std::atomic<bool>& stop_;
  WorkerProgress* const progress_;
  std::vector<uint8_t> memory_;
  std::vector<Slot> slots_;
  size_t next_slot_ = 0;       // the one that was started longest ago
  uint64_t needed_bytes_ = 0;  // of the window
  Time measured_from_{};
  Time last_end_{};
  uint64_t started_ = 0;
  uint64_t open_ = 0;
  std::vector<uint64_t> values_;  // the next one that an atomic returns, by destination
  uint32_t idle_turns_ = 0;
  RateTrack track_;
  RunResult result_;
};

}  // namespace suede::perf

#endif  // SUEDE_APP_PERF_MEMORY_LOAD_H_
