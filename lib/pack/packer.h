// SPDX-License-Identifier: Apache-2.0
// Packing: the one copy of a command on its way out, from the client's ring into the PDU being
// packed for its {destination, VC} (SUE framework §4.4).
#ifndef SUEDE_PACK_PACKER_H_
#define SUEDE_PACK_PACKER_H_

#include <cstdint>
#include <cstring>

#include "base/copy.h"
#include "pdu/pdu.h"

namespace suede {

// A command on its way into a PDU. The bytes at `command` may change at any time, but for its
// first two bytes, which are given by value.
struct PackInput {
  const uint8_t* command = nullptr;  // control, then data
  uint64_t tag = 0;
  uint16_t bytes = 0;                // control and data
  uint16_t queue = 0;                // the pipeline's number of the client queue
  uint16_t type_and_length = 0;      // first two bytes of the control, as they stand in memory
  uint8_t lines = 0;                 // ring lines, the unit of credit
  bool tagged = false;
  bool transmit_now = false;
};

// Bytes that a command takes in a PDU: even.
inline uint32_t PackedBytes(const PackInput& in) { return (in.bytes + 1u) & ~1u; }

// Whether `pdu` can take the command: it has the bytes, the destination's receive ring holds its
// lines, and it can remember where the command came from.
inline bool CanAppend(const Pdu& pdu, const PackInput& in, uint32_t most_lines = UINT16_MAX) {
  if (pdu.room < PackedBytes(in)) return false;
  if (pdu.lines + in.lines > most_lines) return false;
  if (in.tagged && pdu.tag_count == Pdu::kMaxTags) return false;
  return pdu.last_queue == in.queue || pdu.run_count < Pdu::kMaxRuns;
}

// Appends the command to a PDU for which CanAppend holds. Returns true where this began a new run.
// May write up to kCopyBytes bytes from the command's place on, and reads as many of its line.
inline bool Append(Pdu& pdu, const PackInput& in) {
  uint8_t* to = pdu.commands + pdu.bytes;
  CopyCommand(to, in.command, in.bytes);
  std::memcpy(to, &in.type_and_length, sizeof in.type_and_length);
  to[in.bytes] = 0;  // the pad of an odd length; overwritten by the next command otherwise
  const uint32_t packed = PackedBytes(in);
  pdu.bytes = static_cast<uint16_t>(pdu.bytes + packed);
  pdu.room = in.transmit_now ? 0 : static_cast<uint16_t>(pdu.room - packed);
  ++pdu.command_count;
  pdu.lines = static_cast<uint16_t>(pdu.lines + in.lines);
  const bool new_run = pdu.last_queue != in.queue;
  if (new_run) {
    pdu.last_queue = in.queue;
    pdu.runs[pdu.run_count++] = {.queue = in.queue, .lines = 0, .tags = 0};
  }
  PduRun& run = pdu.runs[pdu.run_count - 1];
  run.lines = static_cast<uint16_t>(run.lines + in.lines);
  if (in.tagged) {
    pdu.tags[pdu.tag_count++] = in.tag;
    ++run.tags;
  }
  return new_run;
}

}  // namespace suede

#endif  // SUEDE_PACK_PACKER_H_
