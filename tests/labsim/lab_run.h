// SPDX-License-Identifier: Apache-2.0
// A plan in virtual time: endpoints, fabric, loads, faults and one clock. Everything that happens
// follows from the plan, its seed included.
#ifndef SUEDE_TESTS_LABSIM_LAB_RUN_H_
#define SUEDE_TESTS_LABSIM_LAB_RUN_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <queue>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "fabric/random.h"
#include "lab_endpoint.h"
#include "lab_fabric.h"
#include "lab_load.h"
#include "lab_plan.h"
#include "sim/earliest.h"

namespace suede::lab {

class LabWatch;

// Returns seconds since the begin of the run.
inline double SecondsAt(Time time) { return static_cast<double>(ToNs(time)) / 1e9; }

class LabRun {
 public:
  // `plan` outlives this. An error where the simulator cannot do all of it.
  static absl::StatusOr<std::unique_ptr<LabRun>> Build(const Plan& plan);
  ~LabRun();

  // To the end. `report` is called now and then.
  void Run(const std::function<void()>& report);

  Time now() const { return now_; }
  LabFabric& fabric() { return *fabric_; }
  const LabFabric& fabric() const { return *fabric_; }
  const std::vector<std::unique_ptr<LabEndpoint>>& endpoints() const { return endpoints_; }
  const std::vector<std::unique_ptr<LabProcess>>& processes() const { return processes_; }
  const std::vector<std::string>& problems() const { return problems_; }
  // Texts of the faults that last.
  std::vector<std::string> FaultsNow() const;
  const Plan& plan() const { return plan_; }
  LabWatch& watch() { return *watch_; }
  uint64_t turns() const { return turns_; }
  // Digest of all frames that arrived: over links, and from the devices of daemons.
  uint64_t digest() const;

 private:
  // Something of the plan at its time.
  struct Due {
    Time at;
    uint64_t order;
    std::function<void()> act;
    friend bool operator>(const Due& a, const Due& b) {
      return a.at != b.at ? a.at > b.at : a.order > b.order;
    }
  };

  explicit LabRun(const Plan& plan);
  absl::Status Make();
  absl::Status MakeEndpoints();
  absl::Status MakeProcesses();
  void At(Time at, std::function<void()> act) { due_.push({at, order_++, std::move(act)}); }
  void PlanFaults();
  void Begin(size_t fault);
  void End(size_t fault);
  void Act(const PlanAction& action);
  void StormOf(size_t link, const PlanAction& action, uint64_t number);
  void TurnOf(uint32_t endpoint);
  void Wake(uint32_t endpoint, Time at);
  bool LoadsAreOver() const;
  bool IsQuiet() const;
  void RunUntil(const std::function<bool()>& over, const std::function<void()>& report);
  void EndLoads(const std::function<void()>& report);

  const Plan& plan_;
  Time now_{};
  fabric::Random random_;
  std::unique_ptr<LabFabric> fabric_;
  std::vector<std::unique_ptr<LabEndpoint>> endpoints_;
  std::vector<std::unique_ptr<LabProcess>> processes_;
  Earliest next_;               // turn of each endpoint
  std::vector<Time> earliest_;  // before it none can have another one
  std::vector<uint32_t> idle_;  // of each: turns without work in a row, up to a bound
  std::priority_queue<Due, std::vector<Due>, std::greater<>> due_;
  uint64_t order_ = 0;
  uint64_t turns_ = 0;
  std::vector<std::vector<size_t>> open_;  // by fault: its events that have not ended
  std::map<size_t, uint64_t> storms_;      // by link: number of the storm that lasts
  uint64_t storm_number_ = 0;
  std::vector<std::string> problems_;
  std::unique_ptr<LabWatch> watch_;
};

}  // namespace suede::lab

#endif  // SUEDE_TESTS_LABSIM_LAB_RUN_H_
