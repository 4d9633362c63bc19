// SPDX-License-Identifier: Apache-2.0
// A plane: one instance of the own XPU, and its connection to the daemon.
#ifndef SUEDE_LIBSUEDE_MEM_PLANE_H_
#define SUEDE_LIBSUEDE_MEM_PLANE_H_

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "suede/suede.h"

namespace suede::mem {

// Returns the calling thread's error text, for suede_mem_error_text.
const char* ErrorText();
// Sets the calling thread's error text. Returns `error`.
int Fail(int error, const char* text);
// Reports that the endpoint's name is NULL. Returns -EINVAL.
int FailNoName();
// Copies libsuede's error text. Returns `error`.
int FailAsSuede(int error);

// Not thread-safe, except for client(). Functions that return int return 0 or a negative errno,
// unless noted.
class Plane {
 public:
  Plane() = default;
  ~Plane() { suede_close(client_); }
  Plane(const Plane&) = delete;
  Plane& operator=(const Plane&) = delete;

  // Connects and claims the VCs. `instance` null: the daemon's first instance.
  int Open(const char* name_or_path, const suede_instance* instance, uint32_t timeout_ms,
           uint32_t vc_mask);
  // Reconnects and repeats the claims after the daemon has gone.
  int Reconnect();

  const suede_instance& instance() const { return instance_; }
  suede_client* client() const { return client_; }
  suede_queue* queue() const { return queue_; }

  // Returns false if the daemon has gone or has stopped serving the queue.
  bool is_connected() const { return is_connected_; }
  void OnLost() { is_connected_ = false; }
  // Processes the result of a send function. Returns the number of commands accepted; 0: would
  // block; -1: the plane is now lost.
  int OnSent(int result) {
    if (result > 0) is_flushed_ = false;
    if (result >= 0) return result;
    if (result == -EAGAIN || result == -EBUSY) return 0;
    OnLost();
    return -1;
  }
  // Sends `count` commands with contiguous controls and contiguous data. `first` describes the
  // first one; its flags and tag apply to all, so `count` is 1 with a completion. Returns as
  // OnSent.
  int SendBurst(const suede_command& first, uint32_t control_bytes, uint32_t data_bytes,
                uint32_t count) {
    if (count == 1) {
      const int error = suede_send(queue_, &first);
      return OnSent(error == 0 ? 1 : error);
    }
    const suede_batch batch{.size = sizeof batch,
                            .xpuid = first.xpuid,
                            .vc = first.vc,
                            .flags = first.flags,
                            .tag = first.tag,
                            .control = first.control,
                            .data = first.data,
                            .control_stride = control_bytes,
                            .data_stride = data_bytes};
    return OnSent(suede_send_batch(queue_, &batch, count));
  }
  // Passes up to `max` received commands of the VC to each(source XPU, control, control bytes, data
  // or null, data bytes). Returns their number.
  template <typename Each>
  uint32_t TakeCommands(uint8_t vc, uint32_t max, Each&& each) {
    suede_received_span span;
    uint32_t taken = 0;
    while (taken < max) {
      const int count = suede_receive_span(client_, vc, &span, max - taken);
      if (count <= 0) {
        if (count < 0) OnLost();
        break;
      }
      for (uint32_t i = 0; i < span.count; ++i) {
        const size_t at = size_t{i} * span.stride;
        each(span.source_xpuid, span.control + at, span.control_bytes,
             span.data == nullptr ? nullptr : span.data + at, span.data_bytes);
      }
      taken += span.count;
    }
    if (taken != 0) suede_release(client_, vc);
    return taken;
  }
  void Flush() {
    if (is_flushed_) return;
    suede_flush(queue_);
    is_flushed_ = true;
  }

 private:
  suede_client* client_ = nullptr;
  suede_queue* queue_ = nullptr;
  suede_instance instance_ = {};
  bool is_connected_ = false;
  bool is_flushed_ = true;
};

// Connects the planes, whose instances must belong to one XPU. `count` 0: one plane, with the
// daemon's first instance. Returns 0 or a negative errno.
int OpenPlanes(const char* name_or_path, const suede_instance* instances, uint32_t count,
               uint32_t timeout_ms, uint32_t vc_mask, std::vector<Plane>* planes);
// Reconnects the lost planes. Stores a mask of the reconnected ones in *reconnected. Returns 0 or a
// negative errno.
int ReconnectPlanes(std::vector<Plane>* planes, uint32_t* reconnected);

// Backoff of an idle thread: spins for 64 polls, then yields the CPU, and after 10 ms waits for
// commands of `vc_mask`, completions and credit.
class Idler {
 public:
  // To be called after an idle poll. Returns true if the thread should wait now, which requires
  // `may_wait`. Otherwise yields the CPU, if due.
  bool OnIdle(bool may_wait);
  // As above, and waits on the plane if due, for at most `wait_ms`.
  void OnIdle(Plane& plane, uint32_t vc_mask, bool wants_credit, int wait_ms);
  void OnBusy() { turns_ = 0; }

 private:
  uint32_t turns_ = 0;
  int64_t since_ns_ = 0;
};

int64_t NowNs();
// NowNs() at the last timer tick; cheap, without a system call.
int64_t CoarseNs();
// Returns the deadline of a call, in ns of NowNs(); INT64_MAX: none, for a negative timeout.
int64_t DeadlineOf(int timeout_ms);
// Sets the error text for a timeout. Returns -ETIMEDOUT.
int FailTimedOut();

}  // namespace suede::mem

#endif  // SUEDE_LIBSUEDE_MEM_PLANE_H_
