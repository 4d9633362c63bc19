// SPDX-License-Identifier: Apache-2.0
// The plan of a lab, as tools/lab writes it to plan.json (docs/lab.md), and what of it the
// simulator cannot do.
#ifndef SUEDE_TESTS_LABSIM_LAB_PLAN_H_
#define SUEDE_TESTS_LABSIM_LAB_PLAN_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "base/time.h"
#include "mgmt/json.h"

namespace suede::lab {

// CPUs of a node: as many as a configuration may name.
inline constexpr uint32_t kCpus = 4096;

struct PlanNode {
  std::string name;
  bool is_switch = false;
  ForeignJson config;  // without the devices, CPUs and sockets
};

struct PlanEnd {
  std::string node;
  std::string port;
};
// Without a rate a link would be as fast as the machine, and virtual time has none.
inline constexpr double kAssumedGbps = 10;
struct PlanLink {
  PlanEnd a;
  PlanEnd b;
  uint32_t plane = 0;
  double rate_gbps = 0;  // never 0
  bool assumed = false;  // the plan has no rate: kAssumedGbps
  Duration delay{};      // each way
};

enum class Role : uint8_t { kWorkload, kClient, kServer };
struct PlanProcess {
  std::string name;
  std::string node;
  Role role = Role::kWorkload;
  std::vector<std::string> argv;  // flags of suede-perf
};
struct PlanLoad {
  std::string name;
  Duration start{};
  std::vector<PlanProcess> processes;
};

// The begin or the end of a fault.
struct PlanAction {
  enum class Kind : uint8_t { kImpair, kAdmin, kStop, kGo, kPfcStorm, kPfcCalm };
  Kind kind = Kind::kImpair;
  std::string node;         // kImpair, kAdmin: a switch; kStop, kGo: an endpoint, or
  std::string process;      // a process of a load
  std::string port;         // kImpair, kAdmin
  bool in = false;          // kImpair
  ForeignJson impairments;  // kImpair: keys of impair.set
  bool up = false;          // kAdmin
  size_t link = 0;          // kPfcStorm, kPfcCalm: index into Plan::links
  uint8_t classes = 0;      // kPfcStorm: a mask
  uint16_t quanta = 0;
  Duration interval{};
};
struct PlanFault {
  Duration at{};
  std::optional<Duration> lasts;  // none: for ever
  Duration every{};
  uint64_t times = 1;
  std::string text;
  std::vector<PlanAction> begin;
  std::vector<PlanAction> end;
};

struct Plan {
  uint64_t seed = 1;
  Duration timeout{};
  Duration sample{};
  std::vector<PlanNode> nodes;
  std::vector<PlanLink> links;
  std::vector<PlanLoad> loads;
  std::vector<PlanFault> faults;
};

// `name` stands in messages: "NAME: key.path: PROBLEM; MEND".
absl::StatusOr<Plan> ReadPlan(std::string_view text, std::string_view name);

}  // namespace suede::lab

#endif  // SUEDE_TESTS_LABSIM_LAB_PLAN_H_
