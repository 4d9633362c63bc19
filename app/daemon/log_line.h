// SPDX-License-Identifier: Apache-2.0
// The parts of a line of the log: words, then fields (key=value, key="a value"). Text logs
// have it as it stands, JSON logs have the fields as members.
#ifndef SUEDE_APP_DAEMON_LOG_LINE_H_
#define SUEDE_APP_DAEMON_LOG_LINE_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace suede {

// Appends " name=value", in quotes where it would not read back as the same.
void AppendLogField(std::string* line, std::string_view name, int64_t value);
void AppendLogField(std::string* line, std::string_view name, std::string_view value);

struct LogLine {
  using Value = std::variant<int64_t, std::string>;
  std::string_view words;
  std::vector<std::pair<std::string_view, Value>> fields;  // those that end the line
};
// Both point into `line`. Any text will do.
LogLine SplitLogLine(std::string_view line);

}  // namespace suede

#endif  // SUEDE_APP_DAEMON_LOG_LINE_H_
