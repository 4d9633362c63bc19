// SPDX-License-Identifier: Apache-2.0
// The client's half of a queue: libsuede wraps it, and programs that host the endpoint
// themselves use it directly. Header only, so that the ring is inlined into them.
//
// One thread per ClientQueue. client_receiver.h is the other direction.
#ifndef SUEDE_CLIENT_CLIENT_QUEUE_H_
#define SUEDE_CLIENT_CLIENT_QUEUE_H_

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

#include "client/client_receiver.h"
#include "client/segment.h"

namespace suede {

struct ClientCommand {
  uint16_t xpuid = 0;
  uint8_t vc = 0;
  uint8_t flags = 0;  // SUEDE_RECORD_…
  uint64_t tag = 0;
  const uint8_t* control = nullptr;  // its first two bytes say how long control and data are
  const uint8_t* data = nullptr;
};

enum class SendResult : uint8_t {
  kOk,
  kWouldBlock,  // no credit, no room in the ring, or no room for the completion
  kInvalid,
  kInReset,
  kBroken,  // the daemon has stopped serving the queue: only a reset brings it back
};

// Credit in lines: per {destination, VC} and aggregate.
class ClientQueue {
 public:
  ClientQueue(void* segment, uint32_t queue)
      : segment_(static_cast<suede_segment*>(segment)),
        state_(&segment_->queue_state[queue].value),
        tx_(AtOffset<suede_ring>(segment, segment_->tx_ring[queue])),
        lines_(AtOffset<uint8_t>(segment, segment_->tx_ring[queue] + sizeof(suede_ring))),
        completions_(AtOffset<suede_ring>(segment, segment_->completion_ring[queue])),
        entries_(AtOffset<suede_completion>(segment,
                                            segment_->completion_ring[queue] + sizeof(suede_ring))),
        credits_(AtOffset<suede_credits>(segment, segment_->credits[queue])),
        line_count_(segment_->tx_lines),
        completion_count_(segment_->completion_count),
        credit_lines_(segment_->credit_lines),
        aggregate_lines_(segment_->aggregate_lines),
        accounts_(size_t{SUEDE_XPUS} * SUEDE_VCS) {}

  // Copies the command into the ring. It is not visible to the daemon before Flush; where the
  // command would block, Send flushes, as nothing could move otherwise.
  [[gnu::always_inline]] SendResult Send(const ClientCommand& command) {
    const uint32_t type = command.control[0];
    const uint32_t length = command.control[1];
    const uint32_t control_bytes = (type & 0x0f) * 2;
    const uint32_t has_data = (type >> 4) & 1;
    const uint32_t data_bytes = (length + 1) & (0u - has_data);
    // The command's destination and its flags, together: one branch for all their errors.
    const uint32_t address = uint32_t{command.vc} << 8 | uint32_t{command.xpuid} << 16;
    if (((address & kNoAddress) | (command.flags & kNoFlags)) != 0 || control_bytes - 2 > 16 ||
        (has_data != 0 && command.data == nullptr)) [[unlikely]] {
      return SendResult::kInvalid;
    }
    const uint32_t lines =
        (SUEDE_RECORD_CONTROL + control_bytes + data_bytes + SUEDE_LINE_BYTES - 1) /
        SUEDE_LINE_BYTES;
    const uint32_t tagged = (command.flags / SUEDE_RECORD_COMPLETION) & 1;
    const size_t index = size_t{command.xpuid} * SUEDE_VCS + command.vc;
    Account& account = accounts_[index];
    const uint32_t start = head_ & (line_count_ - 1);
    const uint32_t padding = start + lines > line_count_ ? line_count_ - start : 0;
    const uint32_t state = LoadRelaxed(*state_);
    if (state != SUEDE_QUEUE_READY) [[unlikely]]
      return Refuse(state);
    if (account.Free() < lines || room_ < padding + lines || tagged_ + tagged > completion_count_)
        [[unlikely]] {
      ReadReturns(&account, index);
      if (account.Free() < lines || room_ < padding + lines ||
          tagged_ + tagged > completion_count_) {
        Flush();
        return SendResult::kWouldBlock;
      }
    }
    if (padding != 0) [[unlikely]] {
      lines_[size_t{start} * SUEDE_LINE_BYTES] = SUEDE_KIND_NONE;
      head_ += padding;
    }
    Write(command, address | (SUEDE_KIND_COMMAND + has_data), control_bytes, data_bytes);
    head_ += lines;
    room_ -= padding + lines;
    account.sent += lines;
    sent_ += lines;
    tagged_ += tagged;
    return SendResult::kOk;
  }

