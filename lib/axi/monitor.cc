// SPDX-License-Identifier: Apache-2.0
#include "axi/monitor.h"

#include <algorithm>

namespace suede::axi {

Monitor::Monitor(uint32_t writes) : under_way_(writes) { free_.reserve(writes); }

void Monitor::Reserve(uint32_t lane, const Address& burst) {
  Reservation* const end = table_ + reserved_;
  Reservation* place = std::find_if(table_, end, [&](const Reservation& each) {
    return each.lane == lane && each.id == burst.id;
  });
  if (place == end) {
    if (reserved_ < kReservations) {
      ++reserved_;
    } else {
      place = std::min_element(
          table_, end, [](const Reservation& a, const Reservation& b) { return a.age < b.age; });
    }
  }
  *place = {.lane = lane,
            .id = burst.id,
            .address = burst.address,
            .size = burst.size,
            .len = burst.len,
            .range = RangeOf(burst),
            .age = reads_++};
}

bool Monitor::Permits(uint32_t lane, const Address& burst) const {
  const Reservation* const end = table_ + reserved_;
  const bool is_reserved = std::any_of(table_, end, [&](const Reservation& each) {
    return each.lane == lane && each.id == burst.id && each.address == burst.address &&
           each.size == burst.size && each.len == burst.len;
  });
  if (!is_reserved) return false;
  const Range range = RangeOf(burst);
  return std::none_of(under_way_.begin(), under_way_.begin() + used_,
                      [&](const Write& write) { return write.range.Overlaps(range); });
}

bool Monitor::HoldsBack(const Address& burst) const {
  if (exclusive_writes_ == 0) return false;
  const Range range = RangeOf(burst);
  return std::any_of(under_way_.begin(), under_way_.begin() + used_, [&](const Write& write) {
    return write.is_exclusive && write.range.Overlaps(range);
  });
}

void Monitor::EndOverlapping(const Range& range) {
  for (uint32_t i = 0; i < reserved_;) {
    if (table_[i].range.Overlaps(range)) {
      table_[i] = table_[--reserved_];
    } else {
      ++i;
    }
  }
}

uint32_t Monitor::OnWriteIssued(const Address& burst) {
  const Range range = RangeOf(burst);
  EndOverlapping(range);
  uint32_t place = used_;
  if (free_.empty()) {
    ++used_;
  } else {
    place = free_.back();
    free_.pop_back();
  }
  under_way_[place] = {.range = range, .is_exclusive = burst.lock != 0};
  ++writes_;
  if (burst.lock != 0) ++exclusive_writes_;
  return place;
}

void Monitor::OnWriteEnded(uint32_t place) {
  EndOverlapping(under_way_[place].range);
  if (under_way_[place].is_exclusive) --exclusive_writes_;
  under_way_[place] = {};
  free_.push_back(place);
  if (--writes_ == 0) {
    free_.clear();
    used_ = 0;
  }
}

void Monitor::Clear() {
  std::fill(under_way_.begin(), under_way_.begin() + used_, Write{});
  free_.clear();
  reserved_ = used_ = writes_ = exclusive_writes_ = 0;
}

}  // namespace suede::axi
