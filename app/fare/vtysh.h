// SPDX-License-Identifier: Apache-2.0
// Asks FRR's bgpd for its paths, by its program vtysh. One thread; never waits.
#ifndef SUEDE_APP_FARE_VTYSH_H_
#define SUEDE_APP_FARE_VTYSH_H_

#include <sys/types.h>

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "config/fare_config.h"
#include "local/fd.h"

namespace suede::fare {

class Vtysh {
 public:
  using Clock = std::chrono::steady_clock;
  // Max prefixes that one call asks for.
  static constexpr size_t kMaxPrefixes = 64;

  explicit Vtysh(const FareBgpConfig& config) : config_(config) {}
  ~Vtysh();
  Vtysh(const Vtysh&) = delete;
  Vtysh& operator=(const Vtysh&) = delete;

  // Asks for up to kMaxPrefixes prefixes, while not busy.
  absl::Status Ask(const std::vector<std::string>& prefixes, Clock::time_point now);
  bool busy() const { return child_ > 0; }
  // Readable when Poll has something to do; -1: not busy.
  int fd() const;
  // The time at which Poll is to be called at the latest.
  Clock::time_point deadline() const { return deadline_; }
  // The answer, once it is there; an error where there is none.
  std::optional<absl::StatusOr<std::string>> Poll(Clock::time_point now);
  // The command, as an operator would type it.
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
