// SPDX-License-Identifier: Apache-2.0
// Endpoints over libsuede, as a client of a running daemon.
#ifndef SUEDE_APP_PERF_CLIENT_ENDPOINT_H_
#define SUEDE_APP_PERF_CLIENT_ENDPOINT_H_

#include <array>
#include <cerrno>
#include <cstdint>
#include <deque>
#include <memory>

#include "absl/status/statusor.h"
#include "perf/clock.h"
#include "perf/endpoint.h"
#include "perf/options.h"
#include "suede/load.h"
#include "suede/suede.h"

namespace suede::perf {

// The connection to an instance, shared by the workers.
class ClientSession {
 public:
  // Connects and claims the VCs. Returns Unavailable if no daemon responds, InvalidArgument if the
  // daemon does not support the options.
  static absl::StatusOr<std::unique_ptr<ClientSession>> Open(const Options& options);

  suede_client* client() const { return client_.get(); }
  uint16_t xpuid() const { return own_.xpuid; }
  uint32_t completion_limit() const { return completion_limit_; }
  uint32_t pack_limit() const { return pack_limit_; }
  const std::string& daemon_version() const { return daemon_version_; }

 private:
  struct Close {
    void operator()(suede_client* client) const { suede_close(client); }
  };
  explicit ClientSession(suede_client* client) : client_(client) {}
  absl::Status ReadLimits();
  absl::Status Claim(const Options& options);

  std::unique_ptr<suede_client, Close> client_;
  suede_instance own_{};
  uint32_t completion_limit_ = 1;
  uint32_t pack_limit_ = 1;
  std::string daemon_version_;
};

// The endpoint of one worker: one queue of the session. Not thread-safe.
class ClientEndpoint : public SingleLane {
 public:
  ClientEndpoint(const ClientSession& session, uint32_t queue, const TscClock& clock)
      : client_(session.client()),
        queue_(suede_get_queue(client_, queue)),
        queue_number_(queue),
        completion_limit_(session.completion_limit()),
        pack_limit_(session.pack_limit()),
        clock_(clock) {}

  SendResult Send(const ClientCommand& command, uint32_t /*lane*/ = 0) {
    const suede_command c{.xpuid = command.xpuid,
                          .vc = command.vc,
                          .flags = command.flags,
                          .reserved = 0,
                          .tag = command.tag,
                          .control = command.control,
                          .data = command.data};
    const int result = suede_send(queue_, &c);
    if (result == 0) [[likely]] return SendResult::kOk;
    return OnError(result);
  }
  SendResult Reserve(const ClientShape& shape, uint32_t count, CommandSpan* span,
                     uint32_t lane = 0);
  SendResult Commit(uint32_t count, uint32_t /*lane*/ = 0) {
    const int result = suede_commit(queue_, count);
    if (result >= 0) [[likely]]
      return SendResult::kOk;
    return OnError(result);
  }
  void Flush() { suede_flush(queue_); }
  uint32_t PollCompletions(suede_completion* out, uint32_t max) {
    return CountOf(suede_poll_completions(queue_, out, max));
  }
  uint32_t Receive(uint32_t vc, ReceivedSpan* out, uint32_t max) {
    suede_received_span in;
    const uint32_t count = CountOf(suede_receive_span(client_, static_cast<uint8_t>(vc), &in, max));
    if (count == 0) return 0;
    *out = {.control = in.control,
            .data = in.data,
            .stride = in.stride,
            .count = count,
            .control_bytes = in.control_bytes,
            .data_bytes = in.data_bytes,
            .source_xpuid = in.source_xpuid,
            .own_xpuid = in.own_xpuid,
            .instance = in.instance,
            .vc = in.vc};
    return count;
  }
  void Release(uint32_t vc) { suede_release(client_, static_cast<uint8_t>(vc)); }
  Time Now() const { return clock_.Now(); }
  uint32_t completion_limit() const { return completion_limit_; }
  uint32_t pack_limit() const { return pack_limit_; }
  bool lost() const { return lost_; }
  suede_queue* queue() const { return queue_; }

  // Updates lost(), with a system call.
  void CheckConnection() { lost_ |= suede_status(client_) != 0; }
  // Sleeps until commands arrive on `vc_mask`, or completions on the queue, at most 20 ms.
  void Wait(uint32_t vc_mask);

 private:
  SendResult OnError(int result);
  uint32_t CountOf(int result) {
    if (result >= 0) [[likely]] return static_cast<uint32_t>(result);
    lost_ |= result == -ECONNRESET;
    return 0;
  }

  suede_client* client_;
  suede_queue* queue_;
  const uint32_t queue_number_;
  const uint32_t completion_limit_;
  const uint32_t pack_limit_;
  const TscClock clock_;
  bool lost_ = false;
};
static_assert(PerfEndpoint<ClientEndpoint>);

// An endpoint over several instances of the own XPU, each with its own connection. libsuede's
// balancer picks the instance for each command. Not thread-safe.
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

#endif  // SUEDE_APP_PERF_CLIENT_ENDPOINT_H_
