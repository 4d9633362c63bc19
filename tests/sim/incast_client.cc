// SPDX-License-Identifier: Apache-2.0
#include "incast_client.h"

#include <cstring>

namespace suede {
namespace {

constexpr uint32_t kPolled = 64;       // commands at a time
constexpr Duration kMaxGap{6000};      // from a response to the next request

uint64_t WordOf(uint32_t source, uint32_t sequence) {
  return (uint64_t{source} << 32 | sequence) * 0x9e3779b97f4a7c15u;
}

}  // namespace

void IncastClient::Fail(const std::string& what) {
  if (failure_.empty()) failure_ = "host " + std::to_string(host_.number()) + ": " + what;
}

void IncastClient::StartBulk(uint32_t destination, uint32_t commands, Time at) {
  destination_ = destination;
  left_ = commands;
  bulk_at_ = at;
  begun_ = false;
}

void IncastClient::StartRequests(uint32_t destination, Time at) {
  responder_ = destination;
  asks_ = true;
  next_request_ = at;
}

bool IncastClient::Turn(Time now) {
  for (const uint32_t vc : {kBulkVc, kRequestVc}) Receive(vc, now);
  bool sent = SendAnswers();
  if (now >= next_request_) sent |= SendRequest(now);
  if (left_ != 0 && now >= bulk_at_) sent |= SendBulk();
  if (sent) host_.queue().Flush();
  return sent;
}

// The first and the last word of the data say whose they are; the R-CRC guards the rest.
bool IncastClient::Send(uint32_t destination, uint32_t vc, Kind kind, uint32_t sequence) {
  const uint32_t bytes = kind == kBulk ? kDataBytes : kRequestBytes;
  uint8_t control[kControlBytes] = {0x30 | kControlBytes / 2, static_cast<uint8_t>(bytes - 1), kind,
                                    0};
  std::memcpy(control + 4, &sequence, sizeof sequence);
  uint8_t data[kDataBytes] = {};
  const uint64_t word = WordOf(host_.number(), sequence);
  std::memcpy(data, &word, sizeof word);
  std::memcpy(data + bytes - sizeof word, &word, sizeof word);
  const SendResult result = host_.queue().Send(
      {.xpuid = static_cast<uint16_t>(destination),
       .vc = static_cast<uint8_t>(vc),
       .flags = static_cast<uint8_t>(kind == kBulk ? 0 : SUEDE_RECORD_TRANSMIT_NOW),
       .control = control,
       .data = data});
  if (result != SendResult::kOk && result != SendResult::kWouldBlock) Fail("cannot send");
  return result == SendResult::kOk;
}

bool IncastClient::SendBulk() {
  const uint32_t before = sent_;
  begun_ = true;
  while (left_ != 0 && Send(destination_, kBulkVc, kBulk, sent_)) {
    ++sent_;
    if (left_ != kEndless) --left_;
  }
  return sent_ != before;
}

bool IncastClient::SendRequest(Time now) {
  if (!Send(responder_, kRequestVc, kRequest, requests_)) return false;
  asked_ = true;
  asked_at_ = now;
  next_request_ = kNever;
  return true;
}

bool IncastClient::SendAnswers() {
  bool sent = false;
  while (!answers_.empty() &&
         Send(answers_.front().to, kRequestVc, kResponse, answers_.front().sequence)) {
    answers_.pop_front();
    sent = true;
  }
  return sent;
}

void IncastClient::Receive(uint32_t vc, Time now) {
  if (!host_.receiver(vc).HasWork()) return;
  ReceivedCommand got[kPolled];
  for (uint32_t count = kPolled; count == kPolled;) {
    count = host_.receiver(vc).Poll(got, kPolled);
    for (uint32_t i = 0; i < count; ++i) OnReceived(got[i], vc, now);
    host_.receiver(vc).Release();
  }
}

void IncastClient::OnReceived(const ReceivedCommand& got, uint32_t vc, Time now) {
  const uint8_t kind = got.control[2];
  const uint32_t bytes = kind == kBulk ? kDataBytes : kRequestBytes;
  uint32_t sequence = 0;
  std::memcpy(&sequence, got.control + 4, sizeof sequence);
  const uint64_t word = WordOf(got.source_xpuid, sequence);
  if (got.control_bytes != kControlBytes || got.data_bytes != bytes ||
      vc != (kind == kBulk ? kBulkVc : kRequestVc) ||
      std::memcmp(got.data, &word, sizeof word) != 0 ||
      std::memcmp(got.data + bytes - sizeof word, &word, sizeof word) != 0) {
    return Fail("a command is damaged");
  }
  if (kind == kBulk) return OnBulk(got, sequence, now);
  if (kind == kResponse) return OnResponse(sequence, now);
  answers_.push_back({.to = got.source_xpuid, .sequence = sequence});
}

void IncastClient::OnBulk(const ReceivedCommand& got, uint32_t sequence, Time now) {
  Stream& stream = streams_[got.source_xpuid];
  if (!in_order_) {
    if (sequence >= stream.came.size()) stream.came.resize(sequence + 1);
    if (stream.came[sequence]) return Fail("a command came twice");
    stream.came[sequence] = true;
  } else if (sequence != stream.commands) {
    return Fail("command " + std::to_string(sequence) + " of " + std::to_string(got.source_xpuid) +
                " came instead of " + std::to_string(stream.commands));
  }
  ++stream.commands;
  stream.last = now;
  ++received_;
}

void IncastClient::OnResponse(uint32_t sequence, Time now) {
  if (!asked_ || sequence != requests_) return Fail("a response came to no request");
  round_trips_.Record(static_cast<uint64_t>((now - asked_at_).count()));
  asked_ = false;
  ++requests_;
  if (asks_) next_request_ = now + dice_.Up(kMaxGap);
}

}  // namespace suede
