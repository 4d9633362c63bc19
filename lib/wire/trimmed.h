// SPDX-License-Identifier: Apache-2.0
// Frames that a switch has trimmed: cut behind the headers and the RH because a queue was full, so
// that their receiver learns at once what was lost (docs/switch.md, "Trimming").
#ifndef SUEDE_WIRE_TRIMMED_H_
#define SUEDE_WIRE_TRIMMED_H_

#include <cstdint>
#include <optional>

#include "wire/encap/header.h"

namespace suede {

// Reads a frame that ParseFrame finds truncated. It was trimmed if its DSCP is the one that
// switches give to trimmed frames, and if each length in its headers runs past its end: a switch
// leaves the lengths as they were. Only udp4, udp6 and afh1s have both.
//
// The RH at `pdu` is whole, and `pdu_bytes` is what the headers say that the PDU had: the frame
// holds fewer. The checksum of an IPv4 header is verified. The UDP checksum and the R-CRC cover
// what was cut off, so nothing vouches for the RH. Changes no byte of the frame.
std::optional<ParsedFrame> ParseTrimmed(const FrameRules& rules, uint8_t* frame, uint32_t bytes,
                                        uint8_t trimmed_dscp);

}  // namespace suede

#endif  // SUEDE_WIRE_TRIMMED_H_
