// SPDX-License-Identifier: Apache-2.0
// Memory operations over an endpoint in this process, on the lcore that serves it.
#ifndef SUEDE_APP_PERF_EMBEDDED_CALLS_H_
#define SUEDE_APP_PERF_EMBEDDED_CALLS_H_

#include <cstdint>
#include <string>

#include "base/time.h"
#include "mem/initiator.h"
#include "perf/embed_endpoint.h"
#include "perf/memory_calls.h"
#include "perf/options.h"

namespace suede::perf {

class EmbeddedCalls final : public MemoryCalls, private BurstSink {
 public:
  // `end` must outlive the object, and have claimed the VC of the responses.
  EmbeddedCalls(EmbedEndpoint& end, const Options& options);

  int Start(const mem::Call& call, uint32_t deadline_ms) override;
  int Poll(Time now) override;
  void Flush() override;
  Time Now() const override { return end_.Now(); }
  std::string Error() const override { return "the lcore has stopped serving the queue"; }

 private:
  int Send(const Burst& burst) override;
  void TakeCompletions();
  void TakeResponses();

  EmbedEndpoint& end_;
  const uint8_t response_vc_;
  mem::Initiator initiator_;
  Time polled_{};
  uint64_t reported_ = 0;  // completed operations that Poll has reported
};

}  // namespace suede::perf

#endif  // SUEDE_APP_PERF_EMBEDDED_CALLS_H_
