// SPDX-License-Identifier: Apache-2.0
#include "daemon/event_line.h"

#include <string>
#include <variant>

#include "daemon/log_line.h"

namespace suede {
namespace {

EalLogLevel ToLogLevel(EventSeverity severity) {
  switch (severity) {
    case EventSeverity::kInfo:
      return EalLogLevel::kInfo;
    case EventSeverity::kWarning:
      return EalLogLevel::kWarning;
    case EventSeverity::kError:
      break;
  }
  return EalLogLevel::kError;
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
