// SPDX-License-Identifier: Apache-2.0
#include "play_master.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace suede::axi {
namespace {

constexpr uint32_t kMaxWaiting = 6;  // transactions that were generated and not sent

}  // namespace

Master::Master(const MasterParams& params, Records* records, uint64_t seed)
    : params_(params), records_(*records), dice_(seed), left_(params.transactions) {}

size_t Master::CountOpen() const {
  size_t count = 0;
  for (const Order& order : open_) {
    for (const auto& [id, tags] : order) count += tags.size();
  }
  return count;
}

void Master::Reset() {
  for (const Order& order : open_) {
    for (const auto& [id, tags] : order) {
      for (const uint64_t tag : tags) records_[tag].is_abandoned = true;
    }
  }
  open_ = {};
  aws_.clear();
  ws_.clear();
  ars_.clear();
  unsent_beats_.clear();
  exclusive_.clear();
  exclusive_ids_.clear();
  reading_ = UINT64_MAX;
  beats_.clear();
}

Address Master::DrawAddress(Direction direction) {
  Address address{};
  for (;;) {
    const auto max_size = static_cast<uint32_t>(std::countr_zero(params_.bus_bytes));
    address.size = static_cast<uint8_t>(dice_.OneIn(2) ? max_size : dice_.Below(max_size + 1));
    address.burst = static_cast<uint8_t>(dice_.OneIn(2) ? SUEDE_AXI_INCR : dice_.Below(3));
    const uint32_t beats = dice_.OneIn(8) ? 256 : dice_.OneIn(2) ? 16 : 4;
    address.len = static_cast<uint8_t>(dice_.Below(beats));
    // Few places, so that transactions meet.
    address.address = dice_.OneIn(2) ? dice_.Below(kMemoryBytes) : dice_.Below(8) * 64;
    if (address.burst == SUEDE_AXI_WRAP) {
      address.len = static_cast<uint8_t>((2u << dice_.Below(4)) - 1);
      address.address &= ~uint64_t{SizeOf(address) - 1};
    }
    if (address.burst == SUEDE_AXI_FIXED) address.len &= 15;
    const Range range = RangeOf(address);
    if (FindViolation(address, params_.bus_bytes) == nullptr && range.last < kMemoryBytes) break;
  }
  address.id = dice_.Below(params_.ids) * (dice_.OneIn(4) ? 0x01000100 : 1);
  address.cache = static_cast<uint8_t>(dice_.Below(16));
  address.prot = static_cast<uint8_t>(dice_.Below(8));
  address.qos = static_cast<uint8_t>(dice_.Below(16));
  address.region = static_cast<uint8_t>(dice_.Below(16));
  if (params_.has_exclusives && dice_.OneIn(3)) DrawExclusive(direction, &address);
  return address;
}

// Draws an exclusive access to one of few places: a read, or the write that follows one. An ID has
// one such pair at a time.
void Master::DrawExclusive(Direction direction, Address* drawn) {
  Address address{};
  if (direction == Direction::kWrite) {
    if (exclusive_.empty()) return;
    *drawn = records_[exclusive_.front()].address;
    exclusive_.pop_front();
    drawn->address %= kNodeBytes;
    return;
  }
  const auto max_size = static_cast<uint32_t>(std::countr_zero(params_.bus_bytes));
  address.size = static_cast<uint8_t>(std::min(max_size, 3u));
  address.burst = SUEDE_AXI_INCR;
  address.len = static_cast<uint8_t>((1u << dice_.Below(3)) - 1);
  address.address = dice_.Below(2) * 64;
  address.id = dice_.Below(params_.ids);
  address.lock = 1;
  if (exclusive_ids_.insert(address.id).second) *drawn = address;
}

void Master::Generate() {
  if (left_ == 0 || aws_.size() + ars_.size() >= kMaxWaiting) return;
  --left_;
  const Direction direction = dice_.OneIn(2) ? Direction::kRead : Direction::kWrite;
  Record record;
  record.source = params_.xpuid;
  record.direction = direction;
  record.address = DrawAddress(direction);
  record.target = static_cast<uint16_t>(dice_.Below(params_.nodes));
  if (record.address.lock != 0) record.target = 0;
  if (record.target == params_.xpuid && !params_.has_own_target) {
    record.target = static_cast<uint16_t>((params_.xpuid + 1) % params_.nodes);
  }
  record.address.address += record.target * kNodeBytes;
  const uint64_t tag = records_.Add(record);
  if (direction == Direction::kRead) {
    ars_.push_back(tag);
  } else {
    aws_.push_back(tag);
    AddWrite(tag);
  }
}

void Master::AddWrite(uint64_t tag) {
  Record& record = records_[tag];
  const Address& address = record.address;
  const bool is_full = dice_.OneIn(2);
  for (uint32_t beat = 0; beat < BeatsOf(address); ++beat) {
    WriteBeat write{};
    for (uint8_t& octet : write.data) octet = static_cast<uint8_t>(dice_.Below(256));
    const uint64_t lane = BeatAddress(address, beat) & (params_.bus_bytes - 1);
    for (uint32_t i = 0; i < BeatBytes(address, beat); ++i) {
      const bool is_strobed = is_full || dice_.OneIn(2);
      if (is_strobed) write.strobes[(lane + i) / 64] |= uint64_t{1} << (lane + i) % 64;
      record.data.push_back(write.data[lane + i]);
      record.strobes.push_back(is_strobed);
    }
    write.user = params_.user_bytes == 0 ? 0 : beat + 1;
    write.last = beat == address.len ? 1 : 0;
    ws_.emplace_back(tag, write);
  }
}

