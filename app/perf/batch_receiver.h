// SPDX-License-Identifier: Apache-2.0
// Receives commands from the rings of several VCs, in spans, and passes them to a handler.
#ifndef SUEDE_APP_PERF_BATCH_RECEIVER_H_
#define SUEDE_APP_PERF_BATCH_RECEIVER_H_

#include <algorithm>
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
  // stops until the next Poll, which passes the command again. Before, handle_run(span, at) may
  // handle commands of the span from `at` on together: it returns their number. Returns whether any
  // command was handled.
  template <class Handle, class HandleRun>
  bool Poll(const Handle& handle, const HandleRun& handle_run) {
    bool worked = false;
    for (Batch& batch : batches_) worked |= PollVc(batch, handle, handle_run);
    return worked;
  }
  template <class Handle>
  bool Poll(const Handle& handle) {
    return Poll(handle, [](const ReceivedSpan&, uint32_t) { return 0u; });
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

  template <class Handle, class HandleRun>
  bool PollVc(Batch& batch, const Handle& handle, const HandleRun& handle_run) {
    uint32_t handled = 0;
    while (handled < kMax && HasCommands(batch)) {
      const ReceivedSpan& span = batch.span;
      const uint32_t first = batch.at;
      while (batch.at < span.count) {
        const uint32_t run = handle_run(span, batch.at);
        if (run == 0 && !handle(span.At(batch.at))) break;
        batch.at += std::max(run, 1u);
      }
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
