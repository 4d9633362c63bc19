// SPDX-License-Identifier: Apache-2.0
// Writes and sends commands of load of one shape, in place where several follow each other.
#ifndef SUEDE_APP_PERF_COMMAND_WRITER_H_
#define SUEDE_APP_PERF_COMMAND_WRITER_H_

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "client/segment.h"
#include "perf/endpoint.h"
#include "perf/payload.h"
#include "perf/protocol.h"
#include "perf/streams.h"

namespace suede::perf {

struct LoadShape {
  uint16_t control_bytes = kSequencedControlBytes;  // 2 to 18, even
  uint16_t data_bytes = 0;                          // 0: command only
  bool check = false;                               // verifiable content
  uint32_t pack_every = 0;                          // "transmit now" on each Nth command; 0: never
  uint32_t completion_every = 0;  // a completion tag on each Nth command; 0: never
};

// Place of a command: its stream, and its number there.
struct CommandPlace {
  StreamId to;
  uint8_t flow = 0;
  uint32_t sequence = 0;
  uint32_t lane = 0;  // of the endpoint
};

// The flags of a command's record, SUEDE_RECORD_…, and the tag of its completion.
struct RecordMarks {
  uint8_t flags = 0;
  uint64_t tag = 0;
};

// Not thread-safe.
template <PerfEndpoint E>
class CommandWriter {
 public:
  CommandWriter(E& endpoint, const LoadShape& shape, uint16_t own_xpuid)
      : endpoint_(endpoint),
        shape_(shape),
        own_xpuid_(own_xpuid),
        pdu_commands_(PduCommands(shape, endpoint.pack_limit())) {
    SetShape(full_shape_, OpcodeOfLoad(), shape.control_bytes, shape.data_bytes);
  }
  CommandWriter(const CommandWriter&) = delete;

  // Number of commands in a full PDU.
  uint32_t pdu_commands() const { return pdu_commands_; }
  // Whether the endpoint rejected a command as invalid, which ends the run.
  bool refused() const { return refused_; }
  // Sets byte 3 of the control.
  void SetRunTag(uint8_t tag) { control_[3] = tag; }

  // Sends up to `max` consecutive commands, from `first` on. Returns their number.
  uint32_t SendRun(const CommandPlace& first, uint32_t max) {
    CommandSpan span;
    SendResult result = endpoint_.Reserve({.xpuid = first.to.xpuid,
                                           .vc = first.to.vc,
                                           .type = full_shape_[0],
                                           .length = full_shape_[1]},
                                          max, &span, first.lane);
    if (result == SendResult::kOk) {
      if (shape_.control_bytes == kSequencedControlBytes && !shape_.check) {
        WriteNumbered(first, span);
      } else {
        CommandPlace place = first;
        for (uint32_t i = 0; i < span.count; ++i, ++place.sequence) {
          const size_t offset = size_t{i} * span.stride;
          WriteInPlace(place, span.control + offset,
                       span.data != nullptr ? span.data + offset : nullptr);
        }
      }
      result = endpoint_.Commit(span.count, first.lane);
    }
    return IsAccepted(result) ? span.count : 0;
  }

  // Sends a command with `data_bytes` bytes of data, at most those of the shape. Returns whether it
  // was accepted.
  bool Send(const CommandPlace& place, uint32_t data_bytes, const RecordMarks& marks) {
    SetShape(control_, OpcodeOfLoad(), shape_.control_bytes, data_bytes);
    WriteContent(place, control_, data_, data_bytes);
    return IsAccepted(endpoint_.Send({.xpuid = place.to.xpuid,
                                      .vc = place.to.vc,
                                      .flags = marks.flags,
                                      .tag = marks.tag,
                                      .control = control_,
                                      .data = data_},
                                     place.lane));
  }

 private:
  static uint32_t PduCommands(const LoadShape& shape, uint32_t pack_limit) {
    const uint32_t fit =
        std::max(pack_limit / (uint32_t{shape.control_bytes} + shape.data_bytes), 1u);
    return shape.pack_every != 0 ? std::min(shape.pack_every, fit) : fit;
  }
  Opcode OpcodeOfLoad() const { return shape_.check ? Opcode::kCheckedLoad : Opcode::kLoad; }

  bool IsAccepted(SendResult result) {
    refused_ |= result == SendResult::kInvalid;
    return result == SendResult::kOk;
  }

  // Writes commands of which only the number differs: each control with one store.
  void WriteNumbered(const CommandPlace& first, const CommandSpan& span) {
    const uint8_t head[] = {full_shape_[0], full_shape_[1], first.flow, control_[3]};
    uint32_t fixed;
    std::memcpy(&fixed, head, sizeof fixed);
    const uint32_t data_bytes = shape_.data_bytes;
    const uint32_t stride = span.stride;
    uint8_t* to = span.control;
    uint32_t sequence = first.sequence;
    for (uint32_t left = span.count; left != 0; --left, to += stride) {
      const uint64_t control = fixed | uint64_t{__builtin_bswap32(sequence++)} << 32;
      std::memcpy(to, &control, sizeof control);
      CopyData(to + sizeof control, data_, data_bytes);
    }
  }
  // Writes a command, except for its first two bytes.
  void WriteInPlace(const CommandPlace& place, uint8_t* control, uint8_t* data) {
    if (shape_.control_bytes > 2) CopyBytes(control + 2, control_ + 2, shape_.control_bytes - 2);
    if (!WriteContent(place, control, data, shape_.data_bytes)) {
      CopyData(data, data_, shape_.data_bytes);
    }
  }
  // Writes flow and number, if the control has room for them, and content that the receiver
  // verifies. Returns false without such content.
  bool WriteContent(const CommandPlace& place, uint8_t* control, uint8_t* data,
                    uint32_t data_bytes) {
    if (shape_.control_bytes < kSequencedControlBytes) return false;
    control[2] = place.flow;
    StoreBe32(control + 4, place.sequence);
    if (!shape_.check) return false;
    FillContent({.source = own_xpuid_,
                 .destination = place.to.xpuid,
                 .vc = place.to.vc,
                 .flow = place.flow,
                 .sequence = place.sequence},
                control, shape_.control_bytes, data, data_bytes);
    return true;
  }

  E& endpoint_;
  const LoadShape shape_;
  const uint16_t own_xpuid_;
  const uint32_t pdu_commands_;
  bool refused_ = false;
  uint8_t full_shape_[2] = {};
  alignas(64) uint8_t control_[64] = {};
  alignas(64) uint8_t data_[kMaxDataBytes] = {};
};

}  // namespace suede::perf

#endif  // SUEDE_APP_PERF_COMMAND_WRITER_H_
