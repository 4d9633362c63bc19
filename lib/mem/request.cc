// SPDX-License-Identifier: Apache-2.0
#include "mem/request.h"

#include "base/big_endian.h"

namespace suede::mem {
namespace {

constexpr uint8_t kTypeWithData = kRequestClass << 5 | 0x10 | kRequestControlBytes / 2;
constexpr uint8_t kTypeWithoutData = kRequestClass << 5 | kRequestControlBytes / 2;
constexpr uint8_t kWide = 0x08;
constexpr uint8_t kReserved = 0x04;
constexpr uint8_t kVcMask = 0x03;

uint64_t LoadOperand(const uint8_t* p, bool is_wide) { return is_wide ? LoadBe64(p) : LoadBe32(p); }

uint32_t StoreOperand(uint8_t* p, bool is_wide, uint64_t value) {
  if (is_wide) {
    StoreBe64(p, value);
    return 8;
  }
  StoreBe32(p, static_cast<uint32_t>(value));
  return 4;
}

uint32_t OperandBytes(Opcode opcode, bool is_wide) {
  const uint32_t one = is_wide ? 8 : 4;
  switch (opcode) {
    case Opcode::kFetchAdd:
    case Opcode::kSwap:
      return one;
    case Opcode::kCompareSwap:
      return 2 * one;
    case Opcode::kIncrement:
    case Opcode::kReadIncrement:
      return one + 1;
    case Opcode::kPutImmediate:
      return kImmediateHeadBytes;
    default:
      return 0;
  }
}

bool ParsePut(const uint8_t* data, uint32_t data_bytes, Request* request) {
  if (data_bytes == 0 || request->is_wide) return false;
  request->data = data;
  request->bytes = static_cast<uint16_t>(data_bytes);
  if (request->opcode == Opcode::kPut) return true;
  if (data_bytes < kImmediateHeadBytes) return false;
  request->immediate = LoadBe32(data);
  request->total_bytes = LoadBe32(data + 4);
  request->data = data + kImmediateHeadBytes;
  request->bytes = static_cast<uint16_t>(data_bytes - kImmediateHeadBytes);
  // The whole put ends with this request and must not begin below offset 0.
  return request->total_bytes >= request->bytes &&
         request->total_bytes <= request->offset + request->bytes;
}

bool ParseAtomic(const uint8_t* data, uint32_t data_bytes, Request* request) {
  if (data_bytes != OperandBytes(request->opcode, request->is_wide)) return false;
  const uint32_t one = request->is_wide ? 8 : 4;
  request->bytes = static_cast<uint16_t>(one);
  request->operand = LoadOperand(data, request->is_wide);
  if (request->opcode == Opcode::kCompareSwap) {
    request->desired = LoadOperand(data + one, request->is_wide);
  } else if (request->opcode >= Opcode::kIncrement) {
    request->boundary = data[one];
    return request->boundary < one * 8;
  }
  return true;
}

}  // namespace

void EncodeRequest(const Request& request, uint8_t* control) {
  const bool is_get = request.opcode == Opcode::kGet;
  uint32_t data_bytes = OperandBytes(request.opcode, request.is_wide);
  if (!IsAtomic(request.opcode)) data_bytes += request.bytes;
  control[0] = is_get ? kTypeWithoutData : kTypeWithData;
  control[1] = static_cast<uint8_t>(data_bytes - 1);
  control[2] = static_cast<uint8_t>(static_cast<uint8_t>(request.opcode) << 4 |
                                    (request.is_wide ? kWide : 0) | request.response_vc);
  StoreBe32(control + 3, request.number);
  StoreBe16(control + 7, request.window);
  StoreBe32(control + 9, request.key);
  control[13] = static_cast<uint8_t>(request.offset >> 32);
  StoreBe32(control + 14, static_cast<uint32_t>(request.offset));
}

uint32_t EncodeOperands(const Request& request, uint8_t* data) {
  if (request.opcode == Opcode::kPutImmediate) {
    StoreBe32(data, request.immediate);
    StoreBe32(data + 4, request.total_bytes);
    return kImmediateHeadBytes;
  }
  if (!IsAtomic(request.opcode)) return 0;
  uint32_t bytes = StoreOperand(data, request.is_wide, request.operand);
  if (request.opcode == Opcode::kCompareSwap) {
    bytes += StoreOperand(data + bytes, request.is_wide, request.desired);
  } else if (request.opcode >= Opcode::kIncrement) {
    data[bytes++] = request.boundary;
  }
  return bytes;
}

Parsed ParseRequest(const uint8_t* control, uint32_t control_bytes, const uint8_t* data,
                    uint32_t data_bytes, Request* request) {
  *request = {};
  if (control_bytes != kRequestControlBytes || control[0] >> 5 != kRequestClass) {
    return Parsed::kForeign;
  }
  const uint8_t kind = control[2];
  request->response_vc = kind & kVcMask;
  request->number = LoadBe32(control + 3);
  request->window = LoadBe16(control + 7);
  request->key = LoadBe32(control + 9);
  request->offset = uint64_t{control[13]} << 32 | LoadBe32(control + 14);
  request->is_wide = (kind & kWide) != 0;
  const uint8_t opcode = kind >> 4;
  if ((kind & kReserved) != 0 || opcode < static_cast<uint8_t>(Opcode::kPut) ||
      opcode > static_cast<uint8_t>(Opcode::kReadIncrement)) {
    return Parsed::kMalformed;
  }
  request->opcode = static_cast<Opcode>(opcode);
  bool good = false;
  if (request->opcode == Opcode::kGet) {
    request->bytes = static_cast<uint16_t>(control[1] + 1);
    good = data_bytes == 0 && !request->is_wide;
  } else if (IsAtomic(request->opcode)) {
    good = ParseAtomic(data, data_bytes, request);
  } else {
    good = ParsePut(data, data_bytes, request);
  }
  return good ? Parsed::kRequest : Parsed::kMalformed;
}

}  // namespace suede::mem
