// SPDX-License-Identifier: Apache-2.0
// Methods that list past events, or wait for the next one.
#include <optional>
#include <utility>

#include "base/text.h"
#include "mgmt/catalog.h"
#include "mgmt/daemon_view.h"
#include "mgmt/event_log.h"

namespace suede {
namespace {

// Larger than any sequence number of a daemon.
constexpr int64_t kMaxSequences = int64_t{1} << 53;
constexpr int64_t kPeriodMs = 10;  // polling interval for events

constexpr Param kSince = Param::Integer(
    "since", "Only those after this sequence: `next` of the answer before.", 0, kMaxSequences);
constexpr Param kLimit = Param::Integer("limit", "Max events in one response.", 1, 1000, "100");
constexpr std::string_view kSeverities = "info|warning|error";
constexpr std::string_view kKinds = kEventNames.substr(1);
constexpr std::string_view kSwitchKinds = kSwitchEventNames.substr(1);
constexpr Param kSeverity = Param::Choice("severity", "Min severity.", kSeverities, "info");
constexpr Param kKind = Param::Choice("kind", "Only those of this kind.", kKinds);

constexpr Param kSwitchKind = Param::Choice("kind", "Only those of this kind.", kSwitchKinds);
constexpr Param kSeconds =
    Param::Integer("seconds", "How long to wait; then the answer has no events.", 0, 60, "30");

constexpr Param kList[] = {kSince, kLimit, kSeverity, kKind};
constexpr Param kWait[] = {kSince, kLimit, kSeverity, kKind, kSeconds};
constexpr Param kSwitchList[] = {kSince, kLimit, kSeverity, kSwitchKind};
constexpr Param kSwitchWait[] = {kSince, kLimit, kSeverity, kSwitchKind, kSeconds};

EventQuery QueryOf(const Arguments& arguments) {
  EventQuery query{.limit = static_cast<uint32_t>(arguments.Integer("limit"))};
  if (arguments.Has("since")) query.since = static_cast<uint64_t>(arguments.Integer("since"));
  for (const auto severity : {EventSeverity::kWarning, EventSeverity::kError}) {
    if (arguments.Text("severity") == NameOf(severity)) query.min = severity;
  }
  if (arguments.Has("kind")) query.kind = EventKindOf(arguments.Text("kind"));
  return query;
}

Json ToJson(const Event& event) {
  Json out{{"sequence", event.sequence},
           {"time", FormatUtc(event.time_ns)},
           {"severity", NameOf(event.row().severity)},
           {"kind", event.row().name}};
  for (const EventValue& value : event.values) {
    const std::string name(RowOf(value.field).name);
    if (const auto* number = std::get_if<int64_t>(&value.value)) {
      out[name] = *number;
    } else {
      out[name] = std::get<std::string>(value.value);
    }
  }
  return out;
}

Json ToJson(const EventPage& page) {
  Json list = Json::array();
  for (const Event* event : page.events) list.push_back(ToJson(*event));
  return Json{{"events", std::move(list)}, {"next", page.next}, {"lost", page.lost}};
}

absl::Status CheckSince(const EventQuery& query, const EventLog& log) {
  if (query.since.value_or(0) <= log.newest()) return absl::OkStatus();
  return absl::InvalidArgumentError(
      StrCat("since: the newest event is ", log.newest(),
             "; the daemon has started anew since then, so begin with 0"));
}

Answer List(Call& call) {
  const EventQuery query = QueryOf(call.arguments);
  const EventLog& log = call.daemon.Events();
  if (absl::Status status = CheckSince(query, log); !status.ok()) return status;
  return ToJson(log.Read(query));
}

Answer Wait(Call& call) {
  EventQuery query = QueryOf(call.arguments);
  const EventLog* log = &call.daemon.Events();
  if (absl::Status status = CheckSince(query, *log); !status.ok()) return status;
  if (!query.since) query.since = log->newest();
  const int64_t ms = call.arguments.Integer("seconds") * 1000;
  auto poll = [query, log, lost = uint64_t{0}](bool is_last) mutable -> std::optional<Outcome> {
    EventPage page = log->Read(query);
    // Events that do not match are skipped in the next poll.
    query.since = page.next;
    page.lost = lost += page.lost;
    if (!is_last && page.events.empty() && page.lost == 0) return std::nullopt;
    return Outcome{.status = {}, .result = ToJson(page)};
  };
  return Answer::Waiting{.poll = std::move(poll), .limit_ms = ms, .period_ms = kPeriodMs};
}

#define SUEDE_EVENT_FIELD_MEMBER(id, name, type, sentence) \
  Member::type(name, sentence).Only("where the kind has it"),
constexpr Member kEventFieldRows[] = {SUEDE_EVENT_FIELDS(SUEDE_EVENT_FIELD_MEMBER)};
constexpr Member kSwitchFieldRows[] = {SUEDE_EVENT_FIELDS(SUEDE_EVENT_FIELD_MEMBER)
                                           SUEDE_SWITCH_EVENT_FIELDS(SUEDE_EVENT_FIELD_MEMBER)};
#undef SUEDE_EVENT_FIELD_MEMBER
constexpr Member kSequence = Member::Integer("sequence");
constexpr Member kTime = Member::Text("time", "UTC, as RFC 3339 has it");
constexpr Member kSeverityMember = Member::Choice("severity", kSeverities);
constexpr std::string_view kFieldsNote = "and the fields of the kind (docs/events.md)";
constexpr Member kEventRow[] = {kSequence, kTime, kSeverityMember, Member::Choice("kind", kKinds),
                                Member::Group(kEventFieldRows, kFieldsNote)};
constexpr Member kSwitchEventRow[] = {kSequence, kTime, kSeverityMember,
                                      Member::Choice("kind", kSwitchKinds),
                                      Member::Group(kSwitchFieldRows, kFieldsNote)};
constexpr Member kNext = Member::Integer("next", "to give as `since` the next time");
constexpr Member kLost = Member::Integer("lost", "events after `since` that are no longer kept");
constexpr Member kPageResult[] = {Member::Rows("events", kEventRow), kNext, kLost};
constexpr Member kSwitchPageResult[] = {Member::Rows("events", kSwitchEventRow), kNext, kLost};

constexpr Method ListMethod(std::span<const Param> params, std::span<const Member> result) {
  return {"events.list", "Past events, the newest last; without `since` the newest that fit.",
          result, List, params};
}
constexpr Method WaitMethod(std::span<const Param> params, std::span<const Member> result) {
  return {"events.wait",
          "As events.list, as soon as there is an event; without `since` the next one.", result,
          Wait, params};
}
constexpr Method kEventMethods[] = {ListMethod(kList, kPageResult), WaitMethod(kWait, kPageResult)};
constexpr Method kSwitchEventMethods[] = {ListMethod(kSwitchList, kSwitchPageResult),
                                          WaitMethod(kSwitchWait, kSwitchPageResult)};

}  // namespace

std::span<const Method> EventMethods() { return kEventMethods; }
std::span<const Method> SwitchEventMethods() { return kSwitchEventMethods; }

}  // namespace suede
