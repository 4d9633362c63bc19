// SPDX-License-Identifier: Apache-2.0
// Requests from the control thread to the switching lcore: a bounded queue, of which the lcore
// processes a part of one request in each poll iteration. Neither waits for the other.
#ifndef SUEDE_APP_SWITCH_SWITCH_MAILBOX_H_
#define SUEDE_APP_SWITCH_SWITCH_MAILBOX_H_

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "base/spsc_ring.h"
#include "base/time.h"
#include "fabric/switch.h"

namespace suede {

// The state of a queue {port, class}; counters are read elsewhere, at any time.
struct SwitchQueueState {
  uint32_t bytes = 0;
  uint32_t frames = 0;
  uint32_t most_bytes = 0;
  bool paused = false;   // by the peer
  bool pausing = false;  // pauses the peer
  bool stormy = false;
  int64_t paused_ns = 0;
};

// Requests. Their memory suffices for the reply: the lcore allocates nothing.
namespace switch_request {

struct State {
  explicit State(uint32_t ports)
      : queues(size_t{ports} * fabric::kClasses), without_hops(ports), too_old(ports) {}
  std::vector<SwitchQueueState> queues;        // [port * kClasses + class]
  std::vector<fabric::DropNote> without_hops;  // [port]
  std::vector<fabric::DropNote> too_old;       // [port]
  uint32_t used_bytes = 0;
  uint32_t most_used_bytes = 0;
  uint32_t shared_free_bytes = 0;
  uint32_t headroom_used_bytes = 0;
  uint32_t most_headroom_used_bytes = 0;
  uint32_t next_port = 0;  // used by the lcore
};
struct ResetHighWater {};
// A page of the forwarding table: entries from an index on.
struct Addresses {
  struct Row {
    NetAddress key;
    Time seen{};
    uint16_t port = 0;
    bool is_static = false;
  };
  Addresses(uint64_t from, uint32_t max) : next(from), rows(max) {}
  uint64_t next;                    // next index to read
  bool at_end = false;              // of the table
  std::optional<uint16_t> port{};   // only addresses of this port
  std::optional<bool> is_static{};  // only configured, or only learnt addresses
  std::vector<Row> rows;
  uint32_t count = 0;  // of rows
  Time now{};
};
struct AddAddress {
  NetAddress key;
  uint16_t port = 0;
  bool added = false;  // false: the table is full
};
struct RemoveAddress {
  NetAddress key;
  bool removed = false;  // false: not in the table
};
struct Flush {
  uint64_t ports = 0;  // a bit for each port
};
struct Impair {
  struct Part {
    uint16_t port = 0;
    bool out = false;
    fabric::ImpairmentParams params;  // replaced by the previous parameters
  };
  std::vector<Part> parts;
  size_t done = 0;  // parts done; used by the lcore
};
// Sends a frame of the switch's own.
struct SendFrame {
  uint16_t port = 0;
  std::vector<uint8_t> bytes;
};
struct SetDown {
  uint16_t port = 0;
  bool down = false;
};
// Sets the weight of a port of a group.
struct SetWeight {
  uint16_t group = 0;
  uint16_t member = 0;
  uint8_t weight = 0;
};

}  // namespace switch_request

using SwitchRequest =
    std::variant<switch_request::State, switch_request::ResetHighWater, switch_request::Addresses,
                 switch_request::AddAddress, switch_request::RemoveAddress, switch_request::Flush,
                 switch_request::Impair, switch_request::SendFrame, switch_request::SetDown,
                 switch_request::SetWeight>;

// A submitted request, owned by the lcore until it is done.
class SwitchTicket {
 public:
  explicit SwitchTicket(SwitchRequest request) : request_(std::move(request)) {}

  bool done() const { return done_.load(std::memory_order_acquire); }
  // Returns the reply. Requires done().
  template <class Request>
  const Request& answer() const {
    return std::get<Request>(request_);
  }

 private:
  friend class SwitchMailbox;
  SwitchRequest request_;
  std::atomic<bool> done_{false};
};

// Must outlive the lcore's work.
class SwitchMailbox {
 public:
  static constexpr uint32_t kMaxWaiting = 64;

  // ---- The switching lcore, between poll iterations.

  // Processes a bounded part of the oldest request; without a request, costs a comparison. Returns
  // whether there was one.
  bool Serve(fabric::Switch& the_switch, Time now) {
    if (current_ == nullptr && !ring_.Pop(current_)) [[likely]]
      return false;
    Work(the_switch, now);
    return true;
  }

  // ---- Control thread.

  // Submits a request. Returns null if the queue is full.
  std::shared_ptr<const SwitchTicket> Ask(SwitchRequest request);
  // Returns the number of completed requests: grows with the lcore's poll iterations while there
  // are any.
  uint64_t answered() const { return answered_.load(std::memory_order_relaxed); }

 private:
  void Work(fabric::Switch& the_switch, Time now);

  SpscRing<SwitchTicket*, kMaxWaiting> ring_;
  SwitchTicket* current_ = nullptr;  // used by the lcore
  std::atomic<uint64_t> answered_{0};
  // Used by the control thread: requests that may not be completed, in order. A ticket lives until
  // it is done, even if no caller waits for it any more.
  std::deque<std::shared_ptr<SwitchTicket>> asked_;
};

}  // namespace suede

#endif  // SUEDE_APP_SWITCH_SWITCH_MAILBOX_H_
