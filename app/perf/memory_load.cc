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
constexpr size_t kStartsPerLook = 16;  // operations started per read of the clock

// Fills memory with pseudo-random bytes that depend on `seed`.
void Fill(uint8_t* octets, uint32_t bytes, uint64_t seed) {
  uint64_t state = seed * 0x9e3779b97f4a7c15 + 1;
  for (uint32_t i = 0; i < bytes; ++i) {
    if (i % 8 == 0) state = state * 6364136223846793005 + 1442695040888963407;
    octets[i] = static_cast<uint8_t>(state >> (8 * (i % 8)));
  }
}

}  // namespace

MemoryLoad::MemoryLoad(MemoryCalls& calls, const Options& options, uint32_t bytes,
                       const std::atomic<bool>& stop, WorkerProgress* progress)
    : calls_(calls),
      options_(options),
      bytes_(bytes),
      stop_(stop),
      progress_(progress),
      slots_(options.inflight),
      values_(options.destinations.size()) {
  const uint64_t stride = (uint64_t{bytes} + 63) / 64 * 64;
  memory_.resize(stride * slots_.size());
  for (size_t i = 0; i < slots_.size(); ++i) {
    slots_[i].octets = memory_.data() + i * stride;
    slots_[i].offset = IsAtomic() ? 0 : kFirstOffset + i * stride;
    Fill(slots_[i].octets, bytes, i);
  }
  needed_bytes_ = IsAtomic() ? 8 : kFirstOffset + stride * slots_.size();
  result_.latency_is_rtt = true;
}

bool MemoryLoad::Turn(Time now) {
  const int ended = calls_.Poll(now);
  if (ended < 0) EndWith(Outcome::kEndpointLost, "the endpoint went away");
  switch (step_) {
    case Step::kFind:
      FindServers(now);
      break;
    case Step::kPrepare:
      Prepare();
      break;
    case Step::kLoad:
      Load(now, ended > 0);
      break;
    case Step::kDrain:
      Drain(now, ended > 0);
      break;
    case Step::kVerify:
      Verify();
      break;
    case Step::kOver:
      break;
  }
  calls_.Flush();
  return ended > 0;
}

RunResult MemoryLoad::TakeResult() {
  result_.interrupted = stop_;
  // The average replaces the peak of a run that is shorter than a window.
  result_.peak_per_second = std::max(track_.Peak(), result_.achieved_per_second());
  return std::move(result_);
}

void MemoryLoad::Begin(Step step) {
  step_ = step;
  at_ = 0;
  until_ = {};
  if (step == Step::kLoad) {
    progress_->stage = Stage::kLoad;
    measured_from_ = calls_.Now() + Seconds(options_.warmup_s);
    last_end_ = measured_from_;
  }
  if (step == Step::kDrain) {
    progress_->stage = Stage::kDrain;
    until_ = calls_.Now() + Seconds(options_.drain_s);
  }
}

void MemoryLoad::EndWith(Outcome outcome, std::string explanation) {
  if (HasFailed()) return;
  result_.outcome = outcome;
  result_.explanation = std::move(explanation);
}

uint32_t MemoryLoad::Ask(MemoryOperation operation) {
  if (!is_executing_) {
    operation.result = &answer_;
    const int error = calls_.Start(operation);
    if (error == -EAGAIN) return SUEDE_MEM_PENDING;
    if (error != 0) {
      EndWith(Outcome::kEndpointLost, calls_.Error());
      return SUEDE_MEM_PENDING;
    }
    is_executing_ = true;
  }
  if (answer_.status != SUEDE_MEM_PENDING) is_executing_ = false;
  return answer_.status;
}

// ---- Before the load.

// Checks each server and its window's size by reading the last 8 bytes that the load needs.
void MemoryLoad::FindServers(Time now) {
  if (stop_ || HasFailed()) return Begin(Step::kOver);
  if (at_ == options_.destinations.size()) return Begin(Step::kPrepare);
  if (until_ == Time{}) until_ = now + Seconds(options_.connect_s);
  if (now < again_) return;
  room_.resize(sizeof(uint64_t));
  const uint32_t status = Ask({.xpuid = options_.destinations[at_],
                               .offset = needed_bytes_ - room_.size(),
                               .octets = room_.data(),
                               .bytes = room_.size(),
                               .deadline_ms = 500});
  if (status == SUEDE_MEM_PENDING) return;
  if (status != SUEDE_MEM_OK) return OnRefusal(status, now);
  ++at_;
  until_ = {};
}

void MemoryLoad::OnRefusal(uint32_t status, Time now) {
  const uint16_t xpuid = options_.destinations[at_];
  if (status == SUEDE_MEM_BOUNDS) {
    return EndWith(Outcome::kRefused,
                   absl::StrCat("the window of XPU ", xpuid, " has less than the ", needed_bytes_,
                                " bytes that this load takes: --window there"));
  }
  if (now >= until_) {
    return EndWith(Outcome::kPeerSilent,
                   absl::StrCat("XPU ", xpuid, " executes no memory operations (",
                                suede_mem_status_name(status),
                                "): is suede-perf --mode server --reaction memory there?"));
  }
  // Delays the next attempt, because an unreachable XPU fails immediately.
  again_ = now + std::chrono::milliseconds(20);
}

