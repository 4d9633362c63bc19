// SPDX-License-Identifier: Apache-2.0
// A client of a simulated endpoint, as the engine of suede-perf drives one (perf/endpoint.h). The
// clock is virtual.
#ifndef SUEDE_TESTS_LABSIM_LAB_CLIENT_H_
#define SUEDE_TESTS_LABSIM_LAB_CLIENT_H_

#include <cstdint>
#include <vector>

#include "client/client_queue.h"
#include "client/client_receiver.h"
#include "client/segment.h"
#include "perf/endpoint.h"

namespace suede::lab {

// The memory of a client: pages that nobody has touched take none.
class ClientMemory {
 public:
  explicit ClientMemory(const SegmentShape& shape);
  ~ClientMemory();
  ClientMemory(const ClientMemory&) = delete;
  void* base() const { return base_; }
  const SegmentShape& shape() const { return shape_; }

 private:
  const SegmentShape shape_;
  const uint64_t bytes_;
  void* base_ = nullptr;
};

class LabClient : public perf::SingleLane {
 public:
  // All of them outlive this.
  LabClient(const ClientMemory& memory, uint32_t pack_limit, const Time& now)
      : queue_(memory.base(), 0),
        completion_limit_(memory.shape().completion_count),
        pack_limit_(pack_limit),
        now_(now) {
    for (uint32_t vc = 0; vc < kVcCount; ++vc) receivers_.emplace_back(memory.base(), vc);
  }

  SendResult Send(const ClientCommand& command, uint32_t /*lane*/ = 0) {
    return Note(queue_.Send(command));
  }
  SendResult Reserve(const ClientShape& shape, uint32_t count, CommandSpan* span,
                     uint32_t /*lane*/ = 0) {
    return Note(queue_.Reserve(shape, count, span));
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
  Time Now() const { return now_; }
  uint32_t completion_limit() const { return completion_limit_; }
  uint32_t pack_limit() const { return pack_limit_; }
  bool lost() const { return lost_; }

 private:
  SendResult Note(SendResult result) {
    lost_ |= result == SendResult::kBroken;
    return result;
  }

  ClientQueue queue_;
  std::vector<ClientReceiver> receivers_;
  const uint32_t completion_limit_;
  const uint32_t pack_limit_;
  const Time& now_;
  bool lost_ = false;
};
static_assert(perf::PerfEndpoint<LabClient>);

}  // namespace suede::lab

#endif  // SUEDE_TESTS_LABSIM_LAB_CLIENT_H_
