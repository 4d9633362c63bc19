// SPDX-License-Identifier: Apache-2.0
// Sends one protocol message to every stream of every lane, as credit permits.
#ifndef SUEDE_APP_PERF_MESSAGE_SENDER_H_
#define SUEDE_APP_PERF_MESSAGE_SENDER_H_

#include <cstdint>
#include <vector>

#include "perf/completion_tags.h"
#include "perf/endpoint.h"
#include "perf/protocol.h"
#include "perf/streams.h"

namespace suede::perf {

template <PerfEndpoint E>
class MessageSender {
 public:
  // The owner of `tags` receives the completions.
  MessageSender(E& endpoint, const std::vector<StreamId>& streams, CompletionTags& tags)
      : endpoint_(endpoint),
        streams_(streams),
        tags_(tags),
        count_(streams.size() * endpoint.lanes()),
        sent_(count_) {}

  // Begins to send `message`, whose flow is lane 0's; the other lanes get the following flows.
  // `completed`: requests a completion for each message, as far as `tags` permits.
  void Begin(const EncodedMessage& message, bool completed = false) {
    message_ = message;
    completed_ = completed;
    first_flow_ = FlowOf(message);
    sent_ = 0;
  }
  bool done() const { return sent_ == count_; }
  // Whether the endpoint rejected a stream's destination as invalid.
  bool refused() const { return refused_; }

  // Sends to further streams, as far as credit permits, except for those with skip(lane, index).
  // Returns whether there was progress.
  template <class Skip>
  bool Step(const Skip& skip) {
    const size_t first = sent_;
    while (!done() && sent_ - first < kBatch && !refused_) {
      const auto lane = static_cast<uint32_t>(sent_ / streams_.size());
      const size_t index = sent_ % streams_.size();
      if (skip(lane, static_cast<uint32_t>(index))) {
        ++sent_;
        continue;
      }
      SetFlow(message_, static_cast<uint8_t>(first_flow_ + lane));
      const bool tagged = completed_ && tags_.HasRoom();
      const auto flags = static_cast<uint8_t>(SUEDE_RECORD_TRANSMIT_NOW |
                                              (tagged ? SUEDE_RECORD_COMPLETION : 0));
      const SendResult result = endpoint_.Send({.xpuid = streams_[index].xpuid,
                                                .vc = streams_[index].vc,
                                                .flags = flags,
                                                .tag = CompletionTags::kMessage,
                                                .control = message_.control,
                                                .data = message_.data},
                                               lane);
      refused_ = result == SendResult::kInvalid;
      if (result != SendResult::kOk) break;
      if (tagged) tags_.OnSent();
      ++sent_;
    }
    endpoint_.Flush();
    return sent_ != first;
  }
  bool Step() {
    return Step([](uint32_t, uint32_t) { return false; });
  }

 private:
  static constexpr size_t kBatch = 32;

  E& endpoint_;
  const std::vector<StreamId>& streams_;
  CompletionTags& tags_;
  const size_t count_;
  size_t sent_;
  uint8_t first_flow_ = 0;
  bool refused_ = false;
  bool completed_ = false;
  EncodedMessage message_;
};

}  // namespace suede::perf

#endif  // SUEDE_APP_PERF_MESSAGE_SENDER_H_
