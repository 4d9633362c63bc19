// SPDX-License-Identifier: Apache-2.0
// Results for people.
#ifndef SUEDE_APP_SUEDECTL_PRINT_H_
#define SUEDE_APP_SUEDECTL_PRINT_H_

#include <string>

#include "mgmt/json.h"

namespace suede::ctl {

// A result, which is an object, as lines and tables. Works for any: a list of objects becomes a
// table with a column for each member, an object in an object two columns, a text of several lines
// itself.
std::string ToText(const Json& result);

}  // namespace suede::ctl

#endif  // SUEDE_APP_SUEDECTL_PRINT_H_
