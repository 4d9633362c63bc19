// SPDX-License-Identifier: Apache-2.0
// JSON output of report.h; docs/suede-perf.md lists the fields.
#include <sys/utsname.h>

#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <span>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/time/time.h"
#include "perf/report.h"
#include "perf/table.h"

namespace suede::perf {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kSchemaVersion = 1;

std::string Utc(std::chrono::system_clock::time_point t) {
  return absl::FormatTime("%Y-%m-%dT%H:%M:%E6SZ", absl::FromChrono(t), absl::UTCTimeZone());
}

Json OrNull(const std::string& text) { return text.empty() ? Json() : Json(text); }
Json PositiveOrNull(double value) { return value > 0 ? Json(value) : Json(); }

Json HostJson(const HostFacts& host) {
  return {{"cpu", OrNull(host.cpu)},
          {"kernel", OrNull(host.kernel)},
          {"dpdk", OrNull(host.dpdk)},
          {"port", OrNull(host.port)},
          {"driver", OrNull(host.driver)}};
}

Json ConfigJson(const Options& o) {
  return {{"mode", NameOf(kModes, o.mode)},
          {"reaction", o.Serves() ? Json(NameOf(kReactions, o.reaction)) : Json()},
          {"embed", o.embed},
          {"endpoint", o.embed ? Json() : Json(o.endpoint)},
          {"config", OrNull(o.config)},
          {"xpuid", o.xpuid >= 0 ? Json(o.xpuid) : Json()},
          {"instance", o.instance},
          {"instances", o.instances.empty() ? Json() : Json(o.instances)},
          {"balance", o.balance != 0 ? Json(NameOf(kBalances, o.balance)) : Json()},
          {"queues", o.queues},
          {"cpus", o.cpus},
          {"sizes_bytes", o.sizes},
          {"control_bytes", o.control_bytes},
          {"vcs", o.vcs},
          {"destinations", o.destinations},
          {"rate_per_second", PositiveOrNull(o.rate)},
          {"count", o.count > 0 ? Json(o.count) : Json()},
          {"duration_seconds", o.count > 0 ? Json() : PositiveOrNull(o.duration_s)},
          {"warmup_seconds", o.warmup_s},
          {"drain_seconds", o.drain_s},
          {"inflight", o.LimitsInflight() ? Json(o.inflight) : Json()},
          {"inflights", o.LimitsInflight() ? Json(o.inflights) : Json()},
          {"send_only", o.send_only},
          {"receive_only", o.Serves() ? Json(o.receive_only) : Json()},
          {"atomic", o.mode == Mode::kAtomic ? Json(NameOf(kAtomics, o.atomic)) : Json()},
          {"lcore", o.ServesMemory() ? Json(o.by_lcore) : Json()},
          {"pingpong", o.mode == Mode::kMessage ? Json(o.pingpong) : Json()},
          {"window_bytes", o.ServesMemory() || o.ServesAxi() ? Json(o.window_bytes) : Json()},
          {"access", o.mode == Mode::kAxi ? Json(NameOf(kAxiAccesses, o.access)) : Json()},
          {"bus_bits", o.mode == Mode::kAxi || o.ServesAxi() ? Json(o.bus_bits) : Json()},
          {"completions_every", o.completions > 0 ? Json(o.completions) : Json()},
          {"transmit_now_every", o.pack > 0 ? Json(o.pack) : Json()},
          {"check", o.check},
          {"bidirectional", o.bidirectional},
          {"unordered", o.unordered}};
}

double Seconds(auto ns) { return static_cast<double>(ns) / 1e9; }

Json CountsJson(const StreamCounts& c) {
  Json json;
  for (const auto& [field, name] : kCountFields) json[name] = c.*field;
  return json;
}

Json ServedJson(const Document& document) {
  if (!document.served) return Json();
  Json json = CountsJson(*document.served);
  const double seconds = document.arrivals.seconds();
  const auto rate = [seconds](uint64_t n) {
    return seconds > 0 ? Json(static_cast<double>(n) / seconds) : Json();
  };
  json["receiving_seconds"] = PositiveOrNull(seconds);
  json["received_per_second"] = rate(document.served->received);
  json["received_data_bytes_per_second"] = rate(document.served->data_bytes);
  return json;
}

// Adds the first `percentiles` and the other times to `json`. Returns null without samples.
Json TimesJson(const Histogram& times, size_t percentiles = kMainPercentiles, Json json = {}) {
  if (times.empty()) return Json();
  json["samples"] = times.count();
  json["min_seconds"] = Seconds(times.min());
  json["mean_seconds"] = Seconds(times.mean());
  json["stdev_seconds"] = Seconds(times.stdev());
  for (const auto& [percent, name] : std::span(kPercentiles).first(percentiles)) {
    const std::string key = absl::StrReplaceAll(name, {{".", "_"}}) + "_seconds";
    json[key] = Seconds(times.Percentile(percent));
  }
  json["max_seconds"] = Seconds(times.max());
  return json;
}

Json LatencyJson(const RunResult& r) {
  return TimesJson(r.latency_ns, std::size(kPercentiles),
                   {{"kind", r.latency_is_rtt ? "rtt" : "completion"},
                    {"from", r.offered_per_second > 0 ? "intended" : "sent"}});
}

Json InstancesJson(const Options& o, const RunResult& r) {
  if (o.balance == 0) return Json();
  Json instances = Json::array();
  for (size_t i = 0; i < o.instances.size() && i < r.sent_by_lane.size(); ++i) {
    instances.push_back({{"instance", o.instances[i]}, {"sent", r.sent_by_lane[i]}});
  }
  return instances;
}

Json ResultJson(const Options& o, const RunResult& r) {
  const double rate = r.achieved_per_second();
  // Arrivals are known only if the run received its reports.
  const auto known = [&](uint64_t n) { return r.outcome == Outcome::kDone ? Json(n) : Json(); };
  return {{"data_bytes", r.data_bytes},
          {"control_bytes", r.control_bytes},
          {"inflight", r.inflight > 0 ? Json(r.inflight) : Json()},
          {"completed", r.outcome == Outcome::kDone},
          {"explanation", OrNull(r.explanation)},
          {"interrupted", r.interrupted},
          {"measured", r.measured},
          {"measured_seconds", Seconds(r.measured_time.count())},
          {"offered_per_second", PositiveOrNull(r.offered_per_second)},
          {"achieved_per_second", rate},
          {"peak_per_second", r.peak_per_second},
          {"achieved_data_bytes_per_second", rate * r.data_bytes},
          {"peak_data_bytes_per_second", r.peak_per_second * r.data_bytes},
          {"sent", r.sent},
          {"sent_by_instance", InstancesJson(o, r)},
          {"delivered", known(r.forward.received)},
          {"reverse_sent", known(r.reverse_sent)},
          {"reverse_delivered", known(r.reverse.received)},
          {"lost", known(r.lost())},
          {"wrong", known(r.wrong())},
          {"duplicated", known(r.duplicated())},
          {"misordered", known(r.misordered())},
          {"would_block", r.blocked},
          {"completions_by_status", r.completions},
          {"latency", LatencyJson(r)},
          {"cacheline_round_trip_before_seconds", PositiveOrNull(r.cacheline_before_ns / 1e9)},
          {"cacheline_round_trip_after_seconds", PositiveOrNull(r.cacheline_after_ns / 1e9)}};
}

Json AccountJson(const Account& account) {
  Json json = CountsJson(account.counts);
  json["flows"] = account.flows;
  json["fairness"] = account.flows != 0 ? Json(account.Fairness()) : Json();
  return json;
}

Json RankJson(const RankResult& r) {
  Json steps = Json::array();
  for (const StepTimes& step : r.steps) {
    if (step.count == 0) continue;
    steps.push_back({{"mean_seconds", Seconds(step.sum.count()) / static_cast<double>(step.count)},
                     {"max_seconds", Seconds(step.max.count())}});
  }
  return {{"rank", r.rank},
          {"xpu", r.xpuid},
          {"completed", r.outcome == Outcome::kDone},
          {"explanation", OrNull(r.explanation)},
          {"interrupted", r.interrupted},
          {"iterations", r.iterations},
          {"measured_seconds", Seconds(r.measured.count())},
          {"sent_commands", r.sent_commands},
          {"sent_bytes", r.sent_bytes},
          {"data_bits_per_second", GoodputGbps(r) * 1e9},
          {"would_block", r.blocked},
          {"of_other_runs", r.stale},
          {"iteration", TimesJson(r.iteration_ns)},
          {"transfer", TimesJson(r.transfer_ns)},
          {"response", TimesJson(r.response_ns)},
          {"steps", steps},
          {"completions_by_status", r.completions},
          {"received", AccountJson(r.account)}};
}

Json WorkloadJson(const Options& o, const Document& document) {
  if (o.mode != Mode::kWorkload) return Json();
  const TrafficParams& t = o.traffic;
  const RankResult* leader = LeaderOf(document.ranks);
  Json ranks = Json::array();
  for (const RankResult& rank : document.ranks) ranks.push_back(RankJson(rank));
  return {{"name", NameOf(kPatterns, t.pattern)},
          {"ranks", o.ranks},
          {"own", o.own},
          {"bytes", t.bytes},
          {"seed", t.seed},
          {"barrier", o.barrier},
          {"iteration", leader != nullptr ? TimesJson(leader->all_ns) : Json()},
          {"received", leader != nullptr ? AccountJson(leader->all) : Json()},
          {"of_rank", ranks}};
}

Json VerdictJson(const Verdict& verdict) {
  Json checks = Json::array();
  for (const Check& check : verdict.checks) {
    checks.push_back({{"name", check.name},
                      {"value", check.value},
                      {"limit", check.limit},
                      {"pass", check.pass}});
  }
  return {{"pass", verdict.pass}, {"checks", checks}};
}

}  // namespace

