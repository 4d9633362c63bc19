// SPDX-License-Identifier: Apache-2.0
#include "perf/axi_load.h"

#include <algorithm>
#include <bit>
#include <cerrno>
#include <chrono>
#include <cstring>

#include "absl/strings/str_cat.h"

namespace suede::perf {
namespace {

constexpr uint64_t kSlotBytes = 4096;  // so that no burst crosses a boundary

const char* NameOfResponse(uint8_t response) {
  constexpr const char* kNames[] = {"OKAY", "EXOKAY", "SLVERR", "DECERR"};
  return kNames[response & 3];
}

}  // namespace

AxiLoad::AxiLoad(LoadRecord& record, suede_axi* axi, const TscClock& clock, const Options& options,
                 uint32_t bytes)
    : OperationLoad(record, options, bytes),
      axi_(axi),
      clock_(clock),
      bus_bytes_(options.bus_bits / 8),
      is_read_(options.access == AxiAccess::kRead),
      memory_(slots() * kSlotBytes),
      slots_(slots()) {
  for (size_t i = 0; i < memory_.size(); ++i) {
    memory_[i] = static_cast<uint8_t>((i * 2654435761u) >> 16);
  }
  for (size_t i = 0; i < slots_.size(); ++i) {
    slots_[i].octets = memory_.data() + i * kSlotBytes;
    slots_[i].offset = i * kSlotBytes;
  }
}

suede_axi_address AxiLoad::BurstOf(size_t at) const {
  const Slot& slot = slots_[at];
  suede_axi_address burst{};
  burst.address = slot.destination * kAxiSpaceBytes + slot.offset;
  burst.id = static_cast<uint32_t>(at);
  burst.size = static_cast<uint8_t>(std::countr_zero(bus_bytes_));
  burst.len = static_cast<uint8_t>((bytes_ - 1) / bus_bytes_);
  burst.burst = SUEDE_AXI_INCR;
  return burst;
}

int AxiLoad::Send(size_t at, bool is_read) {
  Slot& slot = slots_[at];
  slot.beats = 0;
  slot.response = 0;
  slot.is_wrong = false;
  int error = 0;
  if (is_read) {
    const suede_axi_address burst = BurstOf(at);
    error = suede_axi_send_ar(axi_, &burst);
  } else {
    error = SendWrite(at);
  }
  if (error == 0) slot.has_ended = false;
  return error;
}

int AxiLoad::SendWrite(size_t at) {
  const Slot& slot = slots_[at];
  const suede_axi_address burst = BurstOf(at);
  const uint32_t beats = uint32_t{burst.len} + 1;
  if (suede_axi_credit(axi_, SUEDE_AXI_W) < beats || suede_axi_send_aw(axi_, &burst) != 0) {
    return -EAGAIN;
  }
  suede_axi_write_beat beat;
  beat.user = 0;
  for (uint32_t i = 0; i < beats; ++i) {
    const uint32_t from = i * bus_bytes_;
    const uint32_t count = std::min(bytes_ - from, bus_bytes_);
    std::memcpy(beat.data, slot.octets + from, bus_bytes_);
    beat.strobes[0] = count >= 64 ? UINT64_MAX : (uint64_t{1} << count) - 1;
    beat.strobes[1] = count <= 64 ? 0 : UINT64_MAX >> (128 - count);
    beat.last = i + 1 == beats ? 1 : 0;
    suede_axi_send_w(axi_, &beat);
  }
  return 0;
}

int AxiLoad::Start(size_t at) {
  slots_[at].destination = static_cast<uint32_t>(started() % options_.destinations.size());
  slots_[at].is_used = true;
  return Send(at, is_read_);
}

void AxiLoad::FailStart(int /*error*/) {
  record_.Fail(Outcome::kEndpointLost, suede_axi_error_text());
}

bool AxiLoad::Poll(Time /*now*/) {
  if (suede_axi_poll(axi_) == -ECONNRESET) {
    record_.Fail(Outcome::kEndpointLost, "the endpoint went away");
  }
  if (!TakeAnswers()) return false;
  if (under_way() != 0 && !record_.result.is_unfinished) CollectEnded();
  return true;
}

void AxiLoad::Flush() {
  if (under_way() != 0 || is_executing_) suede_axi_poll(axi_);
}

bool AxiLoad::TakeAnswers() {
  bool has_taken = false;
  suede_axi_write_response response;
  while (suede_axi_take_b(axi_, &response) == 1) {
    has_taken = true;
    if (response.id >= slots_.size()) continue;
    slots_[response.id].response = response.response;
    slots_[response.id].has_ended = true;
  }
  suede_axi_read_beat beat;
  while (suede_axi_take_r(axi_, &beat) == 1) {
    has_taken = true;
    if (beat.id < slots_.size()) OnBeat(beat);
  }
  return has_taken;
}

void AxiLoad::OnBeat(const suede_axi_read_beat& beat) {
  Slot& slot = slots_[beat.id];
  const uint32_t from = slot.beats++ * bus_bytes_;
  const uint32_t count = std::min(bytes_ - from, bus_bytes_);
  slot.response = std::max(slot.response, beat.response);
  if (options_.check && std::memcmp(beat.data, slot.octets + from, count) != 0) {
    slot.is_wrong = true;
  }
  if (beat.last != 0) slot.has_ended = true;
}

bool AxiLoad::OnEnd(size_t at) {
  const Slot& slot = slots_[at];
  if (slot.response != SUEDE_AXI_OKAY) {
    std::string& explanation = record_.result.explanation;
    if (explanation.empty()) {
      explanation = absl::StrCat("a transaction to XPU ", options_.destinations[slot.destination],
                                 " ended with ", NameOfResponse(slot.response));
    }
    return false;
  }
  if (is_read_ && slot.is_wrong) ++record_.result.forward.wrong;
  return true;
}

// ---- Before and after the load.

bool AxiLoad::Execute(size_t at, bool is_read) {
  if (!is_executing_) {
    is_executing_ = Send(at, is_read) == 0;
    return false;
  }
  if (!slots_[at].has_ended) return false;
  is_executing_ = false;
  return true;
}

// Reads from the next server. Returns whether all were found.
bool AxiLoad::FindServer(Time now) {
  if (found_ == options_.destinations.size()) return true;
  if (deadline_ == kNever) deadline_ = now + Seconds(options_.connect_s);
  if (now < retry_at_) return false;
  const size_t last = slots_.size() - 1;  // its address is the highest
  slots_[last].destination = static_cast<uint32_t>(found_);
  if (!Execute(last, /*is_read=*/true)) return false;
  if (slots_[last].response == SUEDE_AXI_OKAY) {
    ++found_;
    deadline_ = kNever;
  } else if (now >= deadline_) {
    record_.Fail(Outcome::kPeerSilent,
                 absl::StrCat("XPU ", options_.destinations[found_], " answers a read with ",
                              NameOfResponse(slots_[last].response),
                              ": is suede-perf --mode server --reaction axi there, with a --window "
                              "of ",
                              memory_.size(), " bytes or more?"));
  } else {
    retry_at_ = now + std::chrono::milliseconds(20);
  }
  return false;
}

Advance AxiLoad::Connect(Time now) {
  if (!FindServer(now)) return Advance::kIdle;
  const uint64_t count =
      is_read_ && options_.check ? slots_.size() * options_.destinations.size() : 0;
  if (visited_ == count) {
    visited_ = 0;
    return Advance::kDone;
  }
  const size_t at = visited_ % slots_.size();
  slots_[at].destination = static_cast<uint32_t>(visited_ / slots_.size());
  if (Execute(at, /*is_read=*/false)) {
    ++visited_;
    if (slots_[at].response != SUEDE_AXI_OKAY) {
      record_.Fail(Outcome::kEndpointLost, "the octets of the reads were not written");
    }
  }
  return Advance::kIdle;
}

Advance AxiLoad::Finish(Time /*now*/) {
  RunResult& result = record_.result;
  if (result.is_unfinished && result.explanation.empty()) {
    result.explanation = absl::StrCat(under_way(), " transactions did not end within --drain");
  }
  result.interrupted |= record_.stop;
  if (is_read_ || !options_.check || result.is_unfinished || visited_ == slots_.size() ||
      record_.stop) {
    return Advance::kDone;
  }
  if (slots_[visited_].is_used && !Execute(visited_, /*is_read=*/true)) return Advance::kIdle;
  const Slot& slot = slots_[visited_++];
  if (slot.is_used && (slot.is_wrong || slot.response != SUEDE_AXI_OKAY)) ++result.forward.wrong;
  return Advance::kIdle;
}

}  // namespace suede::perf
