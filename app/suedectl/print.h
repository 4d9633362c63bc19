// SPDX-License-Identifier: Apache-2.0
// Text output of results.
#ifndef SUEDE_APP_SUEDECTL_PRINT_H_
#define SUEDE_APP_SUEDECTL_PRINT_H_

#include <cstddef>
#include <string>

#include "mgmt/json.h"
#include "suedectl/wrap_text.h"

namespace suede::ctl {

// Formats any result, a JSON object, as lines and tables. A list of objects becomes a table with
// one column per member, a nested object two columns, a multi-line text stays as it is. A table
// wider than `columns` loses its empty columns, then the ends of long texts, then its last columns,
// with a note that lists them. A nested object loses the ends of long texts. An object of numbers
// shows non-zero members first.
std::string ToText(const Json& result, size_t columns = kTextColumns);

// Returns the number with this many fraction digits.
std::string Fixed(double value, int digits);

}  // namespace suede::ctl

#endif  // SUEDE_APP_SUEDECTL_PRINT_H_
