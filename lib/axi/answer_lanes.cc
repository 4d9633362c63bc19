// SPDX-License-Identifier: Apache-2.0
#include "axi/answer_lanes.h"

#include <algorithm>
#include <cstdlib>

#include "axi/command.h"
#include "outbound/completion_interval.h"

namespace suede::axi {
namespace {

Route RouteOf(uint32_t lane, uint8_t vc) {
  return {.xpuid = static_cast<uint16_t>(lane % kMaxXpus),
          .plane = static_cast<uint8_t>(lane / kMaxXpus),
          .vc = vc};
}

// Writes the controls of the next commands, all with as much data. Returns their number.
uint32_t EncodeNext(const Served& served, uint32_t data_bytes, uint8_t* controls) {
  const Body& body = served.body;
  if (served.sent == 0) {
    EncodeAnswer(served.number, served.answer, data_bytes, controls);
    return 1;
  }
  const uint32_t parts = PartsOf(body.bytes());
  uint32_t count = 0;
  for (uint32_t part = served.sent;
       part < parts && count < kCommandsPerCompletion && body.PartBytes(part) == data_bytes;
       ++part, ++count) {
    EncodeMore(Kind::kAnswerMore, served.number, static_cast<uint8_t>(part), data_bytes,
               controls + size_t{count} * kMaxControlBytes);
  }
  return count;
}

}  // namespace

AnswerLanes::AnswerLanes(uint32_t lanes, uint8_t vc, Duration deadline, ServedTable& table)
    : lanes_(lanes), active_(lanes), table_(table), deadline_(deadline), vc_(vc) {}

void AnswerLanes::Append(Served* served, Time now) {
  served->ready = now;
  lanes_[served->lane].Append(served);
  active_.Append(served->lane);
}

bool AnswerLanes::Refuse(uint32_t lane, uint32_t number, bool is_read, Status status,
                         BurstSink& sink) {
  if (!lanes_[lane].is_empty() && lanes_[lane].first()->sent != 0) return false;
  const Answer answer{.is_read = is_read, .response = ResponseOf(status), .status = status};
  uint8_t control[kMaxControlBytes];
  EncodeAnswer(number, answer, 0, control);
  return sink.Send({.to = RouteOf(lane, vc_), .controls = control, .count = 1}) == 1;
}

AnswerLanes::Outcome AnswerLanes::SendOne(Served* served, BurstSink& sink, bool* moved) {
  const Body& body = served->body;
  const uint32_t parts = PartsOf(body.bytes());
  uint8_t controls[kCommandsPerCompletion * kMaxControlBytes];
  while (served->sent != parts) {
    const uint32_t data_bytes = body.PartBytes(served->sent);
    const uint32_t count = EncodeNext(*served, data_bytes, controls);
    const int sent = sink.Send({.to = RouteOf(served->lane, vc_),
                                .controls = controls,
                                .data = data_bytes == 0 ? nullptr : body.Part(served->sent),
                                .data_bytes = data_bytes,
                                .count = count});
    if (sent == BurstSink::kLost) return Outcome::kLost;
    if (sent != 0) *moved = true;
    served->sent += static_cast<uint32_t>(sent);
    if (static_cast<uint32_t>(sent) != count) return Outcome::kNoCredit;
  }
  return Outcome::kSent;
}

bool AnswerLanes::SendLane(uint32_t lane, BurstSink& sink, Time now, bool* moved) {
  ServedQueue& queue = lanes_[lane];
  while (!queue.is_empty()) {
    Served* const served = queue.first();
    if (SendOne(served, sink, moved) == Outcome::kNoCredit) {
      if (now - served->ready <= deadline_) return false;
      ++expired_;
    }
    *moved = true;
    queue.TakeFirst();
    table_.Release(served);
  }
  return true;
}

bool AnswerLanes::Send(BurstSink& sink, Time now) {
  bool moved = false;
  active_.ServeEach([&](uint32_t lane) { return SendLane(lane, sink, now, &moved); },
                    kLanesPerCall);
  return moved;
}

void AnswerLanes::DropInterface(uint32_t interface) {
  active_.ServeEach([&](uint32_t lane) {
    if (lane / kMaxXpus != interface) return false;
    while (!lanes_[lane].is_empty()) table_.Release(lanes_[lane].TakeFirst());
    return true;
  });
}

uint32_t AnswerLanes::CheckInvariants() const {
  uint32_t transactions = 0;
  for (uint32_t lane = 0; lane < lanes_.size(); ++lane) {
    if (active_.Contains(lane) == lanes_[lane].is_empty()) std::abort();
    for (const Served* each = lanes_[lane].first(); each != nullptr; each = each->next) {
      if (each->lane != lane) std::abort();
      ++transactions;
    }
  }
  return transactions;
}

}  // namespace suede::axi
