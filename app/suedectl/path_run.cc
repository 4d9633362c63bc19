// SPDX-License-Identifier: Apache-2.0
#include "suedectl/path_run.h"

#include <algorithm>
#include <cstdlib>

#include "suedectl/json_members.h"
#include "suedectl/print.h"

namespace suede::ctl {
namespace {

int64_t TimeOf(const Json& object, const char* name) {
  return static_cast<int64_t>(NumberOr0(object, name));
}

PathMarks MarksOf(const Json& object, const char* name) {
  const Json* const marks = MemberOf(object, name);
  if (marks == nullptr) return {};
  const auto field = [marks](const char* of) -> std::optional<uint32_t> {
    const std::optional<uint64_t> value = NumberOf(*marks, of);
    return value ? std::optional(static_cast<uint32_t>(*value)) : std::nullopt;
  };
  return {.dscp = field("dscp"),
          .ecn = field("ecn"),
          .hops = field("hops"),
          .vid = field("vid"),
          .pcp = field("pcp")};
}

PathProbe ProbeOf(const Json& object) {
  PathProbe probe{.number = SmallOr0(object, "number"),
                  .session = SmallOr0(object, "session"),
                  .lost_here = IsTrue(object, "lost_here"),
                  .answered = IsTrue(object, "answered")};
  probe.sent_ns = TimeOf(object, "sent_ns");
  if (!probe.answered) return probe;
  probe.copies = static_cast<uint32_t>(NumberOf(object, "copies").value_or(1));
  probe.received_ns = TimeOf(object, "received_ns");
  probe.returned_ns = TimeOf(object, "returned_ns");
  probe.order = SmallOr0(object, "order");
  probe.bytes = SmallOr0(object, "bytes");
  probe.reply_bytes = SmallOr0(object, "reply_bytes");
  probe.there = MarksOf(object, "there");
  probe.reply_sent = MarksOf(object, "reply_sent");
  probe.here = MarksOf(object, "here");
  return probe;
}

// ---- Figures.

std::vector<const PathProbe*> AnsweredOf(const ProbeRun& run) {
  std::vector<const PathProbe*> answered;
  for (const PathProbe& probe : run.probes) {
    if (probe.answered) answered.push_back(&probe);
  }
  return answered;
}

// Sorts by arrival; `order` wraps.
void SortByArrival(std::vector<const PathProbe*>* probes) {
  if (probes->empty()) return;
  const uint32_t first = probes->front()->order;
  std::stable_sort(probes->begin(), probes->end(), [first](const auto* a, const auto* b) {
    return static_cast<int32_t>(a->order - first) < static_cast<int32_t>(b->order - first);
  });
}

// Returns the numbers of the probes that arrived behind a later one of their session.
std::vector<const PathProbe*> ReorderedOf(std::vector<const PathProbe*> answered) {
  SortByArrival(&answered);
  std::vector<const PathProbe*> late;
  std::map<uint32_t, uint32_t> newest;  // by session
  for (const PathProbe* const probe : answered) {
    const auto [at, is_first] = newest.emplace(probe->session, probe->number);
    if (!is_first && probe->number < at->second) late.push_back(probe);
    at->second = std::max(at->second, probe->number);
  }
  return late;
}

// Returns the losses between the first and the last answered probe.
uint32_t LossesWithin(const ProbeRun& run, const std::vector<const PathProbe*>& answered) {
  const PathProbe* const first = answered.front();
  const PathProbe* const last = answered.back();
  return static_cast<uint32_t>(
      std::count_if(run.probes.begin(), run.probes.end(), [&](const PathProbe& probe) {
        return !probe.answered && !probe.lost_here && probe.number > first->number &&
               probe.number < last->number;
      }));
}

// Splits the losses by the number of probes that arrived, which `order` shows. It does not show
// those at the ends of the run: they count as most of the others.
void CountLosses(const ProbeRun& run, std::vector<const PathProbe*> answered,
                 ProbeFigures* figures) {
  const uint32_t lost = figures->sent - figures->answered;
  figures->lost_out = lost;
  if (answered.empty()) return;
  const uint32_t within = LossesWithin(run, answered);
  SortByArrival(&answered);
  const uint32_t arrived = answered.back()->order - answered.front()->order + 1;
  const uint32_t unseen = arrived > figures->answered ? arrived - figures->answered : 0;
  figures->lost_back = std::min(unseen, within);
  if (2 * figures->lost_back > within) figures->lost_back += lost - within;
  figures->lost_out = lost - figures->lost_back;
  uint32_t copies = 0;
  for (const PathProbe* const probe : answered) copies += probe->copies - 1;
  figures->duplicates = std::max(copies, arrived > figures->sent ? arrived - figures->sent : 0);
}

template <class Delay>
int64_t JitterOf(const std::vector<const PathProbe*>& answered, Delay delay) {
  if (answered.size() < 2) return 0;
  int64_t sum = 0;
  for (size_t i = 1; i < answered.size(); ++i) {
    sum += std::llabs(delay(*answered[i]) - delay(*answered[i - 1]));
  }
  return sum / static_cast<int64_t>(answered.size() - 1);
}

// Keeps the two smallest delays. `taken`: how many there were before.
void TakeDelay(int64_t delay, uint32_t taken, int64_t* min, int64_t* next) {
  if (taken == 0) {
    *min = *next = delay;
  } else if (delay < *min) {
    *next = *min;
    *min = delay;
  } else if (taken == 1 || delay < *next) {
    *next = delay;
  }
}

}  // namespace

absl::StatusOr<ProbeRun> ParseProbeRun(const Json& result) {
  ProbeRun run{.state = StringOf(result, "state"),
               .port = StringOf(result, "port"),
               .encapsulation = StringOf(result, "encapsulation"),
               .rate_bps = NumberOf(result, "rate_bps"),
               .sent = MarksOf(result, "sent"),
               .probes = {},
               .drops = {},
               .own = {}};
  const Json* const probes = MemberOf(result, "probes");
  if (run.state.empty() || (probes != nullptr && !probes->is_array())) {
    return absl::UnavailableError("the daemon's message has no probes of a path");
  }
  if (probes != nullptr) {
    for (const Json& probe : *probes) run.probes.push_back(ProbeOf(probe));
  }
  if (const Json* const drops = MemberOf(result, "drops"); drops != nullptr && drops->is_object()) {
    run.drops = {.address = NumberOr0(*drops, "address"),
                 .crc = NumberOr0(*drops, "crc"),
                 .not_sue = NumberOr0(*drops, "not_sue"),
                 .trimmed = NumberOr0(*drops, "trimmed"),
                 .pauses = NumberOr0(*drops, "pauses")};
  }
  if (const Json* const own = MemberOf(result, "own"); own != nullptr && own->is_object()) {
    run.own = {.paused_ns = NumberOr0(*own, "paused_ns"),
               .pfc_received = NumberOr0(*own, "pfc_received"),
               .credit_waits = NumberOr0(*own, "credit_waits")};
  }
  return run;
}

TimeSpread SpreadOf(std::vector<int64_t> times) {
  std::sort(times.begin(), times.end());
  const size_t last = times.size() - 1;
  return {.min_ns = times.front(),
          .median_ns = times[times.size() / 2],
          .p99_ns = times[last * 99 / 100],
          .max_ns = times[last]};
}

std::string MicrosText(int64_t ns) { return Fixed(static_cast<double>(ns) / 1000, 1); }

void ProbeFigures::Add(const ProbeFigures& other) {
  sent += other.sent;
  lost_here += other.lost_here;
  answered += other.answered;
  lost_out += other.lost_out;
  lost_back += other.lost_back;
  duplicates += other.duplicates;
  reordered += other.reordered;
  crc += other.crc;
  if (!rtt || (other.rtt && other.rtt->min_ns < rtt->min_ns)) {
    rtt = other.rtt;
    jitter_out_ns = other.jitter_out_ns;
    jitter_back_ns = other.jitter_back_ns;
  }
}

ProbeFigures FiguresOf(const ProbeRun& run) {
  ProbeFigures figures;
  for (const PathProbe& probe : run.probes) ++(probe.lost_here ? figures.lost_here : figures.sent);
  const std::vector<const PathProbe*> answered = AnsweredOf(run);
  figures.answered = static_cast<uint32_t>(answered.size());
  figures.sent = std::max(figures.sent, figures.answered);
  CountLosses(run, answered, &figures);
  figures.reordered = static_cast<uint32_t>(ReorderedOf(answered).size());
  if (run.drops) figures.crc = run.drops->crc;
  if (answered.empty()) return figures;
  std::vector<int64_t> times;
  times.reserve(answered.size());
  for (const PathProbe* const probe : answered) times.push_back(probe->rtt_ns());
  figures.rtt = SpreadOf(std::move(times));
  figures.jitter_out_ns = JitterOf(answered, [](const PathProbe& p) { return p.out_ns(); });
  figures.jitter_back_ns = JitterOf(answered, [](const PathProbe& p) { return p.back_ns(); });
  return figures;
}

void AddMarks(const ProbeRun& run, std::vector<MarkRow>* rows) {
  const auto add = [rows](bool back, const PathMarks& sent, const PathMarks& received) {
    for (MarkRow& row : *rows) {
      if (row.back == back && row.sent == sent && row.received == received) {
        ++row.count;
        return;
      }
    }
    rows->push_back({.back = back, .sent = sent, .received = received, .count = 1});
  };
  for (const PathProbe& probe : run.probes) {
    if (!probe.answered) continue;
    add(false, run.sent, probe.there);
    add(true, probe.reply_sent, probe.here);
  }
}

std::map<uint32_t, SessionRow> SessionsOf(const std::vector<ProbeRun>& runs) {
  std::map<uint32_t, SessionRow> rows;
  for (const ProbeRun& run : runs) {
    for (const PathProbe& probe : run.probes) {
      if (probe.lost_here) continue;
      SessionRow& row = rows[probe.session];
      row.session = probe.session;
      ++row.sent;
      if (!probe.answered) continue;
      row.hops = probe.there.hops;
      TakeDelay(probe.out_ns(), row.answered, &row.out_min_ns, &row.out_next_ns);
      TakeDelay(probe.back_ns(), row.answered, &row.back_min_ns, &row.back_next_ns);
      ++row.answered;
    }
    for (const PathProbe* const probe : ReorderedOf(AnsweredOf(run))) {
      ++rows[probe->session].reordered;
    }
  }
  return rows;
}

}  // namespace suede::ctl
