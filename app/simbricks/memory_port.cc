// SPDX-License-Identifier: Apache-2.0
#include "simbricks/memory_port.h"

#include <algorithm>
#include <cstring>

namespace suede::simbricks {
namespace {

constexpr uint32_t kStepsOfPoll = 64;

}  // namespace

void Transaction::Refuse(uint8_t why) {
  response = why;
  open = 0;
  beat = axi::BeatsOf(burst);
}

Run Transaction::NextRun(uint32_t max_bytes) {
  Run run;
  for (; beat < axi::BeatsOf(burst); ++beat, in_beat = 0) {
    const uint64_t address = axi::BeatAddress(burst, beat);
    const uint32_t offset = axi::BeatOffset(burst, beat);
    for (const uint32_t bytes = axi::BeatBytes(burst, beat); in_beat < bytes; ++in_beat) {
      const bool is_active = !is_write || strobes[offset + in_beat];
      if (run.bytes != 0 &&
          (!is_active || address + in_beat != run.address + run.bytes || run.bytes == max_bytes)) {
        return run;
      }
      if (!is_active) continue;
      if (run.bytes == 0) run = {.address = address + in_beat, .offset = offset + in_beat};
      ++run.bytes;
    }
  }
  return run;
}

bool MemoryPort::Poll() {
  const bool is_connected = link_ != nullptr && link_->is_connected();
  if (const uint32_t generation = is_connected ? link_->generation() : 0;
      generation != generation_) {
    if (generation_ != 0) OnLost();
    generation_ = generation;
  }
  bool moved = false;
  for (uint32_t i = 0; i < kStepsOfPoll && TakeCompletion(); ++i) moved = true;
  for (uint32_t i = 0; i < kStepsOfPoll && TakeAddress(); ++i) moved = true;
  while (TakeData()) moved = true;
  while (Issue()) moved = true;
  while (Answer()) moved = true;
  return moved;
}

// ---- Transactions

bool MemoryPort::TakeAddress() {
  if (taken_ - answered_ == kTransactions) return false;
  Transaction& next = at(taken_);
  next.is_write = suede_axi_take_aw(axi_, &next.burst) == 1;
  if (!next.is_write && suede_axi_take_ar(axi_, &next.burst) != 1) return false;
  ++taken_;
  next.has_data = false;
  next.response = SUEDE_AXI_OKAY;
  next.open = next.beat = next.in_beat = 0;
  next.strobes.reset();
  if (!next.is_write) Admit(next);
  return true;
}

bool MemoryPort::TakeData() {
  while (filled_ != taken_ && at(filled_).is_whole()) ++filled_;
  suede_axi_write_beat beat;
  if (filled_ == taken_ || suede_axi_take_w(axi_, &beat) != 1) return false;
  Transaction& write = at(filled_);
  const uint32_t lane = LaneOf(axi::BeatAddress(write.burst, write.beat));
  const uint32_t offset = axi::BeatOffset(write.burst, write.beat);
  const uint32_t bytes = axi::BeatBytes(write.burst, write.beat);
  std::memcpy(write.data.data() + offset, beat.data + lane, bytes);
  for (uint32_t i = 0; i < bytes; ++i) {
    write.strobes[offset + i] = (beat.strobes[0] >> (lane + i) & 1) != 0;
  }
  ++write.beat;
  if (beat.last == 0) return true;
  write.has_data = true;
  write.beat = 0;
  Admit(write);
  return true;
}

// Ends a whole transaction that no request may be made of.
void MemoryPort::Admit(Transaction& transaction) {
  const axi::Range range = axi::RangeOf(transaction.burst);
  if (link_ == nullptr || range.first < range_.first || range.last > range_.last) {
    counters_.Add(Counter::kMemoryOutside);
    transaction.Refuse(SUEDE_AXI_DECERR);
  } else if (generation_ == 0) {
    counters_.Add(Counter::kMemoryUnserved);
    transaction.Refuse(SUEDE_AXI_SLVERR);
  }
}

// The memory simulator has gone: no completion will come.
void MemoryPort::OnLost() {
  for (uint32_t count = answered_; count != taken_; ++count) {
    Transaction& transaction = at(count);
    if (!transaction.is_whole() || (transaction.is_issued() && transaction.open == 0)) continue;
    counters_.Add(Counter::kMemoryUnserved);
    transaction.Refuse(SUEDE_AXI_SLVERR);
  }
  requests_.fill({});
}

// ---- Requests

// Sends the next request of the oldest transaction that has any.
bool MemoryPort::Issue() {
  if (issued_ == taken_ || !at(issued_).is_whole()) return false;
  Transaction& transaction = at(issued_);
  if (transaction.is_issued()) {
    ++issued_;
    return true;
  }
  Request& request = requests_[number_ % kRequests];
  if (!link_->is_connected() || !link_->writer().HasPlace() || request.is_open) return false;
  const Run run = transaction.NextRun(std::min(link_->writer().room(), link_->reader().room()));
  if (run.bytes == 0) return true;
  const bool is_read = !transaction.is_write;
  request = {.is_open = true,
             .is_read = is_read,
             .number = number_++,
             .transaction = issued_,
             .offset = run.offset,
             .bytes = run.bytes};
  ++transaction.open;
  counters_.Add(is_read ? Counter::kMemoryReads : Counter::kMemoryWrites);
  link_->writer().Send({.request = request.number,
                        .space = transaction.burst.user[0],
                        .address = run.address,
                        .bytes = static_cast<uint16_t>(run.bytes),
                        .type = is_read ? kRead : kWrite},
                       transaction.data.data() + run.offset, is_read ? 0 : run.bytes);
  return true;
}

bool MemoryPort::TakeCompletion() {
  Header header;
  if (link_ == nullptr || !link_->Next(&header)) return false;
  const bool is_read = header.type == kReadDone;
  if (!is_read && header.type != kWriteDone) {
    link_->Fail(Fault::kType);
    return false;
  }
  Request& request = requests_[header.request % kRequests];
  if (!request.is_open || request.number != header.request || request.is_read != is_read) {
    link_->Fail(Fault::kRequest);
    return false;
  }
  Transaction& transaction = at(request.transaction);
  if (is_read) link_->reader().CopyData(transaction.data.data() + request.offset, request.bytes);
  link_->reader().Release();
  request.is_open = false;
  --transaction.open;
  return true;
}

// ---- Answers

// Answers the oldest transaction.
bool MemoryPort::Answer() {
  if (answered_ == issued_ || at(answered_).open != 0) return false;
  const Transaction& transaction = at(answered_++);
  if (transaction.is_write) {
    suede_axi_write_response response = {};
    response.id = transaction.burst.id;
    response.response = transaction.response;
    suede_axi_send_b(axi_, &response);
  } else {
    AnswerRead(transaction);
  }
  return true;
}

void MemoryPort::AnswerRead(const Transaction& transaction) {
  const axi::Address& burst = transaction.burst;
  for (uint32_t number = 0; number < axi::BeatsOf(burst); ++number) {
    suede_axi_read_beat beat = {};
    beat.id = burst.id;
    beat.response = transaction.response;
    beat.last = number == burst.len ? 1 : 0;
    if (transaction.response == SUEDE_AXI_OKAY) {
      std::memcpy(beat.data + LaneOf(axi::BeatAddress(burst, number)),
                  transaction.data.data() + axi::BeatOffset(burst, number),
                  axi::BeatBytes(burst, number));
    }
    suede_axi_send_r(axi_, &beat);
  }
}

}  // namespace suede::simbricks
