// SPDX-License-Identifier: Apache-2.0
// The client's account of credit, in lines: per {destination, VC} and aggregate. Header only, for
// client_queue.h.
#ifndef SUEDE_CLIENT_CLIENT_CREDIT_H_
#define SUEDE_CLIENT_CLIENT_CREDIT_H_

#include <algorithm>
#include <cstdint>
#include <vector>

#include "client/segment.h"

namespace suede {

class ClientCredit {
 public:
  struct Account {
    uint32_t sent = 0;   // lines handed over
    uint32_t limit = 0;  // max lines handed over, granted by Grant
    uint32_t Free() const { return limit - sent; }
  };

  ClientCredit(suede_segment* segment, uint32_t queue)
      : credits_(AtOffset<suede_credits>(segment, segment->credits[queue])),
        lines_(segment->credit_lines),
        aggregate_lines_(segment->aggregate_lines),
        accounts_(size_t{SUEDE_XPUS} * SUEDE_VCS) {}

  // `index`: of {XPU, VC}.
  Account& operator[](size_t index) { return accounts_[index]; }
  // Lines handed over, flushed or not.
  uint32_t sent() const { return sent_; }
  // Lines of them that the daemon has returned, as last read, or read from shared memory now.
  uint32_t seen_returned() const { return seen_returned_; }
  uint32_t ReadReturned() const { return LoadAcquire(credits_->aggregate_returned); }
  uint32_t AggregateFree() const { return seen_returned_ + aggregate_lines_ - sent_; }

  void Charge(Account* account, uint32_t lines) {
    account->sent += lines;
    sent_ += lines;
  }
  // Reads the returned aggregate credit.
  void ReadAggregate() { seen_returned_ = ReadReturned(); }
  // Grants {XPU, VC} lines to send before the next read of its returned credit.
  void Grant(Account* account, size_t index) {
    const uint32_t own = LoadAcquire(credits_->returned[index]) + lines_ - account->sent;
    account->limit = account->sent + std::min(own, ShareOf(index));
  }

  void Restart() {
    sent_ = 0;
    ReadAggregate();  // negative by the lines still in the daemon
    for (Account& account : accounts_) account = {.sent = 0, .limit = 0};
  }

 private:
  static constexpr uint32_t kKeptPart = 8;      // of the aggregate credit
  static constexpr uint32_t kLeftGranted = 32;  // lines

  // Further lines of the aggregate credit that {XPU, VC} may have. An XPU that sends on one VC may
  // have half of the remaining lines, without the eighth that is kept for XPUs without lines. Lines
  // of its other VCs count once, its own twice: so an XPU that stops taking lines leaves credit for
  // others, several such XPUs do, and such a VC leaves credit for the other VCs of its XPU.
  uint32_t ShareOf(size_t index) {
    const size_t first = index / SUEDE_VCS * SUEDE_VCS;
    int64_t has = 0;
    for (size_t i = first; i < first + SUEDE_VCS; ++i) {
      Account& account = accounts_[i];
      has += account.sent - LoadAcquire(credits_->returned[i]);
      // Limits the credit that its other VCs were granted and have not used yet.
      account.limit = account.sent + std::min(account.Free(), kLeftGranted);
    }
    const int64_t of_vc = accounts_[index].sent - LoadAcquire(credits_->returned[index]);
    const int64_t left = int64_t{AggregateFree()} - aggregate_lines_ / kKeptPart;
    const int64_t share = (left - has - of_vc) / 3;
    const int64_t min = SUEDE_MAX_RECORD_LINES - has;
    return static_cast<uint32_t>(std::max({share, min, int64_t{0}}));
  }

  suede_credits* credits_;
  uint32_t lines_;  // of each {XPU, VC}
  uint32_t aggregate_lines_;
  std::vector<Account> accounts_;
  uint32_t sent_ = 0;
  uint32_t seen_returned_ = 0;
};

}  // namespace suede

#endif  // SUEDE_CLIENT_CLIENT_CREDIT_H_
