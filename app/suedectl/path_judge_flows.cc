// SPDX-License-Identifier: Apache-2.0
// Paths inside a plane, and frames that nobody should receive.
#include <algorithm>
#include <cmath>
#include <map>

#include "base/text.h"
#include "suedectl/path_judge.h"

namespace suede::ctl {
namespace {

constexpr int64_t kMinGapNs = 20'000;  // between groups of sessions
constexpr int64_t kGapsOfNoise = 8;
constexpr double kSigmas = 4;
constexpr double kMinLosses = 4;   // that can be told from chance
constexpr uint32_t kMinGroup = 4;  // sessions; fewer that differ do so by chance

struct Delay {
  int64_t min_ns;
  int64_t next_ns;
  uint32_t hops;
};

std::vector<Delay> DelaysOf(const FlowResult& flows, bool back) {
  std::vector<Delay> delays;
  for (const auto& [number, row] : flows.sessions) {
    if (row.answered == 0) continue;
    delays.push_back(back ? Delay{row.back_min_ns, row.back_next_ns, 0}
                          : Delay{row.out_min_ns, row.out_next_ns, row.hops.value_or(0)});
  }
  std::sort(delays.begin(), delays.end(),
            [](const Delay& a, const Delay& b) { return a.min_ns < b.min_ns; });
  return delays;
}

// Returns the usual difference between the two smallest delays of a session.
int64_t NoiseOf(const std::vector<Delay>& delays) {
  std::vector<int64_t> noise;
  noise.reserve(delays.size());
  for (const Delay& delay : delays) noise.push_back(delay.next_ns - delay.min_ns);
  std::sort(noise.begin(), noise.end());
  return noise[noise.size() / 2];
}

class Flows {
 public:
  Flows(const PlaneResult& plane, std::vector<PathFinding>& out)
      : plane_(plane), flows_(*plane.flows), out_(out) {}

  void Judge() {
    Losses();
    const PathGroups there = GroupsOf(flows_, false);
    const PathGroups back = GroupsOf(flows_, true);
    Paths(there, false);
    Paths(back, true);
    Symmetry(there, back);
    Reordered();
  }

 private:
  PathFinding& Add(std::string_view check, std::string measured, std::string_view expected) {
    return AddFinding(out_, plane_, {}, check, std::move(measured), expected);
  }

  // Losses of few sessions are those of a path, not of the whole plane.
  void Losses() {
    uint32_t dead = 0, lossy = 0;
    const size_t all = flows_.sessions.size();
    for (const auto& [number, row] : flows_.sessions) {
      dead += row.answered == 0;
      lossy += row.answered != row.sent;
    }
    PathFinding& finding =
        Add("flows", StrCat(lossy, " of ", all, " sessions lose, ", dead, " of them all"), "0");
    if (lossy == 0) return;
    const bool is_of_few = HitsFewSessions();
    const bool is_back = flows_.figures.lost_back > flows_.figures.lost_out;
    if (dead != 0 && is_of_few) {
      finding.verdict = PathVerdict::kFail;
      finding.cause = StrCat("a path ", is_back ? "from" : "to",
                             " the peer is dead, and the hash still uses it");
      finding.remedy = "remove the member from the group, or repair its link";
    } else if (is_of_few) {
      finding.verdict = PathVerdict::kFail;
      finding.cause = StrCat("one path ", is_back ? "from" : "to", " the peer loses frames");
      finding.remedy = "drop and FCS counters of each member of the group";
    } else {
      finding.verdict = PathVerdict::kWarn;
      finding.cause = "sessions lose alike: the loss is not that of one path";
      finding.remedy = "see loss out and loss back";
    }
  }

  // Whether the losses of sessions differ more than by chance: by their index of dispersion, which
  // has a chi-squared distribution where all sessions lose alike.
  bool HitsFewSessions() const {
    const auto all = static_cast<double>(flows_.sessions.size());
    double lost = 0;
    double squares = 0;
    for (const auto& [number, row] : flows_.sessions) {
      const double of_session = row.sent - row.answered;
      lost += of_session;
      squares += of_session * of_session;
    }
    const double mean = lost / all;
    const double dispersion = (squares - all * mean * mean) / mean;
    return lost >= kMinLosses && dispersion > all - 1 + kSigmas * std::sqrt(2 * (all - 1));
  }

  void Paths(const PathGroups& groups, bool back) {
    const size_t count = groups.sizes.size();
    if (count == 0) return;
    std::string measured = StrCat("at least ", count);
    if (count > 1) StrAppend(&measured, " with ", StrJoin(groups.sizes, "/"), " sessions");
    PathFinding& paths = Add(back ? "paths back" : "paths out", measured, "equal shares");
    const auto all = static_cast<double>(flows_.sessions.size());
    const double share = 1.0 / static_cast<double>(count);
    const double least = all * share - kSigmas * std::sqrt(all * share * (1 - share));
    if (count > 1 && *std::min_element(groups.sizes.begin(), groups.sizes.end()) < least) {
      paths.verdict = PathVerdict::kWarn;
      paths.cause = "the hash spreads sessions unevenly: weights, or few of their bits are used";
      paths.remedy = "hash the UDP source port, or the flow label; equal weights";
    }
    const int64_t above = groups.above_ns.back();
    PathFinding& slow =
        Add(back ? "slow path back" : "slow path out",
            count > 1 ? StrCat(MicrosText(above), " us above the fastest") : "none", "none");
    if (above == 0) return;
    slow.verdict = PathVerdict::kWarn;
    slow.cause = StrCat(groups.sizes.back(),
                        " sessions take a slower path: lower rate, a queue, "
                        "or a longer way");
    slow.remedy = "rate, queue and cable of each member of the group";
  }

