// SPDX-License-Identifier: Apache-2.0
// Records that a source of commands has returned (SUE framework §3.2.1 Table 1).
#ifndef SUEDE_CLIENT_TX_RECORD_H_
#define SUEDE_CLIENT_TX_RECORD_H_

#include <cstdint>

namespace suede {

// The outcome of a record's check.
enum class RecordVerdict : uint8_t {
  kCommand,
  kMalformed,  // invalid kind, VC or lengths; the record was skipped
  kErrorMark,  // tx_err was set; the record was skipped
};

// One checked record, or a run: `count` contiguous records of plain commands that differ only in
// their content, not in destination, VC, flags or lengths. (A record with a tag is a run of its
// own: 1.) The xpuid and VC of a malformed record index tables safely, too. `line` points into the
// segment: its bytes may change at any time, so the two bytes with the command's lengths are kept
// here by value.
struct TxRecord {
  const uint8_t* line = nullptr;  // the record; its control starts at SUEDE_RECORD_CONTROL
  uint64_t word0 = 0;             // its first two words as read; if malformed, without
  uint64_t word1 = 0;             // the parts that would not index tables safely
  uint16_t bytes = 0;             // control and data, 2 to 274
  uint16_t count = 1;
  uint8_t lines = 1;  // of each
  RecordVerdict verdict = RecordVerdict::kCommand;

  uint8_t vc() const { return static_cast<uint8_t>(word0 >> 8); }        // 0 to 3
  uint16_t xpuid() const { return static_cast<uint16_t>(word0 >> 16); }  // 0 to 1023
  uint64_t tag() const { return word0 >> 32 | word1 << 32; }
  uint8_t flags() const { return static_cast<uint8_t>(word1 >> 32); }  // SUEDE_RECORD_…
  // The first two bytes of the control, in memory order.
  uint16_t type_and_length() const { return static_cast<uint16_t>(word1 >> 48); }
};

}  // namespace suede

#endif  // SUEDE_CLIENT_TX_RECORD_H_
