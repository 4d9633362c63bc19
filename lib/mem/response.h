// SPDX-License-Identifier: Apache-2.0
// Responses to memory operations, carried in the control of a command (docs/memory.md,
// "Responses").
#ifndef SUEDE_MEM_RESPONSE_H_
#define SUEDE_MEM_RESPONSE_H_

#include <cstdint>

#include "mem/status.h"

namespace suede::mem {

inline constexpr uint8_t kResponseClass = 5;
inline constexpr uint32_t kResponseControlBytes = 16;  // maximum
inline constexpr uint32_t kMaxAcknowledged = 65535;    // requests in one acknowledgement

struct Response {
  enum class Kind : uint8_t { kAcknowledgement = 1, kData = 2, kValue = 3 };

  Kind kind = Kind::kAcknowledgement;
  Status status = Status::kOk;
  uint16_t count = 1;       // acknowledged requests; 1 for other kinds
  uint16_t data_bytes = 0;  // 1 to 256 for kData, otherwise 0
  uint32_t number = 0;
  uint64_t value = 0;
  const uint8_t* data = nullptr;
};

// Writes the control, up to kResponseControlBytes. Returns its length in bytes.
uint32_t EncodeResponse(const Response& response, uint8_t* control);

// Parses a received command. Returns false if it is not a valid response. Reads each octet once.
bool ParseResponse(const uint8_t* control, uint32_t control_bytes, const uint8_t* data,
                   uint32_t data_bytes, Response* response);

}  // namespace suede::mem

#endif  // SUEDE_MEM_RESPONSE_H_
