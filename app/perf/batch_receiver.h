// SPDX-License-Identifier: Apache-2.0
// Takes commands from the receive rings of some VCs in batches and gives them to a handler.
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
    for (Batch& batch : batches_) {
      uint32_t round = 0;
      while (round < kRounds && PollVc(batch, handle)) ++round;
      worked |= round != 0;
    }
    return worked;
  }

 private:
  static constexpr uint32_t kBatch = 32;
  // Batches of a VC in one Poll. An endpoint on the same lcore delivers that many commands in a
  // turn where small ones are packed; a receiver that takes fewer has its ring fill up.
  static constexpr uint32_t kRounds = 64;

  struct Batch {
    uint8_t vc = 0;
    uint32_t at = 0;
    uint32_t count = 0;
    ReceivedCommand commands[kBatch];
  };

  template <class Handle>
  bool PollVc(Batch& batch, const Handle& handle) {
    if (batch.count == 0) {
      batch.count = endpoint_.Receive(batch.vc, batch.commands, kBatch);
      if (batch.count == 0) return false;
      batch.at = 0;
    }
    const uint32_t first = batch.at;
    while (batch.at < batch.count && handle(batch.commands[batch.at])) ++batch.at;
    const bool worked = batch.at != first;
    if (batch.at == batch.count) {
      endpoint_.Release(batch.vc);
      batch.count = 0;
    }
    return worked;
  }

  E& endpoint_;
  std::vector<Batch> batches_;
};

}  // namespace suede::perf

#endif  // SUEDE_APP_PERF_BATCH_RECEIVER_H_
