// SPDX-License-Identifier: Apache-2.0
// The main loop of suede-fare: follows the kernel's routes and bgpd's bandwidths, and sets the
// weights of the endpoint's planes. For use by one thread, which blocks in poll and for the
// endpoint's replies.
#ifndef SUEDE_APP_FARE_FOLLOWER_H_
#define SUEDE_APP_FARE_FOLLOWER_H_

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "daemon/logger.h"
#include "endpoint_link.h"
#include "fare/weights.h"
#include "fare_config.h"
#include "kernel_routes.h"
#include "route_book.h"
#include "vtysh.h"

namespace suede::fare {

struct FollowerOptions {
  bool once = false;          // sets the weights for the current routes, and ends
  bool keep_weights = false;  // leaves the weights as they are at the end
};

class Follower {
 public:
  // The arguments must outlive the follower. `signals`: a signalfd.
  Follower(const FareConfig& config, const FollowerOptions& options, int signals, Logger& log);
  // Runs until a signal, or once if the options say so. Returns the exit code.
  int Run();

 private:
  using Clock = Vtysh::Clock;

  int Start();
  bool Wait();
  void TakeSignals();
  void LogWeights();
  bool TakeRoutes();
  void OnRoutes(uint32_t peer);
  void QueryBgp();
  void TakeBgp();
  void Connect();
  void OnDisconnected(const absl::Status& why);
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
  std::vector<uint32_t> asked_;                            // peers of the pending vtysh query
  Clock::time_point retry_at_ = Clock::time_point::max();  // of the endpoint
  Clock::time_point ask_at_{};  // earliest next query, after bgpd has failed
  std::map<std::pair<uint32_t, uint32_t>, std::string> refusals_;  // logged, by {peer, plane}
  std::set<std::string> gone_;  // logged reasons why the endpoint does not reply
  std::string failure_;         // last logged failure of bgpd; empty: none
  bool read_ = false;           // the kernel's routes are known
  bool ends_ = false;
  bool refused_ = false;
  int exit_code_ = 0;
};

}  // namespace suede::fare

#endif  // SUEDE_APP_FARE_FOLLOWER_H_