  void Flush() {
    if (head_ != published_) StoreRelease(tx_->head.value, published_ = head_);
  }

  // Takes up to `max` completions.
  uint32_t PollCompletions(suede_completion* out, uint32_t max) {
    uint32_t available = completion_head_ - completion_tail_;
    if (available < max) {
      completion_head_ = LoadAcquire(completions_->head.value);
      available = completion_head_ - completion_tail_;
      if (available == 0) return 0;
    }
    const uint32_t count = available < max ? available : max;
    for (uint32_t i = 0; i < count; ++i) {
      out[i] = entries_[(completion_tail_ + i) & (completion_count_ - 1)];
    }
    completion_tail_ += count;
    StoreRelease(completions_->tail.value, completion_tail_);
    tagged_ -= count < tagged_ ? count : tagged_;
    return count;
  }

  // Lines that can be sent to {xpuid, vc} at this moment.
  uint32_t Credit(uint16_t xpuid, uint8_t vc) {
    const size_t index = size_t{xpuid} * SUEDE_VCS + vc;
    ReadReturns(&accounts_[index], index);
    const uint32_t own = accounts_[index].Free();
    const uint32_t aggregate = AggregateFree();
    return own < aggregate ? own : aggregate;
  }

  // Values that a wait for this queue compares with: aggregate credit and ring position as Send
  // last saw them, and the next completion's position.
  uint32_t seen_returned() const { return seen_returned_; }
  uint32_t seen_tail() const { return seen_tail_; }
  uint32_t completion_position() const { return completion_tail_; }
  bool HasCompletions() const { return LoadAcquire(completions_->head.value) != completion_tail_; }
  uint32_t state() const { return LoadAcquire(*state_); }
  // Lines handed over, flushed or not, and lines of them that the daemon has given back: reads
  // shared memory.
  uint32_t sent() const { return sent_; }
  uint32_t ReadReturned() const { return LoadAcquire(credits_->aggregate_returned); }

  // Starts over after a reset that the daemon has confirmed. The caller flushed before it asked for
  // the reset, so that every tag is completed; those in a broken ring are lost.
  void Restart(bool was_broken) {
    head_ = published_ = seen_tail_ = 0;
    sent_ = 0;
    seen_returned_ = LoadAcquire(credits_->aggregate_returned);  // less than 0 by lines under way
    room_ = 0;  // Send looks again
    for (Account& account : accounts_) account = {.sent = 0, .limit = 0};
    if (was_broken) tagged_ = 0;
  }

 private:
  static constexpr uint32_t kKeptPart = 8;      // of the aggregate credit
  static constexpr uint32_t kLeftGranted = 32;  // lines
  static constexpr uint32_t kNoFlags =
      0xff & ~(SUEDE_RECORD_TRANSMIT_NOW | SUEDE_RECORD_ERROR | SUEDE_RECORD_COMPLETION);
  // The bits that are 0 in every {XPU, VC} as a record's first word holds it.
  static constexpr uint32_t kNoAddress = (0xff & ~(SUEDE_VCS - 1)) << 8 |
                                         (0xffff & ~(SUEDE_XPUS - 1)) << 16;

  struct Account {
    uint32_t sent = 0;   // lines handed over
    uint32_t limit = 0;  // lines that may be: ReadReturns has granted them
    uint32_t Free() const { return limit - sent; }
  };

