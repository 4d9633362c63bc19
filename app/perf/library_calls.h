// SPDX-License-Identifier: Apache-2.0
// Memory operations through libsuede-mem, as a client of a daemon.
#ifndef SUEDE_APP_PERF_LIBRARY_CALLS_H_
#define SUEDE_APP_PERF_LIBRARY_CALLS_H_

#include <string>

#include "base/time.h"
#include "perf/clock.h"
#include "perf/memory_calls.h"
#include "suede/mem.h"

namespace suede::perf {

class LibraryCalls final : public MemoryCalls {
 public:
  // `mem` must outlive the object.
  LibraryCalls(suede_mem* mem, const TscClock& clock) : mem_(mem), clock_(clock) {}

  int Start(const MemoryOperation& operation) override;
  int Poll(Time /*now*/) override { return suede_mem_poll(mem_); }
  void Flush() override { suede_mem_flush(mem_); }
  Time Now() const override { return clock_.Now(); }
  std::string Error() const override { return suede_mem_error_text(); }

  // Required by WorkerLoop; Poll detects a lost connection.
  void CheckConnection() const {}

 private:
  suede_mem* const mem_;
  const TscClock clock_;
};

}  // namespace suede::perf

#endif  // SUEDE_APP_PERF_LIBRARY_CALLS_H_
