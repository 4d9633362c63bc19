// SPDX-License-Identifier: Apache-2.0
// The SoC's side: accepts transfers and returns answers. subordinate_network.cc has the network's.
#include "axi/subordinate.h"

#include <cstdlib>
#include <cstring>
#include <utility>

namespace suede::axi {

Subordinate::Subordinate(const SubordinateParams& params, AddressMap map)
    : params_(params),
      map_(std::move(map)),
      aw_(params.address_places),
      w_(params.beat_places),
      ar_(params.address_places),
      b_(params.address_places),
      r_(params.beat_places),
      transactions_(params.transactions),
      bodies_(params.transactions),
      lanes_(params.interfaces * kMaxXpus),
      active_(params.interfaces * kMaxXpus),
      ids_(params.transactions),
      next_number_(params.first_number) {}

bool Subordinate::Pump(BurstSink& sink, Time now) {
  bool has_moved = false;
  if (now >= earliest_) Expire(now);
  has_moved |= AcceptWrites(now);
  has_moved |= AcceptReads(now);
  active_.ServeEach([&](uint32_t lane) { return PumpLane(lane, sink, &has_moved); });
  active_.Rotate();
  has_moved |= ReturnB();
  has_moved |= ReturnR();
  return has_moved;
}

// ---- Accepting

bool Subordinate::AcceptWrites(Time now) {
  bool has_moved = false;
  for (;;) {
    if (collecting_ == nullptr) {
      const Address* const address = aw_.front();
      if (address == nullptr) return has_moved;
      collecting_ = Accept(Direction::kWrite, *address);
      if (collecting_ == nullptr) return has_moved;
      aw_.Pop();
      ++counters_.writes;
      has_moved = true;
    }
    const WriteBeat* const beat = w_.front();
    if (beat == nullptr) return has_moved;
    CollectBeat(*collecting_, *beat, now);
    w_.Pop();
    has_moved = true;
  }
}

bool Subordinate::AcceptReads(Time now) {
  bool has_moved = false;
  for (; const Address* const address = ar_.front(); has_moved = true) {
    Transaction* const transaction = Accept(Direction::kRead, *address);
    if (transaction == nullptr) break;
    ar_.Pop();
    ++counters_.reads;
    if (transaction->status != Status::kOk) {
      End(*transaction, transaction->status);
      continue;
    }
    transaction->body->FinishRead(transaction->address);
    Queue(*transaction, now);
  }
  return has_moved;
}

// Opens a transaction. Returns it; null: there is no place for it now. A transaction that cannot
// be sent has a status other than kOk.
Subordinate::Transaction* Subordinate::Accept(Direction direction, const Address& address) {
  if (open_ == params_.transactions) return nullptr;
  Status status = Status::kOk;
  Route to;
  uint64_t remote = address.address;
  if (FindViolation(address, params_.bus_bytes) != nullptr) {
    status = Status::kInvalid;
  } else if (const std::optional<Place> place = map_.Find(address)) {
    to = {.xpuid = place->xpuid, .plane = place->interface, .vc = params_.request_vc};
    remote = place->address;
  } else {
    status = Status::kNoRoute;
  }
  Lane& lane = lanes_[LaneIndex(to)];
  if (status == Status::kOk && lane.open == params_.transactions_to_target) return nullptr;
  while (transactions_[IndexOf(next_number_)].state != State::kFree) ++next_number_;
  const uint32_t index = IndexOf(next_number_);
  Transaction& transaction = transactions_[index];
  transaction = {.state = State::kCollecting,
                 .direction = direction,
                 .status = status,
                 .has_route = status == Status::kOk,
                 .number = next_number_++,
                 .body = &bodies_[index],
                 .address = address,
                 .to = to};
  transaction.address.address = remote;
  ++open_;
  if (transaction.has_route) ++lane.open;
  JoinId(transaction);
  if (direction == Direction::kWrite) transaction.body->Begin(transaction.address);
  return &transaction;
}

// Appends the transaction to those of its {ID, direction}. With unordered instances it waits for
// the last one of these that goes to the same target.
void Subordinate::JoinId(Transaction& transaction) {
  const uint64_t key = KeyOf(transaction.direction, transaction.address.id);
  OfId* const others = ids_.Find(key);
  if (others == nullptr) {
    transaction.is_first = true;
    OfId own;
    own.Append(&transaction);
    ids_.Insert(key, own);
    return;
  }
  if (params_.is_unordered && transaction.has_route) {
    for (const Transaction* each = others->first(); each != nullptr; each = each->next_of_id) {
      if (!each->has_route || each->to != transaction.to || each->state == State::kEnded) continue;
      transaction.waits_for = each;
      transaction.waits_for_number = each->number;
    }
  }
  others->Append(&transaction);
}

void Subordinate::CollectBeat(Transaction& transaction, const WriteBeat& beat, Time now) {
  Body& body = *transaction.body;
  if (transaction.status == Status::kOk) {
    body.AddBeat(beat, params_.bus_bytes);
    const bool is_last = body.beats() == BeatsOf(transaction.address);
    if (is_last != (beat.last != 0)) transaction.status = Status::kInvalid;
  }
  if (beat.last == 0) return;
  collecting_ = nullptr;
  if (transaction.status != Status::kOk) {
    End(transaction, transaction.status);
    return;
  }
  transaction.kind = body.FinishWrite(params_.write_user_bytes);
  transaction.is_long = PartsOf(body.bytes()) > 1;
  Queue(transaction, now);
}

void Subordinate::Queue(Transaction& transaction, Time now) {
  transaction.state = State::kReady;
  transaction.deadline = now + params_.deadline;
  transaction.is_queued = true;
  earliest_ = std::min(earliest_, transaction.deadline);
  LaneOf(transaction).queue.Append(&transaction);
  active_.Append(LaneIndex(transaction.to));
}

// ---- Returning

bool Subordinate::ReturnB() {
  Returns& returns = ReturnsOf(Direction::kWrite);
  bool has_moved = false;
  for (; !returns.is_empty(); has_moved = true) {
    const Transaction& transaction = *returns.first();
    const WriteResponse response{.user = {transaction.user[0], transaction.user[1]},
                                 .id = transaction.address.id,
                                 .response = transaction.answer.response};
    if (!b_.Send(response)) break;
    Release(returns);
  }
  return has_moved;
}

bool Subordinate::ReturnR() {
  Returns& returns = ReturnsOf(Direction::kRead);
  bool has_moved = false;
  for (; !returns.is_empty() && r_.credit() != 0; has_moved = true) {
    const Transaction& transaction = *returns.first();
    r_.Send(BeatOf(transaction, beats_returned_));
    if (++beats_returned_ < BeatsOf(transaction.address)) continue;
    beats_returned_ = 0;
    Release(returns);
  }
  return has_moved;
}

ReadBeat Subordinate::BeatOf(const Transaction& transaction, uint32_t number) const {
  const Address& address = transaction.address;
  ReadBeat beat{};
  beat.id = address.id;
  beat.last = number == address.len ? 1 : 0;
  beat.response = transaction.answer.response;
  if (transaction.status != Status::kOk) return beat;
  const Body& body = *transaction.body;
  beat.response = body.BeatResponse(number, transaction.answer.response);
  beat.user = body.BeatUser(number);
  const uint32_t bytes = BeatBytes(address, number);
  const uint64_t lane = BeatAddress(address, number) & (params_.bus_bytes - 1);
  std::memcpy(beat.data + lane, body.data() + BeatOffset(address, number), bytes);
  return beat;
}

// Removes the first of the transactions to return: its answer is in the channel.
void Subordinate::Release(Returns& returns) {
  Transaction& transaction = *returns.TakeFirst();
  const uint64_t key = KeyOf(transaction.direction, transaction.address.id);
  Transaction* const next = transaction.next_of_id;
  if (next == nullptr) {
    ids_.Erase(key);
  } else {
    ids_.Find(key)->TakeFirst();
    next->is_first = true;
    if (next->state == State::kEnded) returns.Append(next);
  }
  transaction.is_returned = true;
  if (!transaction.is_queued) Free(transaction);
}

void Subordinate::Free(Transaction& transaction) {
  transaction.state = State::kFree;
  --open_;
}

void Subordinate::Reset() {
  aw_.Clear();
  w_.Clear();
  ar_.Clear();
  b_.Clear();
  r_.Clear();
  for (Lane& lane : lanes_) lane.queue.Clear();
  ids_.Clear();
  returns_ = {};
  collecting_ = nullptr;
  beats_returned_ = 0;
  for (Transaction& transaction : transactions_) {
    if (transaction.state == State::kFree || transaction.state == State::kAbandoned) continue;
    if (!transaction.is_returned) ++counters_.abandoned;
    if (transaction.state == State::kSent) {
      transaction.state = State::kAbandoned;
      continue;
    }
    if (transaction.state != State::kEnded) LeaveLane(transaction);
    Free(transaction);
  }
}

void Subordinate::CheckInvariants() const {
  const auto check = [](bool holds) {
    if (!holds) std::abort();
  };
  std::vector<uint32_t> open_to(lanes_.size());
  std::vector<uint32_t> long_writes(lanes_.size());
  uint32_t open = 0;
  uint32_t first = 0;
  for (uint32_t i = 0; i < transactions_.size(); ++i) {
    const Transaction& transaction = transactions_[i];
    if (transaction.state == State::kFree) continue;
    ++open;
    check(IndexOf(transaction.number) == i);
    check((transaction.state == State::kCollecting) == (collecting_ == &transaction));
    check(!transaction.is_returned ||
          (transaction.state == State::kEnded && transaction.is_queued));
    if (transaction.is_first && !transaction.is_returned &&
        transaction.state != State::kAbandoned) {
      ++first;
    }
    const uint32_t lane = LaneIndex(transaction.to);
    if (transaction.has_route && transaction.state != State::kEnded) {
      ++open_to[lane];
      if (transaction.is_long && transaction.next_part != 0) ++long_writes[lane];
    }
  }
  check(open == open_ && first == ids_.size());
  for (uint32_t i = 0; i < lanes_.size(); ++i) {
    check(lanes_[i].open == open_to[i] && lanes_[i].long_writes == long_writes[i]);
    check(lanes_[i].queue.is_empty() || active_.Contains(i));
  }
}

}  // namespace suede::axi