// Initializes the servers' memory: the data that gets verify, and the word of the atomics.
void MemoryLoad::Prepare() {
  if (stop_ || HasFailed()) return Begin(Step::kOver);
  const bool has_octets = options_.mode == Mode::kGet && options_.check;
  if (at_ == options_.destinations.size() || (!IsAtomic() && !has_octets)) {
    return Begin(Step::kLoad);
  }
  MemoryOperation operation{.opcode = mem::Opcode::kSwap, .xpuid = options_.destinations[at_]};
  if (has_octets) {
    operation.opcode = mem::Opcode::kPut;
    operation.offset = kFirstOffset;
    operation.octets = memory_.data();
    operation.bytes = memory_.size();
  }
  const uint32_t status = Ask(operation);
  if (status == SUEDE_MEM_PENDING) return;
  if (status == SUEDE_MEM_OK) {
    ++at_;
    return;
  }
  EndWith(Outcome::kEndpointLost,
          absl::StrCat(has_octets ? "the octets of the gets were" : "the word of the atomics was",
                       " not written: ", suede_mem_status_name(status)));
}

// ---- The load.

MemoryOperation MemoryLoad::AtomicOf(const Slot& slot) const {
  const uint32_t bits = bytes_ * 8;
  MemoryOperation operation{.bits = bits, .operand = 1};
  switch (options_.atomic) {
    case Atomic::kFetchAdd:
      operation.opcode = mem::Opcode::kFetchAdd;
      break;
    case Atomic::kCompareSwap:  // compares with 0 and stores 0
      operation.opcode = mem::Opcode::kCompareSwap;
      operation.operand = 0;
      break;
    case Atomic::kSwap:
      operation.opcode = mem::Opcode::kSwap;
      operation.operand = slot.number + 1;
      break;
    case Atomic::kIncrement:
      operation.opcode = mem::Opcode::kIncrement;
      operation.boundary = std::min(kBoundary, bits - 1);
      break;
    case Atomic::kReadIncrement:
      operation.opcode = mem::Opcode::kReadIncrement;
      operation.boundary = std::min(kBoundary, bits - 1);
      break;
  }
  return operation;
}

MemoryOperation MemoryLoad::OperationOf(Slot& slot) const {
  MemoryOperation operation;
  if (IsAtomic()) {
    operation = AtomicOf(slot);
  } else {
    operation.opcode = options_.mode == Mode::kGet ? mem::Opcode::kGet : mem::Opcode::kPut;
    operation.octets = slot.octets;
    operation.bytes = bytes_;
  }
  operation.xpuid = options_.destinations[slot.destination];
  operation.offset = slot.offset;
  operation.result = &slot.result;
  return operation;
}

int MemoryLoad::Start(Slot& slot) {
  const auto destinations = static_cast<uint32_t>(options_.destinations.size());
  slot.destination = static_cast<uint32_t>(started_ % destinations);
  slot.number = started_ / destinations;  // among the operations to this destination
  if (options_.check && options_.mode == Mode::kGet) std::memset(slot.octets, 0, bytes_);
  // Varies the data of each put.
  if (options_.check && options_.mode == Mode::kPut)
    slot.octets[0] = static_cast<uint8_t>(started_);
  return calls_.Start(OperationOf(slot));
}

bool MemoryLoad::IsOver(Time now) const {
  if (stop_ || HasFailed()) return true;
  if (options_.count > 0)
    return result_.measured + open_ >= options_.count && now >= measured_from_;
  return now >= measured_from_ + Seconds(options_.duration_s);
}

void MemoryLoad::StartFree() {
  Time now = calls_.Now();
  for (size_t i = 0; i < slots_.size() && !IsOver(now); ++i) {
    Slot& slot = slots_[next_slot_];
    if (slot.is_open) return;
    const int error = Start(slot);
    if (error == -EAGAIN) return;
    if (error != 0) {
      EndWith(Outcome::kEndpointLost, calls_.Error());
      return;
    }
    slot.start = now;
    slot.is_open = slot.is_used = true;
    ++started_;
    ++open_;
    next_slot_ = (next_slot_ + 1) % slots_.size();
    // Reads the clock only at times. Later operations start after the recorded time, so latencies
    // are never underestimated.
    if (i % kStartsPerLook == kStartsPerLook - 1) now = calls_.Now();
  }
}

