// SPDX-License-Identifier: Apache-2.0
#include "mgmt/event_log.h"

#include <time.h>

#include <algorithm>
#include <cstdlib>

#include "base/text.h"

namespace suede {
namespace {

constexpr int64_t kSecondNs = 1'000'000'000;

int64_t UtcNs() {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  return int64_t{now.tv_sec} * kSecondNs + now.tv_nsec;
}

void CheckDeclared(const EventRow& row, const std::vector<EventValue>& values) {
  for (const EventValue& value : values) {
    const bool is_integer = std::holds_alternative<int64_t>(value.value);
    const bool fits = is_integer == (RowOf(value.field).type == EventFieldType::kInteger);
    if (value.field == EventField::kNone || !row.Has(value.field) || !fits) std::abort();
  }
}

}  // namespace

std::string FormatUtc(int64_t time_ns) {
  const time_t seconds = time_ns / kSecondNs;
  tm utc{};
  gmtime_r(&seconds, &utc);
  char text[32];
  if (strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &utc) == 0) return {};
  // Nine digits: those of 1'xxx'xxx'xxx without the first.
  return StrCat(text, ".", std::to_string(kSecondNs + time_ns % kSecondNs).substr(1), "Z");
}

EventLog::EventLog(size_t capacity, Clock clock)
    : capacity_(std::max<size_t>(1, capacity)),
      clock_(clock != nullptr ? std::move(clock) : UtcNs) {}

void EventLog::Raise(EventKind kind, std::vector<EventValue> values) {
  CheckDeclared(RowOf(kind), values);
  const int64_t now = clock_();
  if (MayRaise(kind, now / kSecondNs)) Note(kind, std::move(values), now);
}

bool EventLog::MayRaise(EventKind kind, int64_t second) {
  const uint32_t max = RowOf(kind).per_s;
  if (max == 0) return true;
  Budget& budget = budgets_[static_cast<size_t>(kind)];
  if (budget.second != second) {
    Tick();
    budget.second = second;
    budget.raised = 0;
  }
  if (budget.raised == max) {
    ++budget.suppressed;
    return false;
  }
  ++budget.raised;
  return true;
}

void EventLog::Tick() {
  const int64_t now = clock_();
  for (size_t i = 0; i < kEventKinds; ++i) {
    Budget& budget = budgets_[i];
    if (budget.suppressed == 0 || budget.second == now / kSecondNs) continue;
    const uint64_t count = std::exchange(budget.suppressed, 0);
    Note(EventKind::kEventsLost,
         {{EventField::kSource, RowOf(static_cast<EventKind>(i)).name},
          {EventField::kCount, count}},
         now);
  }
}

void EventLog::Note(EventKind kind, std::vector<EventValue> values, int64_t time_ns) {
  if (events_.size() == capacity_) events_.pop_front();
  events_.push_back(
      {.sequence = next_++, .time_ns = time_ns, .kind = kind, .values = std::move(values)});
  for (const Observer& observer : observers_) observer(events_.back());
}

bool EventLog::IsWanted(const Event& event, const EventQuery& query) const {
  return event.row().severity >= query.min && (!query.kind || event.kind == *query.kind);
}

EventPage EventLog::Read(const EventQuery& query) const {
  EventPage page{.events = {}, .next = newest(), .lost = 0};
  if (!query.since) {
    for (auto it = events_.rbegin(); it != events_.rend(); ++it) {
      if (page.events.size() == query.limit) break;
      if (IsWanted(*it, query)) page.events.push_back(&*it);
    }
    std::reverse(page.events.begin(), page.events.end());
    return page;
  }
  const uint64_t first = std::max(*query.since + 1, oldest());
  page.lost = first - (*query.since + 1);
  for (uint64_t sequence = first; sequence <= newest(); ++sequence) {
    const Event& event = events_[sequence - oldest()];
    if (!IsWanted(event, query)) continue;
    if (page.events.size() == query.limit) {
      page.next = sequence - 1;
      break;
    }
    page.events.push_back(&event);
  }
  return page;
}

}  // namespace suede
