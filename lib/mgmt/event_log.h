// SPDX-License-Identifier: Apache-2.0
// The events of a daemon: the last few thousand of them, and observers that are called with each.
//
// Control thread only.
#ifndef SUEDE_MGMT_EVENT_LOG_H_
#define SUEDE_MGMT_EVENT_LOG_H_

#include <array>
#include <concepts>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "mgmt/events.h"

namespace suede {

struct EventValue {
  EventValue(EventField f, std::integral auto number)
      : field(f), value(static_cast<int64_t>(number)) {}
  EventValue(EventField f, std::string_view text) : field(f), value(std::string(text)) {}
  EventField field;
  std::variant<int64_t, std::string> value;
};

struct Event {
  uint64_t sequence = 0;  // from 1, without gaps
  int64_t time_ns = 0;    // UTC
  EventKind kind = EventKind::kStarted;
  std::vector<EventValue> values;

  const EventRow& row() const { return RowOf(kind); }
};

// Returns "2026-11-21T18:00:00.123456789Z".
std::string FormatUtc(int64_t time_ns);

struct EventQuery {
  std::optional<uint64_t> since;  // nullopt: the newest that match
  uint32_t limit = 100;
  EventSeverity min = EventSeverity::kInfo;
  std::optional<EventKind> kind;
};
struct EventPage {
  std::vector<const Event*> events;  // by sequence; valid until the next Raise
  uint64_t next = 0;                 // value for `since` in the next query
  uint64_t lost = 0;                 // number of events after `since` that are no longer stored
};

class EventLog {
 public:
  static constexpr size_t kCapacity = 4096;
  using Clock = std::function<int64_t()>;  // UTC in nanoseconds

  explicit EventLog(size_t capacity = kCapacity, Clock clock = nullptr);
  EventLog(const EventLog&) = delete;
  EventLog& operator=(const EventLog&) = delete;

  // Records an event. Aborts if `values` has a field that the kind does not declare. Beyond the
  // kind's maximum per second, events are only counted, and reported as events_lost after that
  // second.
  void Raise(EventKind kind, std::vector<EventValue> values);
  // Reports suppressed events. Call about every 10 ms.
  void Tick();

  // Adds an observer, which is called with each event after it was recorded. An observer must not
  // raise an event.
  using Observer = std::function<void(const Event&)>;
  void AddObserver(Observer observer) { observers_.push_back(std::move(observer)); }

  uint64_t newest() const { return next_ - 1; }  // 0: no event yet
  uint64_t oldest() const { return next_ - events_.size(); }
  EventPage Read(const EventQuery& query) const;

 private:
  struct Budget {
    int64_t second = 0;
    uint32_t raised = 0;
    uint64_t suppressed = 0;
  };
  bool IsWanted(const Event& event, const EventQuery& query) const;
  bool MayRaise(EventKind kind, int64_t second);
  void Note(EventKind kind, std::vector<EventValue> values, int64_t time_ns);

  const size_t capacity_;
  const Clock clock_;
  uint64_t next_ = 1;
  std::deque<Event> events_;
  std::array<Budget, kEventKinds> budgets_{};
  std::vector<Observer> observers_;
};

}  // namespace suede

#endif  // SUEDE_MGMT_EVENT_LOG_H_
