// SPDX-License-Identifier: Apache-2.0
// The output of suedectl path.
#ifndef SUEDE_APP_SUEDECTL_PATH_TEXT_H_
#define SUEDE_APP_SUEDECTL_PATH_TEXT_H_

#include <cstddef>
#include <string>
#include <vector>

#include "mgmt/json.h"
#include "suedectl/path_judge.h"
#include "suedectl/path_results.h"

namespace suede::ctl {

// Returns tables of the measurements, then each finding that is not ok, with cause and remedy.
std::string PathText(const PathResult& result, const std::vector<PathFinding>& findings,
                     size_t columns);
// Returns the object of docs/path.md, "JSON".
Json PathJson(const PathResult& result, const std::vector<PathFinding>& findings);

}  // namespace suede::ctl

#endif  // SUEDE_APP_SUEDECTL_PATH_TEXT_H_
