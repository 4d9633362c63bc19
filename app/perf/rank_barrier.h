// SPDX-License-Identifier: Apache-2.0
// The barriers of a workload, over SUE itself: ranks tell rank 0 that they have arrived, and rank 0
// lets all go. A message may be given up while its receiver is not there yet, so arrivals are
// repeated until they are answered.
#ifndef SUEDE_APP_PERF_RANK_BARRIER_H_
#define SUEDE_APP_PERF_RANK_BARRIER_H_

#include <algorithm>
#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "perf/endpoint.h"
#include "perf/message_tags.h"
#include "perf/protocol.h"
#include "perf/rank_plan.h"

namespace suede::perf {

// Owned by one thread.
template <PerfEndpoint E>
class RankBarrier {
 public:
  // `nonce`: a random number of the process.
  RankBarrier(E& endpoint, const RankPlan& plan, uint32_t nonce)
      : endpoint_(endpoint),
        plan_(plan),
        nonce_(nonce),
        tags_(endpoint.completion_limit()),
        members_(leads() ? plan.xpuids.size() : 0) {}

  bool leads() const { return plan_.rank == 0; }

  // ---- Each rank.

  // The rank waits at barrier `number`: Take has the answer, once.
  void Arrive(uint32_t number, Time now) {
    barrier_ = number;
    release_.reset();
    if (leads())
      members_[0].at = number + 1;
    else
      Say(now);
  }
  // Beside the next barrier's: its sums, until rank 0 lets it leave.
  void SendAccount(const Account& account, Time now) {
    account_ = account;
    release_.reset();
    ++barrier_;
    if (leads())
      OnAccount(0, account);
    else
      Say(now);
  }
  std::optional<Release> Take() { return std::exchange(release_, std::nullopt); }

  // A message of the barrier's came from rank `source`; others are ignored.
  void OnMessage(uint32_t source, const Message& message, const ReceivedCommand& command) {
    if (message.code == Code::kGo && source == 0 && message.run == nonce_) {
      const auto release = DecodeRelease(command.data, command.data_bytes);
      if (release && release->barrier == barrier_) release_ = release;
    } else if (leads() && source != 0 && message.code == Code::kArrive) {
      const auto arrival = DecodeArrival(command.data, command.data_bytes);
      if (arrival) OnArrival(source, message.run, arrival->barrier);
    } else if (leads() && source != 0 && message.code == Code::kAccount) {
      const auto account = DecodeAccount(command.data, command.data_bytes);
      if (account && members_[source].nonce == message.run) OnAccount(source, *account);
    }
  }

  // Sends what waits. `waiting`: the rank has arrived and was not answered yet.
  bool Step(bool waiting, Time now) {
    if (waiting && !leads() && now - said_ > kSayAgain) Say(now);
    bool worked = false;
    for (; !outbox_.empty(); outbox_.pop_front(), worked = true) {
      if (!Send(outbox_.front())) break;
    }
    if (worked) endpoint_.Flush();
    return worked;
  }
  // Whether everything was sent, and, of rank 0, heard.
  bool IsQuiet() const { return outbox_.empty() && (!leads() || tags_.outstanding() == 0); }
  MessageTags& tags() { return tags_; }

  // ---- Rank 0.

  bool AllAt(uint32_t number) const {
    return std::all_of(members_.begin(), members_.end(),
                       [&](const Member& m) { return m.at > number; });
  }
  // The first rank that is not there; for a message.
  uint32_t FirstMissing(uint32_t number) const {
    uint32_t rank = 0;
    while (rank + 1 < members_.size() && members_[rank].at > number) ++rank;
    return rank;
  }
  void ReleaseAll(const Release& release) {
    last_ = release;
    for (uint32_t rank = 1; rank < members_.size(); ++rank) Answer(rank);
    release_ = release;
  }
  bool HasAllAccounts() const {
    return std::all_of(members_.begin(), members_.end(),
                       [](const Member& m) { return m.has_account; });
  }
  const Account& sum() const { return sum_; }

 private:
  static constexpr Duration kSayAgain = std::chrono::milliseconds(500);
  // Rank 0's knowledge of a rank.
  struct Member {
    uint32_t at = 0;  // barriers that it has arrived at
    uint32_t nonce = 0;
    bool has_account = false;
  };
  struct Letter {
    uint32_t rank;
    EncodedMessage message;
  };

  void Say(Time now) {
    said_ = now;
    // The one before that has not even been sent is no use any more.
    outbox_.clear();
    outbox_.push_back({0, account_ ? EncodeAccount(nonce_, *account_)
                                   : EncodeArrive(nonce_, {.barrier = barrier_})});
  }

  void OnArrival(uint32_t rank, uint32_t nonce, uint32_t barrier) {
    Member& member = members_[rank];
    if (barrier == 0) member.nonce = nonce;
    if (member.nonce != nonce) return;  // of a process before
    // The rank repeats its arrival: its release was lost, or the others are late. Then repeating
    // the last release is a sign of life.
    if (member.at > barrier && last_) Answer(rank);
    member.at = std::max(member.at, barrier + 1);
  }
  void OnAccount(uint32_t rank, const Account& account) {
    Member& member = members_[rank];
    if (!member.has_account) sum_.Add(account);
    member.has_account = true;
    if (last_ && last_->next == Next::kLeave && rank != 0) Answer(rank);
  }
  void Answer(uint32_t rank) { outbox_.push_back({rank, EncodeGo(members_[rank].nonce, *last_)}); }

  bool Send(const Letter& letter) {
    const bool tagged = leads() && tags_.HasRoom();
    const SendResult result =
        endpoint_.Send({.xpuid = plan_.xpuids[letter.rank],
                        .vc = plan_.vcs[0],
                        .flags = static_cast<uint8_t>(SUEDE_RECORD_TRANSMIT_NOW |
                                                      (tagged ? SUEDE_RECORD_COMPLETION : 0)),
                        .tag = MessageTags::kTag,
                        .control = letter.message.control,
                        .data = letter.message.data},
                       0);
    if (result == SendResult::kOk && tagged) tags_.OnSent();
    // A rank that the endpoint does not know never arrives; that is told elsewhere.
    return result == SendResult::kOk || result == SendResult::kInvalid;
  }

  E& endpoint_;
  const RankPlan& plan_;
  const uint32_t nonce_;
  MessageTags tags_;
  uint32_t barrier_ = 0;
  Time said_{};
  std::optional<Release> release_;  // the answer to this rank
  std::optional<Release> last_;     // rank 0's to all
  std::optional<Account> account_;
  std::deque<Letter> outbox_;
  std::vector<Member> members_;
  Account sum_;
};

}  // namespace suede::perf

#endif  // SUEDE_APP_PERF_RANK_BARRIER_H_