void Master::Step(Subordinate& port) {
  Generate();
  if (!aws_.empty() && dice_.OneIn(2) && port.SendAw(records_[aws_.front()].address)) {
    Record& record = records_[aws_.front()];
    record.is_issued = true;
    open_[1][record.address.id].push_back(aws_.front());
    unsent_beats_[aws_.front()] += BeatsOf(record.address);
    aws_.pop_front();
  }
  for (uint32_t i = dice_.Below(8); i-- != 0 && !ws_.empty();) {
    if (!port.SendW(ws_.front().second)) break;
    --unsent_beats_[ws_.front().first];  // wraps where the beat comes before its AW
    ws_.pop_front();
  }
  if (!ars_.empty() && dice_.OneIn(2) && port.SendAr(records_[ars_.front()].address)) {
    Record& record = records_[ars_.front()];
    record.is_issued = true;
    open_[0][record.address.id].push_back(ars_.front());
    ars_.pop_front();
  }
  if (!params_.is_patient && !dice_.OneIn(50)) return;
  TakeB(port);
  TakeR(port);
}

void Master::TakeB(Subordinate& port) {
  WriteResponse response;
  if (!dice_.OneIn(2) || !port.TakeB(&response)) return;
  std::deque<uint64_t>& tags = open_[1][response.id];
  if (tags.empty()) return records_.Wrong("B of an ID without open write");
  const uint64_t tag = tags.front();
  tags.pop_front();
  Record& record = records_[tag];
  record.is_ended = true;
  record.response = response.response;
  if (record.address.lock != 0) exclusive_ids_.erase(record.address.id);
  if (unsent_beats_[tag] != 0) records_.Wrong("B before the last W beat", tag);
  if (response.response >= SUEDE_AXI_SLVERR && record.is_doomed) return;
  const bool is_failed_exclusive =
      record.address.lock != 0 && response.response == SUEDE_AXI_OKAY && record.executed == 0;
  if (is_failed_exclusive) return;
  if (record.executed != record.data.size()) records_.Wrong("B before execution", tag);
  uint8_t worst = 0;
  for (const uint8_t each : record.responses) worst = WorseOf(worst, each);
  if (record.address.lock != 0 && worst == SUEDE_AXI_OKAY) worst = SUEDE_AXI_EXOKAY;
  if (response.response != worst) records_.Wrong("wrong BRESP", tag);
  if (response.user[0] != tag) records_.Wrong("wrong BUSER", tag);
}

void Master::TakeR(Subordinate& port) {
  for (uint32_t i = dice_.Below(8); i-- != 0;) {
    ReadBeat beat;
    if (!port.TakeR(&beat)) return;
    OnReadBeat(beat);
  }
}

void Master::OnReadBeat(const ReadBeat& beat) {
  if (reading_ == UINT64_MAX) {
    std::deque<uint64_t>& tags = open_[0][beat.id];
    if (tags.empty()) return records_.Wrong("R of an ID without open read");
    reading_ = tags.front();
    beats_.clear();
  }
  const uint64_t tag = reading_;
  Record& record = records_[tag];
  if (beat.id != record.address.id) return records_.Wrong("interleaved R", tag);
  beats_.push_back(beat);
  const bool is_last = beats_.size() == BeatsOf(record.address);
  if (is_last != (beat.last != 0)) return records_.Wrong("RLAST in a wrong place", tag);
  if (!is_last) return;
  reading_ = UINT64_MAX;
  open_[0][beat.id].pop_front();
  record.is_ended = true;
  record.response = beat.response;
  if (record.address.lock != 0) {
    if (beat.response == SUEDE_AXI_EXOKAY) {
      exclusive_.push_back(tag);
    } else {
      exclusive_ids_.erase(record.address.id);
    }
  }
  const bool has_failed = std::all_of(beats_.begin(), beats_.end(), [](const ReadBeat& each) {
    return each.response >= SUEDE_AXI_SLVERR;
  });
  if (has_failed && record.is_doomed) return;
  CheckRead(record, tag);
}

void Master::CheckRead(const Record& record, uint64_t tag) {
  if (record.read.size() != ActiveBytes(record.address)) {
    return records_.Wrong("R before execution", tag);
  }
  size_t octet = 0;
  for (uint32_t beat = 0; beat < beats_.size(); ++beat) {
    const uint64_t lane = BeatAddress(record.address, beat) & (params_.bus_bytes - 1);
    const uint32_t bytes = BeatBytes(record.address, beat);
    uint8_t worst = 0;
    for (uint32_t i = 0; i < bytes; ++i, ++octet) {
      if (beats_[beat].data[lane + i] != record.read[octet]) {
        return records_.Wrong("wrong RDATA", tag);
      }
      worst = WorseOf(worst, record.responses[octet]);
    }
    if (record.address.lock != 0 && worst == SUEDE_AXI_OKAY) worst = SUEDE_AXI_EXOKAY;
    if (beats_[beat].response != worst) return records_.Wrong("wrong RRESP", tag);
  }
}

}  // namespace suede::axi
