// SPDX-License-Identifier: Apache-2.0
// The verdicts of suedectl path on its measurements (docs/path.md, "Checks"). No I/O.
#ifndef SUEDE_APP_SUEDECTL_PATH_JUDGE_H_
#define SUEDE_APP_SUEDECTL_PATH_JUDGE_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "suedectl/path_results.h"

namespace suede::ctl {

enum class PathVerdict : uint8_t { kOk, kUnknown, kWarn, kFail };  // by severity
std::string_view NameOf(PathVerdict verdict);

struct PathFinding {
  std::string check;  // as in the table of docs/path.md
  uint32_t plane = 0;
  std::string of_class;  // empty: of the plane
  PathVerdict verdict = PathVerdict::kOk;
  std::string measured;
  std::string expected;
  std::string cause;   // empty if ok
  std::string remedy;  // empty if ok
};

// Appends a finding that is ok so far, for the caller to judge. The reference is valid until the
// next one.
PathFinding& AddFinding(std::vector<PathFinding>& out, const PlaneResult& plane,
                        std::string_view of_class, std::string_view check, std::string measured,
                        std::string_view expected);

// Returns the findings of all checks, ok ones included, in the order of planes.
std::vector<PathFinding> JudgePath(const PathResult& result);

// Returns the most severe verdict.
PathVerdict WorstOf(const std::vector<PathFinding>& findings);

// Parts of JudgePath: checks of one plane, appended to `out`.
void JudgeReach(const PlaneResult& plane, std::vector<PathFinding>* out);
void JudgeMarks(const PlaneResult& plane, std::vector<PathFinding>* out);
void JudgeFlows(const PlaneResult& plane, std::vector<PathFinding>* out);
void JudgeStrangers(const PlaneResult& plane, std::vector<PathFinding>* out);
void JudgeLoad(const PlaneResult& plane, uint32_t senders, std::vector<PathFinding>* out);

// Groups of sessions whose smallest delays, or hop limits, differ: their sizes.
struct PathGroups {
  std::vector<uint32_t> sizes;    // the fastest first
  std::vector<int64_t> above_ns;  // smallest delay above that of the fastest group
};
PathGroups GroupsOf(const FlowResult& flows, bool back);

}  // namespace suede::ctl

#endif  // SUEDE_APP_SUEDECTL_PATH_JUDGE_H_
