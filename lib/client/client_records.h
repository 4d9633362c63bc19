// SPDX-License-Identifier: Apache-2.0
// Commands of a client, and the code that writes them as records into a ring's lines
// (docs/shared-memory.md). Header only, for client_queue.h.
#ifndef SUEDE_CLIENT_CLIENT_RECORDS_H_
#define SUEDE_CLIENT_CLIENT_RECORDS_H_

#include <cstdint>
#include <cstring>

#include "client/segment.h"

namespace suede {

struct ClientCommand {
  uint16_t xpuid = 0;
  uint8_t vc = 0;
  uint8_t flags = 0;  // SUEDE_RECORD_…
  uint64_t tag = 0;
  const uint8_t* control = nullptr;  // its first two bytes contain the lengths of control and data
  const uint8_t* data = nullptr;
};

enum class SendResult : uint8_t {
  kOk,
  kWouldBlock,  // no credit, no room in the ring, or no room for the completion
  kInvalid,
  kInReset,
  kBroken,  // the daemon has stopped serving the queue, until a reset
};

// Commands of one shape to one {XPU, VC}, for ClientQueue::SendRun. The first is given like a
// single command. Tags count up from the first command's if its flags mark the tag as valid;
// "transmit now" applies only to the last command. All have the first command's lengths, whatever
// their own controls contain.
struct ClientRun {
  ClientCommand first;
  uint32_t control_stride =
      0;                     // bytes from one command's control to the next; 0: one control for all
  uint32_t data_stride = 0;  // bytes from one command's data to the next; 0: the same data for all
};

// Commands of one shape for ClientQueue::Reserve, whose caller writes the content itself.
struct ClientShape {
  uint16_t xpuid = 0;
  uint8_t vc = 0;
  uint8_t flags = 0;
  uint8_t type = 0;  // bytes 0 and 1 of each control
  uint8_t length = 0;
  uint64_t tag = 0;  // of the first command
};

// Contiguous records in a ring whose content is to be written. Bytes 0 and 1 of each control are
// written already.
struct CommandSpan {
  uint8_t* control = nullptr;  // of the first record
  uint8_t* data = nullptr;     // of the first record; nullptr for commands without data
  uint32_t stride = 0;         // bytes from one record's control, or data, to the next
  uint32_t count = 0;
};

// The form of a record, which follows from the command's destination, flags and lengths.
struct RecordShape {
  // The bits that are 0 in every {XPU, VC} in a record's first word.
  static constexpr uint32_t kNoAddress =
      (0xff & ~(SUEDE_VCS - 1)) << 8 | (0xffff & ~(SUEDE_XPUS - 1)) << 16;
  static constexpr uint32_t kNoFlags =
      0xff & ~(SUEDE_RECORD_TRANSMIT_NOW | SUEDE_RECORD_ERROR | SUEDE_RECORD_COMPLETION);

  [[gnu::always_inline]] explicit RecordShape(const ClientShape& of)
      : address(uint32_t{of.vc} << 8 | uint32_t{of.xpuid} << 16),
        flags(of.flags),
        type_and_length(static_cast<uint16_t>(of.type | of.length << 8)),
        control_bytes((of.type & 0x0fu) * 2),
        has_data(of.type >> 4 & 1),
        data_bytes((of.length + 1u) & (0u - has_data)),
        lines((SUEDE_RECORD_CONTROL + control_bytes + data_bytes + SUEDE_LINE_BYTES - 1) /
              SUEDE_LINE_BYTES) {}
  // One branch for all checks.
  bool IsValid() const {
    return ((address & kNoAddress) | (flags & kNoFlags)) == 0 && control_bytes - 2 <= 16;
  }
  uint32_t tagged() const { return flags / SUEDE_RECORD_COMPLETION & 1; }
  uint32_t stride() const { return lines * SUEDE_LINE_BYTES; }
  // The first two words of a record with this tag.
  uint64_t Word0(uint64_t tag) const {
    return address | (SUEDE_KIND_COMMAND + has_data) | tag << 32;
  }
  uint64_t Word1(uint64_t tag, uint32_t head) const {
    return tag >> 32 | uint64_t{flags} << 32 | uint64_t{head} << 48;
  }