void MemoryLoad::CheckValue(Slot& slot) {
  uint64_t& next = values_[slot.destination];
  const uint64_t value = slot.result.value;
  switch (options_.atomic) {
    case Atomic::kFetchAdd:
    case Atomic::kReadIncrement:
      // Results are consecutive, in the order of the calls, unless the path is unordered.
      if (!options_.unordered && value != (bytes_ == 4 ? next & UINT32_MAX : next)) {
        ++result_.reverse.wrong;
      }
      ++next;
      return;
    case Atomic::kSwap:
      if (!options_.unordered && value != (bytes_ == 4 ? slot.number & UINT32_MAX : slot.number)) {
        ++result_.reverse.wrong;
      }
      return;
    case Atomic::kCompareSwap:
      if (value != 0) ++result_.reverse.wrong;
      return;
    case Atomic::kIncrement:
      ++next;
      return;
  }
}

void MemoryLoad::OnEnd(Slot& slot, Time now) {
  slot.is_open = false;
  --open_;
  if (slot.result.status != SUEDE_MEM_OK) {
    if (result_.explanation.empty()) {
      result_.explanation =
          absl::StrCat("an operation at XPU ", options_.destinations[slot.destination],
                       " ended as ", suede_mem_status_name(slot.result.status));
    }
    return;
  }
  ++result_.forward.received;
  result_.forward.data_bytes += bytes_;
  if (IsAtomic()) CheckValue(slot);
  if (options_.check && options_.mode == Mode::kGet) {
    std::vector<uint8_t> expected(bytes_);
    Fill(expected.data(), bytes_, static_cast<uint64_t>(&slot - slots_.data()));
    if (std::memcmp(expected.data(), slot.octets, bytes_) != 0) ++result_.forward.wrong;
  }
  if (slot.start < measured_from_) return;
  result_.latency_ns.Record(static_cast<uint64_t>((now - slot.start).count()));
  ++result_.measured;
  track_.Add(now - measured_from_, 1);
  last_end_ = now;
}

void MemoryLoad::CollectCompletions() {
  const Time now = calls_.Now();
  // Visits the oldest operation first. With one destination operations complete in order, so the
  // first incomplete one ends the search.
  const bool one = options_.destinations.size() == 1 && !options_.unordered;
  for (size_t i = 0, at = next_slot_; i < slots_.size(); ++i) {
    Slot& slot = slots_[at];
    at = at + 1 == slots_.size() ? 0 : at + 1;
    if (!slot.is_open) continue;
    if (slot.result.status != SUEDE_MEM_PENDING)
      OnEnd(slot, now);
    else if (one)
      break;
  }
}

void MemoryLoad::Load(Time now, bool has_completions) {
  if (has_completions) CollectCompletions();
  if (IsOver(now)) return Begin(Step::kDrain);
  StartFree();
  progress_->sent.store(started_, std::memory_order_relaxed);
}

void MemoryLoad::Drain(Time now, bool has_completions) {
  if (has_completions) CollectCompletions();
  const bool is_lost = result_.outcome == Outcome::kEndpointLost;
  if (open_ != 0 && !is_lost && now < until_) return;
  if (open_ != 0 && result_.explanation.empty()) {
    result_.explanation = absl::StrCat(open_, " operations did not end within --drain");
  }
  result_.sent = started_;
  result_.measured_time = last_end_ - measured_from_;
  Begin(Step::kVerify);
}

// ---- After the load.

// Verifies the data of the puts, and the final values of the atomics.
void MemoryLoad::Verify() {
  const size_t count = IsAtomic()                    ? options_.destinations.size()
                       : options_.mode == Mode::kPut ? slots_.size()
                                                     : 0;
  if (!options_.check || open_ != 0 || at_ == count || stop_ || HasFailed()) {
    return Begin(Step::kOver);
  }
  room_.resize(std::max<size_t>(bytes_, sizeof(uint64_t)));
  if (IsAtomic())
    VerifyWord();
  else
    VerifySlot();
}

void MemoryLoad::VerifyWord() {
  const uint32_t status =
      Ask({.xpuid = options_.destinations[at_], .octets = room_.data(), .bytes = sizeof(uint64_t)});
  if (status == SUEDE_MEM_PENDING) return;
  uint64_t value = 0;
  std::memcpy(&value, room_.data(), bytes_);
  const bool counts = options_.atomic != Atomic::kSwap;
  const uint64_t expected = bytes_ == 4 ? values_[at_] & UINT32_MAX : values_[at_];
  if (status != SUEDE_MEM_OK || (counts && value != expected)) ++result_.forward.wrong;
  ++at_;
}

void MemoryLoad::VerifySlot() {
  Slot& slot = slots_[at_];
  if (slot.is_used) {
    MemoryOperation operation = OperationOf(slot);
    operation.opcode = mem::Opcode::kGet;
    operation.octets = room_.data();
    const uint32_t status = Ask(operation);
    if (status == SUEDE_MEM_PENDING) return;
    if (status != SUEDE_MEM_OK || std::memcmp(room_.data(), slot.octets, bytes_) != 0) {
      ++result_.forward.wrong;
    }
  }
  ++at_;
}

}  // namespace suede::perf
