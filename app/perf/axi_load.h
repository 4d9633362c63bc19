// SPDX-License-Identifier: Apache-2.0
// The load of AXI4 transactions, as the backend of a LoadRun: bursts to the memory of servers.
//
//   connect  finds the servers, and writes the octets that reads verify
//   finish   reads back what the writes have left
//
// Never blocks. Not thread-safe.
#ifndef SUEDE_APP_PERF_AXI_LOAD_H_
#define SUEDE_APP_PERF_AXI_LOAD_H_

#include <cstdint>
#include <vector>

#include "base/time.h"
#include "perf/clock.h"
#include "perf/operation_load.h"
#include "suede/axi.h"

namespace suede::perf {

// Addresses of one destination.
inline constexpr uint64_t kAxiSpaceBytes = uint64_t{1} << 40;

class AxiLoad : public OperationLoad<AxiLoad> {
 public:
  static constexpr uint32_t kStartsPerClockRead = 1;

  // A load of transactions of one size. All arguments must outlive it.
  AxiLoad(LoadRecord& record, suede_axi* axi, const TscClock& clock, const Options& options,
          uint32_t bytes);

  bool Poll(Time now);
  Advance Connect(Time now);
  Advance Finish(Time now);
  void Flush();

  // For OperationLoad.
  Time Now() const { return clock_.Now(); }
  static constexpr bool ends_in_order() { return false; }
  int Start(size_t at);
  void FailStart(int error);
  bool HasEnded(size_t at) const { return slots_[at].has_ended; }
  bool OnEnd(size_t at);

 private:
  // A transaction in flight. Its place is its AxID, so transactions end in any order.
  struct Slot {
    uint64_t offset = 0;  // at the server
    uint8_t* octets = nullptr;
    uint32_t destination = 0;  // index in options.destinations
    uint32_t beats = 0;        // of the answer that have come
    uint8_t response = 0;
    bool is_wrong = false;  // a beat differs from the octets
    bool has_ended = true;
    bool is_used = false;
  };

  suede_axi_address BurstOf(size_t at) const;
  // Sends the transaction. Returns 0 or -EAGAIN.
  int Send(size_t at, bool is_read);
  int SendWrite(size_t at);
  // Executes the transaction of a slot outside of the load. To be called again while it returns
  // false.
  bool Execute(size_t at, bool is_read);
  bool FindServer(Time now);
  bool TakeAnswers();
  void OnBeat(const suede_axi_read_beat& beat);

  suede_axi* const axi_;
  const TscClock clock_;
  const uint32_t bus_bytes_;
  const bool is_read_;
  std::vector<uint8_t> memory_;
  std::vector<Slot> slots_;
  uint64_t visited_ = 0;  // slots of the initialization or verification
  size_t found_ = 0;      // destinations with a server
  bool is_executing_ = false;
  Time deadline_ = kNever;  // of finding the server
  Time retry_at_{};
};

}  // namespace suede::perf

#endif  // SUEDE_APP_PERF_AXI_LOAD_H_
