// SPDX-License-Identifier: Apache-2.0
// The daemon's reader of the transmit side of the command interface (SUE framework §3.2.1 Table 1).
//
// One TxRingReader per client queue, owned by the lcore that serves the queue's instance.
#ifndef SUEDE_CLIENT_TX_RING_H_
#define SUEDE_CLIENT_TX_RING_H_

#include <algorithm>
#include <cstdint>
#include <vector>

#include "base/sue.h"
#include "client/command_source.h"
#include "client/segment.h"
#include "client/tx_record.h"

namespace suede {

class TxRingReader {
 public:
  TxRingReader() = default;
  TxRingReader(void* segment, const SegmentShape& shape, uint32_t queue);

  // Reads up to `max` new records, as runs; returns the number of runs. Malformed records have
  // their verdict, and take one line. Reads max 2 * `max` lines without records.
  uint32_t Poll(TxRecord* runs, uint32_t max);

  // Returns the lines of all records polled so far to the client; the records must have been
  // copied.
  void Release() {
    if (taken_ != released_) StoreRelease(ring_->tail.value, released_ = taken_);
  }

  // Whether the client's index was invalid; Poll then returns no more records.
  bool broken() const { return broken_; }

  // Whether records wait that Poll has not returned.
  bool HasWork() const { return !broken_ && LoadAcquire(ring_->head.value) != taken_; }

  // Lines that the client claims to have handed over and Poll has not returned; for reports.
  uint32_t Waiting() const {
    return broken_ ? 0 : std::min(LoadAcquire(ring_->head.value) - taken_, line_count_);
  }

  // Starts over at line 0, for a reset that the client has requested: it does not access the ring
  // meanwhile. Unread records are lost, so a caller that has to complete them polls them first.
  void Restart();

 private:
  // Reads the head if the cached head may give fewer than `max` records; returns the lines that may
  // be read.
  uint32_t Available(uint32_t max);

  suede_ring* ring_ = nullptr;
  const uint8_t* lines_ = nullptr;
  uint32_t line_count_ = 0;
  uint32_t head_ = 0;      // the last value read that was possible
  uint32_t taken_ = 0;     // returned by Poll
  uint32_t released_ = 0;  // as stored in the ring's tail
  bool broken_ = false;
};

static_assert(CommandSource<TxRingReader>);

// Returns the credit for the lines of one queue to its client.
class CreditWriter {
 public:
  CreditWriter() = default;
  CreditWriter(void* segment, const SegmentShape& shape, uint32_t queue);

  // Takes credit for `count` records of `lines` lines each to {xpuid, vc} from the ring. Returns
  // for how many records the client had credit, and counts these: the rest is to be discarded
  // (NO_CREDIT), without a return of credit.
  uint32_t Take(uint16_t xpuid, uint8_t vc, uint32_t lines, uint32_t count = 1);

  // `lines` lines to {xpuid, vc} have left the daemon's buffers.
  void Return(uint16_t xpuid, uint8_t vc, uint32_t lines);

  // Restarts the counts, for a reset that the client has requested: lines taken and not returned
  // are missing from the client's credit until their return.
  void Restart();

  // Lines taken and not returned.
  uint32_t outstanding() const { return aggregate_outstanding_; }
  // Lines to one XPU that were taken and not returned.
  uint32_t OutstandingTo(uint16_t xpuid) const {
    uint32_t lines = 0;
    for (uint32_t vc = 0; vc < SUEDE_VCS; ++vc) {
      const Account& account = accounts_[size_t{xpuid} * SUEDE_VCS + vc];
      lines += account.outstanding;
    }
    return lines;
  }

 private:
  struct Account {
    uint32_t returned = 0;     // as stored in the segment, which is never read
    uint32_t outstanding = 0;  // taken and not returned
  };

  suede_credits* credits_ = nullptr;
  uint32_t credit_lines_ = 0;
  uint32_t aggregate_lines_ = 0;
  uint32_t aggregate_returned_ = 0;
  uint32_t aggregate_outstanding_ = 0;
  std::vector<Account> accounts_;
};

// Reports completions of one queue's tagged commands to its client.
class CompletionWriter {
 public:
  CompletionWriter() = default;
  CompletionWriter(void* segment, const SegmentShape& shape, uint32_t queue);
  // Adds a completion. Returns false if the ring is full: the client has more outstanding tags than
  // entries.
  bool Push(uint64_t tag, uint16_t xpuid, uint8_t vc, uint8_t status);
  // Publishes the pushed entries to the client.
  void Publish() {
    if (head_ != published_) StoreRelease(ring_->head.value, published_ = head_);
  }

 private:
  suede_ring* ring_ = nullptr;
  suede_completion* entries_ = nullptr;
  uint32_t count_ = 0;
  uint32_t head_ = 0;
  uint32_t published_ = 0;
  uint32_t tail_ = 0;  // as last read
};

}  // namespace suede

#endif  // SUEDE_CLIENT_TX_RING_H_
