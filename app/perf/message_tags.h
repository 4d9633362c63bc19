// SPDX-License-Identifier: Apache-2.0
// Accounting of the completions of a worker's messages. The load reserves a part of the queue's
// completions for them.
#ifndef SUEDE_APP_PERF_MESSAGE_TAGS_H_
#define SUEDE_APP_PERF_MESSAGE_TAGS_H_

#include <algorithm>
#include <cstdint>

namespace suede::perf {

class MessageTags {
 public:
  static constexpr uint64_t kTag = UINT64_MAX;  // tags of the load are times

  // Returns the messages' share of a queue's maximum of outstanding completions.
  static constexpr uint32_t LimitOf(uint32_t completion_limit) {
    return std::min<uint32_t>(completion_limit / 2, 16);
  }

  explicit MessageTags(uint32_t completion_limit) : limit_(LimitOf(completion_limit)) {}

  bool HasRoom() const { return outstanding_ < limit_; }
  void OnSent() { ++outstanding_; }
  // Tolerates late completions of an earlier run.
  void OnCompletion() { outstanding_ -= outstanding_ > 0 ? 1 : 0; }
  uint32_t outstanding() const { return outstanding_; }

 private:
  const uint32_t limit_;
  uint32_t outstanding_ = 0;
};

}  // namespace suede::perf

#endif  // SUEDE_APP_PERF_MESSAGE_TAGS_H_
