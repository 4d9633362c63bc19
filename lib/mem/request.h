// SPDX-License-Identifier: Apache-2.0
// Requests of memory operations in the control and data of a command (docs/memory.md, "Requests").
#ifndef SUEDE_MEM_REQUEST_H_
#define SUEDE_MEM_REQUEST_H_

#include <cstdint>

#include "base/sue.h"

namespace suede::mem {

enum class Opcode : uint8_t {
  kPut = 1,
  kPutImmediate = 2,
  kGet = 3,
  kFetchAdd = 4,
  kCompareSwap = 5,
  kSwap = 6,
  kIncrement = 7,
  kReadIncrement = 8,
};

constexpr bool IsAtomic(Opcode opcode) { return opcode >= Opcode::kFetchAdd; }
// Whether the response carries data or a value. All other operations are writes, and acknowledged.
constexpr bool IsRead(Opcode opcode) {
  return opcode == Opcode::kGet || (IsAtomic(opcode) && opcode != Opcode::kIncrement);
}

inline constexpr uint32_t kRequestControlBytes = kMaxControlBytes;
inline constexpr uint32_t kRequestDataBytes = 256;  // of a put or a get
inline constexpr uint32_t kImmediateHeadBytes = 8;  // in the data of a put with immediate
inline constexpr uint32_t kImmediateDataBytes = kRequestDataBytes - kImmediateHeadBytes;
inline constexpr uint32_t kOperandBytes = 17;  // maximum, in the data of an atomic
inline constexpr uint64_t kOffsetLimit = uint64_t{1} << 40;
inline constexpr uint8_t kRequestClass = 4;

struct Request {
  Opcode opcode = Opcode::kPut;
  bool is_wide = false;     // operands of 64 bits
  uint8_t response_vc = 0;  // 0 to 3
  uint8_t boundary = 0;     // increments wrap at 2^(boundary + 1) - 1
  uint16_t window = 0;
  uint16_t bytes = 0;  // in memory: 1 to 256; 0 to 248 with immediate; 4 or 8 for an atomic
  uint32_t number = 0;
  uint32_t key = 0;
  uint64_t offset = 0;            // less than kOffsetLimit
  const uint8_t* data = nullptr;  // of a put: `bytes` octets
  uint64_t operand = 0;           // amount, value to store, expected value
  uint64_t desired = 0;           // of compare-and-swap
  uint32_t immediate = 0;
  uint32_t total_bytes = 0;  // of the whole put with immediate, of which this is the last request
};

// Writes the 18 octets of control. EncodeOperands writes the data of an atomic and the head of a
// put with immediate.
void EncodeRequest(const Request& request, uint8_t* control);
// Writes the operands of an atomic (up to kOperandBytes), or the head of a put with immediate
// (kImmediateHeadBytes), which the caller's data follow. Returns the number of octets written; 0
// for put and get.
uint32_t EncodeOperands(const Request& request, uint8_t* data);

enum class Parsed : uint8_t {
  kRequest,
  kMalformed,  // only `number` and `response_vc` are valid, for the refusal
  kForeign,    // not a request: another class or control length
};

// Parses a received command. `data` is ignored if data_bytes is 0; request->data points into it.
// Reads each octet once, so memory that the sender still writes is safe.
Parsed ParseRequest(const uint8_t* control, uint32_t control_bytes, const uint8_t* data,
                    uint32_t data_bytes, Request* request);

}  // namespace suede::mem

#endif  // SUEDE_MEM_REQUEST_H_
