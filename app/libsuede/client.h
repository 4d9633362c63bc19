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
// Returns the socket paths to try, in order, for a daemon's name or path.
std::vector<std::string> PathsOf(const std::string& name);
// Sets the error text for a lost daemon. Returns -ECONNRESET.
int FailGone();
// Reports that `argument` of `call` is NULL, and that `source` provides it. Returns -EINVAL.
int FailNull(const char* call, const char* argument, const char* source);
// Fields of a rejected command, for FailCommand, which names the first one out of range and returns
// -EINVAL.
struct CommandFields {
  uint32_t xpuid = 0;
  uint32_t vc = 0;
  uint32_t flags = 0;
  uint32_t control_units = 0;  // in units of 2 bytes
};
int FailCommand(const CommandFields& fields);
}  // namespace suede

// Names of the C ABI, hence outside of any namespace.
struct suede_queue {
  // Reports that the queue has no ring (-ECONNRESET) or an unfinished reset (-EBUSY).
  int FailUnusable() const;
  // Returns the error for a valid command that the ring rejected, and records the queue's state for
  // waits.
  int FailSend(suede::SendResult result);

  suede_client* client = nullptr;
  uint32_t index = 0;
  uint32_t seen_state = SUEDE_QUEUE_READY;
  bool is_resetting = false;               // a reset was requested, its outcome is unknown
  std::optional<suede::ClientQueue> ring;  // none while unconnected
  std::optional<suede::LoadReader> load;   // none while unconnected
  uint32_t wishes[SUEDE_WISHES] = {};      // watched destinations, encoded as in
  uint32_t wish_serial = 0;                // the segment; kept across reconnections
};

struct suede_client {
  struct Receiver {
    uint32_t seen_state = SUEDE_QUEUE_READY;  // state reported by the last completed wait
    std::optional<suede::ClientReceiver> ring;
  };

  ~suede_client() { Disconnect(); }
  int Connect();
  void Disconnect();
  // Repeats all claims after a reconnection.
  int ClaimAgain();
  // Checks with a system call whether the daemon has closed the connection.
  bool IsGone();
  // IsGone for the data path: makes a system call only every kCheckIntervalMs, and otherwise reads
  // a clock without one.
  bool IsGoneNowAndThen() {
    if (is_gone()) return true;
    const int64_t now = suede::CoarseClockMs();
    if (now - last_check_ms.load(std::memory_order_relaxed) < kCheckIntervalMs) return false;
    last_check_ms.store(now, std::memory_order_relaxed);
    return IsGone();
  }
  // Whether the last check found the daemon gone.
  bool is_gone() const { return gone.load(std::memory_order_relaxed); }
  // Sends a request under the lock. Records the loss of the daemon.
  template <typename Request>
  int Call(Request* request, uint64_t* value = nullptr, int fd = -1) {
    const std::lock_guard<std::mutex> lock(mutex);
    suede::protocol::Reply reply;
    const int result = channel.Call(request, timeout_ms, &reply, nullptr, fd);
    if (result == 0 && value != nullptr) *value = reply.value;
    if (result == -ECONNRESET) gone.store(true, std::memory_order_relaxed);
    return result;
  }

  // Waits. MakeWait derives the conditions from the rings' positions; false: not connected.
  bool MakeWait(const suede_wait_set& want, suede::protocol::Wait* wait);
  uint32_t ReceiveState(uint32_t vc) const;
  bool IsReady(const suede::protocol::Wait& wait, suede_wait_set* ready) const;
  // Sends the combined conditions of all waiting threads to the daemon. Requires the lock.
  void SendWaits();
  int WaitOnce(const suede::protocol::Wait& wait, int64_t deadline_ms);

  static constexpr int64_t kCheckIntervalMs = 10;

  std::vector<std::string> paths;  // tried in order
  suede_open_params params{};
  int timeout_ms = 5000;

  std::mutex mutex;  // guards channel, waits and claims
  suede::Channel channel;
  std::vector<const suede::protocol::Wait*> waits;
  std::vector<suede::protocol::Claim> claims;

  // On a separate cache line: read by the queues of all threads.
  alignas(64) std::atomic<bool> gone{false};
  std::atomic<int64_t> last_check_ms{0};
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
