// SPDX-License-Identifier: Apache-2.0
// An initiator: starts operations, sends their requests and takes the responses (docs/memory.md).
//
// Takes calls, received commands, completions and the time, and gives bursts of commands to a sink;
// reads no clock and sends nothing itself. Memory is allocated by the constructor alone. One thread
// at a time uses it.
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
#include "mem/target.h"  // Route

namespace suede::mem {

inline constexpr uint32_t kCounters = SUEDE_MEM_COUNTERS;
// One in this many requests of a lane asks for a completion.
inline constexpr uint32_t kRequestsPerCompletion = 16;

struct InitiatorParams {
  uint32_t planes = 1;       // 1 to kMaxPlanes
  uint32_t requests = 4096;  // in flight: a power of two
  uint32_t requests_to_target = 1024;
  uint32_t operations = 4096;
  uint32_t request_vcs = 1;  // mask, not 0
  uint8_t response_vc = 1;
  bool is_unordered = false;
  uint32_t first_number = 0;  // drawn at random
};

// Commands of one shape to one target.
struct Burst {
  Route to;
  const uint8_t* controls = nullptr;  // kRequestControlBytes each, one behind the other
  const uint8_t* data = nullptr;      // data_bytes each, one behind the other
  uint32_t data_bytes = 0;            // 0: none
  uint32_t count = 0;                 // 1 to kRequestsPerCompletion
  bool wants_completion = false;      // count is 1 then
  uint32_t number = 0;                // of the first; the completion repeats it
};

class RequestSink {
 public:
  // Returns how many of the commands were taken, the first ones of the burst: fewer than all where
  // credit or room ends. kLost: the plane has no daemon.
  static constexpr int kLost = -1;
  virtual int Send(const Burst& burst) = 0;

 protected:
  ~RequestSink() = default;
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

  // Names the first argument of the call that is out of its range; nullptr: none is.
  const char* MistakeIn(const Call& call) const;
  // Starts an operation; Pump sends its requests. `handle`: where to store one, or null.
  Started Start(const Call& call, suede_mem_handle* handle);
  // Starts the same put to each of `xpuids`, as one operation. call.xpuid is ignored.
  Started StartMany(const Call& call, std::span<const uint16_t> xpuids, suede_mem_handle* handle);

  // Sends what may be sent now.
  void Pump(RequestSink& sink);
  // Whether requests wait to be sent.
  bool HasUnsent() const { return first_active_ != kNoIndex; }

  // A command that arrived on the VC of responses from XPU `from.xpuid` on plane `from.plane`.
  void OnCommand(const Route& from, const uint8_t* control, uint32_t control_bytes,
                 const uint8_t* data, uint32_t data_bytes);
  // The completion of request `number`, which was sent to `to`: `status` is SUEDE_STATUS_….
  void OnCompletion(const Route& to, uint32_t number, uint8_t status);
  // Completes operations whose deadline is over.
  void OnTime(Time now) {
    if (now >= earliest_) Expire(now);
  }
  // The daemon of a plane has gone.
  void OnPlaneLost(uint32_t plane);

  // 1: complete, and *result (may be null) has the outcome; the handle is void. 0: not complete.
  // -1: there is no such operation.
  int Test(suede_mem_handle handle, suede_mem_result* result);
  uint32_t pending_writes(uint32_t counter) const { return tallies_[counter].writes; }
  uint32_t pending_reads(uint32_t counter) const { return tallies_[counter].reads; }
  // The failures of writes or reads on a counter since this was asked last.
  suede_mem_failures TakeFailures(uint32_t counter, bool of_reads);

  // Operations that became complete, ever.
  uint64_t completed() const { return completed_; }
  uint32_t open_requests() const { return open_requests_; }
  uint32_t open_operations() const { return open_operations_; }
  const InitiatorCounters& counters() const { return counters_; }

  // Aborts where the state contradicts itself; for tests and fuzzers.
  void CheckInvariants() const;

 private:
  // A request in flight; its place is its number modulo the size of the table.
  struct Request {
    uint32_t number = 0;
    uint32_t operation = kNoIndex;  // kNoIndex: the place is free
    uint64_t at = 0;                // octet of the operation with which it begins
    uint32_t bytes = 0;             // of memory
  };
  // The operations to one {plane, target, VC}.
  struct Lane {
    uint32_t head = kNoIndex;  // operations with requests to be sent
    uint32_t tail = kNoIndex;
    uint32_t next_active = kNoIndex;
    uint32_t open = 0;              // operations that are not complete
    uint32_t since_completion = 0;  // requests since the last that asked for one
    bool is_active = false;
  };
  struct Tally {
    uint32_t writes = 0;
    uint32_t reads = 0;
    suede_mem_failures failed_writes = {};
    suede_mem_failures failed_reads = {};
  };

  uint32_t LaneOf(uint8_t plane, uint16_t xpuid, uint8_t vc) const {
    return (uint32_t{plane} * kMaxXpus + xpuid) * kVcCount + vc;
  }
  uint32_t LaneOf(const Operation& operation) const {
    return LaneOf(operation.plane, operation.call.xpuid, operation.vc);
  }
  uint8_t ChooseVc(uint8_t plane, uint16_t xpuid) const;
  uint32_t Open(const Call& call, uint32_t parent);
  void Begin(uint32_t index, suede_mem_handle* handle);
  void Queue(uint32_t index);
  void Unqueue(uint32_t index);
  void Activate(uint32_t lane);

  // Sending. PumpLane and SendSome return false where the lane is blocked.
  bool PumpLane(uint32_t lane, RequestSink& sink);
  bool SendSome(uint32_t index, RequestSink& sink);
  static constexpr uint32_t kBlocked = UINT32_MAX;
  uint32_t SendSmallOnes(uint32_t lane, RequestSink& sink);
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
  std::vector<uint32_t> to_target_;  // requests in flight, by XPU
  uint32_t next_number_;
  uint32_t open_requests_ = 0;
  uint32_t open_operations_ = 0;
  uint64_t completed_ = 0;
  uint32_t first_active_ = kNoIndex;  // lanes with requests to be sent
  uint32_t last_active_ = kNoIndex;
  Time earliest_ = kNever;  // deadline of any operation
};

}  // namespace suede::mem

#endif  // SUEDE_MEM_INITIATOR_H_
