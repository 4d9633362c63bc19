// SPDX-License-Identifier: Apache-2.0
// The runs of clients that a peer's server has served, which tell when its service may end.
#ifndef SUEDE_APP_PERF_SERVED_RUNS_H_
#define SUEDE_APP_PERF_SERVED_RUNS_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "base/time.h"
#include "perf/run_plan.h"

namespace suede::perf {

class ServedRuns {
 public:
  // The end of a peer's service, after its own runs.
  struct Linger {
    std::vector<uint16_t> peers;
    std::vector<uint8_t> vcs;
    size_t runs = 0;     // of each peer on each VC
    Duration timeout{};  // without any command
  };

  void OnStart(StreamId from, uint32_t run, uint8_t flow) {
    auto& open = served_[{from.xpuid, from.vc}].open;
    std::erase_if(open, [&](const auto& other) { return other.second == flow; });
    open.insert({run, flow});
  }
  void OnReported(StreamId to, uint32_t run, uint8_t flow) {
    Served& served = served_[{to.xpuid, to.vc}];
    served.open.erase({run, flow});
    served.runs += served.last_reported != run ? 1 : 0;
    served.last_reported = run;
  }
  // Whether reports of all runs were sent, and no other run is open.
  bool HasAll(const Linger& linger) const {
    for (const uint8_t vc : linger.vcs) {
      for (const uint16_t xpuid : linger.peers) {
        const auto found = served_.find({xpuid, vc});
        if (found == served_.end() || !found->second.open.empty()) return false;
        if (found->second.runs < linger.runs) return false;
      }
    }
    return true;
  }

 private:
  // Runs of one client on one VC.
  struct Served {
    size_t runs = 0;                                // with a report sent
    uint32_t last_reported = 0;                     // latest reported run
    std::set<std::pair<uint32_t, uint8_t>> open{};  // {run, flow} begun and not reported
  };

  std::map<std::pair<uint16_t, uint8_t>, Served> served_;
};

}  // namespace suede::perf

#endif  // SUEDE_APP_PERF_SERVED_RUNS_H_
