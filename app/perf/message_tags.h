// SPDX-License-Identifier: Apache-2.0
// Completion tags of the messages that a worker sends beside its load: the load leaves them room.
#ifndef SUEDE_APP_PERF_MESSAGE_TAGS_H_
#define SUEDE_APP_PERF_MESSAGE_TAGS_H_

#include <algorithm>
#include <cstdint>

namespace suede::perf {

class MessageTags {
 public:
  static constexpr uint64_t kTag = UINT64_MAX;  // no time: those are the tags of the load

  // The messages' part of the completions that may be outstanding on a queue.
  static constexpr uint32_t LimitOf(uint32_t completion_limit) {
    return std::min<uint32_t>(completion_limit / 2, 16);
  }

  explicit MessageTags(uint32_t completion_limit) : limit_(LimitOf(completion_limit)) {}

  bool HasRoom() const { return outstanding_ < limit_; }
  void OnSent() { ++outstanding_; }
  // A completion of a former run may come late.
  void OnCompletion() { outstanding_ -= outstanding_ > 0 ? 1 : 0; }
  uint32_t outstanding() const { return outstanding_; }

 private:
  const uint32_t limit_;
  uint32_t outstanding_ = 0;
};

}  // namespace suede::perf

#endif  // SUEDE_APP_PERF_MESSAGE_TAGS_H_
