// SPDX-License-Identifier: Apache-2.0
// Whether fields of the header arrive as they were sent.
#include <algorithm>
#include <set>
#include <tuple>

#include "base/text.h"
#include "suedectl/path_judge.h"

namespace suede::ctl {
namespace {

constexpr uint32_t kNotEct = 0;

using Field = std::optional<uint32_t>;

std::string Shown(const Field& field) { return field ? StrCat(*field) : "none"; }

// Frames of one direction by the values of one field.
struct Change {
  Field sent;
  Field received;
  bool operator==(const Change&) const = default;
  bool operator<(const Change& other) const {
    return std::tie(sent, received) < std::tie(other.sent, other.received);
  }
};

std::set<Change> ChangesOf(const std::vector<MarkRow>& rows, bool back, Field PathMarks::*field) {
  std::set<Change> changes;
  for (const MarkRow& row : rows) {
    if (row.back == back) changes.insert({row.sent.*field, row.received.*field});
  }
  return changes;
}

std::string Describe(const std::set<Change>& changes) {
  std::vector<std::string> texts;
  texts.reserve(changes.size());
  for (const Change& change : changes) {
    texts.push_back(change.sent == change.received
                        ? StrCat(Shown(change.sent), " kept")
                        : StrCat(Shown(change.sent), " becomes ", Shown(change.received)));
  }
  return StrJoin(texts, ", ");
}

bool IsKept(const std::set<Change>& changes) {
  return std::all_of(changes.begin(), changes.end(),
                     [](const Change& change) { return change.sent == change.received; });
}

std::string Named(std::string_view field, bool back) {
  return StrCat(field, back ? " back" : " out");
}

class Marks {
 public:
  Marks(const PlaneResult& plane, const ClassResult& of, std::vector<PathFinding>& out)
      : plane_(plane), of_(of), out_(out) {}

  void Judge() {
    for (const bool back : {false, true}) {
      Dscp(back);
      if (Tag(back)) Pcp(back);
      Ecn(back);
    }
  }

 private:
  PathFinding& Add(std::string_view check, bool back, const std::set<Change>& changes) {
    return AddFinding(out_, plane_, of_.of.name, Named(check, back), Describe(changes), "kept");
  }

  void Dscp(bool back) {
    const auto changes = ChangesOf(of_.marks, back, &PathMarks::dscp);
    if (changes.empty() || !changes.begin()->sent) return;
    PathFinding& finding = Add("DSCP", back, changes);
    if (IsKept(changes)) return;
    finding.verdict = PathVerdict::kFail;
    finding.cause = "a switch rewrites the DSCP: its ports do not trust it, or a map rewrites it";
    finding.remedy = "trust DSCP at all ports, and no rewriting (docs/switches.md, classes)";
  }

  // Returns false if there is no tag, or it is lost.
  bool Tag(bool back) {
    const auto changes = ChangesOf(of_.marks, back, &PathMarks::vid);
    const bool has_tag = std::any_of(changes.begin(), changes.end(), [](const Change& change) {
      return change.sent || change.received;
    });
    if (!has_tag) return false;
    PathFinding& finding = Add("VLAN", back, changes);
    if (IsKept(changes)) return true;
    finding.verdict = PathVerdict::kFail;
    const bool is_lost = std::any_of(changes.begin(), changes.end(), [](const Change& change) {
      return change.sent && !change.received;
    });
    finding.cause = is_lost ? "the switch removes the tag, and the PCP with it"
                            : "the switch changes the VLAN, or adds a tag";
    finding.remedy = "make the VLAN tagged at both ports, and no native or access VLAN";
    return !is_lost;
  }

  void Pcp(bool back) {
    const auto changes = ChangesOf(of_.marks, back, &PathMarks::pcp);
    PathFinding& finding = Add("PCP", back, changes);
    if (IsKept(changes)) return;
    finding.verdict = PathVerdict::kFail;
    finding.cause = "a switch rewrites the PCP: it does not trust it, or a map rewrites it";
    finding.remedy = "trust PCP at all ports, and map each class to its own PCP";
  }

  void Ecn(bool back) {
    const auto changes = ChangesOf(of_.marks, back, &PathMarks::ecn);
    if (changes.empty() || !changes.begin()->sent) return;
    PathFinding& finding = Add("ECN", back, changes);
    finding.expected = "kept without load";
    if (IsKept(changes)) return;
    const auto any = [&changes](auto is) {
      return std::any_of(changes.begin(), changes.end(), [&is](const Change& change) {
        return change.sent != change.received && is(change);
      });
    };
    if (any([](const Change& change) { return change.received == kPathCe; })) {
      finding.verdict = PathVerdict::kFail;
      finding.cause = "frames are marked CE without load: the threshold is 0 or far too low";
      finding.remedy = "raise the ECN threshold (docs/switches.md, ECN), or trust the field";
    } else if (any([](const Change& change) { return change.received == kNotEct; })) {
      finding.verdict =
          plane_.plan.congestion == PathCongestion::kNscc ? PathVerdict::kFail : PathVerdict::kWarn;
      finding.cause = "a switch clears the ECN field with the DSCP: no mark can be seen";
      finding.remedy = "rewrite the six bits of the DSCP alone, or nothing";
    } else {
      finding.verdict = PathVerdict::kFail;
      finding.cause = "a switch rewrites the ECN field";
      finding.remedy = "remove the rewriting of the IP header's traffic class";
    }
  }

  const PlaneResult& plane_;
  const ClassResult& of_;
  std::vector<PathFinding>& out_;
};

void JudgeHops(const PlaneResult& plane, bool back, std::vector<PathFinding>* out) {
  const auto changes = ChangesOf(plane.hops, back, &PathMarks::hops);
  if (changes.empty() || !changes.begin()->sent) return;
  std::set<int64_t> differences;
  for (const Change& change : changes) {
    differences.insert(int64_t{*change.sent} - int64_t{change.received.value_or(0)});
  }
  const bool is_fixed = differences.size() == 1 && *differences.begin() >= 0;
  PathFinding& finding =
      AddFinding(*out, plane, {}, Named("hop limit", back),
                 is_fixed ? StrCat(*differences.begin(), " less than sent") : Describe(changes),
                 "0 or 1 less for each switch");
  if (is_fixed) return;
  finding.verdict = PathVerdict::kFail;
  finding.cause = "a switch writes a hop limit of its own";
  finding.remedy = "remove the rewriting: a loop would not end";
}

}  // namespace

void JudgeMarks(const PlaneResult& plane, std::vector<PathFinding>* out) {
  for (const ClassResult& of : plane.classes) Marks(plane, of, *out).Judge();
  for (const bool back : {false, true}) JudgeHops(plane, back, out);
}

}  // namespace suede::ctl
