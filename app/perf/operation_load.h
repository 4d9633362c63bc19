// SPDX-License-Identifier: Apache-2.0
// Operations of libsuede-mem in flight, each measured from its start to its end: the common part of
// the backends MemoryLoad and MessageLoad of a LoadRun.
#ifndef SUEDE_APP_PERF_OPERATION_LOAD_H_
#define SUEDE_APP_PERF_OPERATION_LOAD_H_

#include <cerrno>
#include <cstdint>
#include <vector>

#include "base/time.h"
#include "perf/load_run.h"
#include "perf/options.h"

namespace suede::perf {

// `Load`, the derived class, has:
//
//   kStartsPerClockRead   operations that are started per read of the clock. Later ones start after
//                         the recorded time, so latencies are never underestimated
//   Now(), ends_in_order()
//   Start(slot)      starts operation number started(); returns 0, -EAGAIN or another errno
//   FailStart(error), HasEnded(slot)
//   OnEnd(slot)      checks the result; returns whether the operation succeeded
template <class Load>
class OperationLoad {
 public:
  static constexpr bool kCountsSent = false;

  OperationLoad(LoadRecord& record, const Options& options, uint32_t bytes)
      : record_(record), options_(options), bytes_(bytes), slots_(options.inflight) {
    record.result.latency_is_rtt = true;
  }

  static constexpr uint64_t max_burst() { return UINT32_MAX; }
  uint64_t under_way() const { return started_ - ended_; }
  static constexpr bool is_abandoned() { return false; }
  void Abandon() {}

  uint32_t Issue(Time now, uint64_t max, uint64_t /*left*/, const RateSchedule& /*schedule*/) {
    uint32_t count = 0;
    for (; count < max; ++count) {
      Slot& slot = slots_[next_];
      if (slot.is_open) break;
      if (const int error = self().Start(next_); error != 0) {
        if (error != -EAGAIN) self().FailStart(error);
        break;
      }
      slot = {.start = now, .is_open = true};
      next_ = After(next_);
      ++started_;
      if (count % Load::kStartsPerClockRead == Load::kStartsPerClockRead - 1) now = self().Now();
    }
    return count;
  }

  Advance Drain(Time now, Time deadline) {
    return under_way() == 0 || now >= deadline ? Advance::kDone : Advance::kIdle;
  }

  void Settle() {
    RunResult& result = record_.result;
    result.forward.received = succeeded_;
    result.forward.data_bytes = succeeded_ * bytes_;
    result.is_unfinished = under_way() != 0;
    result.interrupted |= record_.stop;
  }

 protected:
  // Takes the ended operations. Returns whether there were any.
  bool CollectEnded() {
    const Time now = self().Now();
    const uint64_t before = ended_;
    // Visits the oldest operation first. In order, the first incomplete one ends the search.
    const bool in_order = self().ends_in_order();
    const uint64_t visits = in_order ? under_way() : slots_.size();
    size_t at = in_order ? oldest_ : next_;
    for (uint64_t i = 0; i < visits; ++i, at = After(at)) {
      if (!slots_[at].is_open) continue;
      if (self().HasEnded(at)) {
        OnEnd(at, now);
      } else if (in_order) {
        break;
      }
    }
    return ended_ != before;
  }

  uint64_t started() const { return started_; }
  uint64_t ended() const { return ended_; }
  size_t slots() const { return slots_.size(); }

  LoadRecord& record_;
  const Options& options_;
  const uint32_t bytes_;  // of an operation

 private:
  struct Slot {
    Time start{};
    bool is_open = false;
  };

  Load& self() { return static_cast<Load&>(*this); }
  size_t After(size_t at) const { return at + 1 == slots_.size() ? 0 : at + 1; }

  void OnEnd(size_t at, Time now) {
    slots_[at].is_open = false;
    oldest_ = After(oldest_);
    const bool succeeded = self().OnEnd(at);
    ++ended_;
    if (!succeeded) return;
    ++succeeded_;
    if (record_.AddLatency(now, slots_[at].start)) record_.Count(now, 1);
  }

  std::vector<Slot> slots_;  // by number of the operation, modulo the size
  size_t next_ = 0;          // slot of the next operation
  size_t oldest_ = 0;        // slot of the oldest operation, if operations end in order
  uint64_t started_ = 0;
  uint64_t ended_ = 0;
  uint64_t succeeded_ = 0;
};

}  // namespace suede::perf

#endif  // SUEDE_APP_PERF_OPERATION_LOAD_H_
