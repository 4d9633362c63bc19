// SPDX-License-Identifier: Apache-2.0
#include "perf/memory_load.h"

#include <sched.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "absl/strings/str_cat.h"

namespace suede::perf {
namespace {

constexpr uint64_t kFirstOffset = 64;  // behind the word of the atomics
constexpr uint32_t kBoundary = 63;     // of increments: none

// Octets that differ from slot to slot, and along the memory.
void Fill(uint8_t* octets, uint32_t bytes, uint64_t seed) {
  uint64_t state = seed * 0x9e3779b97f4a7c15 + 1;
  for (uint32_t i = 0; i < bytes; ++i) {
    if (i % 8 == 0) state = state * 6364136223846793005 + 1442695040888963407;
    octets[i] = static_cast<uint8_t>(state >> (8 * (i % 8)));
  }
}

}  // namespace

MemoryLoad::MemoryLoad(suede_mem* mem, const Options& options, uint32_t bytes,
                       const TscClock& clock, const std::atomic<bool>& stop,
                       WorkerProgress* progress)
    : mem_(mem),
      options_(options),
      bytes_(bytes),
      clock_(clock),
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

RunResult MemoryLoad::Run() {
  if (FindServers() && Prepare()) {
    progress_->stage = Stage::kLoad;
    Load();
    progress_->stage = Stage::kDrain;
    Drain();
    Verify();
  }
  result_.interrupted = stop_;
  // A run shorter than a window has no peak of its own.
  result_.peak_per_second = std::max(track_.Peak(), result_.achieved_per_second());
  return std::move(result_);
}

bool MemoryLoad::EndWith(Outcome outcome, std::string explanation) {
  result_.outcome = outcome;
  result_.explanation = std::move(explanation);
  return false;
}

suede_mem_call MemoryLoad::CallOf(uint16_t xpuid, uint64_t offset, suede_mem_result* result) const {
  suede_mem_call call{};
  call.size = sizeof call;
  call.xpuid = xpuid;
  call.window = kMemoryWindow;
  call.offset = offset;
  call.plane = SUEDE_MEM_AUTO;
  call.vc = SUEDE_MEM_AUTO;
  call.result = result;
  return call;
}

// ---- Before the load.

uint32_t MemoryLoad::Await(const suede_mem_result& result) {
  while (result.status == SUEDE_MEM_PENDING && !stop_) {
    if (suede_mem_poll(mem_) == -ECONNRESET)
      EndWith(Outcome::kEndpointLost, "the daemon went away");
    Rest(/*worked=*/false);
  }
  return result.status;
}

bool MemoryLoad::FindServer(uint16_t xpuid) {
  const Time until = clock_.Now() + Seconds(options_.connect_s);
  for (;;) {
    uint64_t room = 0;
    suede_mem_result result{};
    suede_mem_call call = CallOf(xpuid, needed_bytes_ - sizeof room, &result);
    call.deadline_ms = 500;
    const int error = suede_mem_get(mem_, &call, &room, sizeof room);
    if (error != 0) return EndWith(Outcome::kEndpointLost, suede_mem_error_text());
    const uint32_t status = Await(result);
    if (status == SUEDE_MEM_OK) return true;
    if (stop_ || result_.outcome != Outcome::kDone) return false;
    const char* const name = suede_mem_status_name(status);
    if (status == SUEDE_MEM_BOUNDS) {
      return EndWith(Outcome::kRefused,
                     absl::StrCat("the window of XPU ", xpuid, " has less than the ", needed_bytes_,
                                  " bytes that this load takes: --window there"));
    }
    if (clock_.Now() >= until) {
      return EndWith(Outcome::kPeerSilent,
                     absl::StrCat("XPU ", xpuid, " executes no memory operations (", name,
                                  "): is suede-perf --mode server --reaction memory there?"));
    }
    // One that is unreachable is told so at once.
    const Time again = clock_.Now() + std::chrono::milliseconds(20);
    while (clock_.Now() < again && !stop_) sched_yield();
  }
}

bool MemoryLoad::FindServers() {
  return std::all_of(options_.destinations.begin(), options_.destinations.end(),
                     [&](uint16_t xpuid) { return FindServer(xpuid); });
}

// What gets are to find, and where atomics begin.
bool MemoryLoad::Prepare() {
  for (const uint16_t xpuid : options_.destinations) {
    suede_mem_result result{};
    if (IsAtomic()) {
      const suede_mem_call call = CallOf(xpuid, 0, &result);
      if (suede_mem_swap(mem_, &call, 64, 0) != 0 || Await(result) != SUEDE_MEM_OK) {
        return EndWith(Outcome::kEndpointLost, "the word of the atomics was not set");
      }
    }
    if (options_.mode != Mode::kGet || !options_.check) continue;
    const suede_mem_call call = CallOf(xpuid, kFirstOffset, &result);
    if (suede_mem_put(mem_, &call, memory_.data(), memory_.size()) != 0 ||
        Await(result) != SUEDE_MEM_OK) {
      return EndWith(Outcome::kEndpointLost, "the octets of the gets were not written");
    }
  }
  return result_.outcome == Outcome::kDone && !stop_;
}

// ---- The load.

int MemoryLoad::StartAtomic(const suede_mem_call& call, uint64_t number) {
  const uint32_t bits = bytes_ * 8;
  switch (options_.atomic) {
    case Atomic::kFetchAdd:
      return suede_mem_fetch_add(mem_, &call, bits, 1);
    case Atomic::kCompareSwap:
      return suede_mem_compare_swap(mem_, &call, bits, 0, 0);
    case Atomic::kSwap:
      return suede_mem_swap(mem_, &call, bits, number + 1);
    case Atomic::kIncrement:
      return suede_mem_increment(mem_, &call, bits, 1, std::min(kBoundary, bits - 1));
    case Atomic::kReadIncrement:
      return suede_mem_read_increment(mem_, &call, bits, 1, std::min(kBoundary, bits - 1));
  }
  return -EINVAL;
}

int MemoryLoad::Start(Slot& slot) {
  const auto destinations = static_cast<uint32_t>(options_.destinations.size());
  slot.destination = static_cast<uint32_t>(started_ % destinations);
  slot.number = started_ / destinations;  // of those to it
  const suede_mem_call call =
      CallOf(options_.destinations[slot.destination], slot.offset, &slot.result);
  if (IsAtomic()) return StartAtomic(call, slot.number);
  if (options_.mode == Mode::kGet) {
    if (options_.check) std::memset(slot.octets, 0, bytes_);
    return suede_mem_get(mem_, &call, slot.octets, bytes_);
  }
  // Of each put the octets are others.
  if (options_.check) slot.octets[0] = static_cast<uint8_t>(started_);
  return suede_mem_put(mem_, &call, slot.octets, bytes_);
}

bool MemoryLoad::IsOver(Time now) const {
  if (stop_ || result_.outcome != Outcome::kDone) return true;
  if (options_.count > 0)
    return result_.measured + open_ >= options_.count && now >= measured_from_;
  return now >= measured_from_ + Seconds(options_.duration_s);
}

void MemoryLoad::StartFree(Time now) {
  for (size_t i = 0; i < slots_.size() && !IsOver(now); ++i) {
    Slot& slot = slots_[next_slot_];
    if (slot.is_open) return;
    const int error = Start(slot);
    if (error == -EAGAIN) return;
    if (error != 0) {
      EndWith(Outcome::kEndpointLost, suede_mem_error_text());
      return;
    }
    slot.start = now;
    slot.is_open = slot.is_used = true;
    ++started_;
    ++open_;
    next_slot_ = (next_slot_ + 1) % slots_.size();
    if (slots_.size() > 1) now = clock_.Now();
  }
}

void MemoryLoad::CheckValue(Slot& slot) {
  uint64_t& next = values_[slot.destination];
  const uint64_t value = slot.result.value;
  switch (options_.atomic) {
    case Atomic::kFetchAdd:
    case Atomic::kReadIncrement:
      // Each value once; in the order of the calls, unless the path is unordered.
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

bool MemoryLoad::TakeEnds() {
  const int ended = suede_mem_poll(mem_);
  if (ended == -ECONNRESET) EndWith(Outcome::kEndpointLost, "the daemon went away");
  if (ended == 0) return false;
  const Time now = clock_.Now();
  // The oldest first. To one destination they end in order; otherwise later ones are looked at,
  // too.
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
  return true;
}

void MemoryLoad::Rest(bool worked) {
  constexpr uint32_t kTurnsToYield = 64;
  idle_turns_ = worked ? 0 : idle_turns_ + 1;
  if (!options_.spin && idle_turns_ >= kTurnsToYield) sched_yield();
}

void MemoryLoad::Load() {
  measured_from_ = clock_.Now() + Seconds(options_.warmup_s);
  last_end_ = measured_from_;
  for (Time now = clock_.Now(); !IsOver(now); now = clock_.Now()) {
    StartFree(now);
    const bool worked = TakeEnds();
    progress_->sent.store(started_, std::memory_order_relaxed);
    Rest(worked);
  }
}

void MemoryLoad::Drain() {
  const Time until = clock_.Now() + Seconds(options_.drain_s);
  while (open_ != 0 && result_.outcome != Outcome::kEndpointLost && clock_.Now() < until) {
    Rest(TakeEnds());
  }
  result_.sent = started_;
  result_.measured_time = last_end_ - measured_from_;
}

// What the puts have left at the servers, and where the atomics have got.
void MemoryLoad::Verify() {
  if (!options_.check || open_ != 0 || result_.outcome != Outcome::kDone) return;
  std::vector<uint8_t> room(bytes_);
  for (size_t i = 0; i < options_.destinations.size() && IsAtomic(); ++i) {
    suede_mem_result result{};
    uint64_t value = 0;
    const suede_mem_call call = CallOf(options_.destinations[i], 0, &result);
    const bool counts = options_.atomic != Atomic::kSwap;
    if (suede_mem_get(mem_, &call, &value, bytes_) != 0 || Await(result) != SUEDE_MEM_OK ||
        (counts && value != (bytes_ == 4 ? values_[i] & UINT32_MAX : values_[i]))) {
      ++result_.forward.wrong;
    }
  }
  for (Slot& slot : slots_) {
    if (options_.mode != Mode::kPut || !slot.is_used) continue;
    suede_mem_result result{};
    const suede_mem_call call =
        CallOf(options_.destinations[slot.destination], slot.offset, &result);
    if (suede_mem_get(mem_, &call, room.data(), bytes_) != 0 || Await(result) != SUEDE_MEM_OK ||
        std::memcmp(room.data(), slot.octets, bytes_) != 0) {
      ++result_.forward.wrong;
    }
  }
}

}  // namespace suede::perf
