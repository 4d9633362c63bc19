// SPDX-License-Identifier: Apache-2.0
// A plane: an own instance of an XPU, with a connection to the daemon.
#ifndef SUEDE_LIBSUEDE_MEM_PLANE_H_
#define SUEDE_LIBSUEDE_MEM_PLANE_H_

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "suede/suede.h"

namespace suede::mem {

// The sentence that suede_mem_error_text gives, of this thread.
const char* ErrorText();
// Notes the sentence and gives `error` back.
int Fail(int error, const char* text);
// -EINVAL: the name of an endpoint is NULL.
int FailNoName();
// Notes libsuede's last sentence and gives `error` back.
int FailAsSuede(int error);

// Used by one thread at a time, but for client().
class Plane {
 public:
  Plane() = default;
  ~Plane() { suede_close(client_); }
  Plane(const Plane&) = delete;
  Plane& operator=(const Plane&) = delete;

  // Connects, and claims the VCs. `instance` null: the first one that the daemon names.
  int Open(const char* name_or_path, const suede_instance* instance, uint32_t timeout_ms,
           uint32_t vc_mask);
  // Connects and claims again, where the daemon has gone.
  int Reconnect();

  const suede_instance& instance() const { return instance_; }
  suede_client* client() const { return client_; }
  suede_queue* queue() const { return queue_; }

  // False: the daemon has gone, or has stopped serving the queue.
  bool is_connected() const { return is_connected_; }
  void OnLost() { is_connected_ = false; }
  // The result of a call that sends: how many commands were taken; 0 where it would block, -1 where
  // the plane is lost now.
  int OnSent(int result) {
    if (result > 0) is_flushed_ = false;
    if (result >= 0) return result;
    if (result == -EAGAIN || result == -EBUSY) return 0;
    OnLost();
    return -1;
  }
  // Sends commands whose controls and data lie one behind the other: `first` says how, and has the
  // flags and the tag of all; one with a completion is alone. Returns as OnSent.
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
  // Gives what has come on the VC, `max` commands at most, to `each`(source XPU, control, its
  // bytes, data or null, its bytes). Returns how many there were.
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

// Connects all planes. Their instances are of one XPU. `count` 0: one, as the daemon names it.
int OpenPlanes(const char* name_or_path, const suede_instance* instances, uint32_t count,
               uint32_t timeout_ms, uint32_t vc_mask, std::vector<Plane>* planes);
// Reconnects the planes that are lost; `reconnected` has a bit for each.
int ReconnectPlanes(std::vector<Plane>* planes, uint32_t* reconnected);

// Idling of a thread while nothing happens: polls, then gives the CPU away, and after 10 ms waits
// for the commands of `vc_mask`, completions and credit.
class Idler {
 public:
  // After a turn without anything to do: whether to wait now. Otherwise, also where the thread must
  // not wait (`may_wait`), has given the CPU away if it was time to.
  bool OnIdle(bool may_wait);
  // Idles as above, and waits on the plane where it is time to, for at most `wait_ms`.
  void OnIdle(Plane& plane, uint32_t vc_mask, bool wants_credit, int wait_ms);
  void OnBusy() { turns_ = 0; }

 private:
  uint32_t turns_ = 0;
  int64_t since_ns_ = 0;
};

int64_t NowNs();
// The time of the clock's last tick; reading it takes some nanoseconds.
int64_t CoarseNs();
// When a call with that timeout ends; INT64_MAX: never, as the timeout is negative.
int64_t DeadlineOf(int timeout_ms);
// The error of a call that has timed out.
int FailTime();

}  // namespace suede::mem

#endif  // SUEDE_LIBSUEDE_MEM_PLANE_H_
