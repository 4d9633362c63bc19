// SPDX-License-Identifier: Apache-2.0
// Initiator of memory operations: starts operations, sends their requests and processes the
// responses (docs/memory.md).
//
// The caller passes in calls, received commands, completions and the time; bursts of commands go to
// a sink. The class reads no clock and performs no I/O. Only the constructor allocates memory. Not
// thread-safe: one thread at a time may call.
#ifndef SUEDE_MEM_INITIATOR_H_
#define SUEDE_MEM_INITIATOR_H_

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "base/sue.h"
#include "base/time.h"
#include "mem/operation.h"
#include "mem/request.h"
#include "mem/response.h"
#include "outbound/burst.h"
#include "outbound/completion_interval.h"
#include "outbound/sender_list.h"

namespace suede::mem {

inline constexpr uint32_t kCounters = SUEDE_MEM_COUNTERS;

struct InitiatorParams {
  uint32_t planes = 1;       // 1 to kMaxPlanes
  uint32_t requests = 4096;  // in flight: a power of two
  uint32_t requests_to_target = 1024;
  uint32_t operations = 4096;
  uint32_t request_vcs = 1;  // mask, not 0
  uint8_t response_vc = 1;
  bool is_unordered = false;
  uint32_t first_number = 0;  // number of the first request; random
};

enum class Started : uint8_t { kOk, kInvalid, kNoRoom };

struct InitiatorCounters {
  uint64_t operations = 0;
  uint64_t failed = 0;
  uint64_t requests = 0;
  uint64_t stray = 0;
  uint64_t foreign = 0;
  uint64_t blocked = 0;
};

class Initiator {
 public:
  explicit Initiator(const InitiatorParams& params);

  // Returns a message about the first argument that is out of range; null: all are valid.
  const char* FindInvalidArgument(const Call& call) const;
  // Starts an operation; Pump sends its requests. Stores its handle in *handle, unless null.
  Started Start(const Call& call, suede_mem_handle* handle);
  // Starts the same put to each of `xpuids` as one operation. Ignores call.xpuid.
  Started StartMany(const Call& call, std::span<const uint16_t> xpuids, suede_mem_handle* handle);

  // Sends queued requests, as far as credit and the limits on requests in flight permit. The tag of
  // a burst is the number of its first request.
  void Pump(BurstSink& sink);
  // Whether requests wait to be sent.
  bool HasUnsent() const { return !active_.is_empty(); }

  // Processes a command that XPU `from.xpuid` sent on plane `from.plane` and the response VC.
  void OnCommand(const Route& from, const uint8_t* control, uint32_t control_bytes,
                 const uint8_t* data, uint32_t data_bytes);
  // Processes the completion of request `number`, which was sent to `to`. `status` is
  // SUEDE_STATUS_….
  void OnCompletion(const Route& to, uint32_t number, uint8_t status);
  // Fails operations whose deadline has passed, with kTimedOut.
  void OnTime(Time now) {
    if (now >= earliest_) Expire(now);
  }
  // Fails the operations of a plane whose daemon has gone.
  void OnPlaneLost(uint32_t plane);

  // Returns 1 if the operation is complete: stores the outcome in *result, unless null, and frees
  // the handle. 0: not complete. -1: the handle is invalid.
  int Test(suede_mem_handle handle, suede_mem_result* result);
  uint32_t pending_writes(uint32_t counter) const { return tallies_[counter].writes; }
  uint32_t pending_reads(uint32_t counter) const { return tallies_[counter].reads; }
  // Returns the failures of writes or reads on a counter since the previous call.
  suede_mem_failures TakeFailures(uint32_t counter, bool of_reads);

  // Total number of completed operations.
  uint64_t completed() const { return completed_; }
  uint32_t open_requests() const { return open_requests_; }
  uint32_t open_operations() const { return open_operations_; }
  const InitiatorCounters& counters() const { return counters_; }

  // Aborts if the state is inconsistent; for tests and fuzzers.
  void CheckInvariants() const;

 private:
  // A request in flight, stored at its number modulo the size of the table.
  struct Request {
    uint32_t number = 0;
    uint32_t operation = kNoIndex;  // kNoIndex: free entry
    uint64_t at = 0;                // offset of its first byte in the operation
    uint32_t bytes = 0;             // length in memory
  };
  // The operations to one {plane, target, VC}.
  struct Lane {
    uint32_t head = kNoIndex;  // of the queue of operations with unsent requests
    uint32_t tail = kNoIndex;
    uint32_t open = 0;  // incomplete operations
    CompletionInterval completions;
  };
  struct Tally {
    uint32_t writes = 0;
    uint32_t reads = 0;
    suede_mem_failures failed_writes = {};
    suede_mem_failures failed_reads = {};
  };

  uint8_t ChooseVc(uint8_t plane, uint16_t xpuid) const;
  uint32_t Open(const Call& call, uint32_t parent);
  void Begin(uint32_t index, suede_mem_handle* handle);
  void Queue(uint32_t index);
  void Unqueue(uint32_t index);

  // Sending. PumpLane and SendRequests return false if the lane is blocked.
  bool PumpLane(uint32_t lane, BurstSink& sink);
  bool SendRequests(uint32_t index, BurstSink& sink);
  static constexpr uint32_t kBlocked = UINT32_MAX;
  uint32_t SendBatch(uint32_t lane, BurstSink& sink);
  static bool IsSmall(const Operation& operation);
  static bool HaveOneShape(const Call& a, const Call& b);
  void GiveBack(const uint32_t* numbers, uint32_t taken, uint32_t count);
  static uint32_t NextBytes(const Operation& operation);
  static bool IsLast(const Operation& operation);
  uint32_t RunLength(const Operation& operation) const;
  uint32_t TakeRequests(uint32_t index, uint32_t count, uint32_t* numbers);
  uint32_t Encode(const Operation& operation, uint32_t number, bool is_last, uint8_t* control,
                  uint8_t* data);
  void OnSent(Operation& operation, uint32_t requests, uint32_t bytes);

  static bool Fits(const Operation& operation, const Request& request, const Response& response);
  void Answer(uint32_t number, const Route& from, const Response& response);
  void Fail(uint32_t number, Status status);
  void FailUnsent(uint32_t index, Status status);
  void FreeRequest(uint32_t number);
  void Resolve(uint32_t index);
  static suede_mem_result OutcomeOf(const Operation& operation);
  void Complete(uint32_t index);
  void Expire(Time now);

  Request& PlaceOf(uint32_t number) { return requests_[number & (requests_.size() - 1)]; }

  const InitiatorParams params_;
  OperationTable operations_;
  InitiatorCounters counters_;
  std::array<Tally, kCounters> tallies_;
  std::vector<Request> requests_;
  std::vector<Lane> lanes_;          // [plane][XPU][VC]
  SenderList active_;                // lanes with unsent requests
  std::vector<uint32_t> to_target_;  // requests in flight by XPU
  uint32_t next_number_;
  uint32_t open_requests_ = 0;
  uint32_t open_operations_ = 0;
  uint64_t completed_ = 0;
  Time earliest_ = kNever;  // lower bound on the open operations' deadlines
};

}  // namespace suede::mem

#endif  // SUEDE_MEM_INITIATOR_H_
