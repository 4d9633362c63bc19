// SPDX-License-Identifier: Apache-2.0
// Results for people.
#ifndef SUEDE_APP_SUEDECTL_PRINT_H_
#define SUEDE_APP_SUEDECTL_PRINT_H_

#include <cstddef>
#include <string>

#include "mgmt/json.h"

namespace suede::ctl {

inline constexpr size_t kTextColumns = 100;

// A result, which is an object, as lines and tables. Works for any: a list of objects becomes a
// table with a column for each member, an object in an object two columns, a text of several lines
// itself. A table of more than `columns` loses the columns that hold nothing, then the ends of long
// texts, then its last columns, and says so; an object of numbers begins with those that are not 0.
std::string ToText(const Json& result, size_t columns = kTextColumns);

}  // namespace suede::ctl

#endif  // SUEDE_APP_SUEDECTL_PRINT_H_
