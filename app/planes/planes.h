// SPDX-License-Identifier: Apache-2.0
// A plane: one instance of the own XPU, and its connection to the daemon. The lock, the waits and
// the clocks of what polls planes.
#ifndef SUEDE_PLANES_PLANES_H_
#define SUEDE_PLANES_PLANES_H_

#include <pthread.h>
#include <sys/random.h>

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <span>
#include <vector>

#include "base/coordinates.h"
#include "outbound/burst.h"
#include "suede/suede.h"

namespace suede {

// Returns the calling thread's error text.
const char* ErrorText();
// Sets the calling thread's error text. Returns `error`.
int Fail(int error, const char* text);
// Copies libsuede's error text. Returns `error`.
int FailAsSuede(int error);
// Reports that a plane is lost. Returns -ECONNRESET.
int FailPlaneGone();

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
  // Sends as BurstSink::Send.
  int Send(const Burst& burst);
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

// The planes of an XPU. Not thread-safe. The functions that return int return 0 or a negative
// errno, except for Send.
class Planes final : public BurstSink {
 public:
  // Connects the planes, whose instances must belong to one XPU. No instances: one plane, with the
  // daemon's first instance.
  int Open(const char* name_or_path, std::span<const suede_instance> instances, uint32_t timeout_ms,
           uint32_t vc_mask);
  // Reconnects the lost planes. Stores a mask of the reconnected ones in *reconnected.
  int Reconnect(uint32_t* reconnected);

  uint32_t size() const { return static_cast<uint32_t>(planes_.size()); }
  Plane& operator[](size_t plane) { return planes_[plane]; }
  const Plane& operator[](size_t plane) const { return planes_[plane]; }
  auto begin() { return planes_.begin(); }
  auto end() { return planes_.end(); }

  int Send(const Burst& burst) override { return planes_[burst.to.plane].Send(burst); }
  void Flush() {
    for (Plane& plane : planes_) plane.Flush();
  }
  // Passes up to `max` received commands of the plane's VC to each(source, control, control bytes,
  // data or null, data bytes). Returns their number.
  template <typename Each>
  uint32_t TakeCommands(PlaneIndex plane, Vc vc, uint32_t max, Each&& each) {
    suede_client* const client = planes_[plane].client();
    suede_received_span span;
    uint32_t taken = 0;
    while (taken < max) {
      const int count = suede_receive_span(client, static_cast<uint8_t>(vc), &span, max - taken);
      if (count <= 0) {
        if (count < 0) planes_[plane].OnLost();
        break;
      }
      const Route from{.xpuid = span.source_xpuid,
                       .plane = static_cast<uint8_t>(plane),
                       .vc = static_cast<uint8_t>(vc)};
      for (uint32_t i = 0; i < span.count; ++i) {
        const size_t at = size_t{i} * span.stride;
        each(from, span.control + at, span.control_bytes,
             span.data == nullptr ? nullptr : span.data + at, span.data_bytes);
      }
      taken += span.count;
    }
    if (taken != 0) suede_release(client, static_cast<uint8_t>(vc));
    return taken;
  }
  // Passes the completions of the plane's commands to each(suede_completion).
  template <typename Each>
  void TakeCompletions(uint32_t plane, Each&& each) {
    constexpr uint32_t kMax = 64;
    suede_completion completions[kMax];
    int count;
    do {
      count = suede_poll_completions(planes_[plane].queue(), completions, kMax);
      for (int i = 0; i < count; ++i) each(completions[i]);
    } while (count == kMax);
  }

  // Mask of planes whose loss was processed.
  uint32_t given_up() const { return given_up_; }
  bool IsGivenUp(uint32_t plane) const { return (given_up_ & 1u << plane) != 0; }
  // Processes newly lost planes by give_up(plane). Returns whether there are any.
  template <typename GiveUp>
  bool GiveUpLost(GiveUp&& give_up) {
    const uint32_t before = given_up_;
    for (uint32_t i = 0; i < size(); ++i) {
      if (planes_[i].is_connected() || IsGivenUp(i)) continue;
      given_up_ |= 1u << i;
      give_up(i);
    }
    return given_up_ != before;
  }

