// SPDX-License-Identifier: Apache-2.0
#include "message/command.h"

#include "base/big_endian.h"

namespace suede::message {
namespace {

constexpr uint8_t kTypeWithoutData = kSocketClass << 5 | kControlBytes / 2;
constexpr uint8_t kTypeWithData = kTypeWithoutData | 0x10;
constexpr uint8_t kFlags = kFirst | kLast | kWantsCredit;

constexpr uint8_t kDatagram = 0x01;
constexpr uint8_t kPrivate = 0x02;
constexpr uint8_t kVcShift = 4;
constexpr uint8_t kTraits = kDatagram | kPrivate | 3 << kVcShift;

uint8_t EncodeTraits(const Traits& traits) {
  return static_cast<uint8_t>((traits.is_datagram ? kDatagram : 0) |
                              (traits.is_private ? kPrivate : 0) | traits.vc << kVcShift);
}

bool ParseTraits(uint8_t octet, Traits* traits) {
  *traits = {.is_datagram = (octet & kDatagram) != 0,
             .is_private = (octet & kPrivate) != 0,
             .vc = static_cast<uint8_t>(octet >> kVcShift & 3)};
  return (octet & ~kTraits) == 0;
}

// Parses octet 3 of the control, which depends on the kind: traits, a status, or 0.
bool ParseOctet3(uint8_t octet, Command* command) {
  switch (command->kind) {
    case Kind::kConnect:
    case Kind::kAnnounce:
      return ParseTraits(octet, &command->traits);
    case Kind::kRefuse:
      command->status = static_cast<Status>(octet);
      return IsRefusal(octet);
    case Kind::kEnd:
      command->status = static_cast<Status>(octet);
      return command->status == Status::kOk || command->status == Status::kAborted;
    default:
      return octet == 0;
  }
}

bool IsKind(uint8_t kind) {
  return (kind >= static_cast<uint8_t>(Kind::kConnect) &&
          kind <= static_cast<uint8_t>(Kind::kClosed)) ||
         kind == static_cast<uint8_t>(Kind::kData) || kind == static_cast<uint8_t>(Kind::kEnd);
}

}  // namespace

void EncodeCommand(const Command& command, uint8_t* control) {
  const bool has_data = command.data_bytes != 0;
  control[0] = has_data ? kTypeWithData : kTypeWithoutData;
  control[1] = has_data ? static_cast<uint8_t>(command.data_bytes - 1) : uint8_t{0};
  control[2] = static_cast<uint8_t>(static_cast<uint8_t>(command.kind) << 4 | command.flags);
  control[3] = 0;
  StoreBe32(control + 4, command.tag);
  StoreBe32(control + 8, command.epoch);
  StoreBe32(control + 12, command.own_tag);
  StoreBe16(control + 16, command.id);
  switch (command.kind) {
    case Kind::kConnect:
    case Kind::kAnnounce:
      control[3] = EncodeTraits(command.traits);
      break;
    case Kind::kAccept:
      StoreBe32(control + 8, command.limit);
      break;
    case Kind::kCredit:
      StoreBe32(control + 8, command.limit);
      StoreBe32(control + 12, command.received);
      break;
    case Kind::kRefuse:
      control[3] = static_cast<uint8_t>(command.status);
      StoreBe32(control + 12, command.received);
      break;
    case Kind::kClosed:
      break;
    case Kind::kEnd:
      control[3] = static_cast<uint8_t>(command.status);
      [[fallthrough]];
    case Kind::kData:
      StoreBe32(control + 12, command.number);
      break;
  }
}

Parsed ParseCommand(const uint8_t* control, uint32_t control_bytes, const uint8_t* data,
                    uint32_t data_bytes, Command* command) {
  *command = {};
  if (control_bytes != kControlBytes || control[0] >> 5 != kSocketClass) return Parsed::kForeign;
  const uint8_t kind = control[2] >> 4;
  const uint32_t third = LoadBe32(control + 8);
  const uint32_t fourth = LoadBe32(control + 12);
  command->flags = control[2] & 0x0f;
  command->tag = LoadBe32(control + 4);
  command->epoch = third;
  command->id = LoadBe16(control + 16);
  command->data = data;
  command->data_bytes = data_bytes;
  if (!IsKind(kind)) return Parsed::kMalformed;
  command->kind = static_cast<Kind>(kind);
  const bool is_data = command->kind == Kind::kData;
  if (is_data || command->kind == Kind::kEnd) {
    command->number = fourth;
  } else {
    command->own_tag = command->received = fourth;
    command->limit = third;
  }
  if (!ParseOctet3(control[3], command) || (command->flags & ~(is_data ? kFlags : 0)) != 0 ||
      (data_bytes != 0 && !is_data)) {
    return Parsed::kMalformed;
  }
  return Parsed::kCommand;
}

}  // namespace suede::message
