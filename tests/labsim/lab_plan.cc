// SPDX-License-Identifier: Apache-2.0
#include "lab_plan.h"

#include <algorithm>
#include <cmath>
#include <functional>

#include "absl/strings/str_cat.h"

namespace suede::lab {
namespace {

using Value = ForeignJson;

// Reads members; remembers the first problem, and gives defaults from then on.
class Reader {
 public:
  bool ok() const { return problem_.empty(); }
  const std::string& problem() const { return problem_; }
  void Fail(const std::string& path, const std::string& problem) {
    if (ok()) problem_ = absl::StrCat(path, ": ", problem);
  }

  const Value* Find(const Value& from, const std::string& path, const char* key) {
    const auto found = from.is_object() ? from.find(key) : from.end();
    if (!from.is_object() || found == from.end()) {
      Fail(absl::StrCat(path, key), "is missing; let tools/lab write the plan");
      return nullptr;
    }
    return &*found;
  }
  std::string Text(const Value& from, const std::string& path, const char* key) {
    const Value* const value = Find(from, path, key);
    if (value == nullptr) return "";
    if (!value->is_string()) Fail(absl::StrCat(path, key), "is no text; write one");
    return value->is_string() ? value->get<std::string>() : "";
  }
  double Number(const Value& from, const std::string& path, const char* key, double min,
                double max) {
    const Value* const value = Find(from, path, key);
    if (value == nullptr) return min;
    if (!value->is_number() || !(value->get<double>() >= min && value->get<double>() <= max)) {
      Fail(absl::StrCat(path, key), absl::StrCat("is no number from ", min, " to ", max));
      return min;
    }
    return value->get<double>();
  }
  // None: null, or not there.
  std::optional<double> Optional(const Value& from, const std::string& path, const char* key,
                                 double min, double max) {
    const auto found = from.find(key);
    if (found == from.end() || found->is_null()) return std::nullopt;
    return Number(from, path, key, min, max);
  }
  void Each(const Value& from, const std::string& path, const char* key,
            const std::function<void(const Value&, const std::string&)>& read) {
    const Value* const list = Find(from, path, key);
    if (list == nullptr) return;
    if (!list->is_array()) return Fail(absl::StrCat(path, key), "is no list");
    for (size_t i = 0; i < list->size() && ok(); ++i) {
      const std::string at = absl::StrCat(path, key, "[", i, "]");
      (*list)[i].is_object() ? read((*list)[i], absl::StrCat(at, ".")) : Fail(at, "is no object");
    }
  }

