// SPDX-License-Identifier: Apache-2.0
// An endpoint over several instances of the own XPU, each with its own connection. libsuede's
// balancer picks the instance for each command.
#ifndef SUEDE_APP_PERF_BALANCED_ENDPOINT_H_
#define SUEDE_APP_PERF_BALANCED_ENDPOINT_H_

#include <array>
#include <cstdint>
#include <deque>
#include <memory>

#include "absl/status/statusor.h"
#include "perf/client_endpoint.h"
#include "suede/load.h"

namespace suede::perf {

// Not thread-safe.
class BalancedEndpoint {
 public:
  // Creates an endpoint over queue 0 of each session. The sessions must outlive it. `policy`:
  // SUEDE_BALANCE_…
  static absl::StatusOr<std::unique_ptr<BalancedEndpoint>> Create(
      const std::deque<std::unique_ptr<ClientSession>>& sessions, uint32_t policy,
      const TscClock& clock);

  uint32_t lanes() const { return static_cast<uint32_t>(lanes_.size()); }
  int32_t Pick(uint16_t xpuid, uint32_t attempt) {
    if (attempt == 0) {
      picked_ = suede_balancer_choose(balancer_.get(), xpuid);
      return picked_;
    }
    if (!tries_others_ || attempt >= lanes()) return -1;
    return static_cast<int32_t>((static_cast<uint32_t>(picked_) + attempt) % lanes());
  }
  SendResult Send(const ClientCommand& command, uint32_t lane) {
    return lanes_[lane].Send(command);
  }
  SendResult Reserve(const ClientShape& shape, uint32_t count, CommandSpan* span, uint32_t lane) {
    return lanes_[lane].Reserve(shape, count, span);
  }
  SendResult Commit(uint32_t count, uint32_t lane) { return lanes_[lane].Commit(count); }
  void Flush() {
    for (ClientEndpoint& lane : lanes_) lane.Flush();
  }
  uint32_t PollCompletions(suede_completion* out, uint32_t max) {
    uint32_t count = 0;
    for (ClientEndpoint& lane : lanes_) count += lane.PollCompletions(out + count, max - count);
    return count;
  }
  // Returns commands that one instance received on the VC. The next call polls the other instances
  // first.
  uint32_t Receive(uint32_t vc, ReceivedSpan* out, uint32_t max) {
    for (uint32_t i = 0; i < lanes(); ++i) {
      const uint32_t lane = next_[vc];
      next_[vc] = lane + 1 == lanes() ? 0 : lane + 1;
      const uint32_t count = lanes_[lane].Receive(vc, out, max);
      if (count != 0) return count;
    }
    return 0;
  }
  void Release(uint32_t vc) {
    for (ClientEndpoint& lane : lanes_) lane.Release(vc);
  }
  Time Now() const { return lanes_[0].Now(); }
  // The limit of one queue, which therefore holds for all queues together.
  uint32_t completion_limit() const { return lanes_[0].completion_limit(); }
  uint32_t pack_limit() const { return lanes_[0].pack_limit(); }
  bool lost() const {
    for (const ClientEndpoint& lane : lanes_) {
      if (lane.lost()) return true;
    }
    return false;
  }
  void CheckConnection() {
    for (ClientEndpoint& lane : lanes_) lane.CheckConnection();
  }

 private:
  struct Destroy {
    void operator()(suede_balancer* balancer) const { suede_balancer_destroy(balancer); }
  };

  BalancedEndpoint() = default;

  std::deque<ClientEndpoint> lanes_;
  std::unique_ptr<suede_balancer, Destroy> balancer_;
  bool tries_others_ = false;
  int32_t picked_ = 0;
  std::array<uint32_t, kVcCount> next_{};  // lane to poll next, by VC
};
static_assert(PerfEndpoint<BalancedEndpoint>);

}  // namespace suede::perf

#endif  // SUEDE_APP_PERF_BALANCED_ENDPOINT_H_
