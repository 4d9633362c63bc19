// SPDX-License-Identifier: Apache-2.0
#include "axi/served.h"

#include <cassert>
#include <new>

namespace suede::axi {
namespace {

void Empty(Served* served) {
  served->has_head = served->is_entered = served->has_response = false;
  served->parts = 0;
  served->burst = {};
  served->addressed = served->moved = served->burst_end = served->awaited = 0;
  served->response = 0;
  served->user[0] = served->user[1] = 0;
  served->answer = {};
  served->sent = 0;
  served->body.BeginParts();
}

}  // namespace

// One place more than may be in use: a request arrives before it takes the place of another.
ServedTable::ServedTable(uint32_t lanes, uint32_t entries, uint32_t entries_of_lane, uint32_t parts)
    : memory_(new std::byte[(size_t{entries} + parts + 1) * sizeof(Served)]),
      places_(entries + parts + 1),
      entries_(entries),
      entries_of_lane_(entries_of_lane),
      of_lane_(lanes) {
  static_assert(alignof(Served) <= __STDCPP_DEFAULT_NEW_ALIGNMENT__);
}

ServedTable::~ServedTable() {
  for (uint32_t place = 0; place < touched_; ++place) {
    std::destroy_at(std::launder(reinterpret_cast<Served*>(memory_.get()) + place));
  }
}

Served* ServedTable::Take(uint32_t lane, uint32_t number) {
  Served* served = free_;
  if (served != nullptr) {
    free_ = served->next;
  } else {
    assert(touched_ < places_);
    served = new (memory_.get() + size_t{touched_++} * sizeof(Served)) Served;
  }
  ++taken_;
  Empty(served);
  served->lane = lane;
  served->number = number;
  return served;
}

bool ServedTable::Enter(Served* served) {
  if (of_lane_[served->lane] >= entries_of_lane_) return false;
  served->is_entered = true;
  ++of_lane_[served->lane];
  ++entered_;
  return true;
}

void ServedTable::Release(Served* served) {
  if (served->is_entered) {
    --of_lane_[served->lane];
    --entered_;
  }
  --taken_;
  served->next = free_;
  free_ = served;
}

}  // namespace suede::axi
