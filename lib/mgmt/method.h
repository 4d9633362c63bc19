// SPDX-License-Identifier: Apache-2.0
// The declaration of a management method. One declaration serves the daemon, suedectl and
// docs/management.md.
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

// The end of a request: a result, which is an object, or an error.
struct Outcome {
  absl::Status status;
  Json result;
};

// The answer of a method: an outcome, or a question that is asked again and again until it has one.
// A question that is dropped (the connection went, or it took too long) must leave nothing behind
// that points to it.
class Answer {
 public:
  // Asked once a millisecond, for as long as a method may wait.
  using Later = std::function<std::optional<Outcome>()>;
  struct Waiting {
    // `is_last`: the time is over, and having no outcome then is an error.
    std::function<std::optional<Outcome>(bool is_last)> look;
    std::optional<int64_t> limit_ms{};  // none: as long as any method may wait
    int64_t period_ms = 1;
  };
  Answer(Json result) : value_(Outcome{.status = {}, .result = std::move(result)}) {}  // NOLINT
  Answer(absl::Status error)                                                           // NOLINT
      : value_(Outcome{.status = std::move(error), .result = {}}) {}
  Answer(Waiting waiting) : value_(std::move(waiting)) {}  // NOLINT
  Answer(Later later)                                      // NOLINT
      : value_(Waiting{.look = [later = std::move(later)](bool) { return later(); }}) {}

  // `result`, once `done` says so.
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

// The process at the other end of a connection.
struct Caller {
  pid_t pid = 0;
  uid_t uid = 0;
};

// One request that is being carried out, with arguments that were checked.
struct Call {
  DaemonView& daemon;
  const Catalog& catalog;
  const Arguments& arguments;
  std::any& memory;  // kept by the method from call to call of one connection
  Fd descriptor;     // that came with the request; closed where the method does not move it away
  Caller caller{};

  // The daemon, for the tables of its kind: in another one's catalog a table is a mistake of the
  // program, and ends it.
  EndpointView& endpoint() const;
  SwitchView& the_switch() const;
};

// A file that the client opens and passes.
struct DescriptorParam {
  std::string_view name;
  std::string_view sentence;
  bool is_written = true;  // and made if need be; otherwise read
  bool required = true;
  // The file is complete when the call has succeeded: suedectl replaces the former one by it then.
  bool is_replaced = false;
};

struct Method {
  std::string_view name;  // "subject.verb"
  std::string_view sentence;
  std::span<const Member> result{};
  Answer (*run)(Call& call) = nullptr;
  std::span<const Param> params{};
  bool changes = false;  // otherwise a pure read
  std::optional<DescriptorParam> descriptor{};
  std::string_view result_note{};  // a text before the members, or instead of them

  // The description of the result, for people.
  std::string ResultText() const;
};

}  // namespace suede

#endif  // SUEDE_MGMT_METHOD_H_
