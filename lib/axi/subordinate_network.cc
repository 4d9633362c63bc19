// SPDX-License-Identifier: Apache-2.0
// The network's side of the subordinate port: requests, answers, and ends of transactions.
#include <algorithm>

#include "axi/subordinate.h"

namespace suede::axi {
namespace {

constexpr uint32_t kMaxLongWrites = 8;  // of unordered instances, to one target

}  // namespace

// ---- Sending

// Returns whether all transactions of the lane are sent.
bool Subordinate::PumpLane(uint32_t number, BurstSink& sink, bool* has_moved) {
  Lane& lane = lanes_[number];
  while (lane.head != kNone) {
    const uint32_t index = lane.head;
    Transaction& transaction = transactions_[index];
    if (transaction.state != State::kEnded) {
      if (IsHeld(transaction, lane) || !SendParts(index, sink, has_moved)) return false;
    }
    Unqueue(lane);
  }
  return true;
}

// Whether the transaction is not to be sent yet, because the instances are unordered.
bool Subordinate::IsHeld(const Transaction& transaction, const Lane& lane) const {
  if (transaction.next_part != 0) return false;
  if (transaction.is_long && params_.is_unordered && lane.long_writes == kMaxLongWrites) {
    return true;
  }
  if (transaction.waits_for == kNone) return false;
  const Transaction& other = transactions_[transaction.waits_for];
  return other.number == transaction.waits_for_number && other.state != State::kFree &&
         other.state != State::kEnded;
}

// Sends the commands of a transaction that are not sent. Returns false where the lane is blocked.
bool Subordinate::SendParts(uint32_t index, BurstSink& sink, bool* has_moved) {
  Transaction& transaction = transactions_[index];
  Body& body = bodies_[index];
  Lane& lane = LaneOf(transaction);
  const uint32_t parts = PartsOf(body.bytes());
  for (uint32_t part = transaction.next_part; part < parts; ++part) {
    uint8_t control[kMaxControlBytes];
    const uint32_t bytes = body.PartBytes(part);
    if (part == 0) {
      EncodeRequest(transaction.kind, transaction.number, transaction.address, bytes, control);
    } else {
      EncodeMore(Kind::kWriteMore, transaction.number, static_cast<uint8_t>(part), bytes, control);
    }
    const bool is_last = part + 1 == parts;
    const bool is_end = transaction.next_in_lane == kNone;
    const Burst burst{.to = transaction.to,
                      .controls = control,
                      .data = body.Part(part),
                      .data_bytes = bytes,
                      .count = 1,
                      .wants_completion = is_last && (is_end || lane.completions.silent() == 0),
                      .tag = transaction.number};
    if (lane.completions.Send(burst, sink) == 0) return false;
    *has_moved = true;
    if (part == 0 && transaction.is_long) ++lane.long_writes;
    transaction.next_part = static_cast<uint8_t>(part + 1);
    transaction.state = State::kSending;
  }
  transaction.state = State::kSent;
  body.BeginParts();
  return true;
}

// Removes the first transaction of the lane.
void Subordinate::Unqueue(Lane& lane) {
  const uint32_t index = lane.head;
  Transaction& transaction = transactions_[index];
  lane.head = transaction.next_in_lane;
  transaction.next_in_lane = kNone;
  transaction.is_queued = false;
  if (transaction.is_returned) Free(index);
}

// ---- Answers

void Subordinate::OnCommand(const Route& from, const uint8_t* control, uint32_t control_bytes,
                            const uint8_t* data, uint32_t data_bytes) {
  Command command;
  const Parsed parsed = ParseControl(control, control_bytes, data_bytes, &command);
  if (parsed == Parsed::kForeign || IsRequest(command.kind)) {
    ++counters_.foreign;
    return;
  }
  if (parsed == Parsed::kMalformed) {
    ++counters_.malformed;
    return;
  }
  const auto index = static_cast<uint32_t>(command.number & (transactions_.size() - 1));
  const bool is_awaited = IsAwaited(transactions_[index], command, from);
  if (!is_awaited || transactions_[index].state == State::kAbandoned) ++counters_.stray;
  if (!is_awaited) return;
  if (command.kind == Kind::kAnswerMore) {
    if (!bodies_[index].Store(command.part, data, data_bytes)) ++counters_.malformed;
    OnReadParts(index);
  } else {
    OnAnswer(index, command, data, data_bytes);
  }
}

// Whether the command belongs to the answer of an open transaction.
bool Subordinate::IsAwaited(const Transaction& transaction, const Command& command,
                            const Route& from) const {
  if (transaction.number != command.number || !transaction.has_route ||
      transaction.to.xpuid != from.xpuid || transaction.to.plane != from.plane) {
    return false;
  }
  const bool is_read = transaction.direction == Direction::kRead;
  const bool is_sent = transaction.state == State::kSent || transaction.state == State::kAbandoned;
  if (command.kind == Kind::kAnswerMore) return is_sent && is_read;
  if (command.answer.is_read != is_read || transaction.has_answer) return false;
  // The target may refuse a write of which it has not received all.
  return is_sent || (transaction.state == State::kSending && command.answer.status != Status::kOk);
}

void Subordinate::OnAnswer(uint32_t index, const Command& command, const uint8_t* data,
                           uint32_t data_bytes) {
  Transaction& transaction = transactions_[index];
  if (command.answer.status != Status::kOk) {
    End(index, command.answer.status);
    return;
  }
  Body& body = bodies_[index];
  transaction.answer = command.answer;
  transaction.has_answer = true;
  const bool is_stored = body.Store(0, data, data_bytes);
  if (is_stored && transaction.direction == Direction::kRead) {
    OnReadParts(index);
    return;
  }
  if (!is_stored || !body.ParseWriteAnswer(command.answer, transaction.user.data())) {
    ++counters_.malformed;
    End(index, Status::kMalformed);
    return;
  }
  End(index, Status::kOk);
}

void Subordinate::OnReadParts(uint32_t index) {
  Transaction& transaction = transactions_[index];
  if (!transaction.has_answer) return;
  switch (bodies_[index].ParseReadAnswer(transaction.answer, transaction.address)) {
    case Body::Whole::kNotYet:
      return;
    case Body::Whole::kComplete:
      End(index, Status::kOk);
      return;
    case Body::Whole::kMalformed:
      ++counters_.malformed;
      End(index, Status::kMalformed);
      return;
  }
}

// ---- Ends

// Ends a transaction whose request is whole, or never is sent.
void Subordinate::End(uint32_t index, Status status) {
  Transaction& transaction = transactions_[index];
  LeaveLane(transaction);
  if (transaction.state == State::kAbandoned) {
    Free(index);
    return;
  }
  transaction.state = State::kEnded;
  transaction.status = status;
  if (status != Status::kOk) {
    transaction.answer = {.response = ResponseOf(status)};
    transaction.user = {};
  }
  ++counters_.ended[static_cast<size_t>(status)];
  if (transaction.is_first) Append(ReturnsOf(transaction.direction), index);
}

// Uncounts a transaction that has not ended.
void Subordinate::LeaveLane(const Transaction& transaction) {
  if (!transaction.has_route) return;
  Lane& lane = LaneOf(transaction);
  --lane.open;
  if (transaction.is_long && transaction.next_part != 0) --lane.long_writes;
}

// Ends a transaction in any state. A write of which beats are missing ends after its last.
void Subordinate::Fail(uint32_t index, Status status) {
  Transaction& transaction = transactions_[index];
  if (transaction.state != State::kCollecting) {
    End(index, status);
  } else if (transaction.status == Status::kOk) {
    transaction.status = status;
  }
}

void Subordinate::OnCompletion(const Route& to, uint32_t number, uint8_t status) {
  if (status == SUEDE_STATUS_OK) return;
  const bool is_undelivered = IsUndelivered(status);
  for (uint32_t i = 0; i < transactions_.size(); ++i) {
    const Transaction& transaction = transactions_[i];
    if (transaction.state != State::kSent && transaction.state != State::kAbandoned) continue;
    if (transaction.to != to) continue;
    // The fate of earlier requests is unknown: they requested no completion, or theirs succeeded
    // and the answer is lost.
    const auto behind = static_cast<int32_t>(transaction.number - number);
    if (behind > 0) continue;
    const bool is_certain = (behind == 0 && is_undelivered) || IsRefusedAlways(status);
    End(i, is_certain ? Status::kUnreachable : Status::kInDoubt);
  }
}

void Subordinate::OnInterfaceLost(uint32_t interface) {
  for (uint32_t i = 0; i < transactions_.size(); ++i) {
    const Transaction& transaction = transactions_[i];
    if (transaction.state == State::kFree || transaction.state == State::kEnded) continue;
    if (!transaction.has_route || transaction.to.plane != interface) continue;
    Fail(i, transaction.next_part == 0 ? Status::kUnreachable : Status::kInDoubt);
  }
}

void Subordinate::Expire(Time now) {
  earliest_ = kNever;
  for (uint32_t i = 0; i < transactions_.size(); ++i) {
    const Transaction& transaction = transactions_[i];
    switch (transaction.state) {
      case State::kReady:
      case State::kSending:
      case State::kSent:
      case State::kAbandoned:
        if (transaction.deadline <= now) {
          End(i, Status::kTimedOut);
        } else {
          earliest_ = std::min(earliest_, transaction.deadline);
        }
        break;
      default:
        break;
    }
  }
}

}  // namespace suede::axi
