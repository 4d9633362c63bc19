// SPDX-License-Identifier: Apache-2.0
// Frames that a switch has trimmed: cut behind the headers and the RH because a queue was full, so
// that their receiver learns of the loss at once (docs/switch.md, "Trimming").
#ifndef SUEDE_WIRE_TRIMMED_H_
#define SUEDE_WIRE_TRIMMED_H_

#include <cstdint>
#include <optional>

#include "wire/encap/header.h"

namespace suede {

// Parses a frame that ParseFrame finds truncated. The frame was trimmed if its DSCP is
// `trimmed_dscp` and each length in its headers exceeds the frame: switches leave the lengths
// unchanged. Only udp4, udp6 and afh1s have both.
//
// The RH at `pdu` is complete; `pdu_bytes` is the original length of the PDU, of which the frame
// holds less. The checksum of an IPv4 header is verified. The UDP checksum and the R-CRC cover the
// missing bytes, so the RH is not verified. Changes no byte of the frame. Returns nullopt if the
// frame is not a trimmed one.
std::optional<ParsedFrame> ParseTrimmed(const FrameRules& rules, uint8_t* frame, uint32_t bytes,
                                        uint8_t trimmed_dscp);

}  // namespace suede

#endif  // SUEDE_WIRE_TRIMMED_H_