  // Compares the sessions that are slow in each direction, where both have slow ones.
  void Symmetry(const PathGroups& there, const PathGroups& back) {
    if (there.sizes.size() < 2 || back.sizes.size() < 2) return;
    const int64_t above_out = there.above_ns.back();
    const int64_t above_back = back.above_ns.back();
    if (above_out == 0 || above_back == 0) return;
    const std::vector<Delay> out = DelaysOf(flows_, false);
    const std::vector<Delay> in = DelaysOf(flows_, true);
    uint32_t alike = 0, unlike = 0;
    for (const auto& [number, row] : flows_.sessions) {
      if (row.answered == 0) continue;
      const bool is_slow_out = row.out_min_ns - out.front().min_ns >= above_out;
      const bool is_slow_back = row.back_min_ns - in.front().min_ns >= above_back;
      ++(is_slow_out == is_slow_back ? alike : unlike);
    }
    // All alike: one member is slow in both directions; none: another one in each.
    const uint32_t mixed = std::min(alike, unlike);
    PathFinding& finding = Add("symmetry", StrCat(mixed, " of ", alike + unlike, " sessions"),
                               "no other path back than out");
    if (mixed < kMinGroup) return;
    finding.verdict = PathVerdict::kWarn;
    finding.cause = "the hash is asymmetric: reports take another member than their probes";
    finding.remedy = "a symmetric hash, where one member has to carry both directions of a session";
  }

  void Reordered() {
    uint32_t sessions = 0;
    for (const auto& [number, row] : flows_.sessions) sessions += row.reordered != 0;
    PathFinding& finding = Add("order of flows", StrCat(sessions, " sessions reordered"), "0");
    if (sessions == 0) return;
    finding.verdict = PathVerdict::kWarn;
    finding.cause = "frames of one session overtake each other: spraying, or a faulty member";
    finding.remedy = "spread by flows; look at the members of the group one by one";
  }

  const PlaneResult& plane_;
  const FlowResult& flows_;
  std::vector<PathFinding>& out_;
};

void JudgeBystanders(const PlaneResult& plane, std::vector<PathFinding>* out) {
  for (const BystanderResult& bystander : plane.bystanders) {
    PathFinding finding{.check = "flooding",
                        .plane = plane.plan.plane,
                        .of_class = {},
                        .measured = StrCat(bystander.foreign, " frames at ", bystander.socket),
                        .expected = StrCat("fewer than the ", bystander.sent, " probes")};
    if (bystander.sent != 0 && bystander.foreign >= bystander.sent / 2) {
      finding.verdict = PathVerdict::kFail;
      finding.cause = "frames to the peer are flooded: the switch does not know its address";
      finding.remedy = "learning on, or static addresses (docs/switches.md)";
    }
    out->push_back(std::move(finding));
  }
}

}  // namespace

PathGroups GroupsOf(const FlowResult& flows, bool back) {
  PathGroups groups;
  std::vector<Delay> delays = DelaysOf(flows, back);
  if (delays.empty()) return groups;
  const int64_t gap = std::max(kMinGapNs, kGapsOfNoise * NoiseOf(delays));
  std::map<uint32_t, std::vector<int64_t>> by_hops;
  for (const Delay& delay : delays) by_hops[delay.hops].push_back(delay.min_ns);
  std::vector<std::pair<int64_t, uint32_t>> found;  // smallest delay, sessions
  for (const auto& [hops, times] : by_hops) {
    for (size_t i = 0; i < times.size(); ++i) {
      if (i == 0 || times[i] - times[i - 1] > gap) found.emplace_back(times[i], 0);
      ++found.back().second;
    }
  }
  std::sort(found.begin(), found.end());
  for (size_t i = found.size(); i-- > 0 && found.size() > 1;) {
    if (found[i].second >= kMinGroup) continue;
    found[i == 0 ? 1 : i - 1].second += found[i].second;
    found.erase(found.begin() + static_cast<std::ptrdiff_t>(i));
  }
  for (const auto& [first_ns, sessions] : found) {
    const int64_t above = first_ns - found.front().first;
    groups.sizes.push_back(sessions);
    groups.above_ns.push_back(above > gap ? above : 0);
  }
  return groups;
}

void JudgeFlows(const PlaneResult& plane, std::vector<PathFinding>* out) {
  if (plane.flows) Flows(plane, *out).Judge();
}

void JudgeStrangers(const PlaneResult& plane, std::vector<PathFinding>* out) {
  const StrangerResult& strangers = plane.strangers;
  if (strangers.address) {
    const bool is_flooded = *strangers.address != 0;
    PathFinding finding{
        .check = "unknown address",
        .plane = plane.plan.plane,
        .of_class = {},
        .measured = is_flooded ? "flooded: the peer received it" : "the peer did not receive it",
        .expected = "dropped"};
    if (is_flooded) {
      finding.verdict = PathVerdict::kWarn;
      finding.cause = "the switch floods frames to addresses that it does not know";
      finding.remedy = "static addresses, and no flooding of unknown ones (docs/switches.md)";
    }
    out->push_back(std::move(finding));
  }
  if (strangers.ether_type) {
    out->push_back({.check = "unknown EtherType",
                    .plane = plane.plan.plane,
                    .of_class = {},
                    .measured = *strangers.ether_type != 0 ? "forwarded to the peer"
                                                           : "the peer did not receive it",
                    .expected = "either"});
  }
  JudgeBystanders(plane, out);
}

}  // namespace suede::ctl