 private:
  std::string problem_;
};

constexpr double kMaxSeconds = 1e6;

Duration Seconds(double s) { return Duration(std::llround(s * 1e9)); }

void ReadNode(Reader& r, const Value& from, const std::string& path, Plan& plan) {
  PlanNode& node = plan.nodes.emplace_back();
  node.name = r.Text(from, path, "name");
  const std::string kind = r.Text(from, path, "kind");
  if (kind != "endpoint" && kind != "switch")
    r.Fail(path + "kind", "is neither endpoint nor switch");
  node.is_switch = kind == "switch";
  const Value* const config = r.Find(from, path, "config");
  if (config == nullptr) return;
  if (!config->is_object()) return r.Fail(path + "config", "is no object");
  node.config = *config;
}

PlanEnd ReadEnd(Reader& r, const Value& from, const std::string& path, const char* key) {
  const Value* const end = r.Find(from, path, key);
  const std::string at = absl::StrCat(path, key, ".");
  if (end == nullptr) return {};
  return {.node = r.Text(*end, at, "node"), .port = r.Text(*end, at, "port")};
}

void ReadLink(Reader& r, const Value& from, const std::string& path, Plan& plan) {
  PlanLink& link = plan.links.emplace_back();
  link.a = ReadEnd(r, from, path, "a");
  link.b = ReadEnd(r, from, path, "b");
  link.plane = static_cast<uint32_t>(r.Number(from, path, "plane", 0, 3));
  link.rate_gbps = r.Number(from, path, "rate_gbps", 0, 3200);
  link.assumed = link.rate_gbps == 0;
  if (link.assumed) link.rate_gbps = kAssumedGbps;
  link.delay = Duration(std::llround(r.Number(from, path, "delay_us", 0, 1e7) * 1e3));
}

// A flag as a word: as tools/lab writes it for a process.
std::string WordOf(Reader& r, const std::string& path, const std::string& name,
                   const Value& value) {
  if (value.is_boolean()) return absl::StrCat(value.get<bool>() ? "--" : "--no", name);
  if (value.is_string()) return absl::StrCat("--", name, "=", value.get<std::string>());
  if (!value.is_number()) r.Fail(path + "flags." + name, "is neither number, text nor boolean");
  return absl::StrCat("--", name, "=", Dump(value));
}

void ReadProcess(Reader& r, const Value& from, const std::string& path, PlanLoad& load) {
  PlanProcess& process = load.processes.emplace_back();
  process.name = r.Text(from, path, "name");
  process.node = r.Text(from, path, "node");
  const std::string role = r.Text(from, path, "role");
  if (role == "workload") {
    process.role = Role::kWorkload;
  } else if (role == "client" || role == "server") {
    process.role = role == "client" ? Role::kClient : Role::kServer;
  } else {
    r.Fail(path + "role", "is neither workload, client nor server");
  }
  const Value* const flags = r.Find(from, path, "flags");
  if (flags == nullptr || !flags->is_object()) return r.Fail(path + "flags", "is no object");
  for (const auto& [name, value] : flags->items()) {
    process.argv.push_back(WordOf(r, path, name, value));
  }
}

void ReadLoad(Reader& r, const Value& from, const std::string& path, Plan& plan) {
  PlanLoad& load = plan.loads.emplace_back();
  load.name = r.Text(from, path, "name");
  load.start = Seconds(r.Number(from, path, "start_s", 0, kMaxSeconds));
  r.Each(from, path, "processes",
         [&](const Value& value, const std::string& at) { ReadProcess(r, value, at, load); });
}

// A method of a switch's management socket.
void ReadRpc(Reader& r, const Value& from, const std::string& path, PlanAction& action) {
  action.node = r.Text(from, path, "node");
  const std::string method = r.Text(from, path, "method");
  const Value* const params = r.Find(from, path, "params");
  if (params == nullptr) return;
  const std::string at = path + "params.";
  action.port = r.Text(*params, at, "port");
  if (method == "ports.set_admin") {
    action.kind = PlanAction::Kind::kAdmin;
    action.up = r.Text(*params, at, "admin") == "up";
  } else if (method == "impair.set") {
    action.kind = PlanAction::Kind::kImpair;
    action.in = r.Text(*params, at, "direction") == "in";
    action.impairments = *params;
  } else {
    r.Fail(path + "method",
           absl::StrCat("the simulator has no method ", method,
                        "; take another back end, or ports.set_admin or impair.set"));
  }
}

void ReadStorm(Reader& r, const Value& from, const std::string& path, const Plan& plan,
               PlanAction& action) {
  action.link = static_cast<size_t>(
      r.Number(from, path, "link", 0, static_cast<double>(plan.links.size()) - 1));
  action.quanta = static_cast<uint16_t>(r.Number(from, path, "quanta", 1, 65535));
  action.interval = Duration(std::llround(r.Number(from, path, "interval_us", 1, 1e7) * 1e3));
  const Value* const classes = r.Find(from, path, "classes");
  if (classes == nullptr || !classes->is_array()) return r.Fail(path + "classes", "is no list");
  for (const Value& one : *classes) {
    if (!one.is_number_unsigned() || one.get<unsigned>() > 7) {
      return r.Fail(path + "classes", "holds something other than 0 to 7");
    }
    action.classes |= static_cast<uint8_t>(1u << one.get<unsigned>());
  }
}

void ReadAction(Reader& r, const Value& from, const std::string& path, const Plan& plan,
                std::vector<PlanAction>& actions) {
  PlanAction& action = actions.emplace_back();
  const std::string kind = r.Text(from, path, "kind");
  if (kind == "rpc") return ReadRpc(r, from, path, action);
  if (kind == "pfc_storm" || kind == "pfc_calm") {
    action.kind = kind == "pfc_storm" ? PlanAction::Kind::kPfcStorm : PlanAction::Kind::kPfcCalm;
    return ReadStorm(r, from, path, plan, action);
  }
  if (kind != "stop" && kind != "go") {
    return r.Fail(path + "kind", absl::StrCat("the simulator cannot do ", kind,
                                              " to a process; take process: stop, or the back end "
                                              "local"));
  }
  action.kind = kind == "stop" ? PlanAction::Kind::kStop : PlanAction::Kind::kGo;
  if (from.contains("process")) {
    action.process = r.Text(from, path, "process");
    return;
  }
  action.node = r.Text(from, path, "node");
  const auto node = std::find_if(plan.nodes.begin(), plan.nodes.end(),
                                 [&](const PlanNode& n) { return n.name == action.node; });
  if (node != plan.nodes.end() && node->is_switch) {
    r.Fail(path + "node",
           "the simulator cannot stop a switch; let its links be down, or take the "
           "back end local");
  }
}

void ReadFault(Reader& r, const Value& from, const std::string& path, Plan& plan) {
  PlanFault& fault = plan.faults.emplace_back();
  fault.at = Seconds(r.Number(from, path, "at_s", 0, kMaxSeconds));
  if (const auto lasts = r.Optional(from, path, "for_s", 0, kMaxSeconds)) {
    fault.lasts = Seconds(*lasts);
  }
  fault.every = Seconds(r.Optional(from, path, "every_s", 0, kMaxSeconds).value_or(0));
  fault.times = static_cast<uint64_t>(r.Number(from, path, "times", 1, 1e6));
  fault.text = r.Text(from, path, "text");
  r.Each(from, path, "begin", [&](const Value& value, const std::string& at) {
    ReadAction(r, value, at, plan, fault.begin);
  });
  r.Each(from, path, "end", [&](const Value& value, const std::string& at) {
    ReadAction(r, value, at, plan, fault.end);
  });
}

// Each name stands for something, and each end has one link.
void CheckNames(Reader& r, const Plan& plan) {
  const auto node_named = [&](const std::string& name) {
    return std::find_if(plan.nodes.begin(), plan.nodes.end(),
                        [&](const PlanNode& node) { return node.name == name; });
  };
  const auto is_there = [&](const std::string& name) {
    return node_named(name) != plan.nodes.end();
  };
  for (size_t i = 0; i < plan.nodes.size(); ++i) {
    if (node_named(plan.nodes[i].name) != plan.nodes.begin() + static_cast<ptrdiff_t>(i)) {
      r.Fail(absl::StrCat("nodes[", i, "].name"), "two nodes have it");
    }
  }
  for (size_t i = 0; i < plan.links.size(); ++i) {
    const PlanLink& link = plan.links[i];
    for (const PlanEnd* end : {&link.a, &link.b}) {
      if (!is_there(end->node))
        r.Fail(absl::StrCat("links[", i, "]"), "there is no node " + end->node);
    }
  }
  for (const PlanLoad& load : plan.loads) {
    for (const PlanProcess& process : load.processes) {
      if (!is_there(process.node))
        r.Fail("load " + process.name, "there is no node " + process.node);
    }
  }
  for (size_t i = 0; i < plan.faults.size(); ++i) {
    for (const auto* actions : {&plan.faults[i].begin, &plan.faults[i].end}) {
      for (const PlanAction& action : *actions) {
        if (action.node.empty() || is_there(action.node)) continue;
        r.Fail(absl::StrCat("faults[", i, "]"), "there is no node " + action.node);
      }
    }
  }
}

}  // namespace

absl::StatusOr<Plan> ReadPlan(std::string_view text, std::string_view name) {
  const auto root = TryParse<Value>(text);
  if (!root || !root->is_object()) {
    return absl::InvalidArgumentError(
        absl::StrCat(std::string(name), ": is no JSON object; let tools/lab write it"));
  }
  Plan plan;
  Reader r;
  if (r.Number(*root, "", "schema_version", 0, 1e9) != 1) {
    r.Fail("schema_version", "is not 1; take the tools/lab of this version");
  }
  plan.seed = static_cast<uint64_t>(r.Number(*root, "", "seed", 0, UINT32_MAX));
  plan.timeout = Seconds(r.Number(*root, "", "timeout_s", 0, kMaxSeconds));
  plan.sample = Seconds(r.Number(*root, "", "sample_ms", 0.001, 1e6) / 1e3);
  using Read = void (*)(Reader&, const Value&, const std::string&, Plan&);
  const std::pair<const char*, Read> lists[] = {
      {"nodes", ReadNode}, {"links", ReadLink}, {"load", ReadLoad}, {"faults", ReadFault}};
  for (const auto& [key, read] : lists) {
    r.Each(*root, "", key, [&, read = read](const Value& value, const std::string& path) {
      read(r, value, path, plan);
    });
  }
  if (r.ok()) CheckNames(r, plan);
  if (!r.ok())
    return absl::InvalidArgumentError(absl::StrCat(std::string(name), ": ", r.problem()));
  return plan;
}

}  // namespace suede::lab
