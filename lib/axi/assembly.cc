// SPDX-License-Identifier: Apache-2.0
#include "axi/assembly.h"

namespace suede::axi {

Assembly::Assembly(uint32_t lanes, bool is_unordered, ServedTable& table)
    : lanes_(lanes), table_(table), is_unordered_(is_unordered) {}

Served* Assembly::Find(const Lane& lane, uint32_t number) const {
  for (Served* each = lane.open == 0 ? nullptr : lane.parts.first(); each != nullptr;
       each = each->next) {
    if (each->number == number) return each;
  }
  return nullptr;
}

void Assembly::Close(Lane& lane, Served* served) {
  lane.parts.Remove(served);
  --lane.open;
}

void Assembly::DropOldest(Lane& lane) {
  Served* const oldest = lane.parts.first();
  Close(lane, oldest);
  table_.Release(oldest);
  ++truncated_;
}

void Assembly::Drop(uint32_t lane) {
  while (lanes_[lane].open != 0) DropOldest(lanes_[lane]);
}

Assembled Assembly::Add(uint32_t lane, const Command& command, const uint8_t* data,
                        uint32_t data_bytes, Served** whole) {
  return command.kind == Kind::kWriteMore ? AddMore(lane, command, data, data_bytes, whole)
                                          : AddHead(lane, command, data, data_bytes, whole);
}

Assembled Assembly::OnMalformed(uint32_t number, const Command& command) {
  Lane& lane = lanes_[number];
  const bool is_head = command.kind != Kind::kWriteMore;
  Served* const served = Find(lane, command.number);
  if (served != nullptr) {
    Close(lane, served);
    table_.Release(served);
  } else if (is_head && !is_unordered_) {
    Drop(number);
  }
  return is_head || served != nullptr ? Assembled::kMalformed : Assembled::kOrphan;
}

Assembled Assembly::AddHead(uint32_t number, const Command& command, const uint8_t* data,
                            uint32_t data_bytes, Served** whole) {
  // With strict ordering no command of another transaction stands between those of one.
  if (!is_unordered_) Drop(number);
  Served* served = Find(lanes_[number], command.number);
  const bool is_open = served != nullptr;
  if (!is_open) served = table_.Take(number, command.number);
  const bool is_first = !served->has_head;
  served->has_head = true;
  if (is_first) {
    served->kind = command.kind;
    served->burst = command.address;
  }
  if (!is_first || !served->body.Store(0, data, data_bytes)) {
    if (is_open) Close(lanes_[number], served);
    table_.Release(served);
    return Assembled::kMalformed;
  }
  ++served->parts;
  return Advance(served, is_open, whole);
}

Assembled Assembly::AddMore(uint32_t number, const Command& command, const uint8_t* data,
                            uint32_t data_bytes, Served** whole) {
  Lane& lane = lanes_[number];
  Served* served = Find(lane, command.number);
  const bool is_open = served != nullptr;
  if (!is_open) {
    if (!is_unordered_) return Assembled::kOrphan;
    served = table_.Take(number, command.number);
  }
  const bool is_in_order = is_unordered_ || command.part == served->parts;
  if (!is_in_order || !served->body.Store(command.part, data, data_bytes)) {
    if (is_open) Close(lane, served);
    table_.Release(served);
    return Assembled::kMalformed;
  }
  ++served->parts;
  return Advance(served, is_open, whole);
}

Assembled Assembly::Advance(Served* served, bool is_open, Served** whole) {
  Lane& lane = lanes_[served->lane];
  Body::Whole state = Body::Whole::kNotYet;
  if (served->has_head && served->is_read()) {
    state =
        served->body.ParseRead(&served->burst) ? Body::Whole::kComplete : Body::Whole::kMalformed;
  } else if (served->has_head) {
    state = served->body.ParseWrite(served->kind, &served->burst);
  }
  if (state == Body::Whole::kNotYet) {
    if (is_open) return Assembled::kNotYet;
    if (lane.open == PlacesOf(is_unordered_)) DropOldest(lane);
    lane.parts.Append(served);
    ++lane.open;
    return Assembled::kNotYet;
  }
  if (is_open) Close(lane, served);
  if (state == Body::Whole::kComplete) {
    *whole = served;
    return Assembled::kWhole;
  }
  table_.Release(served);
  return Assembled::kMalformed;
}

}  // namespace suede::axi
