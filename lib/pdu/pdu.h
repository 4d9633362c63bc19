// SPDX-License-Identifier: Apache-2.0
// A PDU in memory: the descriptor that packing fills and transport keeps until the PDU is
// acknowledged.
//
// A descriptor lies in the notes of the frame that holds the PDU's bytes, and does not refer to the
// frame.
#ifndef SUEDE_PDU_PDU_H_
#define SUEDE_PDU_PDU_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "base/psn.h"
#include "base/sue.h"
#include "base/time.h"
#include "pdu/tx_note.h"

namespace suede {

// A run of commands in one PDU from the same client queue, which gets its credit when the PDU
// leaves, and its completions when the PDU is acknowledged.
struct PduRun {
  uint16_t queue;     // the pipeline's number of the queue
  uint16_t lines;     // ring lines, the unit of credit
  uint16_t tags;      // tags of this run, which follow those of the runs before it
};

struct Pdu {
  static constexpr uint32_t kMaxRuns = 3;
  static constexpr uint32_t kMaxTags = 64;
  static constexpr uint16_t kNoQueue = 0xffff;
  static constexpr uint16_t kWanted = 0xffff;

  TxNote note;  // of its frame: first, as a one-shot frame has only the note
  uint8_t vc = 0;
  uint16_t bytes = 0;           // bytes of commands
  uint16_t room = 0;            // bytes of commands that the PDU may still take; 0: closed;
                                // kWanted: in flight, and to be sent again
  uint16_t command_count = 0;
  Pdu* next = nullptr;          // link of the one list that owns the PDU
  uint8_t* commands = nullptr;  // first byte of the commands
  Time sent_at{};               // when the PDU was begun; then its last transmission
  uint16_t peer = 0;            // index of the destination in the instance's peer table
  Psn psn;                      // valid once sequenced
  uint8_t tag_count = 0;
  bool retransmitted : 1 = false;
  bool credited : 1 = false;    // the PDU has left once: its clients' credit was returned
  bool moved : 1 = false;       // its plane died, or the PDU was given up while staged
  bool held : 1 = false;        // given up, and kept for its frame
  bool sealed : 1 = false;      // its frame has a sealed frame (Frame::sealed)
  bool arrived : 1 = false;     // in flight: the far side has it, ahead of others
  uint8_t run_count : 2 = 0;
  uint16_t last_queue = kNoQueue;  // of the last run
  PduRun runs[kMaxRuns];
  uint16_t lines = 0;   // of the receive ring, taken by the commands
  uint32_t waited = 0;  // from its begin to sent_at: steps of 16 ns, max a minute
  alignas(64) uint64_t tags[kMaxTags];

  void NoteSent(Time now) {
    const uint64_t steps = waited + (static_cast<uint64_t>((now - sent_at).count()) >> kStepBits);
    waited = static_cast<uint32_t>(std::min<uint64_t>(steps, UINT32_MAX));
    sent_at = now;
  }
  // Time since the PDU was begun.
  Duration Age(Time now) const {
    return now - sent_at + Duration(static_cast<int64_t>(waited) << kStepBits);
  }

 private:
  static constexpr int kStepBits = 4;
};
static_assert(Pdu::kMaxRuns < 4);  // run_count
static_assert(std::is_standard_layout_v<Pdu> && offsetof(Pdu, note) == 0);
static_assert(offsetof(Pdu, tags) == 64);
static_assert(sizeof(Pdu) <= 640);

}  // namespace suede

#endif  // SUEDE_PDU_PDU_H_
