// SPDX-License-Identifier: Apache-2.0
// The state behind suede_client and suede_queue.
#ifndef SUEDE_LIBSUEDE_CLIENT_H_
#define SUEDE_LIBSUEDE_CLIENT_H_

#include <atomic>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "channel.h"
#include "client/client_load.h"
#include "client/client_queue.h"
#include "suede/suede.h"

namespace suede {
// The sockets that a daemon's name or path may stand for, to be tried in turn.
std::vector<std::string> PathsOf(const std::string& name);
// -ECONNRESET, with its sentence.
int FailGone();
// -EINVAL: names the argument of `call` that is NULL, and where it comes from.
int FailNull(const char* call, const char* argument, const char* source);
// -EINVAL: names the first field of a command that is out of its range.
struct CommandFields {
  uint32_t xpuid = 0;
  uint32_t vc = 0;
  uint32_t flags = 0;
  uint32_t control_units = 0;  // of 2 bytes
};
int FailCommand(const CommandFields& fields);
}  // namespace suede

// Names of the C ABI, hence outside of any namespace.
struct suede_queue {
  // The error of a call that needs a ring and an answered reset, where one of them is missing.
  int FailUnusable() const;
  // The error for what the ring says of valid commands that it did not take; notes the state for
  // waits.
  int FailSend(suede::SendResult result);

  suede_client* client = nullptr;
  uint32_t index = 0;
  uint32_t seen_state = SUEDE_QUEUE_READY;
  bool is_resetting = false;               // a reset was asked for, with unknown outcome
  std::optional<suede::ClientQueue> ring;  // none while unconnected
  std::optional<suede::LoadReader> load;   // none while unconnected
  uint32_t wishes[SUEDE_WISHES] = {};                 // destinations that are watched, as in the
  uint32_t wish_serial = 0;                           // segment; kept over a reconnection
};

struct suede_client {
  struct Receiver {
    uint32_t seen_state = SUEDE_QUEUE_READY;  // as the last wait that ended saw it
    std::optional<suede::ClientReceiver> ring;
  };

  ~suede_client() { Disconnect(); }
  int Connect();
  void Disconnect();
  // Repeats the claims after a reconnection.
  int ClaimAgain();
  // Looks whether the daemon is still there.
  bool IsGone();
  // IsGone for calls that are made often: reads a clock that is a word of memory, and makes a
  // system call each kLookMs only. A call that is made seldom looks every time.
  bool IsGoneNowAndThen() {
    if (is_gone()) return true;
    const int64_t now = suede::CoarseClockMs();
    if (now - looked_ms.load(std::memory_order_relaxed) < kLookMs) return false;
    looked_ms.store(now, std::memory_order_relaxed);
    return IsGone();
  }
  // Whether the daemon was gone at the last look.
  bool is_gone() const { return gone.load(std::memory_order_relaxed); }
  // A request under the lock, with its outcome noted.
  template <typename Request>
  int Call(Request* request, uint64_t* value = nullptr, int fd = -1) {
    const std::lock_guard<std::mutex> lock(mutex);
    suede::protocol::Reply reply;
    const int result = channel.Call(request, timeout_ms, &reply, nullptr, fd);
    if (result == 0 && value != nullptr) *value = reply.value;
    if (result == -ECONNRESET) gone.store(true, std::memory_order_relaxed);
    return result;
  }

  // Waits. The rings' own positions give the conditions to look at.
  bool MakeWait(const suede_wait_set& want, suede::protocol::Wait* wait);
  uint32_t ReceiveState(uint32_t vc) const;
  bool IsReady(const suede::protocol::Wait& wait, suede_wait_set* ready) const;
  // Tells the daemon the wants of all waiting threads. Under the lock.
  void SendWaits();
  int WaitOnce(const suede::protocol::Wait& wait, int64_t deadline_ms);

  static constexpr int64_t kLookMs = 10;

  std::vector<std::string> paths;  // tried in turn
  suede_open_params params{};
  int timeout_ms = 5000;

  std::mutex mutex;  // channel, waits, claims
  suede::Channel channel;
  std::vector<const suede::protocol::Wait*> waits;
  std::vector<suede::protocol::Claim> claims;

  // On a line of their own: queues of all threads read them.
  alignas(64) std::atomic<bool> gone{false};
  std::atomic<int64_t> looked_ms{0};
  alignas(64) suede::protocol::Hello hello;
  int eventfd = -1;
  void* segment = nullptr;
  uint64_t segment_bytes = 0;
  std::optional<suede::SegmentOffsets> offsets;
  std::deque<suede_queue> queues;
  Receiver receivers[SUEDE_VCS];

 private:
  int OpenSegment();
  int MapSegment(int fd, uint64_t bytes);
  int ReadHead();
};

#endif  // SUEDE_LIBSUEDE_CLIENT_H_
