// SPDX-License-Identifier: Apache-2.0
// Calls, responses and completion of operations. initiator_send.cc sends the requests.
#include "mem/initiator.h"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <cstring>

#include "mem/window_table.h"
#include "suede/layout.h"

namespace suede::mem {

Initiator::Initiator(const InitiatorParams& params)
    : params_(params),
      operations_(params.operations),
      requests_(params.requests),
      lanes_(LanesOf(params.planes)),
      active_(LanesOf(params.planes)),
      to_target_(kMaxXpus),
      next_number_(params.first_number) {}

// ---- Calls.

const char* Initiator::FindInvalidArgument(const Call& call) const {
  const bool moves_octets = !IsAtomic(call.opcode);
  const uint64_t bytes = moves_octets ? call.bytes : (call.is_wide ? 8 : 4);
  if (call.xpuid >= kMaxXpus) return "cannot start: xpuid is out of range; use 0 to 1023";
  if (call.counter >= kCounters) return "cannot start: counter is out of range; use 0 to 15";
  if (call.window >= kMaxWindows) return "cannot start: window is out of range; use 0 to 4095";
  if (call.offset >= kOffsetLimit || bytes > kOffsetLimit - call.offset) {
    return "cannot start: the octets are out of range; offset and end are at most 2^40";
  }
  if (call.plane < -1 || call.plane >= static_cast<int>(params_.planes)) {
    return "cannot start: plane is out of range; use -1, or 0 to plane_count - 1";
  }
  if (call.vc < -1 || call.vc >= static_cast<int>(kVcCount) ||
      (call.vc >= 0 && (params_.request_vcs & 1u << call.vc) == 0)) {
    return "cannot start: vc is out of range; use -1, or a VC of request_vcs";
  }
  if (call.boundary >= (call.is_wide ? 64 : 32)) {
    return "cannot start: boundary is out of range; use less than the number of bits";
  }
  if (call.opcode == Opcode::kPutImmediate && call.bytes > UINT32_MAX) {
    return "cannot start: bytes is out of range; a put with immediate has less than 2^32";
  }
  const bool has_memory =
      call.opcode == Opcode::kGet ? call.room != nullptr : call.source != nullptr;
  if (!moves_octets || bytes == 0 || has_memory) return nullptr;
  return "cannot start: the memory of the octets is NULL; pass it";
}

uint8_t Initiator::ChooseVc(uint8_t plane, uint16_t xpuid) const {
  uint8_t best = 0;
  uint32_t fewest = UINT32_MAX;
  for (uint32_t mask = params_.request_vcs; mask != 0; mask &= mask - 1) {
    const auto vc = static_cast<uint8_t>(std::countr_zero(mask));
    const uint32_t open = lanes_[Route{.xpuid = xpuid, .plane = plane, .vc = vc}.Lane()].open;
    if (open < fewest) {
      fewest = open;
      best = vc;
    }
  }
  return best;
}

// Initializes a free operation, which must exist, and queues it in its lane unless it moves no
// bytes.
uint32_t Initiator::Open(const Call& call, uint32_t parent) {
  const uint32_t index = operations_.Take();
  Operation& operation = operations_[index];
  operation.call = call;
  operation.parent = parent;
  operation.plane = ChoosePlane(call.plane, call.xpuid, params_.planes);
  operation.vc =
      call.vc >= 0 ? static_cast<uint8_t>(call.vc) : ChooseVc(operation.plane, call.xpuid);
  earliest_ = std::min(earliest_, call.deadline);
  ++lanes_[operation.Destination().Lane()].open;
  const bool moves_nothing =
      call.bytes == 0 && (call.opcode == Opcode::kPut || call.opcode == Opcode::kGet);
  if (moves_nothing)
    operation.is_sent = true;
  else
    Queue(index);
  return index;
}

Started Initiator::Start(const Call& call, suede_mem_handle* handle) {
  if (FindInvalidArgument(call) != nullptr) return Started::kInvalid;
  if (operations_.free_count() == 0) return Started::kNoRoom;
  const uint32_t index = Open(call, kNoIndex);
  Begin(index, handle);
  Resolve(index);
  return Started::kOk;
}

Started Initiator::StartMany(const Call& call, std::span<const uint16_t> xpuids,
                             suede_mem_handle* handle) {
  const bool all_known =
      std::all_of(xpuids.begin(), xpuids.end(), [](uint16_t xpuid) { return xpuid < kMaxXpus; });
  if (call.opcode != Opcode::kPut || xpuids.empty() || !all_known) return Started::kInvalid;
  Call part = call;
  part.xpuid = xpuids.front();
  if (FindInvalidArgument(part) != nullptr) {
    return Started::kInvalid;
  }
  if (operations_.free_count() < xpuids.size() + 1) return Started::kNoRoom;
  const uint32_t index = operations_.Take();
  Operation& operation = operations_[index];
  operation.call = call;
  operation.is_multicast = true;
  operation.is_sent = true;
  operation.unanswered = static_cast<uint32_t>(xpuids.size());
  operation.plane = static_cast<uint8_t>(std::max<int>(call.plane, 0));
  operation.vc = static_cast<uint8_t>(std::max<int>(call.vc, 0));
  Begin(index, handle);
  part.result = nullptr;
  for (const uint16_t xpuid : xpuids) {
    part.xpuid = xpuid;
    Resolve(Open(part, index));
  }
  return Started::kOk;
}

// Accounts for a started operation and fills the caller's handle and result.
void Initiator::Begin(uint32_t index, suede_mem_handle* handle) {
  Operation& operation = operations_[index];
  operation.has_handle = handle != nullptr;
  if (handle != nullptr) *handle = operations_.HandleOf(index);
  if (operation.call.result != nullptr) {
    *operation.call.result = {.status = SUEDE_MEM_PENDING,
                              .plane = operation.plane,
                              .vc = operation.vc,
                              .reserved = 0,
                              .value = 0};
  }
  Tally& tally = tallies_[operation.call.counter];
  ++(IsRead(operation.call.opcode) ? tally.reads : tally.writes);
  ++counters_.operations;
  ++open_operations_;
}

int Initiator::Test(suede_mem_handle handle, suede_mem_result* result) {
  const uint32_t index = operations_.Find(handle);
  if (index == kNoIndex) return -1;
  const Operation& operation = operations_[index];
  if (operation.state != Operation::State::kDone) return 0;
  if (result != nullptr) *result = OutcomeOf(operation);
  operations_.Free(index);
  return 1;
}

suede_mem_failures Initiator::TakeFailures(uint32_t counter, bool of_reads) {
  Tally& tally = tallies_[counter];
  suede_mem_failures& failures = of_reads ? tally.failed_reads : tally.failed_writes;
  const suede_mem_failures taken = failures;
  failures = {};
  return taken;
}

// ---- Responses.

void Initiator::OnCommand(const Route& from, const uint8_t* control, uint32_t control_bytes,
                          const uint8_t* data, uint32_t data_bytes) {
  Response response;
  if (!ParseResponse(control, control_bytes, data, data_bytes, &response)) {
    ++counters_.foreign;
    return;
  }
  // A target cannot acknowledge more requests than were in flight to it. The check bounds the work
  // that a forged count can cause.
  if (to_target_[from.xpuid] == 0 || response.count > params_.requests_to_target) {
    ++counters_.stray;
    return;
  }
  for (uint32_t i = 0; i < response.count; ++i) Answer(response.number + i, from, response);
}

// Whether the response has the kind and length that the operation expects.
bool Initiator::Fits(const Operation& operation, const Request& request, const Response& response) {
  if (response.status != Status::kOk) return true;
  switch (response.kind) {
    case Response::Kind::kAcknowledgement:
      return !IsRead(operation.call.opcode);
    case Response::Kind::kData:
      return operation.call.opcode == Opcode::kGet && response.data_bytes == request.bytes;
    case Response::Kind::kValue:
      break;
  }
  return IsAtomic(operation.call.opcode) && IsRead(operation.call.opcode) &&
         (operation.call.is_wide || response.value >> 32 == 0);
}

void Initiator::Answer(uint32_t number, const Route& from, const Response& response) {
  const Request& request = PlaceOf(number);
  const uint32_t index = request.operation;
  if (index == kNoIndex || request.number != number ||
      operations_[index].call.xpuid != from.xpuid || operations_[index].plane != from.plane ||
      !Fits(operations_[index], request, response)) {
    ++counters_.stray;
    return;
  }
  if (response.status != Status::kOk) {
    Fail(number, response.status);
    return;
  }
  Operation& operation = operations_[index];
  if (response.kind == Response::Kind::kData) {
    std::memcpy(operation.call.room + request.at, response.data, response.data_bytes);
  } else if (response.kind == Response::Kind::kValue) {
    operation.value = response.value;
  }
  FreeRequest(number);
  --operation.unanswered;
  Resolve(index);
}

void Initiator::OnCompletion(const Route& to, uint32_t number, uint8_t status) {
  if (status == SUEDE_STATUS_OK) return;
  const bool undelivered = IsUndelivered(status);
  for (const Request& request : requests_) {
    if (request.operation == kNoIndex) continue;
    if (operations_[request.operation].Destination() != to) continue;
    // The fate of earlier requests is unknown: they requested no completion, or theirs succeeded
    // and the response is lost.
    const auto behind = static_cast<int32_t>(request.number - number);
    if (behind > 0) continue;
    const bool for_certain = (behind == 0 && undelivered) || IsRefusedAlways(status);
    Fail(request.number, for_certain ? Status::kUnreachable : Status::kInDoubt);
  }
}

void Initiator::OnPlaneLost(uint32_t plane) {
  for (const Request& request : requests_) {
    if (request.operation == kNoIndex || operations_[request.operation].plane != plane) continue;
    Fail(request.number, Status::kInDoubt);
  }
  for (uint32_t i = 0; i < operations_.size(); ++i) {
    if (operations_[i].is_queued && operations_[i].plane == plane) {
      FailUnsent(i, Status::kUnreachable);
    }
  }
}

void Initiator::Expire(Time now) {
  // Fails requests in flight first, because completing an operation may complete its multicast.
  for (const Request& request : requests_) {
    if (request.operation == kNoIndex) continue;
    if (operations_[request.operation].call.deadline <= now) {
      Fail(request.number, Status::kTimedOut);
    }
  }
  earliest_ = kNever;
  for (uint32_t i = 0; i < operations_.size(); ++i) {
    Operation& operation = operations_[i];
    if (operation.state != Operation::State::kOpen || operation.is_multicast) continue;
    if (operation.call.deadline <= now)
      FailUnsent(i, Status::kTimedOut);
    else
      earliest_ = std::min(earliest_, operation.call.deadline);
  }
}

// ---- Completion.

void Initiator::FreeRequest(uint32_t number) {
  Request& request = PlaceOf(number);
  --to_target_[operations_[request.operation].call.xpuid];
  --open_requests_;
  request.operation = kNoIndex;
}

// Fails a request in flight that was refused or lost.
void Initiator::Fail(uint32_t number, Status status) {
  const uint32_t index = PlaceOf(number).operation;
  Operation& operation = operations_[index];
  FreeRequest(number);
  --operation.unanswered;
  if (status == Status::kUnreachable) ++operation.undelivered;
  FailUnsent(index, status);
}

// Marks the operation failed and drops its unsent requests. It completes once nothing is in flight.
void Initiator::FailUnsent(uint32_t index, Status status) {
  Operation& operation = operations_[index];
  if (operation.status == Status::kOk) operation.status = status;
  if (operation.is_queued) Unqueue(index);
  operation.is_sent = true;
  Resolve(index);
}

void Initiator::Resolve(uint32_t index) {
  if (operations_[index].is_sent && operations_[index].unanswered == 0) Complete(index);
}

suede_mem_result Initiator::OutcomeOf(const Operation& operation) {
  return {.status = static_cast<uint32_t>(operation.status),
          .plane = operation.plane,
          .vc = operation.vc,
          .reserved = 0,
          .value = operation.value};
}

void Initiator::Complete(uint32_t index) {
  Operation& operation = operations_[index];
  if (operation.status == Status::kUnreachable) [[unlikely]] {
    const bool may_be_executed = operation.requests > operation.undelivered;
    if (may_be_executed && !operation.is_multicast) operation.status = Status::kInDoubt;
  }
  if (!operation.is_multicast) --lanes_[operation.Destination().Lane()].open;
  if (operation.parent != kNoIndex) {
    const uint32_t parent = operation.parent;
    Operation& whole = operations_[parent];
    if (whole.status == Status::kOk) whole.status = operation.status;
    --whole.unanswered;
    operations_.Free(index);
    Resolve(parent);
    return;
  }
  Tally& tally = tallies_[operation.call.counter];
  const bool is_read = IsRead(operation.call.opcode);
  --(is_read ? tally.reads : tally.writes);
  if (operation.status != Status::kOk) {
    suede_mem_failures& failures = is_read ? tally.failed_reads : tally.failed_writes;
    if (failures.count++ == 0) failures.status = static_cast<uint32_t>(operation.status);
    ++counters_.failed;
  }
  ++completed_;
  --open_operations_;
  if (operation.call.result != nullptr) *operation.call.result = OutcomeOf(operation);
  operation.state = Operation::State::kDone;
  if (!operation.has_handle) operations_.Free(index);
}

void Initiator::CheckInvariants() const {
  const auto check = [](bool holds) {
    if (!holds) std::abort();
  };
  std::vector<uint32_t> unanswered(operations_.size());
  std::vector<uint32_t> to_target(kMaxXpus);
  uint32_t open_requests = 0;
  for (size_t i = 0; i < requests_.size(); ++i) {
    const Request& request = requests_[i];
    if (request.operation == kNoIndex) continue;
    check((request.number & (requests_.size() - 1)) == i);
    check(operations_[request.operation].state == Operation::State::kOpen);
    ++unanswered[request.operation];
    ++to_target[operations_[request.operation].call.xpuid];
    ++open_requests;
  }
  check(open_requests == open_requests_ && to_target == to_target_);
  std::array<Tally, kCounters> tallies;
  uint32_t free = 0;
  uint32_t open = 0;
  for (uint32_t i = 0; i < operations_.size(); ++i) {
    const Operation& operation = operations_[i];
    if (operation.state == Operation::State::kFree) ++free;
    if (operation.state != Operation::State::kOpen) continue;
    check(!operation.is_sent || operation.unanswered != 0);
    check(operation.is_queued == !operation.is_sent);
    if (!operation.is_multicast) check(operation.unanswered == unanswered[i]);
    if (operation.parent != kNoIndex) continue;
    Tally& tally = tallies[operation.call.counter];
    ++(IsRead(operation.call.opcode) ? tally.reads : tally.writes);
    ++open;
  }
  check(free == operations_.free_count() && open == open_operations_);
  for (uint32_t i = 0; i < kCounters; ++i) {
    check(tallies[i].writes == tallies_[i].writes && tallies[i].reads == tallies_[i].reads);
  }
}

}  // namespace suede::mem
