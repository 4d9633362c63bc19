// SPDX-License-Identifier: Apache-2.0
// Endpoint hosted in this process. The engine is a regular client, except that its segment is
// private memory, and that it runs on the lcore that serves it.
#ifndef SUEDE_APP_PERF_EMBED_ENDPOINT_H_
#define SUEDE_APP_PERF_EMBED_ENDPOINT_H_

#include <cstdint>
#include <vector>

#include "client/client_queue.h"
#include "client/client_receiver.h"
#include "dpdk/lcores.h"
#include "perf/endpoint.h"

namespace suede::perf {

class EmbedEndpoint : public SingleLane {
 public:
  EmbedEndpoint(void* segment, uint32_t completion_limit, uint32_t pack_limit,
                const suede::TscClock& clock)
      : queue_(segment, 0),
        completion_limit_(completion_limit),
        pack_limit_(pack_limit),
        clock_(clock) {
    for (uint32_t vc = 0; vc < kVcCount; ++vc) receivers_.emplace_back(segment, vc);
  }

  SendResult Send(const ClientCommand& command, uint32_t /*lane*/ = 0) {
    return Noted(queue_.Send(command));
  }
  // Sends `count` commands of one shape. Stores the number accepted in *sent.
  SendResult SendRun(const ClientRun& run, uint32_t count, uint32_t* sent) {
    return Noted(queue_.SendRun(run, count, sent));
  }
  SendResult Reserve(const ClientShape& shape, uint32_t count, CommandSpan* span,
                     uint32_t /*lane*/ = 0) {
    return Noted(queue_.Reserve(shape, count, span));
  }
  SendResult Commit(uint32_t count, uint32_t /*lane*/ = 0) { return queue_.Commit(count); }
  void Flush() { queue_.Flush(); }
  uint32_t PollCompletions(suede_completion* out, uint32_t max) {
    return queue_.PollCompletions(out, max);
  }
  uint32_t Receive(uint32_t vc, ReceivedSpan* out, uint32_t max) {
    return receivers_[vc].PollRun(out, max);
  }
  void Release(uint32_t vc) { receivers_[vc].Release(); }
  Time Now() const { return clock_.Now(); }
  uint32_t completion_limit() const { return completion_limit_; }
  uint32_t pack_limit() const { return pack_limit_; }
  bool lost() const { return lost_; }

 private:
  SendResult Noted(SendResult result) {
    lost_ |= result == SendResult::kBroken;
    return result;
  }

  ClientQueue queue_;
  std::vector<ClientReceiver> receivers_;
  const uint32_t completion_limit_;
  const uint32_t pack_limit_;
  const suede::TscClock clock_;
  bool lost_ = false;
};
static_assert(PerfEndpoint<EmbedEndpoint>);

}  // namespace suede::perf

#endif  // SUEDE_APP_PERF_EMBED_ENDPOINT_H_
