// SPDX-License-Identifier: Apache-2.0
// Queries FRR's bgpd for its paths by vtysh. For use by one thread; never blocks.
#ifndef SUEDE_APP_FARE_VTYSH_H_
#define SUEDE_APP_FARE_VTYSH_H_

#include <sys/types.h>

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "fare_config.h"
#include "local/fd.h"

namespace suede::fare {

class Vtysh {
 public:
  using Clock = std::chrono::steady_clock;
  // Max prefixes per query.
  static constexpr size_t kMaxPrefixes = 64;

  explicit Vtysh(const FareBgpConfig& config) : config_(config) {}
  ~Vtysh();
  Vtysh(const Vtysh&) = delete;
  Vtysh& operator=(const Vtysh&) = delete;

  // Begins a query for up to kMaxPrefixes prefixes. Requires !busy().
  absl::Status Ask(const std::vector<std::string>& prefixes, Clock::time_point now);
  bool busy() const { return child_ > 0; }
  // Readable when Poll has work; -1: not busy.
  int fd() const;
  // Returns the latest time for the next call of Poll.
  Clock::time_point deadline() const { return deadline_; }
  // Returns the reply once complete, or an error; nullopt until then.
  std::optional<absl::StatusOr<std::string>> Poll(Clock::time_point now);
  // Returns the command, as typed by an operator.
  std::string Describe() const;

 private:
  absl::StatusOr<std::string> End();
  void Kill();

  const FareBgpConfig config_;
  pid_t child_ = 0;
  Fd output_;   // of the child, until it ends
  Fd process_;  // readable when the child has ended
  std::string text_;
  Clock::time_point deadline_ = Clock::time_point::max();
};

}  // namespace suede::fare

#endif  // SUEDE_APP_FARE_VTYSH_H_
