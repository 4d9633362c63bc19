// SPDX-License-Identifier: Apache-2.0
#include "suedectl/path_incast.h"

#include <algorithm>
#include <optional>
#include <thread>
#include <vector>

#include "suedectl/path_experiments.h"

namespace suede::ctl {
namespace {

constexpr uint32_t kBitsOfByte = 8;
constexpr uint32_t kEct0 = 2;
constexpr uint32_t kBesideProbes = 64;
constexpr uint32_t kBesideUs = 200;
constexpr uint32_t kAnchorTries = 3;
constexpr uint32_t kPauseProbes = 100;
constexpr uint32_t kPauseTries = 3;

using Runs = std::vector<absl::StatusOr<ProbeRun>>;

// Runs one probing per sender at the same time.
Runs RunTogether(std::span<PathProber* const> senders, uint32_t plane,
                 std::span<const ProbeSpec> specs) {
  Runs runs(senders.size(), absl::UnknownError("not run"));
  std::vector<std::thread> threads;
  for (size_t i = 1; i < senders.size(); ++i) {
    threads.emplace_back([&, i] { runs[i] = senders[i]->Run(plane, specs[i]); });
  }
  runs[0] = senders[0]->Run(plane, specs[0]);
  for (std::thread& thread : threads) thread.join();
  return runs;
}

// Rate at which the frames behind the first one arrived.
std::optional<uint64_t> ArrivalRate(const std::vector<const PathProbe*>& probes) {
  if (probes.size() < 2) return std::nullopt;
  int64_t first = probes[0]->received_ns;
  int64_t last = first;
  uint64_t bytes = 0;
  for (const PathProbe* const probe : probes) {
    first = std::min(first, probe->received_ns);
    last = std::max(last, probe->received_ns);
    bytes += probe->bytes;
  }
  if (last == first) return std::nullopt;
  bytes -= probes[0]->bytes;
  return static_cast<uint64_t>(static_cast<double>(bytes * kBitsOfByte) * 1e9 /
                               static_cast<double>(last - first));
}

class Incast {
 public:
  Incast(std::span<PathProber* const> senders, PlaneResult& out) : senders_(senders), out_(out) {}

  absl::Status Run() {
    for (ClassResult& of : out_.classes) {
      if (of.figures.answered == 0) continue;
      for (const uint32_t count : kBurstCounts) {
        if (absl::Status s = Burst(count, &of); !s.ok()) return s;
      }
    }
    for (ClassResult& of : out_.classes) {
      if (of.figures.answered == 0) continue;
      if (absl::Status s = Pause(&of); !s.ok()) return s;
    }
    if (senders_.size() < 2) return absl::OkStatus();
    for (ClassResult& of : out_.classes) {
      if (of.figures.answered == 0) continue;
      if (absl::Status s = Isolation(&of); !s.ok()) return s;
    }
    return absl::OkStatus();
  }

 private:
  ProbeSpec BurstSpec(const ClassResult& of, uint32_t count) const {
    return {.traffic_class = of.of.number,
            .count = count,
            .bytes = of.lengths.out.value_or(0),
            .ecn = kEct0,
            .interval_us = 0,
            .timeout_ms = std::max(TimeoutOf(of), 200u)};
  }

  // Returns the number of probes that the peer has received before one of `sender`.
  absl::StatusOr<uint32_t> Anchor(size_t sender, const ClassResult& of) {
    for (uint32_t i = 0; i < kAnchorTries; ++i) {
      const absl::StatusOr<ProbeRun> run = senders_[sender]->Run(
          out_.plan.plane,
          {.traffic_class = of.of.number, .count = 1, .timeout_ms = TimeoutOf(of)});
      if (!run.ok()) return run.status();
      if (!run->probes.empty() && run->probes[0].answered) return run->probes[0].order;
    }
    return absl::UnavailableError("the peer has stopped answering probes");
  }

  // A peer that cannot report all probes still counts them, so the counts of its reports around the
  // burst show the losses.
  absl::Status Burst(uint32_t count, ClassResult* of) {
    std::vector<uint32_t> before;
    for (size_t i = 0; i < senders_.size(); ++i) {
      const absl::StatusOr<uint32_t> anchor = Anchor(i, *of);
      if (!anchor.ok()) return anchor.status();
      before.push_back(*anchor);
    }
    const std::vector<ProbeSpec> specs(senders_.size(), BurstSpec(*of, count));
    std::vector<ProbeRun> good;
    for (absl::StatusOr<ProbeRun>& run : RunTogether(senders_, out_.plan.plane, specs)) {
      if (!run.ok()) return run.status();
      good.push_back(*std::move(run));
    }
    BurstRow row = BurstOf(count, good);
    // The peer counts the probes of each sender by themselves, or those of all together: then the
    // anchors of the others are among them.
    const bool is_common = senders_.size() > 1 && before[1] == before[0] + 1;
    uint32_t arrived = 0;
    for (size_t i = 0; i < senders_.size(); ++i) {
      const absl::StatusOr<uint32_t> after = Anchor(i, *of);
      if (!after.ok()) return after.status();
      if (!is_common)
        arrived += *after - before[i] - 1;
      else if (i == 0)
        arrived = *after - before[0] - static_cast<uint32_t>(senders_.size());
    }
    row.lost_out = row.sent > arrived ? row.sent - arrived : 0;
    of->bursts.push_back(row);
    return absl::OkStatus();
  }

