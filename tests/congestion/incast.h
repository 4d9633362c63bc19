// SPDX-License-Identifier: Apache-2.0
// A model of sources behind one bottleneck: N of them send PDUs to one receiver through a port with
// a queue, by go-back-N, under a law of congestion control. Deterministic: a seed makes a run.
#ifndef SUEDE_TESTS_CONGESTION_INCAST_H_
#define SUEDE_TESTS_CONGESTION_INCAST_H_

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <queue>
#include <random>
#include <vector>

#include "congestion/context.h"
#include "congestion/target.h"

namespace suede {

struct IncastOptions {
  CongestionParams params;
  uint64_t seed = 1;
  uint32_t sources = 4;
  uint32_t pdus = 256;     // of each source
  uint32_t kinds = 1;      // with 2: of every second source half as many; with 3: and a third, ...
  uint32_t octets = 4150;  // on the wire, of each PDU
  uint64_t rate_bps = 100'000'000'000;
  Duration rtt = std::chrono::microseconds(2);
  Duration start_spread{};     // sources begin within this time
  Duration jitter{};           // of each message from and to the receiver, which may overtake
  uint32_t loss_permille = 0;  // of requests and grants
  uint32_t data_loss_permille = 0;
  int64_t mark_above = 0;                    // octets in the queue; 0: no marks
  int64_t queue_limit = 0;                   // 0: no limit
  bool trims = false;                        // beyond the limit; else it drops
  uint64_t room = UINT64_MAX;                // octets of the receiver's rings
  uint32_t dies = UINT32_MAX;                // this source stops for ever,
  Time dies_at = kNever;                     // at this time
  Duration limit = std::chrono::seconds(1);  // of the run
};

struct IncastResult {
  bool complete = false;  // each source that lives has all of its PDUs acknowledged
  double efficiency = 0;  // of the port, until the last one was
  double jain = 0;        // over the times of completion
  int64_t queue_p99 = 0;  // octets, after the first round trip
  int64_t queue_max = 0;
  uint64_t resent = 0;  // PDUs
  uint64_t requests = 0;
  uint64_t grants = 0;
  uint64_t outstanding_max = 0;
  uint64_t outstanding = 0;  // at the end, when the written-off credit is gone
  Time finished{};
};

class Incast {
 public:
  explicit Incast(const IncastOptions& options);
  IncastResult Run();

 private:
  static constexpr int64_t kTrimmedOctets = 152;

  enum class Kind : uint8_t {
    kStart,
    kSend,
    kTimer,
    kAtQueue,
    kLeaves,
    kArrives,
    kRequest,
    kGrant,
    kAnswer,
    kAckDue,
    kPoll
  };
  struct Event {
    Time at;
    uint64_t order = 0;  // of events of one time
    Kind kind = Kind::kSend;
    bool marked = false;
    bool trimmed = false;
    bool nack = false;
    uint32_t source = 0;
    uint32_t psn = 0;
    Time sent_at{};
    bool resent = false;
    CreditRequest request;
    EcnEcho echo;
    bool operator>(const Event& other) const {
      return at != other.at ? at > other.at : order > other.order;
    }
  };
  struct Source {
    CongestionContext context;
    uint32_t acked = 0;    // PDUs
    uint32_t next = 0;     // to be sent
    uint32_t highest = 0;  // never sent so far
    Time started = kNever;
    Time done = kNever;
    Time port_free{};
    bool waits_for_port = false;
    bool dead = false;
    Time timer = kNever;
    Time progress_at{};
    // At the receiver.
    uint32_t expected = 0;
    uint32_t unacked = 0;
    bool nacked = false;
    EcnEcho echo;
  };

  void Do(Event& event);
  void Push(Kind kind, Time at, uint32_t source);
  void Schedule(Event event, Time at);
  void Send(uint32_t source);
  void Ask(uint32_t source);
  void ArmTimer(uint32_t source);
  void OnTimer(uint32_t source);
  void GoBack(Source& source);
  void Enqueue(Event event);
  void Dequeue();
  void Arrive(const Event& event);
  void Answer(const Event& data, bool nack);
  void OnAnswer(const Event& event);
  void PollTarget();
  bool Lost(uint32_t permille) { return random_() % 1000 < permille; }
  Duration Jitter() {
    return options_.jitter.count() == 0 ? Duration(0)
                                        : Duration(random_() % options_.jitter.count());
  }
  Duration TimeOf(int64_t octets) const {
    return Duration(static_cast<int64_t>(static_cast<double>(octets) * 8e9 /
                                         static_cast<double>(options_.rate_bps)));
  }
  int64_t OctetsOf(const Event& pdu) const {
    return pdu.trimmed ? kTrimmedOctets : options_.octets;
  }
  uint32_t PdusOf(uint32_t source) const {
    return std::max<uint32_t>(options_.pdus / (1 + source % options_.kinds), 1);
  }
  bool Done() const { return done_ == options_.sources; }
  IncastResult Result();

  IncastOptions options_;
  std::mt19937_64 random_;
  std::vector<Source> sources_;
  CreditTarget target_;
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
  std::deque<Event> queue_;
  int64_t queued_ = 0;  // octets
  Time now_{};
  Time poll_at_ = kNever;
  uint64_t order_ = 0;
  uint32_t done_ = 0;
  std::vector<int64_t> samples_;
  IncastResult result_;
};

}  // namespace suede

#endif  // SUEDE_TESTS_CONGESTION_INCAST_H_
