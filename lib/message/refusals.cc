// SPDX-License-Identifier: Apache-2.0
#include "message/refusals.h"

#include <cstdlib>

namespace suede::message {

Refusals::Refusals(uint32_t planes) : refusals_(size_t{planes} * kMaxXpus) {
  places_.reserve(refusals_.size());
}

bool Refusals::Add(const Route& from, const Command& command, uint32_t tag, Status status) {
  const uint32_t place = uint32_t{from.plane} * kMaxXpus + from.xpuid;
  Refusal& refusal = refusals_[place];
  if (refusal.status != Status::kOk) return false;
  refusal = {.status = status, .id = command.id, .tag = tag, .epoch = command.epoch};
  places_.push_back(place);
  return true;
}

void Refusals::Pump(uint8_t control_vc, BurstSink& sink) {
  std::erase_if(places_, [&](uint32_t place) {
    Refusal& refusal = refusals_[place];
    uint8_t control[kControlBytes];
    EncodeCommand({.kind = Kind::kRefuse,
                   .status = refusal.status,
                   .id = refusal.id,
                   .tag = refusal.tag,
                   .epoch = refusal.epoch},
                  control);
    const int sent = sink.Send({.to = {.xpuid = static_cast<uint16_t>(place % kMaxXpus),
                                       .plane = static_cast<uint8_t>(place / kMaxXpus),
                                       .vc = control_vc},
                                .controls = control,
                                .count = 1});
    if (sent == 0) return false;
    refusal = {};
    return true;
  });
}

void Refusals::DropPlane(uint32_t plane) {
  std::erase_if(places_, [&](uint32_t place) {
    if (place / kMaxXpus != plane) return false;
    refusals_[place] = {};
    return true;
  });
}

void Refusals::CheckInvariants() const {
  for (const uint32_t place : places_) {
    if (refusals_[place].status == Status::kOk) std::abort();
  }
}

}  // namespace suede::message
