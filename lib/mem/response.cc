// SPDX-License-Identifier: Apache-2.0
#include "mem/response.h"

#include "base/big_endian.h"

namespace suede::mem {
namespace {

constexpr uint32_t kAcknowledgementBytes = 10;
constexpr uint32_t kDataBytes = 8;
constexpr uint32_t kValueBytes = 16;

uint32_t ControlBytes(Response::Kind kind) {
  switch (kind) {
    case Response::Kind::kAcknowledgement:
      return kAcknowledgementBytes;
    case Response::Kind::kData:
      return kDataBytes;
    case Response::Kind::kValue:
      break;
  }
  return kValueBytes;
}

}  // namespace

uint32_t EncodeResponse(const Response& response, uint8_t* control) {
  const uint32_t bytes = ControlBytes(response.kind);
  const bool has_data = response.kind == Response::Kind::kData;
  control[0] = static_cast<uint8_t>(kResponseClass << 5 | (has_data ? 0x10 : 0) | bytes / 2);
  control[1] = has_data ? static_cast<uint8_t>(response.data_bytes - 1) : uint8_t{0};
  control[2] = static_cast<uint8_t>(static_cast<uint8_t>(response.kind) << 4);
  control[3] = static_cast<uint8_t>(response.status);
  StoreBe32(control + 4, response.number);
  if (response.kind == Response::Kind::kAcknowledgement) StoreBe16(control + 8, response.count);
  if (response.kind == Response::Kind::kValue) StoreBe64(control + 8, response.value);
  return bytes;
}

bool ParseResponse(const uint8_t* control, uint32_t control_bytes, const uint8_t* data,
                   uint32_t data_bytes, Response* response) {
  if (control_bytes < kDataBytes || control[0] >> 5 != kResponseClass) return false;
  const uint8_t kind = control[2];
  const uint8_t status = control[3];
  *response = {.status = static_cast<Status>(status), .number = LoadBe32(control + 4)};
  switch (kind) {
    case 0x10:
      if (control_bytes != kAcknowledgementBytes || data_bytes != 0 || !IsOnWire(status)) {
        return false;
      }
      response->kind = Response::Kind::kAcknowledgement;
      response->count = LoadBe16(control + 8);
      return response->count != 0;
    case 0x20:
      if (control_bytes != kDataBytes || data_bytes == 0 || status != 0) return false;
      response->kind = Response::Kind::kData;
      response->data = data;
      response->data_bytes = static_cast<uint16_t>(data_bytes);
      return true;
    case 0x30:
      if (control_bytes != kValueBytes || data_bytes != 0 || status != 0) return false;
      response->kind = Response::Kind::kValue;
      response->value = LoadBe64(control + 8);
      return true;
    default:
      return false;
  }
}

}  // namespace suede::mem
