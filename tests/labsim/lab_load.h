// SPDX-License-Identifier: Apache-2.0
// A process of suede-perf in virtual time: its flags and its engine are those of the program, its
// clients those of a simulated daemon.
#ifndef SUEDE_TESTS_LABSIM_LAB_LOAD_H_
#define SUEDE_TESTS_LABSIM_LAB_LOAD_H_

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "lab_endpoint.h"
#include "lab_plan.h"
#include "mgmt/json.h"
#include "perf/interval_log.h"
#include "perf/options.h"
#include "perf/rank.h"
#include "perf/report.h"
#include "perf/server.h"
#include "perf/stream_load.h"

namespace suede::lab {

class LabProcess {
 public:
  // Connects its clients. `process` and `at` outlive this. `nonce`: not 0, another one for each
  // run.
  static absl::StatusOr<std::unique_ptr<LabProcess>> Make(const PlanLoad& load,
                                                          const PlanProcess& process,
                                                          LabEndpoint& at, uint32_t nonce);

  const std::string& name() const { return process_.name; }
  const std::string& load() const { return load_; }
  const std::string& node() const { return process_.node; }
  Role role() const { return process_.role; }
  const perf::Options& options() const { return options_; }

  void Start(Time now) {
    started_ = true;
    begin_ = end_ = now;
  }
  // One turn. Returns whether there was anything to do.
  bool Turn(Time now);
  // Whether it has ended; a server ends by Stop.
  bool done() const { return done_; }
  // Stops the process as SIGTERM does.
  void Stop() { stop_.store(true, std::memory_order_relaxed); }
  // Stops or continues the process as SIGSTOP and SIGCONT do.
  void SetStopped(bool stopped) { stopped_ = stopped; }

  // ---- Results.

  // The entry of the report: what the process prints for --json, with virtual times.
  Json Entry() const;
  const std::deque<perf::IntervalCells>& cells() const { return cells_; }
  // Flow times of the own ranks, by their order.
  const std::deque<perf::FlowLog>& flow_logs() const { return flow_logs_; }
  uint32_t RankOf(uint16_t xpu) const;

 private:
  LabProcess(std::string load, const PlanProcess& process)
      : load_(std::move(load)), process_(process) {}
  absl::Status ParseFlags();
  absl::Status Check() const;
  absl::Status Connect(LabEndpoint& at);
  absl::Status MakeRanks(LabEndpoint& at, uint32_t nonce, uint32_t vc_mask);
  perf::Document MakeDocument() const;

  const std::string load_;
  const PlanProcess& process_;
  perf::Options options_;
  uint32_t nonce_ = 1;
  std::atomic<bool> stop_ = false;
  bool stopped_ = false;
  bool started_ = false;
  bool done_ = false;
  Time begin_{};
  Time end_{};
  std::deque<perf::IntervalCells> cells_;
  std::deque<perf::FlowLog> flow_logs_;
  // One of these is set, by the mode.
  std::optional<perf::Traffic> traffic_;
  std::vector<std::unique_ptr<perf::Rank<LabClient>>> ranks_;
  std::unique_ptr<perf::ServerWorkload<LabClient>> server_;
  std::unique_ptr<perf::RunBoard> board_;
  std::unique_ptr<perf::StreamRun<LabClient>> client_;
};

}  // namespace suede::lab

#endif  // SUEDE_TESTS_LABSIM_LAB_LOAD_H_
