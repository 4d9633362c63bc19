// SPDX-License-Identifier: Apache-2.0
// Records that a source of commands has given (SUE framework §3.2.1 Table 1).
#ifndef SUEDE_CLIENT_TX_RECORD_H_
#define SUEDE_CLIENT_TX_RECORD_H_

#include <cstdint>

namespace suede {

// The outcome of a record's check.
enum class RecordVerdict : uint8_t {
  kCommand,
  kMalformed,  // kind, VC or lengths are not a command's; the record was skipped
  kErrorMark,  // tx_err was set; the record was skipped
};

// One record, checked, or a run of them: `count` records, one behind the other, of plain commands
// that differ in their content only, not in destination, VC, flags or lengths. (A record with a tag
// is a run of its own: 1.) A malformed one still has an xpuid and a VC that index tables safely.
// `line` points into the segment: the bytes there may change at any time, so the two bytes that say
// how long the command is are given here by value.
struct TxRecord {
  const uint8_t* line = nullptr;  // the record; its control starts at SUEDE_RECORD_CONTROL
  uint64_t word0 = 0;             // its first two words as they were read, of a malformed one with
  uint64_t word1 = 0;             // the parts that would not index tables cleared
  uint16_t bytes = 0;             // control and data, 2 to 274
  uint16_t count = 1;
  uint8_t lines = 1;  // of each
  RecordVerdict verdict = RecordVerdict::kCommand;

  uint8_t vc() const { return static_cast<uint8_t>(word0 >> 8); }        // 0 to 3
  uint16_t xpuid() const { return static_cast<uint16_t>(word0 >> 16); }  // 0 to 1023
  uint64_t tag() const { return word0 >> 32 | word1 << 32; }
  uint8_t flags() const { return static_cast<uint8_t>(word1 >> 32); }  // SUEDE_RECORD_…
  // The first two bytes of the control, as they stand in memory.
  uint16_t type_and_length() const { return static_cast<uint16_t>(word1 >> 48); }
};

}  // namespace suede

#endif  // SUEDE_CLIENT_TX_RECORD_H_
