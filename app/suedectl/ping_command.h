// SPDX-License-Identifier: Apache-2.0
// suedectl ping (docs/management.md).
#ifndef SUEDE_SUEDECTL_PING_COMMAND_H_
#define SUEDE_SUEDECTL_PING_COMMAND_H_

#include <cstdint>
#include <cstdio>
#include <string>
#include <utility>

#include "suedectl/daemon_command.h"
#include "suedectl/xpu_names.h"

namespace suede::ctl {

absl::Status RunPing(Daemon& daemon, const ForeignJson& params, const GlobalFlags& flags, FILE* out,
                     FILE* err);

// Statistics over the results of peers.ping.
class PingTally {
 public:
  explicit PingTally(XpuNames names = {}) : names_(std::move(names)) {}

  // Adds the result of probe `sequence`. Returns its text, one line per plane.
  std::string Take(const Json& result, uint64_t sequence);
  // Return the summary as text and as JSON.
  std::string Summary(uint64_t peer) const;
  Json ToJson() const;
  // Returns OK; UNAVAILABLE if the peer never responded; ABORTED if its settings disagree.
  absl::Status End(uint64_t peer) const;

 private:
  std::string TakePlane(const Json& plane);

  const XpuNames names_;
  uint64_t asked_ = 0;
  uint64_t answered_ = 0;
  double min_us_ = 0;
  double max_us_ = 0;
  double sum_us_ = 0;
  std::string last_reason_ = "it was not asked";  // reason of the last failure
  std::string disagreement_;                      // in the last response; empty: none
};

}  // namespace suede::ctl

#endif  // SUEDE_SUEDECTL_PING_COMMAND_H_
