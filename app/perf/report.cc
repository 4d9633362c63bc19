#include "perf/report.h"

#include <cstdio>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"

namespace suede::perf {
namespace {

constexpr double kPercentiles[] = {50, 90, 99, 99.9, 99.99};

double Us(uint64_t ns) { return static_cast<double>(ns) / 1e3; }

std::string OfferedColumn(const RunResult& r) {
  return r.offered_per_second > 0 ? absl::StrFormat("%.3f", r.offered_per_second / 1e6) : "max";
}

std::string LatencyColumns(const Histogram& h) {
  std::string columns = absl::StrFormat(" %9.3f", Us(h.min()));
  for (double p : kPercentiles) columns += absl::StrFormat(" %9.3f", Us(h.Percentile(p)));
  return columns + absl::StrFormat(" %9.3f", Us(h.max()));
}

bool ShowsLatency(const Options& o) { return o.mode == Mode::kLatency || o.completions > 0; }

const char* LatencyKind(const Options& o) {
  return o.mode == Mode::kLatency && o.completions == 0 ? "RTT" : "completion";
}

void AddCheck(Verdict* verdict, std::string name, double value, double limit, bool pass) {
  verdict->pass &= pass;
  verdict->checks.push_back({std::move(name), value, limit, pass});
}

void AddZero(Verdict* verdict, const char* name, uint64_t value) {
  AddCheck(verdict, name, static_cast<double>(value), 0, value == 0);
}

}  // namespace

double DataGbps(const RunResult& result, double commands_per_second) {
  return commands_per_second * result.data_bytes * 8 / 1e9;
}

std::string TableHead(const Options& o) {
  std::string head = absl::StrFormat(
      "# %s, %d destination(s), VCs %d, queues %d, control %d octets%s%s\n"
      "# Gb/s of data octets (control, headers and acknowledgements not counted)\n",
      ModeName(o.mode), o.destinations.size(), o.vcs.size(), o.queues, o.control_bytes,
      o.check ? ", content checked" : "", o.bidirectional ? ", both ways" : "");
  if (o.balance != 0) {
    head += absl::StrFormat("# balanced over instances %s: %s\n",
                            absl::StrJoin(o.instances, ","), BalanceName(o.balance));
  }
  if (ShowsLatency(o)) {
    head += absl::StrFormat("# latency: %s, in microseconds%s\n", LatencyKind(o),
                            o.rate > 0 ? ", from the intended send time" : "");
  }
  if (!o.cacheline_cpus.empty()) {
    head += "# cacheline: round trip of a cache line before/after the run, ns\n";
  }
  head += absl::StrFormat("%7s %12s %10s %10s %10s %10s %10s %10s %8s %8s %8s %8s", "#bytes",
                          "#iterations", "peak[Gb/s]", "avg[Gb/s]", "rate[M/s]", "offer[M/s]",
                          "sent", "delivered", "lost", "wrong", "dup", "order");
  if (o.bidirectional) head += absl::StrFormat(" %10s %10s", "back-sent", "back-deliv");
  if (o.balance != 0) {
    for (const uint32_t instance : o.instances) {
      head += absl::StrFormat(" %10s", absl::StrCat("by[", instance, "]"));
    }
  }
  if (ShowsLatency(o)) {
    head += absl::StrFormat(" %9s %9s %9s %9s %9s %9s %9s", "min", "p50", "p90", "p99", "p99.9",
                            "p99.99", "max");
  }
  if (!o.cacheline_cpus.empty()) head += absl::StrFormat(" %13s", "cacheline[ns]");
  return head + "\n";
}

std::string TableRow(const Options& o, const RunResult& r) {
  std::string row = absl::StrFormat(
      "%7d %12d %10.3f %10.3f %10.3f %10s %10d %10d %8d %8d %8d %8d", r.data_bytes, r.measured,
      DataGbps(r, r.peak_per_second), DataGbps(r, r.achieved_per_second()),
      r.achieved_per_second() / 1e6, OfferedColumn(r), r.sent, r.forward.received, r.lost(),
      r.wrong(), r.duplicated(), r.misordered());
  if (o.bidirectional) {
    row += absl::StrFormat(" %10d %10d", r.reverse_sent, r.reverse.received);
  }
  if (o.balance != 0) {
    for (const uint64_t sent : r.sent_by_lane) row += absl::StrFormat(" %10d", sent);
  }
  if (ShowsLatency(o)) row += LatencyColumns(r.latency_ns);
  if (!o.cacheline_cpus.empty()) {
    row += absl::StrFormat(" %6.0f/%-6.0f", r.cacheline_before_ns, r.cacheline_after_ns);
  }
  return row + "\n";
}

std::string ServerTable(const StreamCounts& t, uint64_t runs) {
  return absl::StrFormat("%8s %14s %16s %8s %8s %8s %8s\n%8d %14d %16d %8d %8d %8d %8d\n",
                         "#streams", "received", "data[octets]", "lost", "wrong", "dup", "order",
                         runs, t.received, t.data_bytes, t.lost, t.wrong, t.duplicated,
                         t.misordered);
}

Verdict Judge(const Options& o, const std::vector<RunResult>& results) {
  Verdict verdict;
  for (const RunResult& r : results) {
    AddCheck(&verdict, "completed", static_cast<double>(r.outcome), 0,
             r.outcome == Outcome::kDone);
    // Without the servers' reports nothing is known of what arrived.
    if (r.outcome != Outcome::kDone) continue;
    AddZero(&verdict, "lost", r.lost());
    AddZero(&verdict, "wrong", r.wrong());
    AddZero(&verdict, "duplicated", r.duplicated());
    if (!o.unordered) AddZero(&verdict, "misordered", r.misordered());
    if (r.interrupted) continue;
    const double rate = r.achieved_per_second();
    const double gbps = DataGbps(r, rate);
    const double p99_us = Us(r.latency_ns.Percentile(99));
    if (o.min_rate > 0) AddCheck(&verdict, "min_rate", rate, o.min_rate, rate >= o.min_rate);
    if (o.min_gbps > 0) AddCheck(&verdict, "min_bw", gbps, o.min_gbps, gbps >= o.min_gbps);
    if (o.max_p99_us > 0) {
      // No sample is no proof.
      AddCheck(&verdict, "max_p99_us", p99_us, o.max_p99_us,
               p99_us <= o.max_p99_us && !r.latency_ns.empty());
    }
  }
  return verdict;
}

Verdict JudgeServer(const Options& o, const StreamCounts& total) {
  Verdict verdict;
  AddZero(&verdict, "lost", total.lost);
  AddZero(&verdict, "wrong", total.wrong);
  AddZero(&verdict, "duplicated", total.duplicated);
  if (!o.unordered) AddZero(&verdict, "misordered", total.misordered);
  return verdict;
}

int ExitCode(const std::vector<RunResult>& results, const Verdict& verdict) {
  for (const RunResult& r : results) {
    switch (r.outcome) {
      case Outcome::kDone: break;
      case Outcome::kPeerSilent:
      case Outcome::kEndpointLost: return kExitUnreachable;
      case Outcome::kRefused: return kExitFailure;
      case Outcome::kNoEcho: return kExitUsage;
    }
  }
  return verdict.pass ? kExitDone : kExitVerdict;
}

int Conclude(const Options& options, const Document& document) {
  const Verdict verdict = document.served != nullptr ? JudgeServer(options, *document.served)
                                                     : Judge(options, document.results);
  for (const RunResult& r : document.results) {
    if (r.outcome != Outcome::kDone) {
      std::fprintf(stderr, "suede-perf: %s\n", r.explanation.c_str());
    }
  }
  for (const Check& check : verdict.checks) {
    if (check.pass || check.name == "completed") continue;
    std::fprintf(stderr, "suede-perf: failed: %s is %.10g, limit %.10g\n", check.name.c_str(),
                 check.value, check.limit);
  }
  const int code = ExitCode(document.results, verdict);
  if (options.json.empty()) return code;
  const absl::Status written =
      WriteWhole(options.json, ToJson(options, document, verdict));
  if (written.ok()) return code;
  std::fprintf(stderr, "suede-perf: %s\n", std::string(written.message()).c_str());
  return code != kExitDone ? code : kExitFailure;
}

}  // namespace suede::perf
