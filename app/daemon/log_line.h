// SPDX-License-Identifier: Apache-2.0
// The parts of a log line: words, then fields (key=value, key="a value"). Text logs print the line
// unchanged; JSON logs print the fields as members.
#ifndef SUEDE_APP_DAEMON_LOG_LINE_H_
#define SUEDE_APP_DAEMON_LOG_LINE_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace suede {

// Appends " name=value", quoted if it would not parse back to the same.
void AppendLogField(std::string* line, std::string_view name, int64_t value);
void AppendLogField(std::string* line, std::string_view name, std::string_view value);

struct LogLine {
  using Value = std::variant<int64_t, std::string>;
  std::string_view words;
  std::vector<std::pair<std::string_view, Value>> fields;  // fields at the end of the line
};
// Splits any text. The views in the result point into `line`.
LogLine SplitLogLine(std::string_view line);

}  // namespace suede

#endif  // SUEDE_APP_DAEMON_LOG_LINE_H_
