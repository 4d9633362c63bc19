// SPDX-License-Identifier: Apache-2.0
// An incast in virtual time: hosts with real pipelines on a simulated switch, and one clock that
// jumps from event to event. Everything that happens follows from the scheme and the options.
//
// Host 0 receives, hosts 1 to N send. Host N + 1 sends requests to host 0, in a class of their own,
// and host N + 2 to host N + 3, whose ports nobody else uses.
#ifndef SUEDE_TESTS_SIM_INCAST_RUN_H_
#define SUEDE_TESTS_SIM_INCAST_RUN_H_

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "dice.h"
#include "incast_client.h"
#include "incast_depth.h"
#include "incast_host.h"
#include "incast_scheme.h"
#include "sim/earliest.h"
#include "sim/network.h"

namespace suede {

struct IncastOptions {
  uint32_t senders = 4;
  uint32_t commands = 4096;   // of each sender, of 256 octets of data; IncastClient::kEndless
  bool requests = false;      // hosts N + 1 and N + 2 send requests
  bool counts_credit = true;  // endpoints count receive credit, as they do by default
  bool both_ways = false;     // the receiver sends as much to host 1
  double loss = 0;            // of the frames on each cable, in each direction
  bool retries = false;       // the links have link-level retry, with its defaults
  uint64_t seed = 1;
  // Least time from one turn of a host to the next; and the longest, where nothing happens, of the
  // receiver and of all others.
  Duration turn{100};
  Duration max_idle{400};
  Duration sender_idle{1600};
  Duration warm_up = std::chrono::milliseconds(5);  // of endless senders
  Duration window = std::chrono::milliseconds(20);  // measured after that
  Duration limit = std::chrono::seconds(2);         // for senders that end
  bool takes_digest = false;
};

struct IncastCounts {
  uint64_t dropped = 0;  // frames, by the switch
  uint64_t trimmed = 0;
  uint64_t marked = 0;
  uint64_t pfc = 0;         // frames that the switch sent
  uint64_t pdus = 0;        // sent for the first time
  uint64_t sent_twice = 0;  // PDUs
  uint64_t timeouts = 0;
  uint64_t credit_waits = 0;  // times that a queue waited for receive credit
  uint64_t lost = 0;          // frames, by cables
  uint64_t replayed = 0;      // frames that links sent again
  uint64_t failures = 0;      // of links
};

class IncastRun {
 public:
  static constexpr uint32_t kReceiver = 0;
  static constexpr uint32_t kGreetings = 1;  // commands of each sender, before all others

  // Hosts are up and know each other; nothing was sent yet.
  IncastRun(const Scheme& scheme, const IncastOptions& options);

  // Starts all senders and, where they are asked for, requests. Senders that end are through
  // afterwards, or the limit is; others have run for warm-up and window.
  void Run();
  // Then: nobody sends any more. Runs until nothing is under way, and checks that everything was
  // delivered and all is back in its place. Empty, or the first thing that was wrong.
  std::string Finish();

  Time start() const { return start_; }
  Time end() const { return end_; }  // of Run
  uint64_t turns() const { return turns_; }
  const IncastOptions& options() const { return options_; }
  IncastClient& client(uint32_t host) { return *clients_[host]; }
  // Commands of a sender that had arrived at the end of the warm-up, and those that the receiver
  // had sent to host 1.
  uint32_t warm_commands(uint32_t sender) const { return warm_[sender - 1]; }
  uint32_t warm_back() const { return warm_back_; }
  // Commands of all senders but their greetings.
  uint64_t delivered() const {
    return clients_[kReceiver]->received() - uint64_t{options_.senders} * kGreetings;
  }
  IncastCounts Counts() const;
  const IncastDepth& depth() const { return depth_; }  // of the port to the receiver, by time
  const IncastDepth& later_depth() const {
    return later_depth_;
  }  // from a round trip or warm-up on
  uint64_t digest() const { return network_.digest(); }

 private:
  uint32_t near() const { return options_.senders + 1; }  // sends requests to the receiver
  uint32_t far() const { return options_.senders + 2; }   // and to the host behind itself
  uint32_t hosts() const { return options_.senders + 4; }
  std::vector<uint32_t> PeersOf(uint32_t host) const;
  void AddHost(const Scheme& scheme, uint32_t number);
  void SetCable(const SimPort* port);
  Duration MostIdle(uint32_t host) const {
    return std::max(options_.turn, host == kReceiver ? options_.max_idle : options_.sender_idle);
  }
  void Wake(uint32_t host, Time at);
  void TurnOf(uint32_t host);
  // To the next event, or `end` if that is earlier.
  void Step(Time end);
  template <typename Over>
  void RunUntil(Time end, Over over) {
    while (now_ < end && !over()) Step(end);
  }
  void Greet();
  void StartRequests();
  void EndLoad();
  void Start();
  void Measure();
  bool LinksAreQuiet() const;
  bool IsQuiet() const;
  std::string Failure() const;
  std::string Audit() const;

  const IncastOptions options_;
  Dice dice_;
  Time now_{};
  Time start_{};
  Time end_{};           // of what is measured
  Time later_ = kNever;  // from here on later_depth_ counts
  SimNetwork network_;
  std::vector<SimPort*> ports_;
  std::vector<std::unique_ptr<IncastHost>> hosts_;
  std::vector<std::unique_ptr<IncastClient>> clients_;
  Earliest next_;               // turn of each host
  std::vector<Time> earliest_;  // before it none can have another one
  std::vector<Duration> idle_;  // until the next one, where nothing happens
  uint64_t turns_ = 0;
  bool measures_ = false;
  uint32_t queued_bytes_ = 0;  // at the port to the receiver
  IncastDepth depth_;
  IncastDepth later_depth_;
  std::vector<uint32_t> warm_;
  uint32_t warm_back_ = 0;
};

}  // namespace suede

#endif  // SUEDE_TESTS_SIM_INCAST_RUN_H_
