// SPDX-License-Identifier: Apache-2.0
// The client's half of a queue: libsuede wraps it, and programs that host the endpoint
// themselves use it directly. Header only, so that the ring is inlined into them.
//
// One thread per ClientQueue. client_receiver.h is the other direction.
#ifndef SUEDE_CLIENT_CLIENT_QUEUE_H_
#define SUEDE_CLIENT_CLIENT_QUEUE_H_

#include <algorithm>
#include <cstdint>

#include "base/line_counts.h"
#include "client/client_completions.h"
#include "client/client_credit.h"
#include "client/client_receiver.h"
#include "client/client_records.h"
#include "client/segment.h"

namespace suede {

class ClientQueue {
 public:
  ClientQueue(void* base, uint32_t queue) : ClientQueue(static_cast<suede_segment*>(base), queue) {}
  ClientQueue(suede_segment* segment, uint32_t queue)
      : state_(&segment->queue_state[queue].value),
        tx_(AtOffset<suede_ring>(segment, segment->tx_ring[queue])),
        lines_(reinterpret_cast<uint8_t*>(tx_ + 1)),
        completions_(segment, queue),
        credit_(segment, queue),
        line_count_(segment->tx_lines) {}

  // Copies the command into the ring. The command is not visible to the daemon before Flush; if the
  // command would block, Send flushes, as otherwise no credit would return.
  [[gnu::always_inline]] SendResult Send(const ClientCommand& command) {
    const RecordShape shape(
        {command.xpuid, command.vc, command.flags, command.control[0], command.control[1]});
    if (!shape.IsValid() || (shape.has_data != 0 && command.data == nullptr)) [[unlikely]] {
      return SendResult::kInvalid;
    }
    reserved_.count = 0;
    const size_t index = size_t{command.xpuid} * SUEDE_VCS + command.vc;
    ClientCredit::Account& account = credit_[index];
    const uint32_t lines = shape.lines;
    const uint32_t tagged = shape.tagged();
    const uint32_t start = head_ & (line_count_ - 1);
    const uint32_t padding = start + lines > line_count_ ? line_count_ - start : 0;
    const uint32_t state = LoadRelaxed(*state_);
    if (state != SUEDE_QUEUE_READY) [[unlikely]]
      return Refuse(state);
    if (account.Free() < lines || room_ < padding + lines || completions_.TagsFree() < tagged)
        [[unlikely]] {
      ReadReturns(&account, index);
      if (account.Free() < lines || room_ < padding + lines || completions_.TagsFree() < tagged) {
        Flush();
        return SendResult::kWouldBlock;
      }
    }
    if (padding != 0) [[unlikely]]
      Pad(padding);
    WriteRecord(shape, command, LineAt(head_));
    Charge(&account, shape, 1);
    return SendResult::kOk;
  }

  // Sends up to `count` commands of one shape like as many calls of Send, and sets `sent` to their
  // number: fewer than `count` if the next would block; none if the lengths, flags or destination
  // are invalid, or if the queue's state forbids it.
  SendResult SendRun(const ClientRun& run, uint32_t count, uint32_t* sent) {
    *sent = 0;
    const ClientCommand& first = run.first;
    const RecordShape shape(
        {first.xpuid, first.vc, Unmarked(first.flags), first.control[0], first.control[1]});
    if (!shape.IsValid() || (shape.has_data != 0 && first.data == nullptr)) [[unlikely]] {
      return SendResult::kInvalid;
    }
    reserved_.count = 0;
    const uint32_t state = LoadRelaxed(*state_);
    if (state != SUEDE_QUEUE_READY) [[unlikely]]
      return Refuse(state);
    const size_t index = size_t{first.xpuid} * SUEDE_VCS + first.vc;
    RecordRun records{.tag = first.tag,
                      .control = first.control,
                      .data = first.data,
                      .control_stride = run.control_stride,
                      .data_stride = shape.has_data != 0 ? run.data_stride : 0};
    for (uint32_t done = 0; done < count; done += records.count) {
      const Grant grant = GrantFor(shape, index, count - done);
      if (grant.count == 0) {
        Flush();
        return SendResult::kWouldBlock;
      }
      if (grant.padding != 0) [[unlikely]]
        Pad(grant.padding);
      records.line = LineAt(head_);
      records.count = grant.count;
      WriteRecords(shape, records);
      Charge(&credit_[index], shape, grant.count);
      records.tag += uint64_t{grant.count} * shape.tagged();
      records.control += size_t{grant.count} * run.control_stride;
      records.data += size_t{grant.count} * records.data_stride;
      *sent += grant.count;
    }
    if (count != 0 && (first.flags & SUEDE_RECORD_TRANSMIT_NOW) != 0) Mark(head_ - shape.lines);
    return SendResult::kOk;
  }

