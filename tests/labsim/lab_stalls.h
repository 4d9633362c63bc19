// SPDX-License-Identifier: Apache-2.0
// Stalls: flows whose commands make no progress for a while, each with the cause that the lcore of
// its source names (docs/why.md, docs/lab.md).
#ifndef SUEDE_TESTS_LABSIM_LAB_STALLS_H_
#define SUEDE_TESTS_LABSIM_LAB_STALLS_H_

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "lab_run.h"
#include "lcore/wait_snapshot.h"
#include "mgmt/json.h"

namespace suede::lab {

class LabStalls {
 public:
  // Time without progress from which a flow stalls.
  static constexpr Duration kStall = std::chrono::milliseconds(10);

  // `run` outlives this object.
  explicit LabStalls(const LabRun& run) : run_(run) {}

  // When the next look is due.
  Time next() const { return next_; }
  // Looks at the flows of some instances, and at those of all in a few looks.
  void Look();
  // Looks for the last time: stalls that last then have no end.
  void EndOfLoads() {
    Look();
    next_ = kNever;
  }
  Json ToJson() const { return stalls_; }

 private:
  // The progress of a flow, of which something waits or is on the way.
  struct Flow {
    uint32_t tx_pdus = 0;
    Time since{};             // of the last progress
    size_t stall = SIZE_MAX;  // in stalls_; SIZE_MAX: does not stall
    WaitCause cause{};        // of the stall
  };
  using Flows = std::map<std::pair<uint32_t, uint32_t>, Flow>;  // by peer and VC

  void LookAt(const LabEndpoint& endpoint, uint32_t instance, Flows& flows);
  void Follow(const LabEndpoint& endpoint, uint32_t xpu, const WaitRow& row, Flow& flow);
  void End(Flow& flow);
  std::string LoadOf(const LabEndpoint& endpoint, uint32_t xpu) const;

  const LabRun& run_;
  Time next_{};
  size_t next_instance_ = 0;  // of all, in the order of the plan
  std::map<std::pair<const LabEndpoint*, uint32_t>, Flows> flows_;  // by instance
  Json stalls_ = Json::array();
};

}  // namespace suede::lab

#endif  // SUEDE_TESTS_LABSIM_LAB_STALLS_H_
