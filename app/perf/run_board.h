// SPDX-License-Identifier: Apache-2.0
// State shared by the workers of one run. Each worker drives one queue (flow), or a single one
// drives all. As each VC's receive ring belongs to one worker, the responses to a worker's messages
// may be received by another.
#ifndef SUEDE_APP_PERF_RUN_BOARD_H_
#define SUEDE_APP_PERF_RUN_BOARD_H_

#include <array>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <vector>

#include "perf/protocol.h"
#include "perf/streams.h"

namespace suede::perf {

class RunBoard {
 public:
  struct Parts {
    uint32_t run = 0;  // number of the run
    uint32_t workers = 1;
    uint32_t flows = 1;
  };
  RunBoard(const Parts& parts, const std::vector<StreamId>& streams);

  uint32_t run() const { return parts_.run; }
  // Returns the index of the stream, or -1. Any thread may call.
  int32_t IndexOf(StreamId id) const { return index_[Slot(id)]; }

  // Record a message. Called by the thread that received it.
  void OnReady(uint8_t flow, uint32_t stream, const ServerTraits& traits);
  void OnReport(uint8_t flow, uint32_t stream, const StreamCounts& forward,
                const StreamCounts& reverse);

  // Number of the flow's streams that have responded.
  uint32_t ready(uint8_t flow) const { return flows_[flow].ready.load(std::memory_order_acquire); }
  uint32_t reported(uint8_t flow) const {
    return flows_[flow].reported.load(std::memory_order_acquire);
  }
  bool IsReady(uint8_t flow, uint32_t stream) const;
  // Whether all servers that responded echo.
  bool all_echo() const { return all_echo_.load(std::memory_order_acquire); }

  // Barriers: workers wait for each other before the load, and after receiving their reports.
  void ArriveAtStart() { starting_.fetch_add(1, std::memory_order_acq_rel); }
  void ArriveAtEnd() { ending_.fetch_add(1, std::memory_order_acq_rel); }
  bool AllStarted() const { return starting_.load(std::memory_order_acquire) >= parts_.workers; }
  bool AllEnded() const { return ending_.load(std::memory_order_acquire) >= parts_.workers; }
  // Ends the run for all workers, because one cannot continue.
  void Abandon() { abandoned_.store(true, std::memory_order_release); }
  bool abandoned() const { return abandoned_.load(std::memory_order_acquire); }

  // Returns the first stream of the flow without a response, for an error message.
  StreamId FirstSilent(uint8_t flow, bool at_end) const;

  struct Sums {
    StreamCounts forward;
    StreamCounts reverse;
  };
  // Returns the sums over all flows and streams.
  Sums Total() const;
  // Whether the server's last report counts `sent` commands of the stream, and everything that it
  // sent back had been received by then.
  bool HasAll(uint8_t flow, uint32_t stream, uint64_t sent) const;

 private:
  struct Response {
    bool ready = false;
    bool reported = false;
    StreamCounts forward;
    StreamCounts reverse;
  };
  struct Flow {
    std::atomic<uint32_t> ready = 0;
    std::atomic<uint32_t> reported = 0;
    std::vector<Response> responses;
  };

  static size_t Slot(StreamId id) {
    return (id.xpuid & (kMaxXpus - 1)) * size_t{kVcCount} + (id.vc & (kVcCount - 1));
  }

  const Parts parts_;
  const std::vector<StreamId> streams_;
  std::vector<int32_t> index_;
  std::atomic<uint32_t> starting_ = 0;
  std::atomic<uint32_t> ending_ = 0;
  std::atomic<bool> abandoned_ = false;
  std::atomic<bool> all_echo_ = true;
  mutable std::mutex mutex_;  // guards the responses; locked for protocol messages only
  std::array<Flow, kMaxFlows> flows_;
};

}  // namespace suede::perf

#endif  // SUEDE_APP_PERF_RUN_BOARD_H_
