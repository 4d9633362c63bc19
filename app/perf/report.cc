// SPDX-License-Identifier: Apache-2.0
#include "perf/report.h"

#include <algorithm>
#include <cstdio>
#include <iterator>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "perf/csv.h"
#include "perf/table.h"

namespace suede::perf {
namespace {

constexpr uint32_t kLatencyWidth = 9;
constexpr uint32_t kInflightWidth = 8;

size_t ColumnsOf(const Options& o) { return o.wide ? SIZE_MAX : kTableColumns; }

// Returns the number of units of --units in a bit per second.
double UnitsPerBit(Units units) {
  switch (units) {
    case Units::kGigabits:
      return 1e-9;
    case Units::kMegabits:
      return 1e-6;
    case Units::kGigabytes:
      return 1e-9 / 8;
    case Units::kMegabytes:
      return 1e-6 / 8;
    case Units::kMebibytes:
      return 1.0 / (8 << 20);
    case Units::kAuto:
      break;
  }
  return 1;
}

bool HasPrefixes(const Options& o) { return o.units == Units::kAuto; }

// Returns the name of the unit of data rates, and that of command rates.
std::string DataUnit(const Options& o) { return HasPrefixes(o) ? "b/s" : NameOf(kUnits, o.units); }
std::string CommandUnit(const Options& o) { return HasPrefixes(o) ? "/s" : "M/s"; }

// Returns the width of a column of data rates whose head has `width` characters with Gb/s.
uint32_t RateWidth(const Options& o, uint32_t width) {
  constexpr uint32_t kUsual = 4;
  return width + std::max(static_cast<uint32_t>(DataUnit(o).size()), kUsual) - kUsual;
}

void AddDataRate(const Options& o, uint32_t width, double gbps, TableLine* line) {
  if (HasPrefixes(o))
    line->Prefixed(width, gbps * 1e9);
  else
    line->Decimal(RateWidth(o, width), gbps * 1e9 * UnitsPerBit(o.units));
}

void AddCommandRate(const Options& o, uint32_t width, double per_second, TableLine* line) {
  if (HasPrefixes(o))
    line->Prefixed(width, per_second);
  else
    line->Decimal(width, per_second / 1e6);
}

// Whether the table has a column of the number in flight.
bool ShowsInflight(const Options& o) { return o.inflights.size() > 1; }

// Returns the width of the size column; sizes of puts, gets and messages have more digits.
uint32_t SizeWidth(const Options& o) { return o.UsesOperations() ? 10 : 6; }

const char* LatencyKind(const Options& o) {
  if (o.pingpong) return "RTT, from the call to the last octet that came back";
  if (o.mode == Mode::kMessage) return "RTT, from the call until the server has the message";
  if (o.mode == Mode::kAxi) return "RTT, from the address to the last beat of the answer";
  if (o.UsesOperations()) return "RTT, from the call to the end of the operation";
  return o.mode == Mode::kLatency && o.completions == 0 ? "RTT" : "completion";
}

std::string ColumnHeads(const Options& o) {
  TableLine line(/*is_head=*/true, ColumnsOf(o));
  const std::string data = absl::StrCat("[", DataUnit(o), "]");
  const std::string commands = absl::StrCat("[", CommandUnit(o), "]");
  line.Text(SizeWidth(o), "#bytes");
  if (ShowsInflight(o)) line.Text(kInflightWidth, "inflight");
  line.Text(12, "iterations")
      .Text(RateWidth(o, 10), "peak" + data)
      .Text(RateWidth(o, 9), "avg" + data);
  line.Text(9, "rate" + commands);
  if (!o.UsesOperations()) line.Text(10, "offer" + commands);  // operations have no rate
  line.Text(12, "sent").Text(12, "delivered");
  line.Text(8, "lost").Text(7, "wrong").Text(7, "dup").Text(7, "order");
  if (o.bidirectional) line.Text(12, "back-sent").Text(12, "back-deliv");
  if (o.balance != 0) {
    for (const uint32_t instance : o.instances) line.Text(12, absl::StrCat("by[", instance, "]"));
  }
  if (o.HasLatencies()) line.Break().TimesHead(kLatencyWidth, std::size(kPercentiles));
  if (!o.cacheline_cpus.empty()) line.Text(13, "cacheline[ns]");
  return line.Take();
}

std::string MemoryHead(const Options& o) {
  std::string name(NameOf(kModes, o.mode));
  if (o.mode == Mode::kAtomic) name = NameOf(kAtomics, o.atomic);
  if (o.mode == Mode::kAxi) {
    name = absl::StrCat("AXI4 ", NameOf(kAxiAccesses, o.access), ", bus of ", o.bus_bits, " bits");
  }
  return absl::StrFormat(
      "# %s%s, %d destination(s), VCs %d, %s operation(s) in flight%s\n"
      "# %s of data bytes (control, headers and acknowledgements not counted)\n"
      "# latency: %s%s\n",
      name, o.pingpong ? ", ping-pong" : "", o.destinations.size(), o.vcs.size(),
      absl::StrJoin(o.inflights, ","), o.check ? ", content checked" : "", DataUnit(o),
      LatencyKind(o), HasPrefixes(o) ? "" : ", in microseconds");
}

}  // namespace

double DataGbps(const RunResult& result, double commands_per_second) {
  return commands_per_second * result.data_bytes * 8 / 1e9;
}

std::string TableHead(const Options& o) {
  if (o.UsesOperations()) return MemoryHead(o) + ColumnHeads(o);
  std::string head = absl::StrFormat(
      "# %s%s, %d destination(s), VCs %d, queues %d, control %d bytes%s%s\n"
      "# %s of data bytes (control, headers and acknowledgements not counted)\n",
      NameOf(kModes, o.mode), o.send_only ? " (send only)" : "", o.destinations.size(),
      o.vcs.size(), o.queues, o.control_bytes, o.check ? ", content checked" : "",
      o.bidirectional ? ", both ways" : "", DataUnit(o));
  if (o.balance != 0) {
    head += absl::StrFormat("# balanced over instances %s: %s\n", absl::StrJoin(o.instances, ","),
                            NameOf(kBalances, o.balance));
  }
  if (o.HasLatencies()) {
    head += absl::StrFormat("# latency: %s%s%s\n", LatencyKind(o),
                            HasPrefixes(o) ? "" : ", in microseconds",
                            o.rate > 0 ? ", from the intended send time" : "");
  }
  if (!o.cacheline_cpus.empty()) {
    head += "# cacheline: round trip of a cache line before/after the run, ns\n";
  }
  return head + ColumnHeads(o);
}

std::string TableRow(const Options& o, const RunResult& r) {
  TableLine line(/*is_head=*/false, ColumnsOf(o));
  line.Count(SizeWidth(o), r.data_bytes);
  if (ShowsInflight(o)) line.Count(kInflightWidth, r.inflight);
  line.Count(12, r.measured);
  AddDataRate(o, 10, DataGbps(r, r.peak_per_second), &line);
  AddDataRate(o, 9, DataGbps(r, r.achieved_per_second()), &line);
  AddCommandRate(o, 9, r.achieved_per_second(), &line);
  if (r.offered_per_second > 0)
    AddCommandRate(o, 10, r.offered_per_second, &line);
  else if (!o.UsesOperations())
    line.Text(10, "max");
  line.Count(12, r.sent).Count(12, r.forward.received);
  line.Count(8, r.lost()).Count(7, r.wrong()).Count(7, r.duplicated()).Count(7, r.misordered());
  if (o.bidirectional) line.Count(12, r.reverse_sent).Count(12, r.reverse.received);
  if (o.balance != 0) {
    for (const uint64_t sent : r.sent_by_lane) line.Count(12, sent);
  }
  if (o.HasLatencies()) {
    if (!o.brief) line.Break();
    line.Times(kLatencyWidth, std::size(kPercentiles), r.latency_ns, HasPrefixes(o));
  }
  if (!o.cacheline_cpus.empty()) {
    line.Text(13, absl::StrFormat("%.0f/%.0f", r.cacheline_before_ns, r.cacheline_after_ns));
  }
  return line.Take();
}

std::string ServerTable(const Options& o, const StreamCounts& t, uint64_t runs,
                        const Arrivals& arrivals) {
  TableLine head(/*is_head=*/true, ColumnsOf(o));
  head.Text(8, "#streams").Text(14, "received").Text(16, "data[bytes]").Text(9, "lost");
  head.Text(9, "wrong").Text(9, "dup").Text(9, "order");
  TableLine row(/*is_head=*/false, ColumnsOf(o));
  row.Count(8, runs).Count(14, t.received).Count(16, t.data_bytes).Count(9, t.lost);
  row.Count(9, t.wrong).Count(9, t.duplicated).Count(9, t.misordered);
  if (o.receive_only) {
    head.Text(RateWidth(o, 9), absl::StrCat("avg[", DataUnit(o), "]"));
    head.Text(9, absl::StrCat("rate[", CommandUnit(o), "]"));
    const double s = arrivals.seconds();
    const auto per_second = [s](uint64_t n) { return s > 0 ? static_cast<double>(n) / s : 0; };
    AddDataRate(o, 9, per_second(t.data_bytes) * 8 / 1e9, &row);
    AddCommandRate(o, 9, per_second(t.received), &row);
  }
  return o.brief ? row.Take() : head.Take() + row.Take();
}

void Verdict::AddFaults(const Options& o, const StreamCounts& counts) {
  const auto add = [this](const char* name, uint64_t count) {
    Add(name, static_cast<double>(count), 0, count == 0);
  };
  add("lost", counts.lost);
  add("wrong", counts.wrong);
  add("duplicated", counts.duplicated);
  if (!o.unordered) add("misordered", counts.misordered);
}

Verdict CheckResults(const Options& o, const std::vector<RunResult>& results) {
  Verdict verdict;
  for (const RunResult& r : results) {
    verdict.Add("completed", static_cast<double>(r.outcome), 0, r.outcome == Outcome::kDone);
    // Arrivals are unknown without the servers' reports.
    if (r.outcome != Outcome::kDone) continue;
    verdict.AddFaults(o, {.wrong = r.wrong(),
                          .lost = r.lost(),
                          .duplicated = r.duplicated(),
                          .misordered = r.misordered()});
    if (r.interrupted) continue;
    const double rate = r.achieved_per_second();
    const double gbps = DataGbps(r, rate);
    const double p99_us = static_cast<double>(r.latency_ns.Percentile(99)) / 1e3;
    if (o.min_rate > 0) verdict.Add("min_rate", rate, o.min_rate, rate >= o.min_rate);
    if (o.min_gbps > 0) verdict.Add("min_bw", gbps, o.min_gbps, gbps >= o.min_gbps);
    // Fails without samples.
    const bool is_fast = p99_us <= o.max_p99_us && !r.latency_ns.empty();
    if (o.max_p99_us > 0) verdict.Add("max_p99_us", p99_us, o.max_p99_us, is_fast);
  }
  return verdict;
}

Verdict CheckServer(const Options& o, const StreamCounts& total) {
  Verdict verdict;
  verdict.AddFaults(o, total);
  return verdict;
}

Verdict CheckAll(const Options& o, const Document& document) {
  if (o.mode == Mode::kWorkload) return CheckRanks(o, document.ranks);
  if (!document.served) return CheckResults(o, document.results);
  Verdict served = CheckServer(o, *document.served);
  if (o.mode != Mode::kPeer) return served;
  Verdict verdict = CheckResults(o, document.results);
  for (Check& check : served.checks) {
    verdict.Add("served_" + check.name, check.value, check.limit, check.pass);
  }
  return verdict;
}

int ExitCodeOf(Outcome outcome) {
  switch (outcome) {
    case Outcome::kDone:
      return kExitDone;
    case Outcome::kRefused:
      return kExitFailure;
    case Outcome::kNoEcho:
    case Outcome::kNoPeer:
      return kExitUsage;
    default:
      return kExitUnreachable;
  }
}

int ExitCode(const std::vector<RunResult>& results, const Verdict& verdict) {
  for (const RunResult& r : results) {
    if (const int code = ExitCodeOf(r.outcome); code != kExitDone) return code;
  }
  return verdict.pass ? kExitDone : kExitVerdict;
}

namespace {

// Names the runs of which not all latencies are in the file.
void PrintMissingSamples(const Options& o, const std::vector<RunResult>& results) {
  for (const RunResult& r : results) {
    if (r.samples.size() >= r.latency_ns.count()) continue;
    std::fprintf(stderr,
                 "suede-perf: %s has %zu of the %llu latencies of %u bytes; raise "
                 "--max_samples to have all\n",
                 o.samples.c_str(), r.samples.size(),
                 static_cast<unsigned long long>(r.latency_ns.count()), r.data_bytes);
  }
}

absl::Status WriteFiles(const Options& o, const Document& document, const Verdict& verdict,
                        const std::string& why) {
  std::fflush(document.table);
  absl::Status status;
  if (document.csv != nullptr) status.Update(document.csv->Write(RunsCsv(o, document.results)));
  if (document.histogram_csv != nullptr) {
    status.Update(document.histogram_csv->Write(HistogramsCsv(document.results)));
  }
  if (document.samples != nullptr) {
    PrintMissingSamples(o, document.results);
    status.Update(document.samples->Write(SamplesCsv(document.results)));
  }
  if (document.json != nullptr)
    status.Update(document.json->Write(ToJson(o, document, verdict, why)));
  return status;
}

}  // namespace

int Conclude(const Options& options, const Document& document) {
  const Verdict verdict = CheckAll(options, document);
  for (const RunResult& r : document.results) {
    if (r.outcome != Outcome::kDone) {
      std::fprintf(stderr, "suede-perf: %s\n", r.explanation.c_str());
    }
  }
  for (const Check& check : verdict.checks) {
    if (check.pass || check.name == "completed") continue;
    const char* const remedy =
        check.name.ends_with("misordered")
            ? "; where the instance's ordering is unordered, give --unordered"
            : "";
    std::fprintf(stderr, "suede-perf: failed: %s is %.10g, limit %.10g%s\n", check.name.c_str(),
                 check.value, check.limit, remedy);
  }
  int code = ExitCode(document.results, verdict);
  for (const RankResult& r : document.ranks) {
    if (r.outcome == Outcome::kDone) continue;
    std::fprintf(stderr, "suede-perf: %s\n", r.explanation.c_str());
    code = ExitCodeOf(r.outcome);
  }
  const std::string why = document.why ? document.why() : "";
  if (!options.brief) std::fputs(WhyLines(why).c_str(), document.table);
  const absl::Status written = WriteFiles(options, document, verdict, why);
  if (written.ok()) return code;
  std::fprintf(stderr, "suede-perf: %s\n", std::string(written.message()).c_str());
  return code != kExitDone ? code : kExitFailure;
}

}  // namespace suede::perf
