// SPDX-License-Identifier: Apache-2.0
#include "incast_figures.h"

#include <algorithm>
#include <chrono>

#include "fabric/params.h"
#include "wire/encap.h"
#include "wire/rh.h"

namespace suede {
namespace {

constexpr uint32_t kCommandBytes = IncastClient::kControlBytes + IncastClient::kDataBytes;
constexpr uint32_t kUdp4Bytes = 42;
constexpr uint32_t kPackBytes = 4096;

// Jain's index: 1 where all are the same, 1 / N where one has everything.
double JainOf(const std::vector<double>& values) {
  double sum = 0;
  double squares = 0;
  for (const double value : values) {
    sum += value;
    squares += value * value;
  }
  return squares == 0 ? 0 : sum * sum / (static_cast<double>(values.size()) * squares);
}

uint64_t PercentileOf(const std::vector<double>& sorted, double percent) {
  const auto rank = static_cast<size_t>(static_cast<double>(sorted.size()) * percent / 100 + 0.999);
  return static_cast<uint64_t>(sorted[std::clamp<size_t>(rank, 1, sorted.size()) - 1]);
}

RoundTrips RoundTripsOf(const Histogram& histogram) {
  return {.count = histogram.count(),
          .p50_ns = histogram.Percentile(50),
          .p99_ns = histogram.Percentile(99),
          .max_ns = histogram.max()};
}

// Figures of senders that end.
void AddCompletions(IncastRun& run, IncastFigures& figures) {
  const IncastOptions& options = run.options();
  std::vector<double> times;
  for (uint32_t sender = 1; sender <= options.senders; ++sender) {
    const IncastClient::Stream& stream = run.client(IncastRun::kReceiver).from(sender);
    const bool complete = stream.commands == options.commands + IncastRun::kGreetings;
    const Time last = complete ? stream.last : run.end();
    times.push_back(static_cast<double>((last - run.start()).count()));
  }
  figures.jain = JainOf(times);
  std::sort(times.begin(), times.end());
  figures.p50_ns = PercentileOf(times, 50);
  figures.p99_ns = PercentileOf(times, 99);
  figures.max_ns = PercentileOf(times, 100);
  figures.seconds = times.back() / 1e9;
  const double bits = 8 * static_cast<double>(IncastWireBytes(options.commands)) * options.senders;
  figures.efficiency = bits / static_cast<double>(kIncastRateBps) / figures.seconds;
  figures.goodput_bps =
      8 * static_cast<double>(run.delivered()) * IncastClient::kDataBytes / figures.seconds;
  const uint64_t all = uint64_t{options.senders} * options.commands;
  if (run.delivered() == all) return;
  figures.failure = std::to_string(all - run.delivered()) + " of " + std::to_string(all) +
                    " commands were not delivered in " + std::to_string(figures.seconds) + " s";
}

// Figures of endless senders.
void AddShares(IncastRun& run, IncastFigures& figures) {
  std::vector<double> shares;
  double sum = 0;
  for (uint32_t sender = 1; sender <= run.options().senders; ++sender) {
    const uint32_t now = run.client(IncastRun::kReceiver).from(sender).commands;
    shares.push_back(now - run.warm_commands(sender));
    sum += shares.back();
  }
  figures.jain = JainOf(shares);
  if (run.options().both_ways) {
    sum += run.client(1).from(IncastRun::kReceiver).commands - run.warm_back();
  }
  figures.seconds = static_cast<double>(run.options().window.count()) / 1e9;
  figures.goodput_bps = 8 * sum * IncastClient::kDataBytes / figures.seconds;
  constexpr uint32_t kMany = 15'000;  // whole PDUs
  const double per_command = static_cast<double>(IncastWireBytes(kMany)) / kMany;
  figures.efficiency =
      8 * sum * per_command / figures.seconds / static_cast<double>(kIncastRateBps);
}

}  // namespace

uint64_t IncastWireBytes(uint32_t commands) {
  constexpr uint32_t kPerPdu = kPackBytes / kCommandBytes;
  const uint64_t pdus = (uint64_t{commands} + kPerPdu - 1) / kPerPdu;
  return uint64_t{commands} * kCommandBytes +
         pdus * (kUdp4Bytes + kRhBytes + kRcrcBytes + kWireOctets);
}

IncastFigures Measure(const Scheme& scheme, const IncastOptions& options) {
  IncastRun run(scheme, options);
  run.Run();
  IncastFigures figures;
  if (options.commands == IncastClient::kEndless) {
    AddShares(run, figures);
  } else if (options.commands != 0) {
    AddCompletions(run, figures);
  }
  figures.queue = {.max = run.depth().Percentile(100),
                   .p50 = run.depth().Percentile(50),
                   .p99 = run.depth().Percentile(99),
                   .later_p99 = run.later_depth().Percentile(99)};
  figures.counts = run.Counts();
  figures.near = RoundTripsOf(run.client(options.senders + 1).round_trips());
  figures.far = RoundTripsOf(run.client(options.senders + 2).round_trips());
  const std::string verdict = run.Finish();
  if (figures.failure.empty()) figures.failure = verdict;
  figures.turns = run.turns();
  figures.digest = run.digest();
  return figures;
}

IncastRow MeasureRow(const Scheme& scheme, const IncastOptions& options) {
  const auto begin = std::chrono::steady_clock::now();
  IncastRow row{.scheme = &scheme, .senders = options.senders};
  row.burst = Measure(scheme, options);
  IncastOptions other = options;
  other.requests = true;
  other.commands = 0;
  row.unloaded = Measure(scheme, other);
  other.commands = IncastClient::kEndless;
  row.endless = Measure(scheme, other);
  row.wall_seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return row;
}

}  // namespace suede
