// SPDX-License-Identifier: Apache-2.0
// Completes PDUs and builds whole frames around them (wire profile §1).
//
// FinishPdu is for the data path; BuildFrame serves control PDUs, tools and tests.
#ifndef SUEDE_WIRE_FRAME_BUILDER_H_
#define SUEDE_WIRE_FRAME_BUILDER_H_

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <span>

#include "base/sue.h"
#include "wire/encap.h"
#include "wire/rcrc.h"
#include "wire/rh.h"

namespace suede {

// Writes the padding up to the minimum frame behind the commands at pdu + kRhBytes. `header_bytes`:
// HeaderTemplate::length. Returns the bytes of the PDU without its R-CRC.
inline uint32_t PadPdu(uint8_t* pdu, uint32_t command_bytes, uint32_t header_bytes) {
  uint32_t body_bytes = kRhBytes + command_bytes;
  const uint32_t frame_bytes = header_bytes + body_bytes + kRcrcBytes;
  if (frame_bytes < kMinFrameBytes) {
    const uint32_t padding = kMinFrameBytes - frame_bytes;
    std::memset(pdu + body_bytes, 0, padding);
    body_bytes += padding;
  }
  return body_bytes;
}

// Completes the PDU whose commands are at pdu + kRhBytes: writes the RH in front of them, and
// behind them the padding and the R-CRC. Returns the bytes of the PDU. May be repeated with another
// RH.
inline uint32_t FinishPdu(uint8_t* pdu, uint32_t command_bytes, uint32_t header_bytes,
                          const ReliabilityHeader& rh) {
  EncodeRh(rh, pdu);
  const uint32_t body_bytes = PadPdu(pdu, command_bytes, header_bytes);
  StoreRcrc(pdu, body_bytes);
  return body_bytes + kRcrcBytes;
}

// FinishPdu for a PDU without commands. Needs room for kMinFrameBytes behind the RH.
inline uint32_t FinishEmptyPdu(uint8_t* pdu, uint32_t header_bytes, const ReliabilityHeader& rh) {
  EncodeRh(rh, pdu);
  std::memset(pdu + kRhBytes, 0, kMinFrameBytes);
  const uint32_t min =
      kMinFrameBytes - kRcrcBytes - std::min(header_bytes, kMinFrameBytes - kMinPduBytes);
  StoreRcrc(pdu, min);
  return min + kRcrcBytes;
}

// Returns the buffer bytes that BuildFrame needs for a frame with `command_bytes` of commands.
constexpr uint32_t FrameBufferBytes(uint32_t command_bytes) {
  return HeaderTemplate::kRoomBytes +
         std::max(kMinFrameBytes, kRhBytes + command_bytes + kRcrcBytes);
}

// Builds the frame that holds `commands` (already packed, or a control PDU's head and body) inside
// `buffer` and returns it. Returns an empty span if the buffer has fewer bytes than
// FrameBufferBytes, or the commands exceed kMaxPackBytes.
std::span<uint8_t> BuildFrame(const HeaderTemplate& header, const ReliabilityHeader& rh,
                              std::span<const uint8_t> commands, std::span<uint8_t> buffer,
                              bool offload = false);

}  // namespace suede

#endif  // SUEDE_WIRE_FRAME_BUILDER_H_
