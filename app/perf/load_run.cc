// SPDX-License-Identifier: Apache-2.0
#include "perf/load_run.h"

namespace suede::perf {

RunResult Combine(const std::vector<const LoadRecord*>& workers, const RunBoard* board) {
  RunResult sum;
  RateTrack track;
  for (const LoadRecord* record : workers) {
    const RunResult& worker = record->result;
    // Operations that failed are explained in a run that is done, too.
    if (sum.outcome == Outcome::kDone &&
        (worker.outcome != Outcome::kDone || !worker.explanation.empty())) {
      sum.outcome = worker.outcome;
      sum.explanation = worker.explanation;
    }
    sum.interrupted |= worker.interrupted;
    sum.is_unfinished |= worker.is_unfinished;
    sum.sent += worker.sent;
    sum.sent_by_lane.resize(std::max(sum.sent_by_lane.size(), worker.sent_by_lane.size()));
    for (size_t i = 0; i < worker.sent_by_lane.size(); ++i) {
      sum.sent_by_lane[i] += worker.sent_by_lane[i];
    }
    sum.measured += worker.measured;
    sum.measured_time = std::max(sum.measured_time, worker.measured_time);
    sum.blocked += worker.blocked;
    sum.forward.Add(worker.forward);
    sum.reverse.Add(worker.reverse);
    sum.latency_ns.Merge(worker.latency_ns);
    sum.samples.insert(sum.samples.end(), worker.samples.begin(), worker.samples.end());
    sum.latency_is_rtt |= worker.latency_is_rtt;
    for (size_t i = 0; i < kCompletionStatuses; ++i) sum.completions[i] += worker.completions[i];
    track.Merge(record->track);
  }
  // The average replaces the peak of a run that is shorter than a window.
  sum.peak_per_second = std::max(track.Peak(), sum.achieved_per_second());
  if (board == nullptr) return sum;
  const RunBoard::Sums reported = board->Total();
  sum.forward = reported.forward;
  sum.reverse = reported.reverse;
  sum.reverse_sent = reported.forward.sent_back;
  return sum;
}

}  // namespace suede::perf
