// SPDX-License-Identifier: Apache-2.0
// Transmission of an initiator's requests.
#include <algorithm>
#include <cstring>

#include "mem/initiator.h"

namespace suede::mem {

// ---- Lanes: FIFOs of the operations with unsent requests, per {plane, target, VC}.

void Initiator::Queue(uint32_t index) {
  Operation& operation = operations_[index];
  operation.is_queued = true;
  operation.next = kNoIndex;
  const uint32_t number = operation.Destination().Lane();
  Lane& lane = lanes_[number];
  (lane.head == kNoIndex ? lane.head : operations_[lane.tail].next) = index;
  lane.tail = index;
  active_.Append(number);
}

// Removes the operation from any position in its lane; a fully sent one is at the head. An emptied
// lane stays active until the next Pump.
void Initiator::Unqueue(uint32_t index) {
  Operation& operation = operations_[index];
  Lane& lane = lanes_[operation.Destination().Lane()];
  operation.is_queued = false;
  uint32_t before = kNoIndex;
  for (uint32_t i = lane.head; i != index; i = operations_[i].next) before = i;
  (before == kNoIndex ? lane.head : operations_[before].next) = operation.next;
  if (lane.tail == index) lane.tail = before;
  operation.next = kNoIndex;
}

void Initiator::Pump(BurstSink& sink) {
  if (active_.is_empty()) return;
  active_.ServeEach([&](uint32_t lane) { return PumpLane(lane, sink); });
  active_.Rotate();  // the table may not hold the requests of all lanes
}

bool Initiator::PumpLane(uint32_t lane, BurstSink& sink) {
  while (lanes_[lane].head != kNoIndex) {
    const uint32_t sent = SendBatch(lane, sink);
    if (sent == kBlocked) return false;
    if (sent != 0) continue;
    const uint32_t index = lanes_[lane].head;
    if (!SendRequests(index, sink)) return false;
    Unqueue(index);
  }
  return true;
}

// ---- Several operations of one request each.

// Whether the operation is a single request without ordering constraints.
bool Initiator::IsSmall(const Operation& operation) {
  const Call& call = operation.call;
  return IsAtomic(call.opcode) ||
         (call.opcode != Opcode::kPutImmediate && call.bytes <= kRequestDataBytes);
}

bool Initiator::HaveOneShape(const Call& a, const Call& b) {
  return a.opcode == b.opcode && (IsAtomic(a.opcode) ? a.is_wide == b.is_wide : a.bytes == b.bytes);
}

// Sends the operations at the lane's head that have the same shape in one burst, except for the
// lane's last operation, which requests a completion. Returns the number sent; kBlocked if the lane
// is blocked.
uint32_t Initiator::SendBatch(uint32_t number, BurstSink& sink) {
  Lane& lane = lanes_[number];
  const uint32_t silent = lane.completions.silent();
  uint32_t numbers[kCommandsPerCompletion] = {};
  uint32_t indices[kCommandsPerCompletion] = {};
  uint8_t controls[kCommandsPerCompletion * kRequestControlBytes];
  uint8_t data[kCommandsPerCompletion * kRequestDataBytes];
  uint32_t data_bytes = 0;
  uint32_t count = 0;
  const Call& first = operations_[lane.head].call;
  for (uint32_t i = lane.head; count < silent; i = operations_[i].next) {
    const Operation& operation = operations_[i];
    if (operation.next == kNoIndex || !IsSmall(operation) || !HaveOneShape(operation.call, first)) {
      break;
    }
    if (TakeRequests(i, 1, numbers + count) == 0) break;
    uint8_t* const octets = data + count * data_bytes;  // data_bytes is 0 while count is 0
    data_bytes = Encode(operation, numbers[count], /*is_last=*/true,
                        controls + count * kRequestControlBytes, octets);
    if (operation.call.opcode == Opcode::kPut) {
      data_bytes = static_cast<uint32_t>(operation.call.bytes);
      std::memcpy(octets, operation.call.source, data_bytes);
    }
    indices[count++] = i;
  }
  if (count == 0) return 0;
  const Operation& head = operations_[lane.head];
  const uint32_t taken = lane.completions.Send({.to = head.Destination(),
                                                .controls = controls,
                                                .data = data,
                                                .data_bytes = data_bytes,
                                                .count = count,
                                                .tag = numbers[0]},
                                               sink);
  for (uint32_t i = 0; i < taken; ++i) {
    Operation& operation = operations_[indices[i]];
    OnSent(operation, 1, PlaceOf(numbers[i]).bytes);
    operation.is_sent = true;
    Unqueue(indices[i]);
  }
  if (taken == count) return count;
  GiveBack(numbers, taken, count);
  return kBlocked;
}

// Frees requests `taken` to `count` - 1, which were not sent, and reuses their numbers.
void Initiator::GiveBack(const uint32_t* numbers, uint32_t taken, uint32_t count) {
  for (uint32_t i = taken; i < count; ++i) FreeRequest(numbers[i]);
  next_number_ = numbers[taken];
  ++counters_.blocked;
}

// ---- Requests of one operation.

uint32_t Initiator::NextBytes(const Operation& operation) {
  const uint64_t left = operation.call.bytes - operation.sent_bytes;
  return static_cast<uint32_t>(std::min<uint64_t>(left, kRequestDataBytes));
}

// Whether the next request is the operation's last.
bool Initiator::IsLast(const Operation& operation) {
  if (IsAtomic(operation.call.opcode)) return true;
  const uint64_t left = operation.call.bytes - operation.sent_bytes;
  return left <=
         (operation.call.opcode == Opcode::kPutImmediate ? kImmediateDataBytes : kRequestDataBytes);
}

// Returns the number of upcoming requests that have the same shape, are not the operation's last
// and request no completion. 0: the next request is a burst of its own.
uint32_t Initiator::RunLength(const Operation& operation) const {
  const uint64_t left = operation.call.bytes - operation.sent_bytes;
  if (IsLast(operation) || left < kRequestDataBytes) return 0;
  const uint64_t last = operation.call.opcode == Opcode::kPutImmediate ? 0 : 1;
  const uint64_t whole = (left - last) / kRequestDataBytes;
  const uint32_t silent = lanes_[operation.Destination().Lane()].completions.silent();
  return static_cast<uint32_t>(std::min<uint64_t>(whole, silent));
}

// Allocates numbers and table entries for up to `count` requests. Returns how many: the table or
// the target's limit may be exhausted.
uint32_t Initiator::TakeRequests(uint32_t index, uint32_t count, uint32_t* numbers) {
  const Operation& operation = operations_[index];
  uint32_t& to_target = to_target_[operation.call.xpuid];
  const uint32_t bytes = NextBytes(operation);
  const auto size = static_cast<uint32_t>(requests_.size());
  count = std::min({count, size - open_requests_, params_.requests_to_target - to_target});
  for (uint32_t i = 0; i < count; ++i) {
    while (PlaceOf(next_number_).operation != kNoIndex) ++next_number_;
    numbers[i] = next_number_;
    PlaceOf(next_number_++) = {.number = numbers[i],
                               .operation = index,
                               .at = operation.sent_bytes + uint64_t{i} * bytes,
                               .bytes = bytes};
  }
  open_requests_ += count;
  to_target += count;
  return count;
}

// Encodes request `number`. Returns the number of bytes written to `data`; 0 if the request has no
// data or sends the caller's memory.
uint32_t Initiator::Encode(const Operation& operation, uint32_t number, bool is_last,
                           uint8_t* control, uint8_t* data) {
  const Call& call = operation.call;
  const Request& place = PlaceOf(number);
  mem::Request request{.opcode = call.opcode,
                       .is_wide = call.is_wide,
                       .response_vc = params_.response_vc,
                       .boundary = call.boundary,
                       .window = call.window,
                       .bytes = static_cast<uint16_t>(place.bytes),
                       .number = number,
                       .key = call.key,
                       .offset = call.offset + place.at,
                       .operand = call.operand,
                       .desired = call.desired,
                       .immediate = call.immediate,
                       .total_bytes = static_cast<uint32_t>(call.bytes)};
  if (call.opcode == Opcode::kPutImmediate && !is_last) request.opcode = Opcode::kPut;
  EncodeRequest(request, control);
  uint32_t data_bytes = EncodeOperands(request, data);
  if (request.opcode == Opcode::kPutImmediate && request.bytes != 0) {
    std::memcpy(data + data_bytes, call.source + place.at, request.bytes);
    data_bytes += request.bytes;
  }
  return data_bytes;
}

// Sends the requests of an operation in order. Returns false if the lane is blocked.
bool Initiator::SendRequests(uint32_t index, BurstSink& sink) {
  Operation& operation = operations_[index];
  Lane& lane = lanes_[operation.Destination().Lane()];
  while (!operation.is_sent) {
    const bool is_last = IsLast(operation);
    // The notice must not overtake the data of a put with immediate.
    if (is_last && params_.is_unordered && operation.call.opcode == Opcode::kPutImmediate &&
        operation.unanswered != 0) {
      return false;
    }
    const uint32_t run = RunLength(operation);
    uint32_t numbers[kCommandsPerCompletion] = {};
    const uint32_t count = TakeRequests(index, std::max(run, 1u), numbers);
    if (count == 0) return false;
    uint8_t controls[kCommandsPerCompletion * kRequestControlBytes];
    uint8_t data[kRequestDataBytes];
    uint32_t data_bytes = 0;
    for (uint32_t i = 0; i < count; ++i) {
      data_bytes =
          Encode(operation, numbers[i], is_last, controls + i * kRequestControlBytes, data);
    }
    const uint8_t* octets = data;
    const bool from_caller = data_bytes == 0 && operation.call.opcode != Opcode::kGet;
    if (from_caller) {
      octets = operation.call.source + operation.sent_bytes;
      data_bytes = PlaceOf(numbers[0]).bytes;
    }
    const bool is_end = is_last && operation.next == kNoIndex;
    const uint32_t taken = lane.completions.Send(
        {.to = operation.Destination(),
         .controls = controls,
         .data = octets,
         .data_bytes = data_bytes,
         .count = count,
         .wants_completion = run == 0 && (is_end || lane.completions.silent() == 0),
         .tag = numbers[0]},
        sink);
    OnSent(operation, taken, PlaceOf(numbers[0]).bytes);
    if (taken < count) {
      GiveBack(numbers, taken, count);
      return false;
    }
    operation.is_sent = is_last;
  }
  return true;
}

void Initiator::OnSent(Operation& operation, uint32_t requests, uint32_t bytes) {
  operation.sent_bytes += uint64_t{requests} * bytes;
  operation.unanswered += requests;
  operation.requests += requests;
  counters_.requests += requests;
}

}  // namespace suede::mem
