// SPDX-License-Identifier: Apache-2.0
// Controls of the commands that carry transactions (docs/axi.md, "Commands").
#ifndef SUEDE_AXI_COMMAND_H_
#define SUEDE_AXI_COMMAND_H_

#include <cstdint>

#include "axi/status.h"
#include "axi/transfer.h"
#include "base/sue.h"

namespace suede::axi {

inline constexpr uint8_t kClass = 6;
inline constexpr uint32_t kRequestControlBytes = kMaxControlBytes;
inline constexpr uint32_t kAnswerControlBytes = 10;
inline constexpr uint32_t kMoreControlBytes = 8;

enum class Kind : uint8_t {
  kRead = 10,
  kWrite = 11,
  kWriteWithAttributes = 12,
  kWriteMore = 13,
  kAnswer = 14,
  kAnswerMore = 15,
};
constexpr bool IsRequest(Kind kind) { return kind <= Kind::kWriteMore; }

struct Answer {
  bool is_read = false;
  bool has_beat_responses = false;  // of a read whose beats have different responses
  uint8_t response = 0;             // SUEDE_AXI_OKAY, …: the worst of the beats
  Status status = Status::kOk;
  uint8_t user_bytes = 0;       // of BUSER
  uint8_t beat_user_bytes = 0;  // of RUSER
};

// A parsed control. Fields that the kind does not have are 0.
struct Command {
  Kind kind = Kind::kRead;
  uint32_t number = 0;
  uint8_t part = 0;      // of a continuation
  Address address = {};  // of a request; without attributes
  Answer answer;
};

// Write a control. `data_bytes` of the command: 0 to 256.
void EncodeRequest(Kind kind, uint32_t number, const Address& address, uint32_t data_bytes,
                   uint8_t* control);
void EncodeMore(Kind kind, uint32_t number, uint8_t part, uint32_t data_bytes, uint8_t* control);
void EncodeAnswer(uint32_t number, const Answer& answer, uint32_t data_bytes, uint8_t* control);

enum class Parsed : uint8_t {
  kCommand,
  kMalformed,  // `kind` and `number` are valid, for the refusal
  kForeign,    // another class, kind or control length
};

// Parses a received control. Reads each octet once, so memory that the sender still writes is safe.
// Does not check the rules of AXI4 (FindViolation).
Parsed ParseControl(const uint8_t* control, uint32_t control_bytes, uint32_t data_bytes,
                    Command* command);

}  // namespace suede::axi

#endif  // SUEDE_AXI_COMMAND_H_