  // Slow path of Send: reads from shared memory the credit that the daemon has given back, and
  // grants the {XPU, VC} lines to send before the next read.
  void ReadReturns(Account* account, size_t index) {
    seen_returned_ = LoadAcquire(credits_->aggregate_returned);
    seen_tail_ = LoadAcquire(tx_->tail.value);
    const uint32_t ring = line_count_ - (head_ - seen_tail_);
    room_ = ring < AggregateFree() ? ring : AggregateFree();
    if (room_ == 0) return;
    const uint32_t own = LoadAcquire(credits_->returned[index]) + credit_lines_ - account->sent;
    account->limit = account->sent + std::min(own, ShareOf(index));
  }

  // Further lines of the aggregate credit that {XPU, VC} may have. An XPU that sends on one
  // VC may have half of the lines left over then, without the eighth that is kept for XPUs that
  // have nothing. Lines of its other VCs count once where its own count twice: an XPU that takes
  // nothing leaves credit for the others, several of them do, and a VC that takes nothing leaves
  // some to the other VCs of its XPU.
  uint32_t ShareOf(size_t index) {
    const size_t first = index / SUEDE_VCS * SUEDE_VCS;
    int64_t has = 0;
    for (size_t i = first; i < first + SUEDE_VCS; ++i) {
      Account& account = accounts_[i];
      has += account.sent - LoadAcquire(credits_->returned[i]);
      // Credit that its other VCs were granted and have not used yet.
      account.limit = account.sent + std::min(account.Free(), kLeftGranted);
    }
    const int64_t of_vc = accounts_[index].sent - LoadAcquire(credits_->returned[index]);
    const int64_t left = int64_t{AggregateFree()} - aggregate_lines_ / kKeptPart;
    const int64_t share = (left - has - of_vc) / 3;
    const int64_t least = SUEDE_MAX_RECORD_LINES - has;
    return static_cast<uint32_t>(std::max({share, least, int64_t{0}}));
  }

  uint32_t AggregateFree() const { return seen_returned_ + aggregate_lines_ - sent_; }

  SendResult Refuse(uint32_t state) const {
    return state == SUEDE_QUEUE_BROKEN ? SendResult::kBroken : SendResult::kInReset;
  }

  void Write(const ClientCommand& command, uint32_t head, uint32_t control_bytes,
             uint32_t data_bytes) {
    uint8_t* line = lines_ + size_t{head_ & (line_count_ - 1)} * SUEDE_LINE_BYTES;
    uint16_t type_and_length;
    std::memcpy(&type_and_length, command.control, sizeof type_and_length);
    const uint64_t word0 = head | command.tag << 32;
    const uint64_t word1 = command.tag >> 32 | uint64_t{command.flags} << 32 |
                           uint64_t{type_and_length} << 48;
    std::memcpy(line, &word0, sizeof word0);
    std::memcpy(line + sizeof word0, &word1, sizeof word1);
    if (control_bytes > 2) CopyBytes(line + 16, command.control + 2, control_bytes - 2);
    if (data_bytes != 0) {
      CopyBytes(line + SUEDE_RECORD_CONTROL + control_bytes, command.data, data_bytes);
    }
  }

  suede_segment* segment_;
  uint32_t* state_;
  suede_ring* tx_;
  uint8_t* lines_;
  suede_ring* completions_;
  suede_completion* entries_;
  suede_credits* credits_;
  uint32_t line_count_;
  uint32_t completion_count_;
  uint32_t credit_lines_;
  uint32_t aggregate_lines_;
  std::vector<Account> accounts_;
  uint32_t head_ = 0;
  uint32_t published_ = 0;
  uint32_t sent_ = 0;           // lines handed over
  uint32_t room_ = 0;           // lines of ring and aggregate credit, as last seen
  uint32_t seen_tail_ = 0;
  uint32_t seen_returned_ = 0;
  uint32_t completion_head_ = 0;
  uint32_t completion_tail_ = 0;
  uint32_t tagged_ = 0;  // tags sent whose completions were not taken
};

}  // namespace suede

#endif  // SUEDE_CLIENT_CLIENT_QUEUE_H_
