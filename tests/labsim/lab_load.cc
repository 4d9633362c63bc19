// SPDX-License-Identifier: Apache-2.0
#include "lab_load.h"

#include <gflags/gflags.h>

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "perf/trace.h"

namespace suede::lab {

using perf::Mode;

absl::StatusOr<std::unique_ptr<LabProcess>> LabProcess::Make(const PlanLoad& load,
                                                             const PlanProcess& process,
                                                             LabEndpoint& at, uint32_t nonce) {
  std::unique_ptr<LabProcess> made(new LabProcess(load.name, process));
  made->nonce_ = nonce;
  absl::Status status = made->ParseFlags();
  if (status.ok()) status = made->Check();
  if (status.ok()) status = made->Connect(at);
  if (!status.ok()) {
    return absl::Status(status.code(), absl::StrCat(process.name, ": ", status.message()));
  }
  return made;
}

// As the program reads its command line. Flags are global: each process begins with the defaults.
absl::Status LabProcess::ParseFlags() {
  const gflags::FlagSaver restores;
  std::vector<std::string> words = process_.argv;
  words.insert(words.begin(), "suede-perf");
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  int code = 0;
  if (perf::ParseCommandLine(static_cast<int>(words.size()), argv.data(), "", &options_, &code)) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError("these are no flags of suede-perf: see above");
}

absl::Status LabProcess::Check() const {
  const perf::Options& o = options_;
  const auto cannot = [](const char* what) {
    return absl::UnimplementedError(absl::StrCat("the simulator has no ", what));
  };
  const Role role = o.mode == Mode::kWorkload ? Role::kWorkload
                    : o.mode == Mode::kServer ? Role::kServer
                                              : Role::kClient;
  if (role != process_.role) return absl::InvalidArgumentError("--mode is not that of its role");
  if (o.mode == Mode::kPeer) return cannot("--mode peer");
  if (o.UsesMemory() || o.ServesMemory()) return cannot("memory operations");
  if (o.embed) return cannot("--embed");
  if (o.balance != 0 || !o.instances.empty() || o.instance != 0) return cannot("several instances");
  if (o.queues != 1) return cannot("--queues; leave it at 1");
  if (!o.cacheline_cpus.empty()) return cannot("--cacheline_probe");
  if (o.sizes.size() != 1) return cannot("list of --sizes; name one");
  if (o.inflights.size() != 1) return cannot("list of --inflights; name one");
  if (!o.csv.empty() || !o.histogram_csv.empty() || !o.samples.empty()) {
    return cannot("--csv, --histogram_csv and --samples; its results are JSON");
  }
  if (o.mode != Mode::kWorkload && o.xpuid < 0) {
    return absl::InvalidArgumentError("--xpuid: name the own XPU");
  }
  return absl::OkStatus();
}

absl::Status LabProcess::Connect(LabEndpoint& at) {
  uint32_t vc_mask = 0;
  for (const uint8_t vc : options_.vcs) vc_mask |= 1u << vc;
  if (options_.mode == Mode::kWorkload) return MakeRanks(at, nonce_, vc_mask);
  const auto own = static_cast<uint16_t>(options_.xpuid);
  const auto connected = at.Connect(own, vc_mask);
  if (!connected.ok()) return connected.status();
  LabClient& client = **connected;
  cells_.emplace_back(own);
  if (options_.mode == Mode::kServer) {
    server_ = std::make_unique<perf::ServerWorkload<LabClient>>(client, own, options_.vcs,
                                                                options_.echo());
    server_->LogTo(&cells_.back());
    if (options_.take_rate > 0) server_->LimitRate(options_.take_rate);
    if (options_.receive_only) server_->ReceiveOnly();
    return absl::OkStatus();
  }
  const perf::RunPlan plan = perf::PlanOf(options_, options_.sizes[0]);
  board_ = std::make_unique<perf::RunBoard>(perf::RunBoard::Parts{.run = nonce_}, plan.streams);
  client_ = std::make_unique<perf::StreamRun<LabClient>>(plan, stop_, client, *board_, own,
                                                         uint8_t{0}, options_.vcs);
  client_->LogTo(&cells_.back());
  return absl::OkStatus();
}

absl::Status LabProcess::MakeRanks(LabEndpoint& at, uint32_t nonce, uint32_t vc_mask) {
  std::vector<perf::TraceRow> trace;
  if (!options_.trace.empty()) {
    auto rows = perf::ReadTrace(options_.trace, static_cast<uint32_t>(options_.ranks.size()));
    if (!rows.ok()) return rows.status();
    trace = *std::move(rows);
  }
  traffic_.emplace(options_.traffic, trace);
  for (const uint16_t xpu : options_.own) {
    const auto client = at.Connect(xpu, vc_mask);
    if (!client.ok()) return client.status();
    cells_.emplace_back(xpu);
    flow_logs_.emplace_back();
    auto& rank = ranks_.emplace_back(std::make_unique<perf::Rank<LabClient>>(
        **client, perf::RankPlanOf(options_, RankOf(xpu)), *traffic_, nonce, stop_));
    rank->LogTo(&cells_.back());
    rank->LogFlowsTo(&flow_logs_.back());
  }
  return absl::OkStatus();
}

uint32_t LabProcess::RankOf(uint16_t xpu) const {
  const auto found = std::find(options_.ranks.begin(), options_.ranks.end(), xpu);
  return static_cast<uint32_t>(found - options_.ranks.begin());
}

bool LabProcess::Turn(Time now) {
  if (!started_ || stopped_ || done_) return false;
  end_ = now;
  if (server_ != nullptr) {
    done_ = stop_.load(std::memory_order_relaxed);
    return server_->Poll(now);
  }
  if (client_ != nullptr) {
    const bool worked = client_->Poll(now);
    done_ = client_->done();
    return worked;
  }
  bool worked = false;
  bool all_done = true;
  for (const auto& rank : ranks_) {
    if (rank->done()) continue;
    worked |= rank->Poll(now);
    all_done &= rank->done();
  }
  done_ = all_done;
  return worked;
}

perf::Document LabProcess::MakeDocument() const {
  const auto at = [](Time time) {
    return std::chrono::system_clock::time_point(
        std::chrono::duration_cast<std::chrono::system_clock::duration>(time.time_since_epoch()));
  };
  perf::Document document;
  document.version = "simulator";
  document.start = at(begin_);
  document.end = at(end_);
  document.argv = process_.argv;
  if (server_ != nullptr) {
    document.served = server_->Total();
    document.arrivals = server_->arrivals();
  }
  if (client_ != nullptr) {
    perf::RunResult result = perf::Combine({&client_->record()}, board_.get());
    result.data_bytes = options_.sizes[0];
    result.control_bytes = options_.control_bytes;
    result.inflight = options_.LimitsInflight() ? options_.inflight : 0;
    result.offered_per_second = options_.rate;
    document.results.push_back(std::move(result));
  }
  for (const auto& rank : ranks_) document.ranks.push_back(rank->result());
  return document;
}

Json LabProcess::Entry() const {
  const perf::Document document = MakeDocument();
  const perf::Verdict verdict = perf::CheckAll(options_, document);
  int code = perf::ExitCode(document.results, verdict);
  std::string log;
  for (const perf::RankResult& rank : document.ranks) {
    if (rank.outcome == perf::Outcome::kDone) continue;
    code = perf::ExitCodeOf(rank.outcome);
    absl::StrAppend(&log, "suede-perf: ", rank.explanation, "\n");
  }
  for (const perf::RunResult& result : document.results) {
    if (result.outcome != perf::Outcome::kDone) {
      absl::StrAppend(&log, "suede-perf: ", result.explanation, "\n");
    }
  }
  constexpr const char* kRoles[] = {"workload", "client", "server"};
  return {{"name", process_.name},
          {"load", load_},
          {"role", kRoles[static_cast<size_t>(process_.role)]},
          {"argv", process_.argv},
          {"exit", done_ ? Json(code) : Json()},
          {"result", done_ ? *TryParse<Json>(perf::ToJson(options_, document, verdict)) : Json()},
          {"log", log}};
}

}  // namespace suede::lab
