// SPDX-License-Identifier: Apache-2.0
#include "planes/planes.h"

#include <sched.h>
#include <time.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace suede {
namespace {

thread_local char t_text[256] = "no error";

int64_t Read(clockid_t clock) {
  timespec now;
  clock_gettime(clock, &now);
  return int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

}  // namespace

const char* ErrorText() { return t_text; }

int Fail(int error, const char* text) {
  std::strncpy(t_text, text, sizeof t_text - 1);
  return error;
}

int FailAsSuede(int error) { return Fail(error, suede_error_text()); }
int FailPlaneGone() { return Fail(-ECONNRESET, "the daemon of a plane has gone"); }

int64_t NowNs() { return Read(CLOCK_MONOTONIC); }
int64_t CoarseNs() { return Read(CLOCK_MONOTONIC_COARSE); }

int Plane::Open(const char* name_or_path, const suede_instance* instance, uint32_t timeout_ms,
                uint32_t vc_mask) {
  suede_open_params params{};
  params.size = sizeof params;
  params.queue_count = 1;
  params.timeout_ms = timeout_ms;
  if (instance != nullptr) {
    params.instance_count = 1;
    params.instances[0] = *instance;
  }
  int error = suede_connect(name_or_path, &params, &client_);
  if (error != 0) return FailAsSuede(error);
  if (instance != nullptr) {
    instance_ = *instance;
  } else if (suede_get_instance(client_, 0, &instance_) != 0) {
    return Fail(-ENOTSUP, "the daemon names no instance");
  }
  error = suede_claim(client_, instance_.xpuid, instance_.instance, vc_mask);
  if (error != 0) return FailAsSuede(error);
  queue_ = suede_get_queue(client_, 0);
  is_connected_ = true;
  return 0;
}

int Plane::Reconnect() {
  const int error = suede_reconnect(client_);
  if (error != 0) return FailAsSuede(error);
  is_connected_ = true;
  is_flushed_ = true;
  return 0;
}

int Plane::Send(const Burst& burst) {
  if (!is_connected_) return BurstSink::kLost;
  const uint8_t flags = burst.wants_completion ? uint8_t{SUEDE_RECORD_COMPLETION} : uint8_t{0};
  int result;
  if (burst.count == 1) {
    const suede_command command{.xpuid = burst.to.xpuid,
                                .vc = burst.to.vc,
                                .flags = flags,
                                .reserved = 0,
                                .tag = burst.tag,
                                .control = burst.controls,
                                .data = burst.data};
    result = suede_send(queue_, &command);
    if (result == 0) result = 1;
  } else {
    const suede_batch batch{.size = sizeof batch,
                            .xpuid = burst.to.xpuid,
                            .vc = burst.to.vc,
                            .flags = flags,
                            .tag = burst.tag,
                            .control = burst.controls,
                            .data = burst.data,
                            .control_stride = kMaxControlBytes,
                            .data_stride = burst.data_bytes};
    result = suede_send_batch(queue_, &batch, burst.count);
  }
  if (result > 0) is_flushed_ = false;
  if (result >= 0) return result;
  if (result == -EAGAIN || result == -EBUSY) return 0;
  OnLost();
  return BurstSink::kLost;
}

int Planes::Open(const char* name_or_path, std::span<const suede_instance> instances,
                 uint32_t timeout_ms, uint32_t vc_mask) {
  planes_ = std::vector<Plane>(std::max<size_t>(instances.size(), 1));
  for (uint32_t i = 0; i < size(); ++i) {
    const suede_instance* const instance = instances.empty() ? nullptr : &instances[i];
    if (instance != nullptr && instance->xpuid != instances[0].xpuid) {
      return Fail(-EINVAL, "the planes are instances of one XPU");
    }
    const int error = planes_[i].Open(name_or_path, instance, timeout_ms, vc_mask);
    if (error != 0) return error;
  }
  return 0;
}

int Planes::Reconnect(uint32_t* reconnected) {
  *reconnected = 0;
  int error = 0;
  for (uint32_t i = 0; i < size() && error == 0; ++i) {
    if (planes_[i].is_connected()) continue;
    error = planes_[i].Reconnect();
    if (error == 0) *reconnected |= 1u << i;
  }
  given_up_ &= ~*reconnected;
  return error;
}

int64_t DeadlineOf(int timeout_ms) {
  return timeout_ms < 0 ? INT64_MAX : NowNs() + int64_t{timeout_ms} * 1'000'000;
}

int FailTimedOut() { return Fail(-ETIMEDOUT, "the time is over"); }

bool Idler::OnIdle(bool may_wait) {
  constexpr uint32_t kPollsToYield = 64;
  constexpr int64_t kTimeToSleepNs = 10'000'000;
  if (idle_polls_++ < kPollsToYield) return false;
  const int64_t now = NowNs();
  if (idle_polls_ == kPollsToYield + 1) since_ns_ = now;
  if (now - since_ns_ >= kTimeToSleepNs && may_wait) return true;
  sched_yield();
  return false;
}

void Idler::OnIdle(Plane& plane, uint32_t vc_mask, bool wants_credit, int wait_ms) {
  if (!OnIdle(plane.is_connected())) return;
  const suede_wait_set want{
      .credit_queues = wants_credit ? 1u : 0u, .completion_queues = 1, .rx_vcs = vc_mask};
  suede_wait(plane.client(), &want, nullptr, wait_ms);
}

}  // namespace suede