  // Returns up to `count` records of one shape, as many as are contiguous in the ring and may be
  // sent, with their heads written. Commit hands them over; until then they use no credit. A
  // reservation ends with Commit, Abandon, and any other call that sends, reserves or reads credit.
  // If no record may be sent, Reserve flushes and returns kWouldBlock.
  SendResult Reserve(const ClientShape& command, uint32_t count, CommandSpan* span) {
    *span = {};
    const RecordShape shape(
        {command.xpuid, command.vc, Unmarked(command.flags), command.type, command.length});
    if (!shape.IsValid()) [[unlikely]]
      return SendResult::kInvalid;
    reserved_.count = 0;
    const uint32_t state = LoadRelaxed(*state_);
    if (state != SUEDE_QUEUE_READY) [[unlikely]]
      return Refuse(state);
    if (count == 0) return SendResult::kOk;
    const size_t index = size_t{command.xpuid} * SUEDE_VCS + command.vc;
    const Grant grant = GrantFor(shape, index, count);
    if (grant.count == 0) {
      Flush();
      return SendResult::kWouldBlock;
    }
    uint8_t* line = LineAt(head_ + grant.padding);
    WriteHeads(shape, command.tag, line, grant.count);
    reserved_ = {.count = grant.count,
                 .padding = grant.padding,
                 .index = index,
                 .shape = shape,
                 .mark = (command.flags & SUEDE_RECORD_TRANSMIT_NOW) != 0};
    span->control = line + SUEDE_RECORD_CONTROL;
    if (shape.has_data != 0) span->data = span->control + shape.control_bytes;
    span->stride = shape.stride();
    span->count = grant.count;
    return SendResult::kOk;
  }

  // Hands over the first `count` reserved records, and gives up the others. "Transmit now" applies
  // to the last record handed over. Returns kInvalid if fewer are reserved; then, and if the
  // queue's state forbids it, the reservation stays.
  SendResult Commit(uint32_t count) {
    if (count > reserved_.count) [[unlikely]]
      return SendResult::kInvalid;
    const uint32_t state = LoadRelaxed(*state_);
    if (state != SUEDE_QUEUE_READY) [[unlikely]]
      return Refuse(state);
    reserved_.count = 0;
    if (count == 0) return SendResult::kOk;
    if (reserved_.padding != 0) [[unlikely]]
      Pad(reserved_.padding);
    Charge(&credit_[reserved_.index], reserved_.shape, count);
    if (reserved_.mark) Mark(head_ - reserved_.shape.lines);
    return SendResult::kOk;
  }

  // Gives up the reservation.
  void Abandon() { reserved_.count = 0; }

  void Flush() {
    if (head_ != published_) StoreRelease(tx_->head.value, published_ = head_);
  }

  // Takes up to `max` completions.
  uint32_t PollCompletions(suede_completion* out, uint32_t max) {
    return completions_.Poll(out, max);
  }

  // Lines that can be sent to {xpuid, vc} at this moment.
  uint32_t Credit(uint16_t xpuid, uint8_t vc) {
    const size_t index = size_t{xpuid} * SUEDE_VCS + vc;
    ReadReturns(&credit_[index], index);
    return std::min(credit_[index].Free(), credit_.AggregateFree());
  }

  // Values with which a wait for this queue compares: aggregate credit and ring position as last
  // read by Send, and the next completion's position.
  uint32_t seen_returned() const { return credit_.seen_returned(); }
  uint32_t seen_tail() const { return seen_tail_; }
  uint32_t completion_position() const { return completions_.position(); }
  bool HasCompletions() const { return completions_.HasAny(); }
  uint32_t state() const { return LoadAcquire(*state_); }
  // sent: lines handed over, flushed or not. ReadReturned: lines of them that the daemon has
  // returned; reads shared memory.
  uint32_t sent() const { return credit_.sent(); }
  uint32_t ReadReturned() const { return credit_.ReadReturned(); }

