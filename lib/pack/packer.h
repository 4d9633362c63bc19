// SPDX-License-Identifier: Apache-2.0
// Packing: the only copy of a sent command, from the client's ring into the PDU being packed for
// its {destination, VC} (SUE framework §4.4).
#ifndef SUEDE_PACK_PACKER_H_
#define SUEDE_PACK_PACKER_H_

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "base/copy.h"
#include "base/line_counts.h"
#include "pdu/pdu.h"

namespace suede {

// Commands to pack: one, or a run without tags at a distance of `stride` bytes. The bytes at
// `command` may change at any time, except the first two bytes of each, which are passed by value.
struct PackInput {
  const uint8_t* command = nullptr;  // control, then data
  uint64_t tag = 0;
  uint16_t bytes = 0;                // control and data of each
  uint16_t queue = 0;                // the pipeline's number of the client queue
  uint16_t type_and_length = 0;      // first two bytes of the control, in memory order
  uint8_t lines = 0;                 // ring lines of each, the unit of credit
  bool tagged = false;
  bool transmit_now = false;
  uint32_t stride = 0;
};

// Bytes of a command in a PDU: even.
inline uint32_t PackedBytes(const PackInput& in) { return (in.bytes + 1u) & ~1u; }

// Whether `pdu` can take the command: there is room for its bytes, the destination's receive ring
// holds the lines, and there is room for its tag and its queue.
inline bool CanAppend(const Pdu& pdu, const PackInput& in, uint32_t max_lines = UINT16_MAX) {
  if (pdu.room < PackedBytes(in)) return false;
  if (pdu.lines + in.lines > max_lines) return false;
  if (in.tagged && pdu.tag_count == Pdu::kMaxTags) return false;
  return pdu.last_queue == in.queue || pdu.run_count < Pdu::kMaxRuns;
}

// Completes a copied command: its first two bytes are not the client's, which may change.
[[gnu::always_inline]] inline void EndCopy(uint8_t* to, uint32_t bytes, uint16_t type_and_length) {
  std::memcpy(to, &type_and_length, sizeof type_and_length);
  to[bytes] = 0;  // the pad of an odd length; overwritten by the next command otherwise
}

// Copies up to `max` commands in a row to `to`: at least one, and none behind `last`. Returns how
// many. kShort: each has up to kCopyBytes bytes.
template <bool kShort>
[[gnu::always_inline]] inline uint32_t CopyCommands(uint8_t* to, const uint8_t* last,
                                                    const PackInput& in, uint32_t max) {
  const uint32_t packed = PackedBytes(in);
  const uint32_t bytes = in.bytes;
  const uint32_t stride = in.stride;
  const uint16_t type_and_length = in.type_and_length;
  const uint8_t* from = in.command;
  uint32_t left = max;
  do {
    kShort ? CopyShort(to, from) : CopyLong(to, from, bytes);
    EndCopy(to, bytes, type_and_length);
    from += stride;
    to += packed;
  } while (--left != 0 && to <= last);
  return max - left;
}

// Copies the command at `from`, one of a row, to the begin of a PDU with an equal descriptor.
inline void CopyLike(uint8_t* to, const uint8_t* from, const PackInput& in) {
  CopyCommand(to, from, in.bytes);
  EndCopy(to, in.bytes, in.type_and_length);
}

struct Appended {
  uint32_t count = 0;    // commands that were appended
  bool new_run = false;  // the commands begin a run of their queue in the PDU
};

// Appends up to `max` of the commands, as many as the PDU takes; CanAppend must be true for the
// first. May write up to kCopyBytes bytes from each command's place on, and reads as many of its
// line.
[[gnu::always_inline]] inline Appended Append(Pdu& pdu, const PackInput& in, uint32_t max = 1,
                                              uint32_t max_lines = UINT16_MAX) {
  const uint32_t packed = PackedBytes(in);
  uint8_t* const to = pdu.commands + pdu.bytes;
  if (in.transmit_now) {
    max = 1;
  } else if (max != 1) {
    max = std::min(max, RecordsIn(max_lines - pdu.lines, in.lines));
  }
  const uint8_t* const last = to + pdu.room - packed;
  const uint32_t count = in.bytes <= kCopyBytes ? CopyCommands<true>(to, last, in, max)
                                                : CopyCommands<false>(to, last, in, max);
  const uint32_t lines = pdu.lines + count * in.lines;
  pdu.bytes = static_cast<uint16_t>(pdu.bytes + count * packed);
  pdu.room = in.transmit_now ? 0 : static_cast<uint16_t>(pdu.room - count * packed);
  pdu.command_count = static_cast<uint16_t>(pdu.command_count + count);
  const bool new_run = pdu.last_queue != in.queue;
  if (new_run) {
    pdu.last_queue = in.queue;
    pdu.runs[pdu.run_count++] = {.queue = in.queue, .lines = 0, .tags = 0};
  }
  PduRun& run = pdu.runs[pdu.run_count - 1];
  run.lines = static_cast<uint16_t>(run.lines + (lines - pdu.lines));
  pdu.lines = static_cast<uint16_t>(lines);
  if (in.tagged) {
    pdu.tags[pdu.tag_count++] = in.tag;
    ++run.tags;
  }
  return {.count = count, .new_run = new_run};
}

}  // namespace suede

#endif  // SUEDE_PACK_PACKER_H_
