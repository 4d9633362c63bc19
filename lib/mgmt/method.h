// SPDX-License-Identifier: Apache-2.0
// Declaration of a management method, from which the daemon, suedectl and docs/management.md
// derive.
#ifndef SUEDE_MGMT_METHOD_H_
#define SUEDE_MGMT_METHOD_H_

#include <sys/types.h>

#include <any>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "local/fd.h"
#include "mgmt/arguments.h"
#include "mgmt/daemon_view.h"
#include "mgmt/json.h"
#include "mgmt/members.h"
#include "mgmt/row.h"

namespace suede {

class Catalog;
class EndpointView;
class SwitchView;

// Outcome of a request: a result, which is an object, or an error.
struct Outcome {
  absl::Status status;
  Json result;
};

// Returns the outcome of a row, of a vector of rows, which becomes the member `list`, or of a
// StatusOr of these.
template <typename T>
Outcome OutcomeOf(const T& value, std::string_view list = {}) {
  if constexpr (row::Row<T>) {
    return {.status = {}, .result = value.ToJson()};
  } else if constexpr (row::kIsVector<T>) {
    return {.status = {}, .result = Json{{list, row::JsonOf(Member(), value, false)}}};
  } else {
    if (!value.ok()) return {.status = value.status(), .result = {}};
    return OutcomeOf(*value, list);
  }
}

// Answer of a method: an outcome, or a query that is polled until it has one. A query that is
// dropped (because of a disconnect or a timeout) must leave no references to itself.
class Answer {
 public:
  struct Waiting {
    // `is_last`: the time limit is reached; no outcome is then an error.
    std::function<std::optional<Outcome>(bool is_last)> poll;
    std::optional<int64_t> limit_ms{};  // nullopt: the limit of all methods
    int64_t period_ms = 1;
  };
  Answer(Json result) : Answer(Outcome{.status = {}, .result = std::move(result)}) {}  // NOLINT
  Answer(absl::Status error)                                                           // NOLINT
      : Answer(Outcome{.status = std::move(error), .result = {}}) {}
  Answer(Outcome outcome) : value_(std::move(outcome)) {}  // NOLINT
  Answer(Waiting waiting) : value_(std::move(waiting)) {}  // NOLINT

  // Answers with the reply to a question, polled every millisecond, up to the time limit of a
  // method. `list`: see OutcomeOf.
  template <typename T>
  static Answer To(Question<T> question, std::string_view list = {}) {
    return Waiting{.poll = [question = std::move(question), list](bool) -> std::optional<Outcome> {
      const std::optional<T> reply = question();
      if (!reply) return std::nullopt;
      return OutcomeOf(*reply, list);
    }};
  }
  // Answers `result` once the question has succeeded.
  static Answer When(Question<absl::Status> question, Json result) {
    return Waiting{.poll = [question = std::move(question),
                            result = std::move(result)](bool) -> std::optional<Outcome> {
      const std::optional<absl::Status> done = question();
      if (!done) return std::nullopt;
      return Outcome{.status = *done, .result = done->ok() ? result : Json()};
    }};
  }
  // Answers `result` once `done` returns true.
  static Answer When(std::function<bool()> done, Json result) {
    return When(Question<absl::Status>([done = std::move(done)] {
                  return done() ? std::optional(absl::OkStatus()) : std::nullopt;
                }),
                std::move(result));
  }

  Outcome* outcome() { return std::get_if<Outcome>(&value_); }
  Waiting* waiting() { return std::get_if<Waiting>(&value_); }

 private:
  std::variant<Outcome, Waiting> value_;
};

// The process at the other end of the connection.
struct Caller {
  pid_t pid = 0;
  uid_t uid = 0;
};

// A request in progress, with checked arguments.
struct Call {
  DaemonView& daemon;
  const Catalog& catalog;
  const Arguments& arguments;
  std::any& memory;  // state of the method, kept from call to call of one connection
  Fd descriptor;     // received with the request; closed unless the method moves it
  Caller caller{};

  // Return the daemon as its kind. Abort if the daemon is of the other kind.
  EndpointView& endpoint() const;
  SwitchView& the_switch() const;
};

// A file that the client opens and passes.
struct DescriptorParam {
  std::string_view name;
  std::string_view sentence;
  bool is_written = true;  // created if needed; otherwise read
  bool required = true;
  // The file is complete when the call has succeeded: suedectl then renames it over the former one.
  bool is_replaced = false;
};

struct Method {
  std::string_view name;  // "subject.verb"
  std::string_view sentence;
  std::span<const Member> result{};
  Answer (*run)(Call& call) = nullptr;
  std::span<const Param> params{};
  bool changes = false;  // otherwise read-only
  std::optional<DescriptorParam> descriptor{};
  std::string_view result_note{};  // text in front of the members, or instead of them

  // Returns the description of the result, for people.
  std::string ResultText() const;
};

// Returns the member that lists rows.
template <typename Row>
constexpr Member ListOf(std::string_view name) {
  return row::MemberOf<std::vector<Row>>(name);
}

// Answers with the rows that `view`, a function of EndpointView or SwitchView without parameters,
// returns or asks for; `result` has them alone.
template <auto view, const auto& result>
Answer RunList(Call& call) {
  auto rows = [&call] {
    if constexpr (requires(EndpointView & endpoint) { (endpoint.*view)(); }) {
      return (call.endpoint().*view)();
    } else {
      return (call.the_switch().*view)();
    }
  }();
  if constexpr (row::kIsVector<decltype(rows)>) {
    return OutcomeOf(rows, result[0].name);
  } else {
    return Answer::To(std::move(rows), result[0].name);
  }
}
template <auto view, const auto& result>
constexpr Method RowsMethod(std::string_view name, std::string_view sentence) {
  return {.name = name, .sentence = sentence, .result = result, .run = RunList<view, result>};
}

}  // namespace suede

#endif  // SUEDE_MGMT_METHOD_H_
