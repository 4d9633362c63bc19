// SPDX-License-Identifier: Apache-2.0
// Tables and verdict of a workload of several ranks.
#include <algorithm>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "perf/report.h"
#include "perf/table.h"

namespace suede::perf {

const RankResult* LeaderOf(const std::vector<RankResult>& ranks) {
  const auto found =
      std::find_if(ranks.begin(), ranks.end(), [](const RankResult& r) { return r.rank == 0; });
  return found != ranks.end() ? &*found : nullptr;
}

namespace {

constexpr uint32_t kTimeWidth = 10;

std::string TimesRow(const char* name, const Histogram& times) {
  if (times.empty()) return "";
  TableLine line;
  line.Text(12, name).Count(10, times.count());
  return line.Times(kTimeWidth, kMainPercentiles, times).Take();
}

// Returns the sums over all ranks if rank 0 is in this process, otherwise over the ranks of this
// process.
Account AccountOf(const std::vector<RankResult>& ranks) {
  if (const RankResult* leader = LeaderOf(ranks); leader != nullptr && leader->all.flows != 0) {
    return leader->all;
  }
  Account sum;
  for (const RankResult& rank : ranks) sum.Add(rank.account);
  return sum;
}

// Returns the times of iterations: of all ranks if rank 0 is in this process, otherwise of the
// first rank.
const Histogram& IterationsOf(const std::vector<RankResult>& ranks) {
  const RankResult* leader = LeaderOf(ranks);
  if (leader != nullptr && !leader->all_ns.empty()) return leader->all_ns;
  return ranks.front().iteration_ns;
}

}  // namespace

double GoodputGbps(const RankResult& r) {
  if (r.measured.count() <= 0) return 0;
  return static_cast<double>(r.measured_bytes) * 8 / static_cast<double>(r.measured.count());
}

std::string RankTable(const Options& o, const std::vector<RankResult>& ranks) {
  const Account account = AccountOf(ranks);
  std::string text = absl::StrFormat(
      "# %s, %d ranks (%d here), %d bytes, VCs %d, size %d bytes%s%s\n# times in microseconds\n",
      NameOf(kPatterns, o.traffic.pattern), o.ranks.size(), ranks.size(), o.traffic.bytes,
      o.vcs.size(), o.sizes[0], o.barrier ? "" : ", no barrier",
      o.check ? ", content checked" : "");
  TableLine head(/*is_head=*/true);
  head.Text(12, "#time of").Text(10, "samples");
  text += head.TimesHead(kTimeWidth, kMainPercentiles).Take();
  if (const RankResult* leader = LeaderOf(ranks)) text += TimesRow("iteration", leader->all_ns);
  Histogram own;
  Histogram transfers;
  Histogram responses;
  double goodput = 0;
  for (const RankResult& rank : ranks) {
    own.Merge(rank.iteration_ns);
    transfers.Merge(rank.transfer_ns);
    responses.Merge(rank.response_ns);
    goodput += GoodputGbps(rank);
  }
  text += TimesRow("own part", own) + TimesRow("transfer", transfers);
  text += TimesRow("response", responses);
  TableLine sums_head(/*is_head=*/true);
  sums_head.Text(12, "#Gb/s sent").Text(14, "received").Text(9, "lost").Text(9, "wrong");
  sums_head.Text(9, "dup").Text(9, "order").Text(8, "flows").Text(10, "fairness");
  TableLine sums;
  const StreamCounts& c = account.counts;
  sums.Decimal(12, goodput).Count(14, c.received).Count(9, c.lost).Count(9, c.wrong);
  sums.Count(9, c.duplicated).Count(9, c.misordered).Count(8, account.flows);
  sums.Text(10, absl::StrFormat("%.4f", account.Fairness()));
  return text + sums_head.Take() + sums.Take();
}

Verdict CheckRanks(const Options& o, const std::vector<RankResult>& ranks) {
  Verdict verdict;
  bool interrupted = false;
  for (const RankResult& rank : ranks) {
    interrupted |= rank.interrupted;
    if (rank.outcome == Outcome::kDone) continue;
    verdict.Add("completed", static_cast<double>(rank.outcome), 0, false);
  }
  const Account account = AccountOf(ranks);
  verdict.AddFaults(o, account.counts);
  if (interrupted) return verdict;
  if (o.max_iteration_ms > 0) {
    const Histogram& times = IterationsOf(ranks);
    const double p99_ms = static_cast<double>(times.Percentile(99)) / 1e6;
    // Fails without samples.
    verdict.Add("max_iteration_ms", p99_ms, o.max_iteration_ms,
                p99_ms <= o.max_iteration_ms && !times.empty());
  }
  if (o.min_fairness > 0) {
    verdict.Add("min_fairness", account.Fairness(), o.min_fairness,
                account.Fairness() >= o.min_fairness);
  }
  if (o.min_gbps > 0) {
    double goodput = 0;
    for (const RankResult& rank : ranks) goodput += GoodputGbps(rank);
    verdict.Add("min_bw", goodput, o.min_gbps, goodput >= o.min_gbps);
  }
  return verdict;
}

}  // namespace suede::perf