  uint32_t address;  // VC and XPU as in the first word
  uint32_t flags;
  uint32_t type_and_length;
  uint32_t control_bytes;
  uint32_t has_data;
  uint32_t data_bytes;
  uint32_t lines;
};

// Contiguous records to be written, and the addresses of their content.
struct RecordRun {
  uint8_t* line = nullptr;
  uint32_t count = 0;
  uint64_t tag = 0;
  const uint8_t* control = nullptr;
  const uint8_t* data = nullptr;
  uint32_t control_stride = 0;
  uint32_t data_stride = 0;
};

// Variants of copies of content for certain sizes, without a branch on the size.
enum class ControlCopy : uint8_t { kAny, kEight };
enum class DataCopy : uint8_t { kAny, k16To32, k32To64, kLong };  // kLong: from 64

template <DataCopy kCopy>
[[gnu::always_inline]] inline void CopyData(uint8_t* to, const uint8_t* from, uint32_t n) {
  if constexpr (kCopy == DataCopy::k16To32) {
    std::memcpy(to, from, 16);
    std::memcpy(to + n - 16, from + n - 16, 16);
  } else if constexpr (kCopy == DataCopy::k32To64) {
    std::memcpy(to, from, 32);
    std::memcpy(to + n - 32, from + n - 32, 32);
  } else if constexpr (kCopy == DataCopy::kLong) {
    const uint8_t* const last = from + n - 64;
    uint8_t* const last_to = to + n - 64;
    for (; from < last; from += 64, to += 64) std::memcpy(to, from, 64);
    std::memcpy(last_to, last, 64);
  } else if (n != 0) {
    CopyBytes(to, from, n);
  }
}

// CopyData for any number of bytes.
inline void CopyData(uint8_t* to, const uint8_t* from, uint32_t n) {
  if (n < 16) return CopyData<DataCopy::kAny>(to, from, n);
  if (n <= 32) return CopyData<DataCopy::k16To32>(to, from, n);
  if (n <= 64) return CopyData<DataCopy::k32To64>(to, from, n);
  CopyData<DataCopy::kLong>(to, from, n);
}

template <ControlCopy kControl, DataCopy kData, bool kTagged>
[[gnu::noinline]] void WriteRecordsAs(const RecordShape& shape, const RecordRun& run) {
  // The lengths in a control's first two bytes are the shape's; the other bits are the control's
  // own.
  const uint32_t lengths = shape.has_data != 0 ? 0xff1f : 0x001f;
  const uint64_t fixed = (shape.type_and_length & lengths) << 16 | shape.flags;
  const uint32_t stride = shape.stride();
  const uint32_t control_bytes = shape.control_bytes;
  const uint32_t data_bytes = shape.data_bytes;
  uint64_t word0 = shape.Word0(run.tag);
  uint64_t tag_high = run.tag >> 32;
  uint64_t tag = run.tag;
  uint8_t* line = run.line;
  const uint8_t* control = run.control;
  const uint8_t* data = run.data;
  const uint32_t control_stride = run.control_stride;
  const uint32_t data_stride = run.data_stride;
  for (uint32_t left = run.count; left != 0; --left) {
    uint16_t own;
    std::memcpy(&own, control, sizeof own);
    // Content is written first: its copy may overwrite bytes of the head.
    if constexpr (kControl == ControlCopy::kEight) {
      std::memcpy(line + SUEDE_RECORD_CONTROL, control, 8);
    } else if (control_bytes > 2) {
      CopyBytes(line + 16, control + 2, control_bytes - 2);
    }
    CopyData<kData>(line + SUEDE_RECORD_CONTROL + control_bytes, data, data_bytes);
    if constexpr (kTagged) {
      word0 = shape.Word0(tag);
      tag_high = tag >> 32;
      ++tag;
    }
    const uint64_t word1 = tag_high | (fixed | uint64_t{own & ~lengths} << 16) << 32;
    std::memcpy(line, &word0, sizeof word0);
    std::memcpy(line + 8, &word1, sizeof word1);
    line += stride;
    control += control_stride;
    data += data_stride;
  }
}

template <ControlCopy kControl, bool kTagged>
void WriteRecordsWith(const RecordShape& shape, const RecordRun& run) {
  if (shape.data_bytes < 16) return WriteRecordsAs<kControl, DataCopy::kAny, kTagged>(shape, run);
  if (shape.data_bytes <= 32) {
    return WriteRecordsAs<kControl, DataCopy::k16To32, kTagged>(shape, run);
  }
  if (shape.data_bytes <= 64) {
    return WriteRecordsAs<kControl, DataCopy::k32To64, kTagged>(shape, run);
  }
  WriteRecordsAs<kControl, DataCopy::kLong, kTagged>(shape, run);
}

// Writes records of a valid shape.
inline void WriteRecords(const RecordShape& shape, const RecordRun& run) {
  if (shape.tagged() != 0) {
    WriteRecordsWith<ControlCopy::kAny, true>(shape, run);
  } else if (shape.control_bytes == 8) {
    WriteRecordsWith<ControlCopy::kEight, false>(shape, run);
  } else {
    WriteRecordsWith<ControlCopy::kAny, false>(shape, run);
  }
}

// Writes the head of a record, with the first two bytes of its control.
[[gnu::always_inline]] inline void WriteHead(const RecordShape& shape, uint64_t tag,
                                             uint8_t* line) {
  const uint64_t word0 = shape.Word0(tag);
  const uint64_t word1 = shape.Word1(tag, shape.type_and_length);
  std::memcpy(line, &word0, sizeof word0);
  std::memcpy(line + 8, &word1, sizeof word1);
}

// Writes the command as one record of a valid shape.
[[gnu::always_inline]] inline void WriteRecord(const RecordShape& shape,
                                               const ClientCommand& command, uint8_t* line) {
  WriteHead(shape, command.tag, line);
  if (shape.control_bytes > 2) CopyBytes(line + 16, command.control + 2, shape.control_bytes - 2);
  CopyData(line + SUEDE_RECORD_CONTROL + shape.control_bytes, command.data, shape.data_bytes);
}

// Writes the heads of `count` records, with the first two bytes of their controls.
inline void WriteHeads(const RecordShape& shape, uint64_t tag, uint8_t* line, uint32_t count) {
  const uint32_t stride = shape.stride();
  const uint32_t step = shape.tagged();
  for (uint32_t i = 0; i < count; ++i) {
    WriteHead(shape, tag, line);
    tag += step;
    line += stride;
  }
}

}  // namespace suede

#endif  // SUEDE_CLIENT_CLIENT_RECORDS_H_
