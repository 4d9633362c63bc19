// SPDX-License-Identifier: Apache-2.0
#include "axi/command.h"

#include <cstring>

#include "base/big_endian.h"

namespace suede::axi {
namespace {

constexpr uint8_t kData = 0x10;
constexpr uint8_t kAnswerOfRead = 0x08;
constexpr uint8_t kBeatResponses = 0x04;
constexpr uint8_t kResponseMask = 0x03;

void EncodeHead(Kind kind, uint32_t number, uint32_t data_bytes, uint8_t* control) {
  control[0] = static_cast<uint8_t>(kClass << 5 | (data_bytes != 0 ? kData : 0));
  control[1] = static_cast<uint8_t>(data_bytes != 0 ? data_bytes - 1 : 0);
  control[2] = static_cast<uint8_t>(static_cast<uint8_t>(kind) << 4);
  StoreBe32(control + 3, number);
}

uint32_t ControlBytesOf(Kind kind) {
  switch (kind) {
    case Kind::kRead:
    case Kind::kWrite:
    case Kind::kWriteWithAttributes:
      return kRequestControlBytes;
    case Kind::kAnswer:
      return kAnswerControlBytes;
    case Kind::kWriteMore:
    case Kind::kAnswerMore:
      return kMoreControlBytes;
  }
  return 0;
}

void ParseRequest(const uint8_t* control, Address* address) {
  const uint8_t shape = control[16];
  address->cache = control[2] & 0x0f;
  address->address = LoadBe64(control + 7);
  address->len = control[15];
  address->prot = shape >> 5;
  address->size = shape >> 2 & 7;
  address->burst = shape & 3;
  address->id = control[17];
}

bool ParseAnswer(const uint8_t* control, uint32_t data_bytes, Answer* answer) {
  const uint8_t flags = control[2];
  const uint8_t status = control[7];
  const uint8_t user = control[8];
  answer->is_read = (flags & kAnswerOfRead) != 0;
  answer->has_beat_responses = (flags & kBeatResponses) != 0;
  answer->response = flags & kResponseMask;
  answer->beat_user_bytes = user >> 5;
  answer->user_bytes = user & 0x1f;
  if (!IsOnWire(status) || control[9] != 0) return false;
  answer->status = static_cast<Status>(status);
  if (answer->status != Status::kOk) {
    return answer->response == ResponseOf(answer->status) && !answer->has_beat_responses &&
           user == 0 && data_bytes == 0;
  }
  if (answer->is_read) {
    return answer->beat_user_bytes <= kMaxBeatUserBytes && answer->user_bytes == 0 &&
           data_bytes != 0;
  }
  return !answer->has_beat_responses && answer->beat_user_bytes == 0 &&
         answer->user_bytes <= kMaxUserBytes && data_bytes == answer->user_bytes;
}

bool ParseMore(const uint8_t* control, uint32_t data_bytes, Command* command) {
  command->part = control[7];
  return (control[2] & 0x0f) == 0 && command->part != 0 && data_bytes != 0;
}

}  // namespace

void EncodeRequest(Kind kind, uint32_t number, const Address& address, uint32_t data_bytes,
                   uint8_t* control) {
  EncodeHead(kind, number, data_bytes, control);
  control[0] |= kRequestControlBytes / 2;
  control[2] |= address.cache;
  StoreBe64(control + 7, address.address);
  control[15] = address.len;
  control[16] = static_cast<uint8_t>(address.prot << 5 | address.size << 2 | address.burst);
  control[17] = static_cast<uint8_t>(address.id);
}

void EncodeMore(Kind kind, uint32_t number, uint8_t part, uint32_t data_bytes, uint8_t* control) {
  EncodeHead(kind, number, data_bytes, control);
  control[0] |= kMoreControlBytes / 2;
  control[7] = part;
}

void EncodeAnswer(uint32_t number, const Answer& answer, uint32_t data_bytes, uint8_t* control) {
  EncodeHead(Kind::kAnswer, number, data_bytes, control);
  control[0] |= kAnswerControlBytes / 2;
  control[2] =
      static_cast<uint8_t>(control[2] | (answer.is_read ? kAnswerOfRead : 0) |
                           (answer.has_beat_responses ? kBeatResponses : 0) | answer.response);
  control[7] = static_cast<uint8_t>(answer.status);
  control[8] = static_cast<uint8_t>(answer.beat_user_bytes << 5 | answer.user_bytes);
  control[9] = 0;
}

Parsed ParseControl(const uint8_t* control, uint32_t control_bytes, uint32_t data_bytes,
                    Command* command) {
  *command = {};
  if (control_bytes < kMoreControlBytes || control[0] >> 5 != kClass) return Parsed::kForeign;
  uint8_t copy[kMaxControlBytes];
  std::memcpy(copy, control, control_bytes);
  if (copy[2] >> 4 < static_cast<uint8_t>(Kind::kRead)) return Parsed::kForeign;
  command->kind = static_cast<Kind>(copy[2] >> 4);
  if (control_bytes != ControlBytesOf(command->kind)) return Parsed::kForeign;
  command->number = LoadBe32(copy + 3);
  bool is_good = true;
  switch (command->kind) {
    case Kind::kRead:
      ParseRequest(copy, &command->address);
      break;
    case Kind::kWrite:
    case Kind::kWriteWithAttributes:
      ParseRequest(copy, &command->address);
      is_good = data_bytes != 0;
      break;
    case Kind::kAnswer:
      is_good = ParseAnswer(copy, data_bytes, &command->answer);
      break;
    case Kind::kWriteMore:
    case Kind::kAnswerMore:
      is_good = ParseMore(copy, data_bytes, command);
      break;
  }
  return is_good ? Parsed::kCommand : Parsed::kMalformed;
}

}  // namespace suede::axi
