// SPDX-License-Identifier: Apache-2.0
#include "perf/interval_log.h"

#include <cerrno>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/time.h"

namespace suede::perf {
namespace {

// Returns the percentile `share` (0 to 1) of the samples, in seconds.
double Percentile(const std::vector<uint64_t>& counts, uint64_t samples, double share) {
  const auto wanted = static_cast<uint64_t>(static_cast<double>(samples) * share + 0.999999);
  uint64_t seen = 0;
  for (size_t bucket = 0; bucket < counts.size(); ++bucket) {
    seen += counts[bucket];
    if (seen >= wanted && seen > 0) {
      return static_cast<double>(IntervalCells::Buckets::LargestIn(bucket)) / 1e9;
    }
  }
  return 0;
}

}  // namespace

absl::StatusOr<std::unique_ptr<IntervalLog>> IntervalLog::Open(const std::string& path,
                                                               double interval_s,
                                                               std::string kind) {
  FILE* const file = std::fopen(path.c_str(), "we");
  if (file == nullptr) {
    return absl::InternalError(absl::StrCat("--interval_json ", path, ": ", std::strerror(errno)));
  }
  return std::unique_ptr<IntervalLog>(new IntervalLog(file, interval_s, std::move(kind)));
}

IntervalLog::IntervalLog(FILE* file, double interval_s, std::string kind)
    : file_(file), kind_(std::move(kind)) {
  thread_.emplace(interval_s, [this] { Write(); });
}

IntervalLog::~IntervalLog() {
  thread_.reset();
  Write();
  std::fclose(file_);
}

IntervalCells* IntervalLog::NewCells(uint16_t own_xpuid) {
  const std::lock_guard lock(thread_->mutex());
  before_.push_back({.commands = std::vector<uint64_t>(IntervalCells::kStreams),
                     .bytes = std::vector<uint64_t>(IntervalCells::kStreams),
                     .latencies = std::vector<uint64_t>(IntervalCells::Buckets::kBuckets)});
  return &cells_.emplace_back(own_xpuid);
}

std::string IntervalLog::NextLine(std::chrono::system_clock::time_point time) {
  std::string flows;
  std::vector<uint64_t> latencies(IntervalCells::Buckets::kBuckets);
  uint64_t samples = 0;
  const auto since = [](const IntervalCells::Cell& cell, uint64_t& before) {
    const uint64_t now = cell.load(std::memory_order_relaxed);
    return now - std::exchange(before, now);
  };
  for (size_t i = 0; i < cells_.size(); ++i) {
    const IntervalCells& cells = cells_[i];
    for (size_t stream = 0; stream < IntervalCells::kStreams; ++stream) {
      const uint64_t bytes = since(cells.flows_[stream].bytes, before_[i].bytes[stream]);
      const uint64_t commands = since(cells.flows_[stream].commands, before_[i].commands[stream]);
      if (commands == 0 && bytes == 0) continue;
      absl::StrAppendFormat(
          &flows, R"(%s{"source":%d,"destination":%d,"vc":%d,"commands":%d,"data_bytes":%d})",
          flows.empty() ? "" : ",", stream / kVcCount, cells.own_, stream % kVcCount, commands,
          bytes);
    }
    for (size_t bucket = 0; bucket < latencies.size(); ++bucket) {
      const uint64_t more = since(cells.latencies_[bucket], before_[i].latencies[bucket]);
      latencies[bucket] += more;
      samples += more;
    }
  }
  const std::string utc =
      absl::FormatTime("%Y-%m-%dT%H:%M:%E6SZ", absl::FromChrono(time), absl::UTCTimeZone());
  const std::string latency =
      samples == 0
          ? "null"
          : absl::StrFormat(R"({"kind":"%s","samples":%d,"p50_seconds":%.9g,"p99_seconds":%.9g})",
                            kind_, samples, Percentile(latencies, samples, 0.5),
                            Percentile(latencies, samples, 0.99));
  return absl::StrCat(R"({"time":")", utc, R"(","flows":[)", flows, R"(],"latency":)", latency,
                      "}\n");
}

// Ignores errors: a full disk truncates the file, but must not end the load.
void IntervalLog::Write() {
  const std::string line = NextLine(std::chrono::system_clock::now());
  std::fwrite(line.data(), 1, line.size(), file_);
  std::fflush(file_);
}

}  // namespace suede::perf
