// SPDX-License-Identifier: Apache-2.0
#include "perf/memory_load.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "perf/clock.h"

namespace suede::perf {
namespace {

constexpr uint64_t kFirstOffset = 64;  // behind the 8 bytes of the atomics
constexpr uint32_t kBoundary = 63;     // increments do not wrap

// Fills memory with pseudo-random bytes that depend on `seed`.
void Fill(uint8_t* octets, uint32_t bytes, uint64_t seed) {
  uint64_t state = seed * 0x9e3779b97f4a7c15 + 1;
  for (uint32_t i = 0; i < bytes; ++i) {
    if (i % 8 == 0) state = state * 6364136223846793005 + 1442695040888963407;
    octets[i] = static_cast<uint8_t>(state >> (8 * (i % 8)));
  }
}

}  // namespace

MemoryLoad::MemoryLoad(LoadRecord& record, MemoryCalls& calls, const Options& options,
                       uint32_t bytes)
    : OperationLoad(record, options, bytes),
      calls_(calls),
      slots_(slots()),
      values_(options.destinations.size()) {
  const uint64_t stride = (uint64_t{bytes} + 63) / 64 * 64;
  memory_.resize(stride * slots_.size());
  for (size_t i = 0; i < slots_.size(); ++i) {
    slots_[i].octets = memory_.data() + i * stride;
    slots_[i].offset = IsAtomic() ? 0 : kFirstOffset + i * stride;
    Fill(slots_[i].octets, bytes, i);
  }
  needed_bytes_ = IsAtomic() ? 8 : kFirstOffset + stride * slots_.size();
}

bool MemoryLoad::Poll(Time now) {
  const int ended = calls_.Poll(now);
  if (ended < 0) record_.Fail(Outcome::kEndpointLost, "the endpoint went away");
  if (ended > 0 && !record_.result.is_unfinished) CollectEnded();
  return ended > 0;
}

uint32_t MemoryLoad::Execute(mem::Call call, uint32_t deadline_ms) {
  if (!is_executing_) {
    call.result = &single_result_;
    const int error = calls_.Start(call, deadline_ms);
    if (error != 0 && error != -EAGAIN) FailStart(error);
    if (error != 0) return SUEDE_MEM_PENDING;
    is_executing_ = true;
  }
  if (single_result_.status != SUEDE_MEM_PENDING) is_executing_ = false;
  return single_result_.status;
}

// ---- Before the load.

Advance MemoryLoad::Connect(Time now) {
  if (found_ != options_.destinations.size()) {
    FindServer(now);
    return Advance::kIdle;
  }
  const bool has_octets = options_.mode == Mode::kGet && options_.check;
  if (at_ == options_.destinations.size() || (!IsAtomic() && !has_octets)) {
    at_ = 0;
    return Advance::kDone;
  }
  // Initializes the memory: the data that gets verify, and the word of the atomics.
  mem::Call call{
      .opcode = mem::Opcode::kSwap, .is_wide = true, .xpuid = options_.destinations[at_]};
  if (has_octets) {
    call = {.opcode = mem::Opcode::kPut,
            .xpuid = call.xpuid,
            .offset = kFirstOffset,
            .bytes = memory_.size(),
            .source = memory_.data()};
  }
  const uint32_t status = Execute(call);
  if (status == SUEDE_MEM_PENDING) return Advance::kIdle;
  ++at_;
  if (status != SUEDE_MEM_OK) {
    record_.Fail(
        Outcome::kEndpointLost,
        absl::StrCat(has_octets ? "the octets of the gets were" : "the word of the atomics was",
                     " not written: ", suede_mem_status_name(status)));
  }
  return Advance::kIdle;
}

// Checks the next server and its window's size by reading the last 8 bytes that the load needs.
void MemoryLoad::FindServer(Time now) {
  if (deadline_ == kNever) deadline_ = now + Seconds(options_.connect_s);
  if (now < retry_at_) return;
  buffer_.resize(sizeof(uint64_t));
  const uint32_t status = Execute({.opcode = mem::Opcode::kGet,
                                   .xpuid = options_.destinations[found_],
                                   .offset = needed_bytes_ - buffer_.size(),
                                   .bytes = buffer_.size(),
                                   .room = buffer_.data()},
                                  /*deadline_ms=*/500);
  if (status == SUEDE_MEM_PENDING) return;
  if (status != SUEDE_MEM_OK) return OnRefusal(status, now);
  ++found_;
  deadline_ = kNever;
}

void MemoryLoad::OnRefusal(uint32_t status, Time now) {
  const uint16_t xpuid = options_.destinations[found_];
  if (status == SUEDE_MEM_BOUNDS) {
    record_.Fail(Outcome::kRefused,
                 absl::StrCat("the window of XPU ", xpuid, " has less than the ", needed_bytes_,
                              " bytes that this load takes: --window there"));
  } else if (now >= deadline_) {
    record_.Fail(Outcome::kPeerSilent,
                 absl::StrCat("XPU ", xpuid, " executes no memory operations (",
                              suede_mem_status_name(status),
                              "): is suede-perf --mode server --reaction memory there?"));
  }
  // Delays the next attempt, because an unreachable XPU fails immediately.
  retry_at_ = now + std::chrono::milliseconds(20);
}

// ---- The load.

mem::Call MemoryLoad::AtomicOf(const Slot& slot) const {
  mem::Call call{.is_wide = bytes_ == 8, .operand = 1};
  switch (options_.atomic) {
    case Atomic::kFetchAdd:
      call.opcode = mem::Opcode::kFetchAdd;
      break;
    case Atomic::kCompareSwap:  // compares with 0 and stores 0
      call.opcode = mem::Opcode::kCompareSwap;
      call.operand = 0;
      break;
    case Atomic::kSwap:
      call.opcode = mem::Opcode::kSwap;
      call.operand = slot.number + 1;
      break;
    case Atomic::kIncrement:
    case Atomic::kReadIncrement:
      call.opcode = options_.atomic == Atomic::kIncrement ? mem::Opcode::kIncrement
                                                          : mem::Opcode::kReadIncrement;
      call.boundary = static_cast<uint8_t>(std::min(kBoundary, bytes_ * 8 - 1));
      break;
  }
  return call;
}

mem::Call MemoryLoad::CallOf(Slot& slot) const {
  mem::Call call{.opcode = options_.mode == Mode::kGet ? mem::Opcode::kGet : mem::Opcode::kPut,
                 .bytes = bytes_,
                 .source = slot.octets,
                 .room = slot.octets};
  if (IsAtomic()) call = AtomicOf(slot);
  call.xpuid = options_.destinations[slot.destination];
  call.offset = slot.offset;
  call.result = &slot.result;
  return call;
}

int MemoryLoad::Start(size_t at) {
  Slot& slot = slots_[at];
  const auto destinations = static_cast<uint32_t>(options_.destinations.size());
  slot.destination = static_cast<uint32_t>(started() % destinations);
  slot.number = started() / destinations;
  if (options_.check && options_.mode == Mode::kGet) std::memset(slot.octets, 0, bytes_);
  // Varies the data of each put.
  if (options_.check && options_.mode == Mode::kPut) {
    slot.octets[0] = static_cast<uint8_t>(started());
  }
  const int error = calls_.Start(CallOf(slot), /*deadline_ms=*/0);
  slot.is_used |= error == 0;
  return error;
}

void MemoryLoad::CheckValue(Slot& slot) {
  uint64_t& next = values_[slot.destination];
  const uint64_t value = slot.result.value;
  switch (options_.atomic) {
    case Atomic::kFetchAdd:
    case Atomic::kReadIncrement:
      // Results are consecutive, in the order of the calls, unless the path is unordered.
      if (!options_.unordered && value != (bytes_ == 4 ? next & UINT32_MAX : next)) {
        ++record_.result.reverse.wrong;
      }
      ++next;
      return;
    case Atomic::kSwap:
      if (!options_.unordered && value != (bytes_ == 4 ? slot.number & UINT32_MAX : slot.number)) {
        ++record_.result.reverse.wrong;
      }
      return;
    case Atomic::kCompareSwap:
      if (value != 0) ++record_.result.reverse.wrong;
      return;
    case Atomic::kIncrement:
      ++next;
      return;
  }
}

bool MemoryLoad::OnEnd(size_t at) {
  Slot& slot = slots_[at];
  if (slot.result.status != SUEDE_MEM_OK) {
    std::string& explanation = record_.result.explanation;
    if (explanation.empty()) {
      explanation = absl::StrCat("an operation at XPU ", options_.destinations[slot.destination],
                                 " ended as ", suede_mem_status_name(slot.result.status));
    }
    return false;
  }
  if (IsAtomic()) CheckValue(slot);
  if (options_.check && options_.mode == Mode::kGet) {
    std::vector<uint8_t> expected(bytes_);
    Fill(expected.data(), bytes_, at);
    if (std::memcmp(expected.data(), slot.octets, bytes_) != 0) ++record_.result.forward.wrong;
  }
  return true;
}

// ---- After the load.

// Verifies the data of the puts, and the final values of the atomics.
Advance MemoryLoad::Finish(Time /*now*/) {
  RunResult& result = record_.result;
  if (result.is_unfinished && result.explanation.empty()) {
    result.explanation = absl::StrCat(under_way(), " operations did not end within --drain");
  }
  const size_t count = IsAtomic()                    ? options_.destinations.size()
                       : options_.mode == Mode::kPut ? slots_.size()
                                                     : 0;
  result.interrupted |= record_.stop;
  if (!options_.check || result.is_unfinished || at_ == count || record_.stop) {
    return Advance::kDone;
  }
  buffer_.resize(std::max<size_t>(bytes_, sizeof(uint64_t)));
  if (IsAtomic())
    VerifyWord();
  else
    VerifySlot();
  return Advance::kIdle;
}

void MemoryLoad::VerifyWord() {
  const uint32_t status = Execute({.opcode = mem::Opcode::kGet,
                                   .xpuid = options_.destinations[at_],
                                   .bytes = sizeof(uint64_t),
                                   .room = buffer_.data()});
  if (status == SUEDE_MEM_PENDING) return;
  uint64_t value = 0;
  std::memcpy(&value, buffer_.data(), bytes_);
  const bool counts = options_.atomic != Atomic::kSwap;
  const uint64_t expected = bytes_ == 4 ? values_[at_] & UINT32_MAX : values_[at_];
  if (status != SUEDE_MEM_OK || (counts && value != expected)) ++record_.result.forward.wrong;
  ++at_;
}

void MemoryLoad::VerifySlot() {
  Slot& slot = slots_[at_];
  if (slot.is_used) {
    mem::Call call = CallOf(slot);
    call.opcode = mem::Opcode::kGet;
    call.room = buffer_.data();
    const uint32_t status = Execute(call);
    if (status == SUEDE_MEM_PENDING) return;
    if (status != SUEDE_MEM_OK || std::memcmp(buffer_.data(), slot.octets, bytes_) != 0) {
      ++record_.result.forward.wrong;
    }
  }
  ++at_;
}

}  // namespace suede::perf
