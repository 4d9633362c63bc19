// SPDX-License-Identifier: Apache-2.0
// Takes commands from the receive rings of some VCs, in spans, and gives them to a handler.
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

  // Calls handle(command) for each command that has come. Where it returns false it wants the
  // command again on the next Poll; that holds up the command's VC and no other. Returns whether
  // anything was taken.
  template <class Handle>
  bool Poll(const Handle& handle) {
    bool worked = false;
    for (Batch& batch : batches_) worked |= PollVc(batch, handle);
    return worked;
  }

 private:
  // Commands of a VC that are taken before their credit is returned.
  static constexpr uint32_t kBatch = 32;
  // Commands of a VC in one Poll. An endpoint on the same lcore delivers that many commands in a
  // turn where small ones are packed; a receiver that takes fewer has its ring fill up.
  static constexpr uint32_t kMax = 64 * kBatch;

  struct Batch {
    uint8_t vc = 0;
    uint32_t at = 0;    // in the span
    uint32_t held = 0;  // commands whose credit was not returned, without the span's
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
