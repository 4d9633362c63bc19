// SPDX-License-Identifier: Apache-2.0
#include "serve/served_target.h"

#include <bit>
#include <cstring>
#include <new>

#include "base/big_endian.h"
#include "mem/request.h"

namespace suede {
namespace {

// {initiator, VC} pairs with waiting responses that one poll iteration tries, in addition to those
// of its requests.
constexpr uint32_t kMaxLanesPerPoll = 64;
// Maximum notices that one poll iteration passes on.
constexpr uint32_t kMaxNoticesPerPoll = 64;

bool IsRequest(const ReceivedCommand& command) {
  return command.control_bytes == mem::kRequestControlBytes &&
         command.control[0] >> 5 == mem::kRequestClass;
}

uint8_t* WriteHead(uint8_t* record, const ReceivedCommand& command, bool has_data) {
  WriteRecordHead(record, ReceivedWord(ReceivedHead(command.vc, command.source_xpuid,
                                                    command.own_xpuid, command.instance),
                                       has_data));
  return record + SUEDE_RECORD_CONTROL;
}

}  // namespace

std::unique_ptr<void, ServedTarget::Free> ServedTarget::MakeSegment(const SegmentShape& shape) {
  constexpr uint64_t kPage = 4096;
  const uint64_t bytes = (SegmentOffsets(shape).bytes + kPage - 1) / kPage * kPage;
  void* memory = std::aligned_alloc(kPage, bytes);
  if (memory == nullptr) throw std::bad_alloc();
  std::memset(memory, 0, bytes);
  FormatSegment(memory, shape);
  return std::unique_ptr<void, Free>(memory);
}

ServedTarget::ServedTarget(const SegmentShape& shape, uint8_t vc_mask)
    : shape_(shape),
      vc_mask_(vc_mask),
      segment_(MakeSegment(shape)),
      target_(mem::TargetParams{}),
      queue_(segment_.get(), 0) {
  for (uint32_t vc = 0; vc < kVcCount; ++vc) receivers_.emplace_back(segment_.get(), vc);
}

bool ServedTarget::SetWindow(uint32_t id, const ServedWindow& window) {
  if (id >= mem::kMaxWindows) return false;
  if (window.kind == ServedWindow::Kind::kNone) {
    const bool had_program = of_program_.test(id);
    of_program_.reset(id);
    return target_.windows().Remove(id) || had_program;
  }
  if (of_program_.test(id) || target_.windows().Find(id) != nullptr) return false;
  if (window.kind == ServedWindow::Kind::kLcore) {
    return target_.windows().Add(id, window.window) == mem::WindowTable::Added::kOk;
  }
  of_program_.set(id);
  return true;
}

uint32_t ServedTarget::Poll(uint32_t max, uint16_t partition, RxRingWriter* rings) {
  target_.windows().SetPartition(partition);
  uint32_t served = 0;
  for (uint8_t vc = 0; vc < kVcCount; ++vc) {
    if ((vc_mask_ & 1u << vc) != 0) served += PollVc(vc, max - served, rings);
  }
  if (target_.has_notices() && rings != nullptr) [[unlikely]]
    PassNotices(rings);
  if (served != 0) target_.Flush(*this, 0);  // sends the acknowledgement that is being coalesced
  if (target_.HasWaiting()) [[unlikely]]
    SendWaiting();
  queue_.Flush();
  return served;
}

uint32_t ServedTarget::PollVc(uint8_t vc, uint32_t max, RxRingWriter* rings) {
  ClientReceiver& receiver = receivers_[vc];
  std::optional<ReceivedCommand>& stuck = stuck_[vc];
  uint32_t served = 0;
  ReceivedCommand command;
  while (served < max) {
    if (stuck) {
      command = *stuck;
    } else if (receiver.Poll(&command, 1) == 0) {
      break;
    }
    stuck.reset();
    if (!Serve(command, rings)) {
      stuck = command;
      break;
    }
    ++served;
  }
  // The lines of a stuck command, and of those before it in this burst, stay.
  if (!stuck) receiver.Release();
  return served;
}

// Returns false if the command must wait for room in the client's ring.
bool ServedTarget::Serve(const ReceivedCommand& command, RxRingWriter* rings) {
  const uint32_t window = IsRequest(command) ? LoadBe16(command.control + 7) : mem::kMaxWindows;
  if (window < mem::kMaxWindows && of_program_.test(window)) [[unlikely]] {
    return rings == nullptr || PassOn(command, rings[command.vc]);
  }
  target_.OnCommand({.xpuid = command.source_xpuid, .plane = 0, .vc = command.vc}, command.control,
                    command.control_bytes, command.data, command.data_bytes, *this);
  return true;
}

bool ServedTarget::PassOn(const ReceivedCommand& command, RxRingWriter& ring) {
  const uint32_t bytes = uint32_t{command.control_bytes} + command.data_bytes;
  uint8_t* record = ring.Reserve(RecordLines(bytes));
  if (record == nullptr) return false;
  std::memcpy(WriteHead(record, command, command.data_bytes != 0), command.control, bytes);
  passed_on_ |= static_cast<uint8_t>(1u << command.vc);
  ++passed_on_count_;
  return true;
}

// Passes notices on as puts with immediate, without octets, whose offset is the end of the original
// put.
void ServedTarget::PassNotices(RxRingWriter* rings) {
  const auto vc = static_cast<uint8_t>(std::countr_zero(vc_mask_));
  constexpr uint32_t kBytes = mem::kRequestControlBytes + mem::kImmediateHeadBytes;
  for (uint32_t i = 0; i < kMaxNoticesPerPoll && rings[vc].HasRoom(RecordLines(kBytes)); ++i) {
    mem::Notice notice;
    if (!target_.TakeNotice(&notice)) return;
    const mem::Request request{.opcode = mem::Opcode::kPutImmediate,
                               .window = notice.window,
                               .offset = notice.offset + notice.bytes,
                               .immediate = notice.immediate,
                               .total_bytes = notice.bytes};
    uint8_t* record = rings[vc].Reserve(RecordLines(kBytes));
    uint8_t* control = WriteHead(record, {.source_xpuid = notice.source, .vc = vc}, true);
    mem::EncodeRequest(request, control);
    mem::EncodeOperands(request, control + mem::kRequestControlBytes);
    passed_on_ |= static_cast<uint8_t>(1u << vc);
  }
}

// Tries each lane once more after credit has returned or the queue's state has changed.
void ServedTarget::SendWaiting() {
  const uint32_t returned = queue_.ReadReturned();
  const uint32_t state = queue_.state();
  if (returned != seen_returned_ || state != seen_state_) {
    seen_returned_ = returned;
    seen_state_ = state;
    polls_to_try_ = kMaxXpus * kVcCount / kMaxLanesPerPoll;
  }
  if (polls_to_try_ == 0 || state != SUEDE_QUEUE_READY) return;
  --polls_to_try_;
  target_.Flush(*this, kMaxLanesPerPoll);
}

bool ServedTarget::Send(const Route& to, const uint8_t* control, uint32_t control_bytes,
                        const uint8_t* data, uint32_t data_bytes) {
  static_cast<void>(control_bytes);  // the control field implies both lengths
  static_cast<void>(data_bytes);
  return queue_.Send({.xpuid = to.xpuid, .vc = to.vc, .control = control, .data = data}) ==
         SendResult::kOk;
}

}  // namespace suede
