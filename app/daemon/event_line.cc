// SPDX-License-Identifier: Apache-2.0
#include "daemon/event_line.h"

#include <string>
#include <variant>

#include "daemon/log_line.h"

namespace suede {
namespace {

EalLogLevel ToLogLevel(EventSeverity severity) {
  constexpr EalLogLevel kLevels[] = {EalLogLevel::kInfo, EalLogLevel::kWarning,
                                     EalLogLevel::kError};
  return kLevels[static_cast<size_t>(severity)];
}

}  // namespace

void LogEvent(const Event& event, const LogSink& log) {
  const EventRow& row = event.row();
  std::string line(row.name);
  for (const EventValue& value : event.values) {
    const std::string_view name = RowOf(value.field).name;
    std::visit([&](const auto& v) { AppendLogField(&line, name, v); }, value.value);
  }
  AppendLogField(&line, "sequence", static_cast<int64_t>(event.sequence));
  log(ToLogLevel(row.severity), row.component, line);
}

}  // namespace suede
