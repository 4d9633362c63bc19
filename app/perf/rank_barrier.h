// SPDX-License-Identifier: Apache-2.0
// Barriers of a workload, by messages over SUE: ranks send arrivals to rank 0, which releases all.
// The endpoint may drop messages to a receiver that has not started, so arrivals are repeated until
// the release.
#ifndef SUEDE_APP_PERF_RANK_BARRIER_H_
#define SUEDE_APP_PERF_RANK_BARRIER_H_

#include <algorithm>
#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "perf/completion_tags.h"
#include "perf/endpoint.h"
#include "perf/protocol.h"
#include "perf/rank_plan.h"

namespace suede::perf {

// Not thread-safe.
template <PerfEndpoint E>
class RankBarrier {
 public:
  // `nonce`: random number of the process.
  RankBarrier(E& endpoint, const RankPlan& plan, uint32_t nonce)
      : endpoint_(endpoint),
        plan_(plan),
        nonce_(nonce),
        tags_(CompletionTags::ForMessages(endpoint.completion_limit())),
        members_(leads() ? plan.xpuids.size() : 0) {}

  bool leads() const { return plan_.rank == 0; }

  // ---- Each rank.

  // Begins to wait at barrier `number`. Take returns the release, once.
  void Arrive(uint32_t number, Time now) {
    barrier_ = number;
    release_.reset();
    if (leads())
      members_[0].at = number + 1;
    else
      SendArrival(now);
  }
  // Sends the rank's sums as its arrival at the next barrier, until rank 0 releases it.
  void SendAccount(const Account& account, Time now) {
    account_ = account;
    release_.reset();
    ++barrier_;
    if (leads())
      OnAccount(0, account);
    else
      SendArrival(now);
  }
  std::optional<Release> Take() { return std::exchange(release_, std::nullopt); }

  // Processes a message from rank `source`. Ignores messages of other protocols.
  void OnMessage(uint32_t source, const Message& message, const ReceivedCommand& command) {
    if (message.code == Code::kGo && source == 0 && message.run == nonce_) {
      const auto release = DecodeRelease(command.data, command.data_bytes);
      if (release && release->barrier == barrier_) release_ = release;
    } else if (leads() && source != 0 && message.code == Code::kArrive) {
      const auto arrival = DecodeArrival(command.data, command.data_bytes);
      if (arrival) OnArrival(source, message, arrival->barrier);
    } else if (leads() && source != 0 && message.code == Code::kAccount) {
      const auto account = DecodeAccount(command.data, command.data_bytes);
      if (account && members_[source].nonce == message.run) OnAccount(source, *account);
    }
  }

  // Sends pending messages. `waiting`: the rank has arrived and is not released. Returns whether
  // anything was sent.
  bool Step(bool waiting, Time now) {
    if (waiting && !leads() && now - arrival_sent_ > kRetryInterval) SendArrival(now);
    bool worked = false;
    for (; !queue_.empty(); queue_.pop_front(), worked = true) {
      if (!Send(queue_.front())) break;
    }
    if (worked) endpoint_.Flush();
    return worked;
  }
  // Whether everything was sent and, on rank 0, acknowledged.
  bool IsQuiet() const { return queue_.empty() && (!leads() || tags_.outstanding() == 0); }
  CompletionTags& tags() { return tags_; }

  // ---- Rank 0.

  bool AllAt(uint32_t number) const {
    return std::all_of(members_.begin(), members_.end(),
                       [&](const Member& m) { return m.at > number; });
  }
  // Returns the first rank that has not arrived, for an error message.
  uint32_t FirstMissing(uint32_t number) const {
    uint32_t rank = 0;
    while (rank + 1 < members_.size() && members_[rank].at > number) ++rank;
    return rank;
  }
  void ReleaseAll(const Release& release) {
    last_ = release;
    for (uint32_t rank = 1; rank < members_.size(); ++rank) SendRelease(rank);
    release_ = release;
  }
  bool HasAllAccounts() const {
    return std::all_of(members_.begin(), members_.end(),
                       [](const Member& m) { return m.has_account; });
  }
  const Account& sum() const { return sum_; }

 private:
  static constexpr Duration kRetryInterval = std::chrono::milliseconds(500);
  // State of a rank, on rank 0.
  struct Member {
    uint32_t at = 0;  // number of barriers that it has reached
    uint32_t nonce = 0;
    bool has_account = false;
  };
  struct QueuedMessage {
    uint32_t rank;
    EncodedMessage message;
  };

  void SendArrival(Time now) {
    arrival_sent_ = now;
    // Drops an unsent earlier message, which is obsolete.
    queue_.clear();
    queue_.push_back({0, account_ ? EncodeAccount(nonce_, *account_)
                                  : EncodeArrive(nonce_, {.barrier = barrier_})});
  }

  void OnArrival(uint32_t rank, const Message& message, uint32_t barrier) {
    Member& member = members_[rank];
    if (barrier == 0) member.nonce = message.run;
    if (member.nonce != message.run) return;  // message of an earlier process
    // A repeated arrival means that the release was lost, or that other ranks are late. Repeats the
    // last release, at least as a sign of life.
    if (member.at > barrier && last_) SendRelease(rank);
    member.at = std::max(member.at, barrier + 1);
  }
  void OnAccount(uint32_t rank, const Account& account) {
    Member& member = members_[rank];
    if (!member.has_account) sum_.Add(account);
    member.has_account = true;
    if (last_ && last_->next == Next::kLeave && rank != 0) SendRelease(rank);
  }
  void SendRelease(uint32_t rank) {
    queue_.push_back({rank, EncodeGo(members_[rank].nonce, *last_)});
  }

  bool Send(const QueuedMessage& queued) {
    const bool tagged = leads() && tags_.HasRoom();
    const SendResult result =
        endpoint_.Send({.xpuid = plan_.xpuids[queued.rank],
                        .vc = plan_.vcs[0],
                        .flags = static_cast<uint8_t>(SUEDE_RECORD_TRANSMIT_NOW |
                                                      (tagged ? SUEDE_RECORD_COMPLETION : 0)),
                        .tag = CompletionTags::kMessage,
                        .control = queued.message.control,
                        .data = queued.message.data},
                       0);
    if (result == SendResult::kOk && tagged) tags_.OnSent();
    // kInvalid: the endpoint has no such peer. That rank never arrives, which the timeout reports.
    return result == SendResult::kOk || result == SendResult::kInvalid;
  }

  E& endpoint_;
  const RankPlan& plan_;
  const uint32_t nonce_;
  CompletionTags tags_;
  uint32_t barrier_ = 0;
  Time arrival_sent_{};
  std::optional<Release> release_;  // received release of this rank
  std::optional<Release> last_;     // rank 0: last release sent to all
  std::optional<Account> account_;
  std::deque<QueuedMessage> queue_;
  std::vector<Member> members_;
  Account sum_;
};

}  // namespace suede::perf

#endif  // SUEDE_APP_PERF_RANK_BARRIER_H_
