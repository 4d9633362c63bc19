// SPDX-License-Identifier: Apache-2.0
#include "simbricks/host_port.h"

#include <algorithm>
#include <bit>
#include <cinttypes>
#include <cstdio>
#include <cstring>

namespace suede::simbricks {
namespace {

constexpr uint32_t kRequestsOfPoll = 32;
constexpr uint64_t kPageBytes = 4096;

}  // namespace

axi::Address BurstOf(uint64_t address, uint32_t bytes) {
  const uint64_t last = std::min(address + (bytes - 1), address | (kPageBytes - 1));
  axi::Address burst = {};
  burst.address = address;
  burst.burst = SUEDE_AXI_INCR;
  // The largest beats that the octets could fill, and of which one ends within them.
  const auto count = static_cast<uint32_t>(last - address) + 1;
  uint32_t size = std::bit_width(std::min(count, kBusBytes)) - 1;
  while ((address | ((uint64_t{1} << size) - 1)) > last) --size;
  burst.size = static_cast<uint8_t>(size);
  const uint64_t beats = ((last - (address >> size << size)) + 1) >> size;
  burst.len = static_cast<uint8_t>(beats - 1);
  return burst;
}

bool HostPort::Poll(Time now) {
  bool moved = TakeAnswers();
  moved |= Complete(now);
  for (uint32_t i = 0; i < kRequestsOfPoll && Take(); ++i) moved = true;
  while (Issue()) moved = true;
  return moved;
}

// ---- Requests

bool HostPort::Overlaps(const Header& header) const {
  const axi::Range range{header.address, header.address + (header.bytes - 1)};
  return std::any_of(slots_.begin(), slots_.end(), [&](const Slot& slot) {
    return slot.is_used && !(slot.is_read && header.type == kRead) &&
           range.Overlaps({slot.address, slot.address + (slot.bytes - 1)});
  });
}

// Takes the next request, if it may begin. A request that waits stays in the queue, and is checked
// again.
bool HostPort::Take() {
  Header header;
  if (!link_.Next(&header)) return false;
  if (header.type < kRead || header.type > kWritePosted) {
    link_.Fail(Fault::kType);
    return false;
  }
  const uint32_t room = std::min({link_.reader().room(), link_.writer().room(), kMaxHostBytes});
  if (header.bytes == 0 || header.bytes > room ||
      header.address + (header.bytes - 1) < header.address) {
    link_.Fail(Fault::kLength);
    return false;
  }
  const auto slot =
      std::find_if(slots_.begin(), slots_.end(), [](const Slot& s) { return !s.is_used; });
  if (slot == slots_.end() || Overlaps(header)) return false;
  slot->is_used = true;
  slot->is_read = header.type == kRead;
  slot->is_posted = header.type == kWritePosted;
  slot->response = SUEDE_AXI_OKAY;
  slot->generation = link_.generation();
  slot->request = header.request;
  slot->space = header.space;
  slot->address = header.address;
  slot->bytes = header.bytes;
  slot->issued = slot->answered = slot->beat = 0;
  if (!slot->is_read) link_.reader().CopyData(slot->data.data(), slot->bytes);
  link_.reader().Release();
  counters_.Add(slot->is_read ? Counter::kHostReads : Counter::kHostWrites);
  order_.push_back(static_cast<uint32_t>(slot - slots_.begin()));
  return true;
}

// ---- Bursts

axi::Address HostPort::NextBurst(const Slot& slot, uint32_t done) const {
  axi::Address burst = BurstOf(slot.address + done, slot.bytes - done);
  burst.id = static_cast<uint32_t>(&slot - slots_.data());
  burst.user[0] = slot.space;
  return burst;
}

// Sends the next burst of the oldest request, as far as there is credit.
bool HostPort::Issue() {
  if (order_.empty()) return false;
  Slot& slot = slots_[order_.front()];
  const axi::Address burst = NextBurst(slot, slot.issued);
  const bool is_sent =
      slot.is_read ? suede_axi_send_ar(axi_, &burst) == 0 : IssueWrite(slot, burst);
  if (!is_sent) return false;
  slot.issued += axi::ActiveBytes(burst);
  if (slot.issued == slot.bytes) order_.erase(order_.begin());
  return true;
}

bool HostPort::IssueWrite(Slot& slot, const axi::Address& burst) {
  if (!has_address_ && suede_axi_send_aw(axi_, &burst) != 0) return false;
  has_address_ = true;
  for (; beats_ < axi::BeatsOf(burst); ++beats_) {
    suede_axi_write_beat beat = {};
    const uint32_t bytes = axi::BeatBytes(burst, beats_);
    const uint32_t lane = LaneOf(axi::BeatAddress(burst, beats_));
    std::memcpy(beat.data + lane, slot.data.data() + slot.issued + axi::BeatOffset(burst, beats_),
                bytes);
    beat.strobes[0] = ~uint64_t{0} >> (64 - bytes) << lane;
    beat.last = beats_ == burst.len ? 1 : 0;
    if (suede_axi_send_w(axi_, &beat) != 0) return false;
  }
  has_address_ = false;
  beats_ = 0;
  return true;
}

// ---- Answers

bool HostPort::TakeAnswers() {
  bool moved = false;
  suede_axi_write_response response;
  while (suede_axi_take_b(axi_, &response) == 1) {
    moved = true;
    Slot& slot = slots_[response.id];
    slot.response = axi::WorseOf(slot.response, response.response);
    slot.answered += axi::ActiveBytes(NextBurst(slot, slot.answered));
  }
  suede_axi_read_beat beat;
  while (suede_axi_take_r(axi_, &beat) == 1) {
    moved = true;
    OnBeat(slots_[beat.id], beat);
  }
  return moved;
}

void HostPort::OnBeat(Slot& slot, const suede_axi_read_beat& beat) {
  const axi::Address burst = NextBurst(slot, slot.answered);
  uint8_t* const to = slot.data.data() + slot.answered + axi::BeatOffset(burst, slot.beat);
  const uint32_t bytes = axi::BeatBytes(burst, slot.beat);
  if (beat.response < SUEDE_AXI_SLVERR) {
    std::memcpy(to, beat.data + LaneOf(axi::BeatAddress(burst, slot.beat)), bytes);
  } else {
    std::memset(to, 0, bytes);
  }
  slot.response = axi::WorseOf(slot.response, beat.response);
  if (slot.beat++ != burst.len) return;
  slot.answered += axi::ActiveBytes(burst);
  slot.beat = 0;
}

// Sends completions of the requests that have ended, as far as the queue has places.
bool HostPort::Complete(Time now) {
  const bool takes_completions = link_.is_connected() && !link_.is_closing();
  bool moved = false;
  for (Slot& slot : slots_) {
    if (!slot.is_used || slot.answered != slot.bytes) continue;
    if (!slot.is_posted && takes_completions && slot.generation == link_.generation()) {
      if (!link_.writer().HasPlace()) break;
      link_.writer().Send({.request = slot.request, .type = slot.is_read ? kReadDone : kWriteDone},
                          slot.data.data(), slot.is_read ? slot.bytes : 0);
    }
    if (slot.response >= SUEDE_AXI_SLVERR) Report(slot, now);
    slot.is_used = false;
    moved = true;
  }
  return moved;
}

void HostPort::Report(const Slot& slot, Time now) {
  const bool is_decerr = slot.response == SUEDE_AXI_DECERR;
  counters_.Add(is_decerr ? Counter::kHostDecerr : Counter::kHostSlverr);
  if (!lines_.Take(now)) return;
  std::fprintf(stderr,
               "suede-simbricks: %s: a %s of %" PRIu32 " bytes at 0x%" PRIx64 " ended with %s%s\n",
               link_.name(), slot.is_read ? "read" : "write", slot.bytes, slot.address,
               is_decerr ? "DECERR" : "SLVERR", slot.is_read ? "; it returns 0" : "");
}

}  // namespace suede::simbricks
