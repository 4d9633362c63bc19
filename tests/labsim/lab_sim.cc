// SPDX-License-Identifier: Apache-2.0
// Runs a plan of tools/lab in virtual time: lab_sim PLAN.json REPORT.json. With --check PLAN.json
// it checks the plan alone. The report is an object with the members of tools/labkit/backend.py,
// Backend.run_batch, and more (docs/lab.md). Each second a line on the standard error says how far
// it is. Exit codes: 0 done, 1 failure, 2 the plan is wrong, or the simulator cannot do all of it.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>

#include "absl/strings/str_format.h"
#include "lab_plan.h"
#include "lab_run.h"
#include "lab_watch.h"

namespace suede::lab {
namespace {

using Clock = std::chrono::steady_clock;

Json ReportOf(LabRun& run, double wall_seconds) {
  Json loads = Json::array();
  for (const auto& process : run.processes()) loads.push_back(process->Entry());
  LabWatch& watch = run.watch();
  return {{"series", watch.Series()},
          {"events", watch.events()},
          {"load", loads},
          {"stalls", watch.Stalls()},
          {"stall_s", static_cast<double>(LabStalls::kStall.count()) / 1e9},
          {"final", watch.Final()},
          {"problems", run.problems()},
          {"digest", absl::StrFormat("%016x", run.digest())},
          {"simulator",
           {{"queues", watch.Queues()},
            {"flows", watch.Flows()},
            {"iterations", watch.Iterations()},
            {"virtual_seconds", static_cast<double>(ToNs(run.now())) / 1e9},
            {"turns", run.turns()},
            {"wall_seconds", wall_seconds}}}};
}

// `report_path` null: checks the plan alone.
int RunPlan(const char* plan_path, const char* report_path) {
  std::ifstream file(plan_path, std::ios::binary);
  if (!file) {
    std::fprintf(stderr, "lab_sim: cannot read %s\n", plan_path);
    return 1;
  }
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  const auto plan = ReadPlan(text, plan_path);
  if (!plan.ok()) {
    std::fprintf(stderr, "lab_sim: %s\n", std::string(plan.status().message()).c_str());
    return 2;
  }
  const auto run = LabRun::Build(*plan);
  if (!run.ok()) {
    std::fprintf(stderr, "lab_sim: %s\n", std::string(run.status().message()).c_str());
    return 2;
  }
  if (report_path == nullptr) return 0;
  const Clock::time_point begin = Clock::now();
  Clock::time_point reported_at = begin;
  (*run)->Run([&] {
    const Clock::time_point now = Clock::now();
    if (now - reported_at < std::chrono::seconds(1)) return;
    reported_at = now;
    std::fprintf(stderr, "progress %.6f\n", static_cast<double>(ToNs((*run)->now())) / 1e9);
  });
  const std::chrono::duration<double> wall = Clock::now() - begin;
  std::ofstream out(report_path, std::ios::binary);
  out << Dump(ReportOf(**run, wall.count())) << '\n';
  out.close();
  if (out) return 0;
  std::fprintf(stderr, "lab_sim: cannot write %s\n", report_path);
  return 1;
}

}  // namespace
}  // namespace suede::lab

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: lab_sim PLAN.json REPORT.json | --check PLAN.json\n");
    return 2;
  }
  if (std::string_view(argv[1]) == "--check") return suede::lab::RunPlan(argv[2], nullptr);
  return suede::lab::RunPlan(argv[1], argv[2]);
}
