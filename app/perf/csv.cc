// SPDX-License-Identifier: Apache-2.0
#include "perf/csv.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"
#include "perf/table.h"

namespace suede::perf {
namespace {

double InSeconds(auto ns) { return static_cast<double>(ns) / 1e9; }

// The columns that name a run.
std::string RunCells(const RunResult& r) {
  return absl::StrCat(r.data_bytes, ",", r.inflight > 0 ? absl::StrCat(r.inflight) : "");
}

std::string LatencyHeads() {
  std::string heads =
      "latency_kind,latency_samples,latency_min_seconds,latency_mean_seconds,"
      "latency_stdev_seconds";
  for (const auto& [percent, name] : kPercentiles) {
    absl::StrAppend(&heads, ",latency_", absl::StrReplaceAll(name, {{".", "_"}}), "_seconds");
  }
  return heads + ",latency_max_seconds";
}

std::string LatencyCells(const RunResult& r) {
  const Histogram& ns = r.latency_ns;
  if (ns.empty()) return std::string(std::size(kPercentiles) + 5, ',');
  std::string cells =
      absl::StrFormat("%s,%d,%.9f,%.9f,%.9f", r.latency_is_rtt ? "rtt" : "completion", ns.count(),
                      InSeconds(ns.min()), InSeconds(ns.mean()), InSeconds(ns.stdev()));
  for (const auto& [percent, name] : kPercentiles) {
    absl::StrAppendFormat(&cells, ",%.9f", InSeconds(ns.Percentile(percent)));
  }
  absl::StrAppendFormat(&cells, ",%.9f", InSeconds(ns.max()));
  return cells;
}

}  // namespace

std::string RunsCsv(const Options& options, const std::vector<RunResult>& results) {
  std::string text = absl::StrCat(
      "mode,data_bytes,inflight,measured,measured_seconds,offered_per_second,achieved_per_second,"
      "achieved_data_bits_per_second,peak_data_bits_per_second,sent,delivered,lost,wrong,"
      "duplicated,misordered,",
      LatencyHeads(), "\n");
  for (const RunResult& r : results) {
    if (r.outcome != Outcome::kDone) continue;
    const double rate = r.achieved_per_second();
    absl::StrAppendFormat(
        &text, "%s,%s,%d,%.9f,%s,%.3f,%.0f,%.0f,%d,%d,%d,%d,%d,%d,%s\n",
        NameOf(kModes, options.mode), RunCells(r), r.measured, InSeconds(r.measured_time.count()),
        r.offered_per_second > 0 ? absl::StrFormat("%.3f", r.offered_per_second) : "", rate,
        rate * r.data_bytes * 8, r.peak_per_second * r.data_bytes * 8, r.sent, r.forward.received,
        r.lost(), r.wrong(), r.duplicated(), r.misordered(), LatencyCells(r));
  }
  return text;
}

std::string HistogramsCsv(const std::vector<RunResult>& results) {
  std::string text = "data_bytes,inflight,from_seconds,to_seconds,samples\n";
  for (const RunResult& r : results) {
    r.latency_ns.ForEachBucket([&](size_t bucket, uint64_t samples) {
      absl::StrAppendFormat(&text, "%s,%.9f,%.9f,%d\n", RunCells(r),
                            InSeconds(Histogram::Buckets::SmallestIn(bucket)),
                            InSeconds(Histogram::Buckets::LargestIn(bucket)), samples);
    });
  }
  return text;
}

std::string SamplesCsv(const std::vector<RunResult>& results) {
  std::string text = "data_bytes,inflight,start_seconds,latency_seconds\n";
  for (const RunResult& r : results) {
    const std::string run = RunCells(r);
    for (const LatencySample& sample : r.samples) {
      absl::StrAppendFormat(&text, "%s,%.9f,%.9f\n", run, InSeconds(sample.start.count()),
                            InSeconds(sample.latency.count()));
    }
  }
  return text;
}

}  // namespace suede::perf