  // Starts over after a reset that the daemon has confirmed. The caller has flushed before its
  // request for the reset, so that every tag is completed; tags in a broken ring are lost.
  void Restart(bool was_broken) {
    reserved_.count = 0;
    head_ = published_ = seen_tail_ = 0;
    credit_.Restart();
    room_ = 0;  // Send reads again
    if (was_broken) completions_.ForgetTags();
  }

 private:
  // Records that may be written now, in a row behind `padding` empty lines.
  struct Grant {
    uint32_t padding = 0;
    uint32_t count = 0;
  };
  struct Reservation {
    uint32_t count = 0;  // 0: no reservation
    uint32_t padding = 0;
    size_t index = 0;  // of the account
    RecordShape shape{ClientShape()};
    bool mark = false;  // the last record is to be transmitted at once
  };

  static uint8_t Unmarked(uint8_t flags) {
    return flags & static_cast<uint8_t>(~SUEDE_RECORD_TRANSMIT_NOW);
  }
  // Returns up to `wanted` (min 1) records; none if the next would block. Like Send, reads returned
  // credit only if the next record would block otherwise.
  Grant GrantFor(const RecordShape& shape, size_t index, uint32_t wanted) {
    const uint32_t to_end = line_count_ - (head_ & (line_count_ - 1));
    const bool wraps = to_end < shape.lines;
    Grant grant{.padding = wraps ? to_end : 0};
    wanted = std::min(wanted, RecordsIn(wraps ? line_count_ : to_end, shape.lines));
    grant.count = Granted(shape, credit_[index], grant.padding, wanted);
    if (grant.count == 0) [[unlikely]] {
      ReadReturns(&credit_[index], index);
      grant.count = Granted(shape, credit_[index], grant.padding, wanted);
    }
    return grant;
  }

  uint32_t Granted(const RecordShape& shape, const ClientCredit::Account& account, uint32_t padding,
                   uint32_t wanted) const {
    if (room_ < padding) return 0;
    const uint32_t lines = std::min({account.Free(), room_ - padding, wanted * shape.lines});
    const uint32_t count = RecordsIn(lines, shape.lines);
    return shape.tagged() == 0 ? count : std::min(count, completions_.TagsFree());
  }

  void Pad(uint32_t lines) {
    *LineAt(head_) = SUEDE_KIND_NONE;
    head_ += lines;
    room_ -= lines;
  }

  // Counts records that were written at the head.
  void Charge(ClientCredit::Account* account, const RecordShape& shape, uint32_t count) {
    const uint32_t lines = shape.lines * count;
    head_ += lines;
    room_ -= lines;
    credit_.Charge(account, lines);
    completions_.OnTagged(shape.tagged() * count);
  }

  // Marks the record at this position for immediate transmission.
  void Mark(uint32_t position) {
    LineAt(position)[offsetof(suede_record, flags)] |= SUEDE_RECORD_TRANSMIT_NOW;
  }

  uint8_t* LineAt(uint32_t position) {
    return lines_ + size_t{position & (line_count_ - 1)} * SUEDE_LINE_BYTES;
  }

  // Slow path of Send: reads the credit that the daemon has returned from shared memory, and grants
  // the {XPU, VC} lines to send before the next read.
  void ReadReturns(ClientCredit::Account* account, size_t index) {
    reserved_.count = 0;  // the reservation used grants that are recomputed here
    credit_.ReadAggregate();
    seen_tail_ = LoadAcquire(tx_->tail.value);
    const uint32_t ring = line_count_ - (head_ - seen_tail_);
    room_ = std::min(ring, credit_.AggregateFree());
    if (room_ != 0) credit_.Grant(account, index);
  }

  SendResult Refuse(uint32_t state) const {
    return state == SUEDE_QUEUE_BROKEN ? SendResult::kBroken : SendResult::kInReset;
  }

  uint32_t* state_;
  suede_ring* tx_;
  uint8_t* lines_;
  ClientCompletions completions_;
  ClientCredit credit_;
  uint32_t line_count_;
  uint32_t head_ = 0;
  uint32_t published_ = 0;
  uint32_t room_ = 0;  // free lines of ring and aggregate credit, as last read
  uint32_t seen_tail_ = 0;
  Reservation reserved_;
};

}  // namespace suede

#endif  // SUEDE_CLIENT_CLIENT_QUEUE_H_
