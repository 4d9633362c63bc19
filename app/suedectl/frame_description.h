// SPDX-License-Identifier: Apache-2.0
// Description of a frame, as in its JSON object, and its conversion from and to bytes.
//
// The conversion of a valid frame to a description and back is lossless.
#ifndef SUEDE_SUEDECTL_FRAME_DESCRIPTION_H_
#define SUEDE_SUEDECTL_FRAME_DESCRIPTION_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "seal/shim.h"
#include "suedectl/frame_fields.h"
#include "suedectl/frame_hex.h"
#include "wire/control_pdu.h"
#include "wire/encap.h"

namespace suede::ctl {

// Maximum frame length in bytes, whatever the length fields contain.
inline constexpr uint32_t kMaxFrameBytes = 65535;

struct FrameCommand {
  Bytes control;  // includes the type and length bytes
  Bytes data;
  friend bool operator==(const FrameCommand&, const FrameCommand&) = default;
};

struct ControlPdu {
  std::optional<ControlMessage> message;
  Bytes bytes;  // head and body, if `message` does not encode to the same bytes
  friend bool operator==(const ControlPdu&, const ControlPdu&) = default;
};

// The readable part of a sealed PDU (docs/sealing.md).
struct SealedPdu {
  SealShim shim;
  uint32_t epoch = 0;  // form S: complete if the PDU was opened, otherwise modulo 4
  Bytes tag;
};

class FrameOpener;

struct FrameDescription {
  Encap encap = Encap::kUdp4;
  FieldValues values;
  std::optional<std::vector<FrameCommand>> commands;
  std::optional<ControlPdu> control_pdu;
  std::optional<SealedPdu> sealed;  // set for sealed frames; other fields are of the opened PDU
  Bytes trailing;                   // bytes behind the PDU, if a header has its length
  std::string error;                // reason of the drop: counter rx_drop_<error>_total
  std::string detail;               // explanation of the error
  std::string comment;              // of its packet in a pcapng file
};

// Parses a frame as a port with `rules` does. On an error, the fields before it remain set.
// `opener` decrypts sealed PDUs; null: they stay sealed.
FrameDescription DescribeFrame(const FrameRules& rules, std::span<const uint8_t> frame,
                               FrameOpener* opener = nullptr);

// Encodes an unsealed frame. Ignores `error`, `detail`, `comment` and `sealed`. An error's message
// begins with the name of the field.
absl::StatusOr<Bytes> MakeFrame(const FrameDescription& description);

}  // namespace suede::ctl

#endif  // SUEDE_SUEDECTL_FRAME_DESCRIPTION_H_
