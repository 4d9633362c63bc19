// SPDX-License-Identifier: Apache-2.0
#include "suedectl/path_experiments.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "suedectl/path_judge.h"

namespace suede::ctl {
namespace {

constexpr uint32_t kRounds = 2;        // classes take turns, so that a busy moment meets all
constexpr uint32_t kMaxRounds = 8;     // where sessions seem to take several paths
constexpr uint32_t kLengthProbes = 4;  // of each length that is tried
constexpr uint32_t kMarkProbes = 8;    // of each ECN value
constexpr uint32_t kFlowProbes = 4;    // of each session and round
constexpr uint32_t kStrangers = 8;
constexpr uint32_t kFastUs = 500;
constexpr uint32_t kLengthUs = 200;
constexpr uint32_t kMaxEcn = 2;  // as sent: CE is the switch's
constexpr uint32_t kMinWaitMs = 50;
constexpr uint32_t kMaxWaitMs = 1000;
constexpr uint32_t kStallMs = 300;  // a busy end can be silent for so long

class Experiments {
 public:
  Experiments(PathProber& prober, uint32_t count, PlaneResult& out)
      : prober_(prober), count_(count), out_(out) {}

  absl::Status Run() {
    for (const PathClass& of : out_.plan.classes) {
      ClassResult& result = out_.classes.emplace_back();
      result.of = of;
    }
    if (absl::Status s = Presence(); !s.ok() || out_.state != "done") return s;
    if (AnsweredClass(&out_) == nullptr && out_.plan.has_sessions) {
      if (absl::Status s = FindSession(); !s.ok()) return s;
    }
    ClassResult* const healthy = AnsweredClass(&out_);
    if (healthy == nullptr) return absl::OkStatus();
    for (ClassResult& of : out_.classes) {
      absl::Status s = of.figures.answered == 0 ? CountArrivals(*healthy, &of) : OfClass(&of);
      if (!s.ok()) return s;
    }
    if (absl::Status s = Hops(*healthy); !s.ok()) return s;
    if (absl::Status s = Strangers(*healthy); !s.ok()) return s;
    return out_.plan.has_sessions ? Flows(*healthy) : absl::OkStatus();
  }

 private:
  absl::StatusOr<ProbeRun> Send(ProbeSpec spec) {
    if (spec.sessions == 1) spec.first_session = session_;
    return prober_.Run(out_.plan.plane, spec);
  }

  // Looks for a session whose path is alive, and repeats the first experiment in it.
  absl::Status FindSession() {
    for (const PathClass& of : out_.plan.classes) {
      const absl::StatusOr<ProbeRun> run = Send({.traffic_class = of.number,
                                                 .count = kPathSessions,
                                                 .sessions = kPathSessions,
                                                 .interval_us = kFastUs});
      if (!run.ok()) return run.status();
      const auto alive = std::find_if(run->probes.begin(), run->probes.end(),
                                      [](const PathProbe& probe) { return probe.answered; });
      if (alive == run->probes.end()) continue;
      session_ = alive->session;
      for (ClassResult& result : out_.classes) result.figures = {};
      return Presence();
    }
    return absl::OkStatus();
  }

  absl::Status Presence() {
    const uint32_t of_round = std::max(1u, count_ / kRounds);
    for (uint32_t round = 0; round < kRounds; ++round) {
      for (ClassResult& of : out_.classes) {
        absl::StatusOr<ProbeRun> run =
            Send({.traffic_class = of.of.number, .count = of_round, .interval_us = kFastUs});
        if (!run.ok()) return run.status();
        out_.state = run->state;
        out_.rate_bps = run->rate_bps;
        if (run->state != "done") return absl::OkStatus();
        of.figures.Add(FiguresOf(*run));
        AddMarks(*run, &of.marks);
      }
    }
    return absl::OkStatus();
  }

  // Counts the probes of a silent class that arrive, by the peer's count of all probes.
  absl::Status CountArrivals(const ClassResult& healthy, ClassResult* of) {
    const ProbeSpec anchor{.traffic_class = healthy.of.number, .count = 1};
    const auto before = Send(anchor);
    if (!before.ok()) return before.status();
    const auto run = Send(
        {.traffic_class = of->of.number, .count = kMarkProbes, .timeout_ms = TimeoutOf(healthy)});
    if (!run.ok()) return run.status();
    const auto after = Send(anchor);
    if (!after.ok()) return after.status();
    if (before->probes.empty() || after->probes.empty()) return absl::OkStatus();
    const PathProbe& first = before->probes.front();
    const PathProbe& last = after->probes.front();
    if (first.answered && last.answered) of->arrived = last.order - first.order - 1;
    return absl::OkStatus();
  }

  absl::Status OfClass(ClassResult* of) {
    for (uint32_t ecn = 0; ecn <= kMaxEcn; ++ecn) {
      absl::StatusOr<ProbeRun> run = Send({.traffic_class = of->of.number,
                                           .count = kMarkProbes,
                                           .ecn = ecn,
                                           .timeout_ms = TimeoutOf(*of)});
      if (!run.ok()) return run.status();
      AddMarks(*run, &of->marks);
    }
    for (const bool back : {false, true}) {
      absl::StatusOr<uint32_t> bytes = LargestFrame(*of, back);
      if (!bytes.ok()) return bytes.status();
      (back ? of->lengths.back : of->lengths.out) = *bytes;
      if (*bytes == 0) break;
    }
    return absl::OkStatus();
  }

