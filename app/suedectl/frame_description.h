// SPDX-License-Identifier: Apache-2.0
// A frame as its JSON object has it, and the way between that and its bytes.
//
// The description of a good frame from any sender gives the same frame again, byte for byte.
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

// No frame has more bytes, even where its lengths say so.
inline constexpr uint32_t kMaxFrameBytes = 65535;

struct FrameCommand {
  Bytes control;  // with type and length bytes as sent
  Bytes data;
  friend bool operator==(const FrameCommand&, const FrameCommand&) = default;
};

struct ControlPdu {
  std::optional<ControlMessage> message;
  Bytes bytes;  // head and body where `message` encodes to others
  friend bool operator==(const ControlPdu&, const ControlPdu&) = default;
};

// The readable part of a sealed PDU (docs/sealing.md).
struct SealedPdu {
  SealShim shim;
  uint32_t epoch = 0;  // form S: the whole number where the PDU was opened, else modulo 4
  Bytes tag;
};

class FrameOpener;

struct FrameDescription {
  Encap encap = Encap::kUdp4;
  FieldValues values;
  std::optional<std::vector<FrameCommand>> commands;
  std::optional<ControlPdu> control_pdu;
  std::optional<SealedPdu> sealed;  // the frame was; where it was opened, the rest is the plain PDU
  Bytes trailing;      // bytes behind a PDU whose length the header says
  std::string error;   // why a port drops the frame: its counter is rx_drop_<error>_total
  std::string detail;  // more about that, in a sentence
};

// A frame as a port that goes by `rules` reads it. With an error, the fields before it stay.
// `opener` opens sealed PDUs; null: none is opened.
FrameDescription DescribeFrame(const FrameRules& rules, std::span<const uint8_t> frame,
                               FrameOpener* opener = nullptr);

// The message of an error starts with the field that it is about. `error`, `detail` and
// `sealed` play no part: the frame is a plain one.
absl::StatusOr<Bytes> MakeFrame(const FrameDescription& description);

}  // namespace suede::ctl

#endif  // SUEDE_SUEDECTL_FRAME_DESCRIPTION_H_