HostFacts ReadHost() {
  HostFacts host;
  std::ifstream cpuinfo("/proc/cpuinfo");
  for (std::string line; std::getline(cpuinfo, line);) {
    if (!line.starts_with("model name")) continue;
    host.cpu = line.substr(std::min(line.find(": "), line.size() - 2) + 2);
    break;
  }
  utsname names;
  if (uname(&names) == 0) host.kernel = names.release;
  return host;
}

std::string WhyLines(const std::string& why) {
  std::string lines;
  if (why.empty()) return lines;
  const Json object = Json::parse(why);
  for (const Json& row : object["conclusions"]) {
    lines +=
        absl::StrCat("why: ", row["of"].get<std::string>(), ": ", row["finding"].get<std::string>(),
                     "; remedy: ", row["remedy"].get<std::string>(), "\n");
  }
  return lines;
}

std::string ToJson(const Options& options, const Document& document, const Verdict& verdict,
                   const std::string& why) {
  Json results = Json::array();
  for (const RunResult& result : document.results) results.push_back(ResultJson(options, result));
  const Json object = {{"schema_version", kSchemaVersion},
                       {"tool", "suede-perf"},
                       {"version", document.version},
                       {"git", document.revision},
                       {"start", Utc(document.start)},
                       {"end", Utc(document.end)},
                       {"argv", document.argv},
                       {"host", HostJson(document.host)},
                       {"config", ConfigJson(options)},
                       {"results", results},
                       {"served", ServedJson(document)},
                       {"workload", WorkloadJson(options, document)},
                       {"why", why.empty() ? Json() : Json::parse(why)},
                       {"verdict", VerdictJson(verdict)}};
  // Replaces bytes of arguments that are not UTF-8.
  return object.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace suede::perf
