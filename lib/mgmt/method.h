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

#include "absl/status/status.h"
#include "local/fd.h"
#include "mgmt/arguments.h"
#include "mgmt/json.h"
#include "mgmt/members.h"

namespace suede {

class Catalog;
class DaemonView;
class EndpointView;
class SwitchView;

// Outcome of a request: a result, which is an object, or an error.
struct Outcome {
  absl::Status status;
  Json result;
};

// Answer of a method: an outcome, or a query that is polled until it has one. A query that is
// dropped (because of a disconnect or a timeout) must leave no references to itself.
class Answer {
 public:
  // Polled every millisecond, up to the time limit of a method.
  using Later = std::function<std::optional<Outcome>()>;
  struct Waiting {
    // `is_last`: the time limit is reached; no outcome is then an error.
    std::function<std::optional<Outcome>(bool is_last)> look;
    std::optional<int64_t> limit_ms{};  // nullopt: the limit of all methods
    int64_t period_ms = 1;
  };
  Answer(Json result) : value_(Outcome{.status = {}, .result = std::move(result)}) {}  // NOLINT
  Answer(absl::Status error)                                                           // NOLINT
      : value_(Outcome{.status = std::move(error), .result = {}}) {}
  Answer(Waiting waiting) : value_(std::move(waiting)) {}  // NOLINT
  Answer(Later later)                                      // NOLINT
      : value_(Waiting{.look = [later = std::move(later)](bool) { return later(); }}) {}

  // Answers `result` once `done` returns true.
  static Answer When(std::function<bool()> done, Json result) {
    return Later([done = std::move(done), result = std::move(result)]() -> std::optional<Outcome> {
      if (!done()) return std::nullopt;
      return Outcome{.status = {}, .result = result};
    });
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

}  // namespace suede

#endif  // SUEDE_MGMT_METHOD_H_
