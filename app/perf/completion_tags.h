// SPDX-License-Identifier: Apache-2.0
// Accounting of a worker's completions, which its load and its messages share, and completions that
// report an unreachable destination.
#ifndef SUEDE_APP_PERF_COMPLETION_TAGS_H_
#define SUEDE_APP_PERF_COMPLETION_TAGS_H_

#include <algorithm>
#include <cstdint>
#include <string>

#include "client/segment.h"

namespace suede::perf {

class CompletionTags {
 public:
  static constexpr uint64_t kMessage = UINT64_MAX;  // tag of messages; tags of the load are times
  static constexpr uint64_t kLast = UINT64_MAX - 1;  // of a stream's last command, with --send_only

  // `completion_limit`: the queue's maximum of outstanding completions.
  static CompletionTags ForMessages(uint32_t completion_limit) {
    return CompletionTags(std::min<uint32_t>(completion_limit / 2, 16));
  }
  static CompletionTags ForLoad(uint32_t completion_limit) {
    return CompletionTags(completion_limit - ForMessages(completion_limit).limit_);
  }

  bool HasRoom() const { return outstanding_ < limit_; }
  void OnSent() { ++outstanding_; }
  // Tolerates late completions of an earlier run.
  void OnCompletion() { outstanding_ -= outstanding_ > 0 ? 1 : 0; }
  uint32_t outstanding() const { return outstanding_; }

 private:
  explicit CompletionTags(uint32_t limit) : limit_(limit) {}

  const uint32_t limit_;
  uint32_t outstanding_ = 0;
};

inline bool IsUnreachable(const suede_completion& done) {
  return done.status == SUEDE_STATUS_UNREACHABLE || done.status == SUEDE_STATUS_IN_DOUBT;
}

// Returns an error message with the destination and the endpoint's reason.
inline std::string UnreachableText(const suede_completion& done) {
  return "XPU " + std::to_string(done.xpuid) +
         " is unreachable: it does not acknowledge, and the endpoint has given it up (" +
         (done.status == SUEDE_STATUS_IN_DOUBT ? "in doubt: commands may have arrived"
                                               : "commands were not delivered") +
         "); `suedectl peers list` shows it";
}

}  // namespace suede::perf

#endif  // SUEDE_APP_PERF_COMPLETION_TAGS_H_