 private:
  std::vector<Plane> planes_;
  uint32_t given_up_ = 0;
};

// A lock for which calls have priority over a thread that polls, which yields while IsAwaited.
class PriorityLock {
 public:
  void lock() {
    waiting_.fetch_add(1, std::memory_order_relaxed);
    mutex_.lock();
    waiting_.fetch_sub(1, std::memory_order_relaxed);
  }
  void unlock() { mutex_.unlock(); }
  bool IsAwaited() const { return waiting_.load(std::memory_order_relaxed) != 0; }

 private:
  std::mutex mutex_;
  std::atomic<uint32_t> waiting_{0};
};
using LockGuard = std::lock_guard<PriorityLock>;

// The thread that polls the planes of a client.
class PollThread {
 public:
  // Error texts of Start if the thread has been started, and of Stop if it has not.
  PollThread(const char* is_started, const char* is_not_started)
      : is_started_text_(is_started), is_not_started_text_(is_not_started) {}

  // Starts the thread, which calls owner->Run() once; Run returns soon after must_stop(). Before,
  // calls owner->BeforeRun(). Return 0 or a negative errno.
  template <class Owner>
  int Start(Owner* owner) {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (is_started_) return Fail(-EALREADY, is_started_text_);
    must_stop_ = false;
    owner->BeforeRun();
    is_started_ = true;
    const auto run = [](void* self) -> void* {
      static_cast<Owner*>(self)->Run();
      return nullptr;
    };
    const int error = pthread_create(&thread_, nullptr, run, owner);
    if (error == 0) return 0;
    is_started_ = false;
    return Fail(-error, "cannot create a thread");
  }
  int Stop() {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (!is_started_) return Fail(-EALREADY, is_not_started_text_);
    Join();
    return 0;
  }
  // Whether the thread has been started, and not joined.
  bool is_started() const { return is_started_.load(std::memory_order_relaxed); }
  bool must_stop() const { return must_stop_.load(std::memory_order_relaxed); }
  std::mutex& mutex() { return mutex_; }  // serializes Start and Stop

 private:
  void Join() {
    must_stop_ = true;
    pthread_join(thread_, nullptr);
    is_started_ = false;
  }

  const char* const is_started_text_;
  const char* const is_not_started_text_;
  std::mutex mutex_;
  pthread_t thread_{};
  std::atomic<bool> is_started_{false};
  std::atomic<bool> must_stop_{false};
};

// Backoff of an idle thread: spins for 64 polls, then yields the CPU, and after 10 ms waits for
// commands of `vc_mask`, completions and credit.
class Idler {
 public:
  // To be called after an idle poll. Returns true if the thread should wait now, which requires
  // `may_wait`. Otherwise yields the CPU, if due.
  bool OnIdle(bool may_wait);
  // As above, and waits on the plane if due, for at most `wait_ms`.
  void OnIdle(Plane& plane, uint32_t vc_mask, bool wants_credit, int wait_ms);
  void OnBusy() { idle_polls_ = 0; }

 private:
  uint32_t idle_polls_ = 0;
  int64_t since_ns_ = 0;
};

// Stores random bytes in *out. Returns 0 or a negative errno.
template <class T>
int Draw(T* out) {
  return getrandom(out, sizeof *out, 0) == sizeof *out ? 0 : Fail(-EIO, "no random number");
}

int64_t NowNs();
// NowNs() at the last timer tick; cheap, without a system call.
int64_t CoarseNs();
// Returns the deadline of a call, in ns of NowNs(); INT64_MAX: none, for a negative timeout.
int64_t DeadlineOf(int timeout_ms);
// Sets the error text for a timeout. Returns -ETIMEDOUT.
int FailTimedOut();

}  // namespace suede

#endif  // SUEDE_PLANES_PLANES_H_
