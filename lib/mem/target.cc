// SPDX-License-Identifier: Apache-2.0
#include "mem/target.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "mem/execute.h"
#include "mem/memory_access.h"

namespace suede::mem {

Target::Target(const TargetParams& params)
    : lanes_(LanesOf(params.planes)),
      active_(LanesOf(params.planes)),
      places_(params.response_places),
      held_(kMaxXpus),
      notices_(params.notice_places),
      free_(params.response_places),
      places_of_one_(params.max_places_per_initiator) {
  for (uint32_t i = 0; i < params.response_places; ++i) {
    places_[i].next = i + 1 < params.response_places ? i + 1 : kNone;
  }
}

// ---- Requests.

// Whether two places are free for the initiator: for the response, and for the pending
// acknowledgement. An initiator gets at most half of the free places, so those that grant no credit
// cannot exhaust the pool.
bool Target::HasRoomFor(uint16_t xpuid) const {
  const uint32_t held = held_[xpuid];
  return free_ >= 2 && (held == 0 || held < std::min(places_of_one_, free_ / 2));
}

void Target::OnCommand(const Route& from, const uint8_t* control, uint32_t control_bytes,
                       const uint8_t* data, uint32_t data_bytes, ResponseSink& sink) {
  Request request;
  const Parsed parsed = ParseRequest(control, control_bytes, data, data_bytes, &request);
  if (parsed == Parsed::kForeign) {
    ++counters_.foreign;
    return;
  }
  const Window* window = windows_.Find(request.window);
  if (parsed == Parsed::kRequest && window != nullptr && window->is_served_by_lcore) [[unlikely]] {
    return OnNotice(from.xpuid, request);
  }
  const Route to{.xpuid = from.xpuid, .plane = from.plane, .vc = request.response_vc};
  if (!HasRoomFor(to.xpuid)) {
    ++counters_.dropped;
    return;
  }
  const Status status =
      parsed == Parsed::kRequest ? Execute(to, request, sink) : Status::kMalformed;
  if (status == Status::kPending) return;  // Execute has responded
  if (status != Status::kOk) {
    ++counters_.refused[static_cast<uint8_t>(status) - kFirstRefusal];
  }
  Acknowledge(to, request.number, status, sink);
}

// Returns the status to acknowledge; kPending if a data or value response was sent instead.
Status Target::Execute(const Route& to, const Request& request, ResponseSink& sink) {
  const Access access = windows_.Check(request);
  if (access.status != Status::kOk) return access.status;
  if (request.opcode == Opcode::kPut || request.opcode == Opcode::kPutImmediate) {
    return Write(to, request, access.memory);
  }
  ++counters_.executed[static_cast<uint8_t>(request.opcode)];
  if (request.opcode == Opcode::kGet) {
    uint8_t octets[kRequestDataBytes];
    LoadOctets(access.memory, octets, request.bytes);
    counters_.read_bytes += request.bytes;
    Answer(to,
           {.kind = Response::Kind::kData,
            .data_bytes = request.bytes,
            .number = request.number,
            .data = octets},
           sink);
    return Status::kPending;
  }
  const uint64_t old = ExecuteAtomic(request, access.memory);
  if (!IsRead(request.opcode)) return Status::kOk;
  Answer(to, {.kind = Response::Kind::kValue, .number = request.number, .value = old}, sink);
  return Status::kPending;
}

Status Target::Write(const Route& to, const Request& request, uint8_t* memory) {
  const bool notifies = request.opcode == Opcode::kPutImmediate;
  if (notifies && free_notice_places() == 0) return Status::kBusy;
  StoreOctets(memory, request.data, request.bytes);
  counters_.written_bytes += request.bytes;
  ++counters_.executed[static_cast<uint8_t>(request.opcode)];
  if (notifies) Note(to.xpuid, request);
  return Status::kOk;
}

void Target::Note(uint16_t source, const Request& request) {
  notices_[notices_in_++ % notices_.size()] = {
      .source = source,
      .window = request.window,
      .bytes = request.total_bytes,
      .offset = request.offset + request.bytes - request.total_bytes,
      .immediate = request.immediate};
}

// Records the notice of a put that the lcore serving the window has executed and acknowledged.
void Target::OnNotice(uint16_t source, const Request& request) {
  if (request.opcode != Opcode::kPutImmediate || request.bytes != 0 || free_notice_places() == 0) {
    ++counters_.foreign;
    return;
  }
  Note(source, request);
}

bool Target::TakeNotice(Notice* notice) {
  if (notices_in_ == notices_out_) return false;
  *notice = notices_[notices_out_++ % notices_.size()];
  return true;
}

// ---- Responses.

void Target::Acknowledge(const Route& to, uint32_t number, Status status, ResponseSink& sink) {
  if (run_.count != 0 && run_.to == to && run_.status == status &&
      run_.number + run_.count == number && run_.count < kMaxAcknowledged) {
    ++run_.count;
    return;
  }
  EndRun(sink);
  run_ = {.to = to, .status = status, .number = number, .count = 1};
}

void Target::EndRun(ResponseSink& sink) {
  if (run_.count == 0) return;
  const Run run = run_;
  run_.count = 0;
  Answer(run.to,
         {.status = run.status, .count = static_cast<uint16_t>(run.count), .number = run.number},
         sink);
}

void Target::Answer(const Route& to, const Response& response, ResponseSink& sink) {
  EndRun(sink);  // keeps responses in the order of their requests
  uint8_t control[kResponseControlBytes];
  const uint32_t control_bytes = EncodeResponse(response, control);
  if (lanes_[to.Lane()].head == kNone &&
      sink.Send(to, control, control_bytes, response.data, response.data_bytes)) {
    return;
  }
  Keep(to, control, control_bytes, response);
}

void Target::Keep(const Route& to, const uint8_t* control, uint32_t control_bytes,
                  const Response& response) {
  const uint32_t index = first_free_;
  Place& place = places_[index];
  first_free_ = place.next;
  --free_;
  ++held_[to.xpuid];
  ++counters_.waited;
  place.next = kNone;
  place.control_bytes = static_cast<uint8_t>(control_bytes);
  place.data_bytes = response.data_bytes;
  std::memcpy(place.control, control, control_bytes);
  if (response.data_bytes != 0) std::memcpy(place.data, response.data, response.data_bytes);
  const uint32_t number = to.Lane();
  Lane& lane = lanes_[number];
  if (lane.head != kNone) {
    places_[lane.tail].next = index;
    lane.tail = index;
    return;
  }
  lane = {.head = index, .tail = index};
  active_.Append(number);
}

void Target::FreeFirst(uint32_t lane) {
  const uint32_t index = lanes_[lane].head;
  lanes_[lane].head = places_[index].next;
  places_[index].next = first_free_;
  first_free_ = index;
  ++free_;
  --held_[Route::OfLane(lane).xpuid];
}

// Sends the lane's waiting responses. Returns true if none remain.
bool Target::SendWaiting(uint32_t lane, ResponseSink& sink) {
  const Route to = Route::OfLane(lane);
  while (lanes_[lane].head != kNone) {
    const Place& place = places_[lanes_[lane].head];
    if (!sink.Send(to, place.control, place.control_bytes, place.data, place.data_bytes)) {
      return false;
    }
    FreeFirst(lane);
  }
  return true;
}

void Target::Flush(ResponseSink& sink, uint32_t max) {
  EndRun(sink);
  active_.ServeEach([&](uint32_t lane) { return SendWaiting(lane, sink); }, max);
}

void Target::OnPlaneLost(uint32_t plane) {
  if (run_.count != 0 && run_.to.plane == plane) run_.count = 0;
  class Discard final : public ResponseSink {
   public:
    explicit Discard(uint32_t plane) : plane_(plane) {}
    bool Send(const Route& to, const uint8_t*, uint32_t, const uint8_t*, uint32_t) override {
      return to.plane == plane_;
    }

   private:
    uint32_t plane_;
  } discard(plane);
  Flush(discard);
}

void Target::CheckInvariants() const {
  const auto check = [](bool holds) {
    if (!holds) std::abort();
  };
  std::vector<uint32_t> held(kMaxXpus);
  uint32_t waiting = 0;
  for (uint32_t lane = 0; lane < lanes_.size(); ++lane) {
    check(active_.Contains(lane) == (lanes_[lane].head != kNone));
    for (uint32_t i = lanes_[lane].head; i != kNone; i = places_[i].next) {
      ++held[Route::OfLane(lane).xpuid];
      ++waiting;
      check(places_[i].next != kNone || lanes_[lane].tail == i);
    }
  }
  check(held == held_);
  uint32_t free = 0;
  for (uint32_t i = first_free_; i != kNone && free <= places_.size(); i = places_[i].next) ++free;
  check(free == free_ && free + waiting == places_.size());
  check(notices_in_ - notices_out_ <= notices_.size());
}

}  // namespace suede::mem
