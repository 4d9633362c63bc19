// SPDX-License-Identifier: Apache-2.0
// The program on a machine of incast_bench: it sends commands without a pause, or requests one at a
// time; it answers requests, and holds what it receives against the order in which it was sent.
#ifndef SUEDE_TESTS_SIM_INCAST_CLIENT_H_
#define SUEDE_TESTS_SIM_INCAST_CLIENT_H_

#include <algorithm>
#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "base/histogram.h"
#include "dice.h"
#include "incast_host.h"

namespace suede {

class IncastClient {
 public:
  static constexpr uint32_t kControlBytes = 8;
  static constexpr uint32_t kDataBytes = 256;   // of a command of the incast
  static constexpr uint32_t kRequestBytes = 8;  // data of a request and of its response
  static constexpr uint32_t kBulkVc = 0;
  static constexpr uint32_t kRequestVc = 1;
  static constexpr uint32_t kEndless = ~0u;

  // Commands that came from one source.
  struct Stream {
    uint32_t commands = 0;
    Time last{};
    std::vector<bool> came;  // of each command, where they may overtake each other
  };

  IncastClient(IncastHost& host, uint32_t hosts, uint64_t seed)
      : host_(host), dice_(seed), streams_(hosts) {}

  // Commands of a stream may overtake each other, and each comes once.
  void AllowOvertaking() { in_order_ = false; }
  // Sends `commands` commands to a host from `at` on.
  void StartBulk(uint32_t destination, uint32_t commands, Time at);
  // Sends no more than it has handed to the daemon.
  void StopBulk() { left_ = 0; }
  // Sends requests from `at` on: the next one follows the response after a random time.
  void StartRequests(uint32_t destination, Time at);
  void StopRequests() {
    asks_ = false;
    next_request_ = kNever;
  }

  // Does what there is to do. Returns whether it has given the daemon anything.
  bool Turn(Time now);
  // The time at which it next begins something by itself; kNever: everything follows from its
  // daemon.
  Time next() const { return std::min(next_request_, left_ != 0 && !begun_ ? bulk_at_ : kNever); }

  uint32_t sent() const { return sent_; }
  bool waits_for_response() const { return asked_; }
  const Stream& from(uint32_t host) const { return streams_[host]; }
  // Commands of all incast streams.
  uint64_t received() const { return received_; }
  const Histogram& round_trips() const { return round_trips_; }  // ns
  void ForgetRoundTrips() { round_trips_.Reset(); }
  // Empty, or the first thing that was wrong with what came.
  const std::string& failure() const { return failure_; }

 private:
  enum Kind : uint8_t { kBulk, kRequest, kResponse };
  struct Answer {
    uint16_t to;
    uint32_t sequence;
  };

  bool Send(uint32_t destination, uint32_t vc, Kind kind, uint32_t sequence);
  bool SendBulk();
  bool SendRequest(Time now);
  bool SendAnswers();
  void Receive(uint32_t vc, Time now);
  void OnReceived(const ReceivedCommand& got, uint32_t vc, Time now);
  void OnBulk(const ReceivedCommand& got, uint32_t sequence, Time now);
  void OnResponse(uint32_t sequence, Time now);
  void Fail(const std::string& what);

  IncastHost& host_;
  Dice dice_;
  uint32_t destination_ = 0;  // of the commands,
  uint32_t left_ = 0;
  uint32_t sent_ = 0;
  bool begun_ = false;
  Time bulk_at_{};
  uint32_t responder_ = 0;  // and of the requests
  uint32_t requests_ = 0;
  bool asks_ = false;
  bool asked_ = false;
  Time asked_at_{};
  Time next_request_ = kNever;
  bool in_order_ = true;
  std::deque<Answer> answers_;
  std::vector<Stream> streams_;  // by source
  uint64_t received_ = 0;
  Histogram round_trips_;
  std::string failure_;
};

}  // namespace suede

#endif  // SUEDE_TESTS_SIM_INCAST_CLIENT_H_
