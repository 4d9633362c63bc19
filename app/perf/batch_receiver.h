// SPDX-License-Identifier: Apache-2.0
// Receives commands from the rings of several VCs, in spans, and passes them to a handler.
#ifndef SUEDE_APP_PERF_BATCH_RECEIVER_H_
#define SUEDE_APP_PERF_BATCH_RECEIVER_H_

#include <cstdint>
#include <vector>

#include "perf/endpoint.h"

namespace suede::perf {

template <PerfEndpoint E>
class BatchReceiver {
 public:
  BatchReceiver(E& endpoint, const std::vector<uint8_t>& vcs) : endpoint_(endpoint) {
    for (uint8_t vc : vcs) batches_.push_back({.vc = vc});
  }

  // Calls handle(command) for each received command. If the handler returns false, the command's VC
  // stops until the next Poll, which passes the command again. Returns whether any command was
  // handled.
  template <class Handle>
  bool Poll(const Handle& handle) {
    bool worked = false;
    for (Batch& batch : batches_) worked |= PollVc(batch, handle);
    return worked;
  }

 private:
  // Number of commands of a VC after which their credit is returned.
  static constexpr uint32_t kBatch = 32;
  // Maximum of commands per VC and Poll. An endpoint on the same lcore delivers that many packed
  // small commands in one poll iteration; with a lower limit the ring would fill up.
  static constexpr uint32_t kMax = 64 * kBatch;

  struct Batch {
    uint8_t vc = 0;
    uint32_t at = 0;    // next command in the span
    uint32_t held = 0;  // handled commands whose credit is not returned, without the span's
    ReceivedSpan span;
  };

  template <class Handle>
  bool PollVc(Batch& batch, const Handle& handle) {
    uint32_t handled = 0;
    while (handled < kMax && HasCommands(batch)) {
      const ReceivedSpan& span = batch.span;
      const uint32_t first = batch.at;
      while (batch.at < span.count && handle(span.At(batch.at))) ++batch.at;
      handled += batch.at - first;
      if (batch.at < span.count) break;
      batch.held += span.count;
      if (batch.held >= kBatch) Release(batch);
    }
    if (batch.at == batch.span.count) Release(batch);
    return handled != 0;
  }

  bool HasCommands(Batch& batch) {
    if (batch.at < batch.span.count) return true;
    batch.at = 0;
    batch.span.count = endpoint_.Receive(batch.vc, &batch.span, kBatch);
    return batch.span.count != 0;
  }

  void Release(Batch& batch) {
    if (batch.held != 0) endpoint_.Release(batch.vc);
    batch.held = 0;
  }

  E& endpoint_;
  std::vector<Batch> batches_;
};

}  // namespace suede::perf

#endif  // SUEDE_APP_PERF_BATCH_RECEIVER_H_
