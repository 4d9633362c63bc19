// SPDX-License-Identifier: Apache-2.0
#include "mgmt/events.h"

#include <algorithm>

#include "base/text.h"

namespace suede {
namespace {

constexpr EventFieldRow kFields[] = {
    {},  // kNone
#define SUEDE_EVENT_FIELD_ROW(id, name, type, sentence) {name, EventFieldType::k##type, sentence},
    SUEDE_EVENT_FIELDS(SUEDE_EVENT_FIELD_ROW) SUEDE_SWITCH_EVENT_FIELDS(SUEDE_EVENT_FIELD_ROW)
#undef SUEDE_EVENT_FIELD_ROW
};

// The list names fields without their enum type.
namespace event_rows {
using enum EventField;
constexpr EventRow kRows[kEventKinds] = {
#define SUEDE_EVENT_ROW(id, name, severity, component, per_s, sentence, ...) \
  {name, EventSeverity::k##severity, component, per_s, sentence, {__VA_ARGS__}},
    SUEDE_EVENTS(SUEDE_EVENT_ROW) SUEDE_SWITCH_EVENTS(SUEDE_EVENT_ROW)
#undef SUEDE_EVENT_ROW
};
}  // namespace event_rows
constexpr std::span<const EventRow> kEventRows = event_rows::kRows;

constexpr auto kFirstSwitchField = static_cast<size_t>(EventField::kDirection);

}  // namespace

std::string_view NameOf(EventSeverity severity) {
  switch (severity) {
    case EventSeverity::kInfo: return "info";
    case EventSeverity::kWarning: return "warning";
    case EventSeverity::kError: break;
  }
  return "error";
}

const EventFieldRow& RowOf(EventField field) { return kFields[static_cast<size_t>(field)]; }
std::span<const EventFieldRow> EventFieldRows() {
  return std::span(kFields).first(kFirstSwitchField).subspan(1);
}
std::span<const EventFieldRow> SwitchEventFieldRows() {
  return std::span(kFields).subspan(kFirstSwitchField);
}
const EventRow& RowOf(EventKind kind) { return kEventRows[static_cast<size_t>(kind)]; }

bool EventRow::Has(EventField field) const {
  return std::find(fields.begin(), fields.end(), field) != fields.end();
}

std::optional<EventKind> EventKindOf(std::string_view name) {
  for (size_t i = 0; i < kEventKinds; ++i) {
    if (kEventRows[i].name == name) return static_cast<EventKind>(i);
  }
  return std::nullopt;
}

}  // namespace suede
