// SPDX-License-Identifier: Apache-2.0
// suede-perf as one or several ranks of a workload, each with its own connection. Threads share the
// ranks.
#include <cstdio>
#include <deque>

#include "perf/client_endpoint.h"
#include "perf/programs.h"
#include "perf/rank.h"
#include "perf/worker_loop.h"

namespace suede::perf {
namespace {

// A rank with its connection and endpoint.
struct OwnRank {
  std::unique_ptr<ClientSession> session;
  std::unique_ptr<ClientEndpoint> endpoint;
  std::unique_ptr<Rank<ClientEndpoint>> rank;
};

uint32_t RankOf(const Options& options, uint16_t xpuid) {
  const auto found = std::find(options.ranks.begin(), options.ranks.end(), xpuid);
  return static_cast<uint32_t>(found - options.ranks.begin());
}

absl::StatusOr<std::vector<OwnRank>> ConnectRanks(const Options& options) {
  std::vector<OwnRank> ranks;
  const TscClock clock = TscClock::Calibrate();
  for (const uint16_t xpuid : options.own) {
    Options one = options;
    one.xpuid = xpuid;
    auto session = ClientSession::Open(one);
    if (!session.ok()) return session.status();
    auto endpoint = std::make_unique<ClientEndpoint>(**session, 0, clock);
    ranks.push_back({.session = *std::move(session), .endpoint = std::move(endpoint)});
  }
  return ranks;
}

// Runs the ranks `first`, `first` + `step`, … in one thread.
void RunRanks(const Options& options, std::vector<OwnRank>& ranks, uint32_t first, uint32_t step) {
  bool done = false;
  const auto each = [&](const auto& act) {
    for (size_t i = first; i < ranks.size(); i += step) act(ranks[i]);
  };
  RunLoop(
      *ranks[first].endpoint, options.spin,
      [&](Time now) {
        bool worked = false;
        done = true;
        each([&](OwnRank& own) {
          if (own.rank->done()) return;
          worked |= own.rank->Poll(now);
          done &= own.rank->done();
        });
        return worked;
      },
      [&] { return done; },
      [&] {
        each([](OwnRank& own) { own.endpoint->CheckConnection(); });
        sched_yield();
      });
}

}  // namespace

int RunWorkload(const Options& options, Document document, const std::atomic<bool>& stop) {
  std::vector<TraceRow> trace;
  if (!options.trace.empty()) {
    auto rows = ReadTrace(options.trace, static_cast<uint32_t>(options.ranks.size()));
    if (!rows.ok()) return FailToConnect(rows.status());
    trace = *std::move(rows);
  }
  auto log = OpenIntervalLog(options);
  if (!log.ok()) return FailToConnect(log.status());
  auto ranks = ConnectRanks(options);
  if (!ranks.ok()) return FailToConnect(ranks.status());
  // Each thread has its own Traffic, which caches drawn numbers.
  std::deque<Traffic> traffic;
  for (uint32_t i = 0; i < options.threads; ++i) traffic.emplace_back(options.traffic, trace);
  const uint32_t nonce = NewRunNumber();
  for (size_t i = 0; i < ranks->size(); ++i) {
    OwnRank& own = (*ranks)[i];
    own.rank = std::make_unique<Rank<ClientEndpoint>>(
        *own.endpoint, RankPlanOf(options, RankOf(options, options.own[i])),
        traffic[i % options.threads], nonce, stop);
    if (*log != nullptr) own.rank->LogTo((*log)->NewCells(options.own[i]));
  }
  InWorkers(options.threads, options.cpus,
            [&](uint32_t worker) { RunRanks(options, *ranks, worker, options.threads); });
  for (OwnRank& own : *ranks) document.ranks.push_back(own.rank->result());
  for (RankResult& result : document.ranks) {
    if (result.outcome == Outcome::kRefused) result.explanation += PeersOf(options.endpoint);
  }
  std::fputs(RankTable(options, document.ranks).c_str(), document.table);
  std::fflush(document.table);
  document.end = std::chrono::system_clock::now();
  return Conclude(options, document);
}

}  // namespace suede::perf
