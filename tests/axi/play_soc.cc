// SPDX-License-Identifier: Apache-2.0
#include "play_soc.h"

#include <algorithm>

namespace suede::axi {

Soc::Soc(const SocParams& params, Records* records, uint64_t seed)
    : params_(params), records_(*records), dice_(seed) {}

void Soc::Reset() {
  writes_.clear();
  reads_.clear();
  beats_.clear();
}

bool Soc::Step(Manager& port) {
  bool has_moved = false;
  Address address;
  if (dice_.OneIn(2) && port.TakeAw(&address)) {
    has_moved = true;
    OnArrival(address, Direction::kWrite);
    writes_.push_back({.address = address});
  }
  WriteBeat beat;
  for (uint32_t i = dice_.Below(8); i-- != 0 && port.TakeW(&beat);) {
    has_moved = true;
    beats_.push_back(beat);
  }
  if (dice_.OneIn(2) && port.TakeAr(&address)) {
    has_moved = true;
    OnArrival(address, Direction::kRead);
    reads_.push_back({.address = address});
  }
  // Beats belong to the writes in the order of their AW.
  for (Burst& write : writes_) {
    while (!beats_.empty() && write.beats.size() < BeatsOf(write.address)) {
      CheckBeat(write, beats_.front());
      write.beats.push_back(beats_.front());
      beats_.pop_front();
    }
    if (write.beats.size() < BeatsOf(write.address)) break;
  }
  if (!params_.is_patient && !dice_.OneIn(50)) return has_moved;
  if (!writes_.empty()) {
    const size_t index = dice_.Below(static_cast<uint32_t>(writes_.size()));
    Burst& write = writes_[index];
    const bool is_whole = write.beats.size() == BeatsOf(write.address);
    if (is_whole && !write.is_executed && MayExecute(writes_, index)) Execute(write);
  }
  if (!reads_.empty()) {
    const size_t index = dice_.Below(static_cast<uint32_t>(reads_.size()));
    if (!reads_[index].is_executed && MayExecute(reads_, index)) ExecuteRead(reads_[index]);
  }
  has_moved |= SendB(port);
  for (uint32_t i = dice_.Below(8); i-- != 0;) has_moved |= SendR(port);
  return has_moved;
}

// Checks a burst that the port issued against the rules of AXI4 and against its transaction.
void Soc::OnArrival(const Address& address, Direction direction) {
  if (IsStrange(address)) return;
  const uint64_t tag = address.user[0];
  if (tag >= records_.size()) return records_.Wrong("an unknown transaction arrived", tag);
  Record& record = records_[tag];
  if (FindViolation(address, params_.bus_bytes) != nullptr) {
    records_.Wrong("the manager port broke a rule", tag);
  }
  if (!record.is_issued || record.target != params_.xpuid || record.direction != direction) {
    return records_.Wrong("arrived, but was not issued", tag);
  }
  const Address& wanted = record.address;
  if (address.cache != wanted.cache || address.prot != wanted.prot || address.qos != wanted.qos ||
      address.region != wanted.region || address.lock != 0) {
    records_.Wrong("attributes changed", tag);
  }
  // AXI4 keeps the order of one ID and direction.
  const bool is_same = record.arrived++ != 0;
  if (!is_same) record.arrival = records_.NextEvent();
  uint64_t& last = last_tag_[{record.source, wanted.id, direction}];
  // A transaction that was given up may still arrive, at any time.
  const bool is_given_up = record.is_abandoned || record.is_ended;
  if (!is_given_up && (last > tag || (is_same && last != tag))) {
    records_.Wrong("transactions of one ID reordered", tag);
  }
  last = std::max(last, tag);
  // AxIDs of the port stand for one {source, ID} at a time, and for each one.
  const std::deque<Burst>& others = direction == Direction::kRead ? reads_ : writes_;
  for (const Burst& other : others) {
    if (IsStrange(other.address)) {
      if (other.address.id == address.id) records_.Wrong("wrong AxID", tag);
      continue;
    }
    const Record& of_other = records_[other.address.user[0]];
    const bool is_one =
        of_other.source == record.source && of_other.address.id == record.address.id;
    if (is_one != (other.address.id == address.id)) records_.Wrong("wrong AxID", tag);
  }
}

void Soc::CheckBeat(const Burst& write, const WriteBeat& beat) {
  if (IsStrange(write.address)) return;
  const uint64_t tag = write.address.user[0];
  const auto number = static_cast<uint32_t>(write.beats.size());
  if ((beat.last != 0) != (number == write.address.len)) {
    records_.Wrong("WLAST in a wrong place", tag);
  }
  const uint64_t lane = BeatAddress(write.address, number) & (params_.bus_bytes - 1);
  const uint32_t bytes = BeatBytes(write.address, number);
  for (uint32_t i = 0; i < kMaxBusBytes; ++i) {
    const bool is_strobed = (beat.strobes[i / 64] >> i % 64 & 1) != 0;
    if (is_strobed && (i < lane || i >= lane + bytes)) records_.Wrong("strobe of a lane", tag);
  }
}

// Whether no earlier burst of the same ID is waiting for execution.
bool Soc::MayExecute(const std::deque<Burst>& bursts, size_t index) const {
  return std::none_of(bursts.begin(), bursts.begin() + static_cast<int64_t>(index),
                      [&](const Burst& each) {
                        return each.address.id == bursts[index].address.id && !each.is_executed;
                      });
}

void Soc::Execute(Burst& write) {
  if (IsStrange(write.address)) {
    write.is_executed = true;
    return;
  }
  const uint64_t tag = write.address.user[0];
  Record& record = records_[tag];
  const uint64_t event = records_.NextEvent();
  if (record.executed == 0) record.first_execution = event;
  if (record.address.lock != 0) CheckExclusive(record, tag);
  std::vector<uint64_t> wanted;  // addresses of the transaction's octets
  for (uint32_t beat = 0; beat < BeatsOf(record.address); ++beat) {
    for (uint32_t i = 0; i < BeatBytes(record.address, beat); ++i) {
      wanted.push_back((BeatAddress(record.address, beat) + i) % kNodeBytes);
    }
  }
  for (uint32_t beat = 0; beat < write.beats.size(); ++beat) {
    const uint64_t at = BeatAddress(write.address, beat);
    const uint64_t lane = at & (params_.bus_bytes - 1);
    for (uint32_t i = 0; i < BeatBytes(write.address, beat); ++i) {
      const uint32_t octet = record.executed++;
      if (octet >= wanted.size()) return records_.Wrong("executed twice", tag);
      if (wanted[octet] != at + i) return records_.Wrong("octet at a wrong address", tag);
      const WriteBeat& content = write.beats[beat];
      const bool is_strobed = (content.strobes[(lane + i) / 64] >> (lane + i) % 64 & 1) != 0;
      if (is_strobed != record.strobes[octet]) return records_.Wrong("wrong WSTRB", tag);
      if (!is_strobed) continue;
      if (content.data[lane + i] != record.data[octet]) return records_.Wrong("wrong WDATA", tag);
      memory_[at + i] = content.data[lane + i];
      written_[at + i] = event;
    }
  }
  write.is_executed = true;
  write.response = DrawResponse();
  record.responses.push_back(write.response);
}

// An exclusive write is executed only if nothing was written since its exclusive read.
void Soc::CheckExclusive(const Record& record, uint64_t tag) {
  const auto found = reservations_.find({record.source, record.address.id});
  if (found == reservations_.end()) return records_.Wrong("exclusive write without read", tag);
  const Reservation& reservation = found->second;
  if (reservation.address.address != record.address.address) {
    records_.Wrong("exclusive write of another place than its read", tag);
  }
  if (record.executed != 0) return;  // its own octets are written
  const Range range = RangeOf(record.address);
  for (uint64_t at = range.first; at <= range.last; ++at) {
    if (written_[at % kNodeBytes] > reservation.event) {
      return records_.Wrong("exclusive write, though another write came between", tag);
    }
  }
}

void Soc::ExecuteRead(Burst& read) {
  if (IsStrange(read.address)) {
    for (uint32_t beat = 0; beat < BeatsOf(read.address); ++beat) {
      ReadBeat answer{};
      answer.id = read.address.id;
      answer.last = beat == read.address.len ? 1 : 0;
      read.answers.push_back(answer);
    }
    read.is_executed = true;
    return;
  }
  const uint64_t tag = read.address.user[0];
  Record& record = records_[tag];
  const uint64_t event = records_.NextEvent();
  if (record.read.empty()) {
    record.first_execution = event;
    if (record.address.lock != 0) {
      reservations_[{record.source, record.address.id}] = {.address = record.address,
                                                           .event = event};
    }
  }
  for (uint32_t beat = 0; beat < BeatsOf(read.address); ++beat) {
    ReadBeat answer{};
    for (uint8_t& octet : answer.data) octet = static_cast<uint8_t>(dice_.Below(256));
    answer.id = read.address.id;
    answer.response = DrawResponse();
    answer.last = beat == read.address.len ? 1 : 0;
    const uint64_t at = BeatAddress(read.address, beat);
    const uint64_t lane = at & (params_.bus_bytes - 1);
    for (uint32_t i = 0; i < BeatBytes(read.address, beat); ++i) {
      if (at + i >= kMemoryBytes) return records_.Wrong("read beyond the memory", tag);
      answer.data[lane + i] = memory_[at + i];
      record.read.push_back(memory_[at + i]);
      record.responses.push_back(answer.response);
    }
    read.answers.push_back(answer);
  }
  read.is_executed = true;
}

// Sends the response of one of the executed writes that may answer next.
bool Soc::SendB(Manager& port) {
  if (writes_.empty()) return false;
  const size_t index = dice_.Below(static_cast<uint32_t>(writes_.size()));
  const Burst& write = writes_[index];
  if (!write.is_executed) return false;
  for (size_t i = 0; i < index; ++i) {
    if (writes_[i].address.id == write.address.id) return false;
  }
  const WriteResponse response{
      .user = {write.address.user[0], 0}, .id = write.address.id, .response = write.response};
  if (!port.SendB(response)) records_.Wrong("B refused", write.address.user[0]);
  writes_.erase(writes_.begin() + static_cast<int64_t>(index));
  return true;
}

// Sends a beat of one of the executed reads that may answer next; beats of several IDs interleave.
bool Soc::SendR(Manager& port) {
  if (reads_.empty()) return false;
  const size_t index = dice_.Below(static_cast<uint32_t>(reads_.size()));
  Burst& read = reads_[index];
  if (!read.is_executed) return false;
  for (size_t i = 0; i < index; ++i) {
    if (reads_[i].address.id == read.address.id) return false;
  }
  if (!port.SendR(read.answers.front())) records_.Wrong("R refused", read.address.user[0]);
  read.answers.erase(read.answers.begin());
  if (read.answers.empty()) reads_.erase(reads_.begin() + static_cast<int64_t>(index));
  return true;
}

}  // namespace suede::axi