  // Probes while the own port requests a pause of the class: a switch that obeys keeps the reports
  // until its end. Keeps the run with most early reports, as a busy switch can look as if it
  // obeyed.
  absl::Status Pause(ClassResult* of) {
    if (!out_.plan.sends_pauses || of->of.number == kPathAckClass) return absl::OkStatus();
    for (uint32_t i = 0; i < kPauseTries; ++i) {
      const absl::StatusOr<ProbeRun> run =
          senders_[0]->Run(out_.plan.plane, {.traffic_class = of->of.number,
                                             .count = kPauseProbes,
                                             .pause = true,
                                             .interval_us = kBesideUs,
                                             .timeout_ms = TimeoutOf(*of)});
      if (!run.ok()) return run.status();
      if (run->state != "done") return absl::OkStatus();
      const PauseResult result = PauseOf(*run, kPauseProbes * kBesideUs * 1000);
      if (!of->pause || result.early > of->pause->early) of->pause = result;
    }
    return absl::OkStatus();
  }

  // All senders but the last one send a burst, and the last one probes another class meanwhile.
  absl::Status Isolation(ClassResult* of) {
    const auto other = std::find_if(out_.classes.begin(), out_.classes.end(), [&](const auto& c) {
      return c.of.number != of->of.number && c.figures.answered != 0;
    });
    if (other == out_.classes.end()) return absl::OkStatus();
    const ProbeSpec beside{.traffic_class = other->of.number,
                           .count = kBesideProbes,
                           .interval_us = kBesideUs,
                           .timeout_ms = std::max(TimeoutOf(*other), 200u)};
    const absl::StatusOr<ProbeRun> alone = senders_.back()->Run(out_.plan.plane, beside);
    if (!alone.ok()) return alone.status();
    std::vector<ProbeSpec> specs(senders_.size(), BurstSpec(*of, kBurstCounts[3]));
    specs.back() = beside;
    Runs runs = RunTogether(senders_, out_.plan.plane, specs);
    for (const absl::StatusOr<ProbeRun>& run : runs) {
      if (!run.ok()) return run.status();
    }
    of->isolation = IsolationResult{.other = other->of.name,
                                    .alone = FiguresOf(*alone),
                                    .beside = FiguresOf(*runs.back()),
                                    .paused_ns = runs[0]->own.paused_ns};
    return absl::OkStatus();
  }

  std::span<PathProber* const> senders_;
  PlaneResult& out_;
};

}  // namespace

PauseResult PauseOf(const ProbeRun& run, int64_t pause_ns) {
  PauseResult result;
  if (run.probes.empty()) return result;
  const int64_t begin_ns = run.probes.front().sent_ns;
  for (const PathProbe& probe : run.probes) {
    if (!probe.answered || probe.sent_ns - begin_ns >= pause_ns / 2) continue;
    ++result.answered;
    result.early += probe.returned_ns - begin_ns < pause_ns;
  }
  return result;
}

BurstRow BurstOf(uint32_t count, std::span<const ProbeRun> runs) {
  BurstRow row{.count = count};
  std::vector<const PathProbe*> all;
  for (const ProbeRun& run : runs) {
    row.sent += FiguresOf(run).sent;
    row.pfc += run.own.pfc_received;
    row.paused_ns += run.own.paused_ns;
    row.credit_waits += run.own.credit_waits;
    if (run.drops) row.trimmed = std::max(row.trimmed, run.drops->trimmed);
    std::optional<int64_t> min_ns;  // the offset is that of this sender's clock
    for (const PathProbe& probe : run.probes) {
      if (!probe.answered) continue;
      all.push_back(&probe);
      min_ns = std::min(min_ns.value_or(probe.out_ns()), probe.out_ns());
    }
    for (const PathProbe& probe : run.probes) {
      if (!probe.answered) continue;
      const int64_t delay = probe.out_ns() - *min_ns;
      row.max_delay_ns = std::max(row.max_delay_ns, delay);
      if (probe.there.ecn != kPathCe) continue;
      ++row.marked;
      row.first_mark_ns = std::min(row.first_mark_ns.value_or(delay), delay);
    }
  }
  row.rate_bps = ArrivalRate(all);
  return row;
}

absl::Status RunIncast(std::span<PathProber* const> senders, PlaneResult* result) {
  absl::Status end = Incast(senders, *result).Run();
  if (end.code() != absl::StatusCode::kResourceExhausted) return end;
  result->was_cut = true;
  return absl::OkStatus();
}

}  // namespace suede::ctl
