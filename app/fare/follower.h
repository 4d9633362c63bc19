// SPDX-License-Identifier: Apache-2.0
// suede-fare at work: routes of the kernel and bandwidths of bgpd in, weights of the endpoint's
// planes out. One thread, which waits in poll, and for the endpoint's answers.
#ifndef SUEDE_APP_FARE_FOLLOWER_H_
#define SUEDE_APP_FARE_FOLLOWER_H_

#include <chrono>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "config/fare_config.h"
#include "daemon/logger.h"
#include "endpoint_link.h"
#include "fare/weights.h"
#include "kernel_routes.h"
#include "route_book.h"
#include "vtysh.h"

namespace suede::fare {

struct FollowerOptions {
  bool once = false;          // sets what the routes say now, and ends
  bool keep_weights = false;  // at the end they stay
};

class Follower {
 public:
  // The arguments outlive the follower. `signals`: a signalfd.
  Follower(const FareConfig& config, const FollowerOptions& options, int signals, Logger& log);
  // Follows until a signal comes, or once where the options say so. Returns the exit code.
  int Run();

 private:
  using Clock = Vtysh::Clock;

  int Start();
  bool Wait();
  void TakeSignals();
  void LogWeights();
  bool TakeRoutes();
  void OnRoutes(uint32_t peer);
  void AskBgp();
  void TakeBgp();
  void Connect();
  void NoteGone(const absl::Status& why);
  void SetWeights();
  void NoteRefusal(const WeightChange& change, const absl::Status& why);
  bool IsOnceOver();
  int End();
  Time now() const;
  uint32_t XpuOf(const WeightChange& change) const { return config_.peers[change.peer].xpu; }
  uint32_t PlaneOf(const WeightChange& change) const { return config_.planes[change.plane].plane; }
  std::string TextOf(const WeightChange& change) const;

  const FareConfig& config_;
  const FollowerOptions options_;
  const int signals_;
  Logger& log_;
  const FareParams params_;
  FareWeights weights_;
  EndpointLink endpoint_;
  RouteBook book_;
  Vtysh vtysh_;
  std::unique_ptr<KernelRoutes> routes_;
  std::vector<uint32_t> asked_;                            // peers that vtysh is asked about
  Clock::time_point retry_at_ = Clock::time_point::max();  // of the endpoint
  Clock::time_point ask_at_{};                             // not before: bgpd has failed
  std::map<std::pair<uint32_t, uint32_t>, std::string> refusals_;  // told, by {peer, plane}
  std::set<std::string> gone_;  // why the endpoint does not answer, all that was told
  std::string failure_;         // why bgpd does not, as told last; empty: it does
  bool read_ = false;    // the kernel's routes are known
  bool ends_ = false;
  bool refused_ = false;
  int exit_code_ = 0;
};

}  // namespace suede::fare

#endif  // SUEDE_APP_FARE_FOLLOWER_H_
