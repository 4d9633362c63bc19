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
  while (!lane.queue.is_empty()) {
    Transaction& transaction = *lane.queue.first();
    if (transaction.state != State::kEnded) {
      if (IsHeld(transaction, lane) || !SendParts(transaction, sink, has_moved)) return false;
    }
    lane.queue.TakeFirst();
    transaction.is_queued = false;
    if (transaction.is_returned) Free(transaction);
  }
  return true;
}

// Whether the transaction is not to be sent yet, because the instances are unordered.
bool Subordinate::IsHeld(const Transaction& transaction, const Lane& lane) const {
  if (transaction.next_part != 0) return false;
  if (transaction.is_long && params_.is_unordered && lane.long_writes == kMaxLongWrites) {
    return true;
  }
  const Transaction* const other = transaction.waits_for;
  return other != nullptr && other->number == transaction.waits_for_number &&
         other->state != State::kFree && other->state != State::kEnded;
}

// Sends the commands of a transaction that are not sent. Returns false where the lane is blocked.
bool Subordinate::SendParts(Transaction& transaction, BurstSink& sink, bool* has_moved) {
  Body& body = *transaction.body;
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
    const bool is_end = transaction.next_in_lane == nullptr;
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
  Transaction& transaction = transactions_[IndexOf(command.number)];
  const bool is_awaited = IsAwaited(transaction, command, from);
  if (!is_awaited || transaction.state == State::kAbandoned) ++counters_.stray;
  if (!is_awaited) return;
  if (command.kind == Kind::kAnswerMore) {
    if (!transaction.body->Store(command.part, data, data_bytes)) ++counters_.malformed;
    OnReadParts(transaction);
  } else {
    OnAnswer(transaction, command, data, data_bytes);
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

void Subordinate::OnAnswer(Transaction& transaction, const Command& command, const uint8_t* data,
                           uint32_t data_bytes) {
  if (command.answer.status != Status::kOk) {
    End(transaction, command.answer.status);
    return;
  }
  Body& body = *transaction.body;
  transaction.answer = command.answer;
  transaction.has_answer = true;
  const bool is_stored = body.Store(0, data, data_bytes);
  if (is_stored && transaction.direction == Direction::kRead) {
    OnReadParts(transaction);
    return;
  }
  if (!is_stored || !body.ParseWriteAnswer(command.answer, transaction.user.data())) {
    ++counters_.malformed;
    End(transaction, Status::kMalformed);
    return;
  }
  End(transaction, Status::kOk);
}

void Subordinate::OnReadParts(Transaction& transaction) {
  if (!transaction.has_answer) return;
  switch (transaction.body->ParseReadAnswer(transaction.answer, transaction.address)) {
    case Body::Whole::kNotYet:
      return;
    case Body::Whole::kComplete:
      End(transaction, Status::kOk);
      return;
    case Body::Whole::kMalformed:
      ++counters_.malformed;
      End(transaction, Status::kMalformed);
      return;
  }
}

// ---- Ends

// Ends a transaction whose request is whole, or never is sent.
void Subordinate::End(Transaction& transaction, Status status) {
  LeaveLane(transaction);
  if (transaction.state == State::kAbandoned) {
    Free(transaction);
    return;
  }
  transaction.state = State::kEnded;
  transaction.status = status;
  if (status != Status::kOk) {
    transaction.answer = {.response = ResponseOf(status)};
    transaction.user = {};
  }
  ++counters_.ended[static_cast<size_t>(status)];
  if (transaction.is_first) ReturnsOf(transaction.direction).Append(&transaction);
}

// Uncounts a transaction that has not ended.
void Subordinate::LeaveLane(const Transaction& transaction) {
  if (!transaction.has_route) return;
  Lane& lane = LaneOf(transaction);
  --lane.open;
  if (transaction.is_long && transaction.next_part != 0) --lane.long_writes;
}

// Ends a transaction in any state. A write of which beats are missing ends after its last.
void Subordinate::Fail(Transaction& transaction, Status status) {
  if (transaction.state != State::kCollecting) {
    End(transaction, status);
  } else if (transaction.status == Status::kOk) {
    transaction.status = status;
  }
}

void Subordinate::OnCompletion(const Route& to, uint32_t number, uint8_t status) {
  if (status == SUEDE_STATUS_OK) return;
  const bool is_undelivered = IsUndelivered(status);
  for (Transaction& transaction : transactions_) {
    if (transaction.state != State::kSent && transaction.state != State::kAbandoned) continue;
    if (transaction.to != to) continue;
    // The fate of earlier requests is unknown: they requested no completion, or theirs succeeded
    // and the answer is lost.
    const auto behind = static_cast<int32_t>(transaction.number - number);
    if (behind > 0) continue;
    const bool is_certain = (behind == 0 && is_undelivered) || IsRefusedAlways(status);
    End(transaction, is_certain ? Status::kUnreachable : Status::kInDoubt);
  }
}

void Subordinate::OnInterfaceLost(uint32_t interface) {
  for (Transaction& transaction : transactions_) {
    if (transaction.state == State::kFree || transaction.state == State::kEnded) continue;
    if (!transaction.has_route || transaction.to.plane != interface) continue;
    Fail(transaction, transaction.next_part == 0 ? Status::kUnreachable : Status::kInDoubt);
  }
}

void Subordinate::Expire(Time now) {
  earliest_ = kNever;
  for (Transaction& transaction : transactions_) {
    switch (transaction.state) {
      case State::kReady:
      case State::kSending:
      case State::kSent:
      case State::kAbandoned:
        if (transaction.deadline <= now) {
          End(transaction, Status::kTimedOut);
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
