// SPDX-License-Identifier: Apache-2.0
// Hosts with real pipelines behind two leaf switches, with links between these that are hot
// (hot_links.h), in virtual time: hosts at the first leaf send as fast as they can to one each at
// the second. The options say what is measured.
#ifndef SUEDE_TESTS_SIM_HOT_LINKS_RUN_H_
#define SUEDE_TESTS_SIM_HOT_LINKS_RUN_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "hot_links.h"
#include "incast_client.h"
#include "incast_host.h"
#include "sim/earliest.h"
#include "sim/network.h"

namespace suede {

struct HotLinksOptions {
  HotLinksParams links;
  uint32_t pairs = 1;  // of hosts, of which one sends to the other
  double host_bits_per_ns = 100;
  uint32_t sessions = 8;
  SessionParams session_params;
  Ordering ordering = Ordering::kUnordered;
  CongestionControl control = CongestionControl::kFixed;
  double calm_load = 0.2;  // of the background,
  double hot_load = 0.9;   // and of that on hot links,
  double hot_loss = 0;     // which lose this part of the frames there
  uint32_t hot = 2;        // links
  uint64_t seed = 1;
  Duration warm_up = std::chrono::milliseconds(4);
  Duration window = std::chrono::milliseconds(4);  // that is measured
};

// Links are hot from the start.
struct HotGoodput {
  std::string failure;      // empty: all arrived once, in order where that is asked
  double goodput_bps = 0;   // of all pairs, commands' data
  bool begins_hot = false;  // the first session of the first pair takes a hot link
  uint32_t open = 0;        // sessions of the first pair, at the end
  double hot_share = 0;     // of the octets that came for links
  uint64_t lost = 0;        // frames
  uint64_t moves = 0;
  uint64_t retransmissions = 0;
};
HotGoodput MeasureHotGoodput(const HotLinksOptions& options);

// No link is hot at first; then those become so that have the most octets of the hosts'.
struct HotReaction {
  std::string failure;
  Duration round_trip{};       // smoothed, as the transport had measured it before,
  Duration base_round_trip{};  // and the smallest one
  double share_before = 0;     // of those links in the octets
  // From the change to the first moment after which they have no more than kFewPercent for the next
  // kHolds; `limit` where there is none.
  Duration avoided{};
  bool is_avoided = false;
  double share_after = 0;      // in the last quarter of the window
  std::vector<double> shares;  // in each round trip after the change, the first sixteen
};
inline constexpr double kFewShare = 0.05;
HotReaction MeasureHotReaction(const HotLinksOptions& options);

class HotLinksRun {
 public:
  // Hosts are up and know each other; only greetings were sent yet.
  explicit HotLinksRun(const HotLinksOptions& options);

  void Start();  // all senders
  void RunFor(Duration time) { RunUntil(now_ + time); }
  // Ends sending and waits until nothing is under way. Returns the first failure; empty: none.
  std::string Finish();

  Time now() const { return now_; }
  HotLinks& links() { return links_; }
  uint64_t delivered() const;  // commands, with the greetings
  uint64_t Sum(Counter counter) const;
  const Instance& sender(uint32_t pair) const { return hosts_[2 * pair]->pipeline().instance(0); }
  // The link that PDUs of a session of the pair take.
  uint32_t LinkOf(uint32_t pair, uint16_t number) const;
  // Octets that came for the links in a mask, of the way there.
  uint64_t Offered(uint64_t mask) const;

 private:
  uint32_t hosts() const { return 2 * options_.pairs; }
  void AddHost(uint32_t number);
  void Wake(uint32_t host, Time at);
  void TurnOf(uint32_t host);
  void RunUntil(Time end);
  void Greet();
  bool IsQuiet() const;
  std::string Failure() const;

  const HotLinksOptions options_;
  Time now_{};
  HotLinks links_;
  SimNetwork network_;
  std::vector<SimPort*> ports_;
  std::vector<std::unique_ptr<IncastHost>> hosts_;  // even ones send, to the next one
  std::vector<std::unique_ptr<IncastClient>> clients_;
  Earliest next_;
  std::vector<Time> earliest_;
  std::vector<Duration> idle_;
};

}  // namespace suede

#endif  // SUEDE_TESTS_SIM_HOT_LINKS_RUN_H_