  // Returns the length of the longest frame of a run that was answered; 0: none was.
  absl::StatusOr<uint32_t> TryLength(const ClassResult& of, uint32_t bytes, bool back,
                                     uint32_t min_wait_ms = 0) {
    const absl::StatusOr<ProbeRun> run = Send({.traffic_class = of.of.number,
                                               .count = kLengthProbes,
                                               .bytes = bytes,
                                               .long_reply = back,
                                               .interval_us = kLengthUs,
                                               .timeout_ms = std::max(TimeoutOf(of), min_wait_ms)});
    if (!run.ok()) return run.status();
    uint32_t longest = 0;
    for (const PathProbe& probe : run->probes) {
      if (probe.answered) longest = std::max(longest, back ? probe.reply_bytes : probe.bytes);
    }
    return longest;
  }

  // Finds the longest frame that passes. `back`: as a report, behind a probe that passes.
  absl::StatusOr<uint32_t> LargestFrame(const ClassResult& of, bool back) {
    const uint32_t limit =
        back ? of.lengths.out.value_or(out_.plan.max_bytes) : out_.plan.max_bytes;
    absl::StatusOr<uint32_t> all = TryLength(of, limit, back);
    if (all.ok() && *all < limit) all = TryLength(of, limit, back, kStallMs);
    if (!all.ok() || *all >= limit) return all;
    absl::StatusOr<uint32_t> passed = TryLength(of, 0, back);
    if (!passed.ok() || *passed == 0) return passed;
    uint32_t good = *passed;
    for (uint32_t bad = limit; bad - good > 1;) {
      const uint32_t middle = good + (bad - good) / 2;
      absl::StatusOr<uint32_t> bytes = TryLength(of, middle, back);
      if (!bytes.ok()) return bytes;
      (*bytes >= middle ? good : bad) = middle;
    }
    return good;
  }

  // Probes with two hop limits: their difference survives a switch that counts.
  absl::Status Hops(const ClassResult& of) {
    ProbeSpec spec{
        .traffic_class = of.of.number, .count = kMarkProbes, .timeout_ms = TimeoutOf(of)};
    absl::StatusOr<ProbeRun> run = Send(spec);
    if (!run.ok()) return run.status();
    AddMarks(*run, &out_.hops);
    if (!run->sent.hops || *run->sent.hops < 4) return absl::OkStatus();
    spec.hop_limit = *run->sent.hops - 1;
    run = Send(spec);
    if (!run.ok()) return run.status();
    AddMarks(*run, &out_.hops);
    return absl::OkStatus();
  }

  absl::Status Strangers(const ClassResult& of) {
    StrangerResult& strangers = out_.strangers;
    strangers.sent = kStrangers;
    for (const std::string_view to : {"stranger", "ether_type"}) {
      const absl::StatusOr<ProbeRun> run = Send({.traffic_class = of.of.number,
                                                 .count = kStrangers,
                                                 .to = to,
                                                 .timeout_ms = TimeoutOf(of)});
      if (!run.ok()) return run.status();
      if (!run->drops) continue;
      if (to == "stranger")
        strangers.address = run->drops->address;
      else
        strangers.ether_type = run->drops->not_sue;
    }
    return absl::OkStatus();
  }

  // Whether sessions seem to have different delays. By chance they do not any more once further
  // probes have been sent.
  static bool SeveralPaths(const FlowResult& flows) {
    return GroupsOf(flows, false).sizes.size() > 1 || GroupsOf(flows, true).sizes.size() > 1;
  }

  absl::Status Flows(const ClassResult& of) {
    std::vector<ProbeRun> runs;
    FlowResult flows;
    for (uint32_t round = 0; round < kRounds || (round < kMaxRounds && SeveralPaths(flows));
         ++round) {
      absl::StatusOr<ProbeRun> run = Send({.traffic_class = of.of.number,
                                           .count = kPathSessions * kFlowProbes,
                                           .sessions = kPathSessions,
                                           .interval_us = kFastUs});
      if (!run.ok()) return run.status();
      flows.figures.Add(FiguresOf(*run));
      runs.push_back(*std::move(run));
      flows.sessions = SessionsOf(runs);
    }
    out_.flows = std::move(flows);
    return absl::OkStatus();
  }

  PathProber& prober_;
  const uint32_t count_;
  PlaneResult& out_;
  uint32_t session_ = 0;  // of experiments with one flow
};

}  // namespace

ClassResult* AnsweredClass(PlaneResult* result) {
  const auto found = std::find_if(result->classes.begin(), result->classes.end(),
                                  [](const ClassResult& of) { return of.figures.answered != 0; });
  return found == result->classes.end() ? nullptr : &*found;
}

uint32_t TimeoutOf(const ClassResult& of) {
  if (!of.figures.rtt) return kMaxWaitMs;
  const int64_t wait_ms = of.figures.rtt->max_ns * 4 / 1'000'000 + kMinWaitMs;
  return static_cast<uint32_t>(std::min<int64_t>(wait_ms, kMaxWaitMs));
}

absl::Status RunExperiments(PathProber& prober, uint32_t count, PlaneResult* result) {
  absl::Status end = Experiments(prober, count, *result).Run();
  if (end.code() != absl::StatusCode::kResourceExhausted) return end;
  result->was_cut = true;
  return absl::OkStatus();
}

}  // namespace suede::ctl
