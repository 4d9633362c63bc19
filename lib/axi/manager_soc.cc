// SPDX-License-Identifier: Apache-2.0
// Side of the SoC of the manager port.
#include <algorithm>
#include <cstring>

#include "axi/manager.h"

namespace suede::axi {
namespace {

// The port issues no exclusive access, so EXOKAY says no more than OKAY.
uint8_t PlainResponse(uint8_t response) {
  const uint8_t known = response & 3;
  return known == SUEDE_AXI_EXOKAY ? uint8_t{SUEDE_AXI_OKAY} : known;
}

}  // namespace

// ---- Issue.

bool Manager::PumpReads() {
  bool moved = false;
  while (!reads_.queue.is_empty() && IssueNext(reads_, ar_)) moved = true;
  return moved;
}

bool Manager::PumpWrites() {
  bool moved = false;
  while (!writes_.queue.is_empty()) {
    Served* const served = writes_.queue.first();
    if (served->addressed == 0 && served->is_exclusive() && !MayIssueExclusive(*served)) {
      ++counters_.exclusive_failed;
      writes_.queue.TakeFirst();
      EndWrite(served, SUEDE_AXI_OKAY);
    } else if (!IssueNext(writes_, aw_)) {
      break;
    }
    moved = true;
  }
  return moved;
}

bool Manager::MayIssueExclusive(const Served& served) const {
  return params_.has_monitor && monitor_.Permits(served.lane, served.burst);
}

// Issues the next burst of the first transaction. Returns false where a place or an AxID is
// missing, or the monitor holds the write back.
bool Manager::IssueNext(Stream& stream, Channel<Address>& channel) {
  Served* const served = stream.queue.first();
  if (channel.credit() == 0) return false;
  if (served->addressed == 0 && !Start(served, stream)) return false;
  Address issued = served->issue.BurstAt(served->addressed);
  issued.id = served->issued_id;
  issued.lock = 0;
  channel.Send(issued);
  served->addressed = served->issue.BurstEnd(served->addressed);
  if (served->addressed == served->issue.octets()) stream.queue.TakeFirst();
  return true;
}

bool Manager::Start(Served* served, Stream& stream) {
  if (!served->is_read() && monitor_.HoldsBack(served->burst)) return false;
  if (!stream.ids.Add(served)) return false;
  if (!served->is_read()) {
    served->monitor_place = monitor_.OnWriteIssued(served->burst);
    data_.Append(served);
  } else if (served->is_exclusive() && params_.has_monitor) {
    monitor_.Reserve(served->lane, served->burst);
  }
  return true;
}

bool Manager::PumpData() {
  bool moved = false;
  while (!data_.is_empty() && w_.credit() != 0) {
    Served* const served = data_.first();
    if (served->moved == served->addressed) break;
    if (served->moved == served->burst_end) {
      served->burst_end = served->issue.BurstEnd(served->moved);
    }
    const Issue::Beat at = served->issue.BeatAt(served->moved);
    WriteBeat beat = {};
    std::memcpy(beat.data + at.lane, served->body.data() + served->moved, at.bytes);
    served->body.LoadStrobes(served->moved, at.bytes, at.lane, beat.strobes);
    beat.user = served->body.BeatUser(at.index);
    served->moved += at.bytes;
    if (served->moved == served->burst_end) {
      beat.last = 1;
      ++served->awaited;
    }
    w_.Send(beat);
    if (served->moved == served->issue.octets()) data_.TakeFirst();
    moved = true;
  }
  return moved;
}

// ---- Answers of the SoC.

bool Manager::SendB(const WriteResponse& response) {
  Served* const served = writes_.ids.Oldest(response.id);
  if (served == nullptr || served->awaited == 0) {
    ++counters_.unexpected;
    return false;
  }
  --served->awaited;
  if (!served->has_response) {
    served->has_response = true;
    served->user[0] = response.user[0];
    served->user[1] = response.user[1];
  }
  served->response = WorseOf(served->response, PlainResponse(response.response));
  if (served->moved != served->issue.octets() || served->awaited != 0) return true;
  writes_.ids.TakeOldest(response.id);
  monitor_.OnWriteEnded(served->monitor_place);
  const bool is_success = served->is_exclusive() && served->response == SUEDE_AXI_OKAY;
  EndWrite(served, is_success ? uint8_t{SUEDE_AXI_EXOKAY} : served->response);
  return true;
}

bool Manager::SendR(const ReadBeat& beat) {
  Served* const served = reads_.ids.Oldest(beat.id);
  const bool is_surplus = beat.id < is_surplus_.size() && is_surplus_[beat.id] != 0;
  if (is_surplus && beat.last != 0) is_surplus_[beat.id] = 0;
  if (is_surplus || served == nullptr || served->moved == served->addressed) {
    ++counters_.unexpected;
    return false;
  }
  if (served->moved == served->burst_end) {
    served->burst_end = served->issue.BurstEnd(served->moved);
  }
  AddBeat(served, beat);
  const bool is_end = served->moved == served->burst_end;
  if (is_end && beat.last == 0) is_surplus_[beat.id] = 1;
  if (!is_end && beat.last != 0) {
    ++counters_.unexpected;
    ReadBeat missing = {};
    missing.response = SUEDE_AXI_SLVERR;
    while (served->moved != served->burst_end) AddBeat(served, missing);
  }
  if (served->moved == served->issue.octets()) EndRead(served);
  return true;
}

void Manager::AddBeat(Served* served, const ReadBeat& beat) {
  const Issue::Beat at = served->issue.BeatAt(served->moved);
  served->moved += at.bytes;
  uint8_t response = PlainResponse(beat.response);
  if (response == SUEDE_AXI_OKAY && served->is_exclusive() && params_.has_monitor) {
    response = SUEDE_AXI_EXOKAY;
  }
  if (served->issue.is_split()) {
    AddPart(served, beat, at, response);
  } else if (response == beat.response) {
    served->body.AddBeat(beat, params_.bus_bytes);
  } else {
    served->beat = beat;
    served->beat.response = response;
    served->body.AddBeat(served->beat, params_.bus_bytes);
  }
}

// Adds an issued beat to the beat of the request that it belongs to.
void Manager::AddPart(Served* served, const ReadBeat& beat, const Issue::Beat& at,
                      uint8_t response) {
  ReadBeat& whole = served->beat;
  if (at.begins) {
    whole.user = beat.user;
    whole.response = response;
  }
  whole.response = WorseOf(whole.response, response);
  std::memcpy(whole.data + at.wide_lane, beat.data + at.lane, at.bytes);
  if (at.ends) served->body.AddBeat(whole, kMaxBusBytes);
}

// ---- Ends.

void Manager::EndWrite(Served* served, uint8_t response) {
  served->answer = {.response = response, .status = Status::kOk};
  served->body.FinishWriteAnswer(served->user, &served->answer);
  Complete(served);
}

void Manager::EndRead(Served* served) {
  reads_.ids.TakeOldest(served->issued_id);
  served->body.FinishReadAnswer(params_.read_user_bytes, &served->answer);
  Complete(served);
}

void Manager::EndByReset(Served* served) {
  ++counters_.reset;
  served->answer = {.is_read = served->is_read(),
                    .response = ResponseOf(Status::kReset),
                    .status = Status::kReset};
  served->body.Begin(served->burst);
  Complete(served);
}

void Manager::Reset(bool in_reset) {
  in_reset_ = in_reset;
  if (!in_reset) return;
  aw_.Clear();
  w_.Clear();
  ar_.Clear();
  data_.Clear();
  monitor_.Clear();
  std::fill(is_surplus_.begin(), is_surplus_.end(), uint8_t{0});
  for (Stream* stream : {&reads_, &writes_}) {
    // The first of the queue may have been issued in part, and is among those with an AxID then.
    while (!stream->queue.is_empty()) {
      Served* const served = stream->queue.TakeFirst();
      if (served->addressed == 0) EndByReset(served);
    }
    for (uint32_t id = 0; id < stream->ids.size(); ++id) {
      while (stream->ids.Oldest(id) != nullptr) EndByReset(stream->ids.TakeOldest(id));
    }
  }
}

}  // namespace suede::axi
