// SPDX-License-Identifier: Apache-2.0
// Writes RH, R-CRC and network header around the commands of a PDU.
#ifndef SUEDE_FRAME_FRAME_WRITER_H_
#define SUEDE_FRAME_FRAME_WRITER_H_

#include <cstdint>

#include "base/coordinates.h"
#include "lcore/params.h"
#include "lcore/port_context.h"
#include "transport/connection.h"
#include "wire/frame_builder.h"

namespace suede {

// Writes the network header in front of a complete PDU.
[[gnu::always_inline]] inline void SetFrame(const PortContext& port, const HeaderTemplate& header,
                                            Frame* frame, uint8_t* pdu, uint32_t pdu_bytes) {
  frame->data = WriteHeader(header, pdu, pdu_bytes, port.tx_offload != TxOffload::kNone);
  frame->length = header.length + pdu_bytes;
  frame->tx_offload = port.tx_offload;
  frame->l2_length = header.l2_length;
  frame->l3_length = header.l3_length;
}

// The RH of a data PDU of the instance.
[[gnu::always_inline]] inline ReliabilityHeader DataRh(const InstanceParams& params, Vc vc, Psn psn,
                                                       const RpsnField& field) {
  return {.ver = static_cast<uint8_t>(RhVersion::kData),
          .op = field.op,
          .xpuid = params.xpuid,
          .psn = psn,
          .vc = static_cast<uint8_t>(vc),
          .partition = params.partition,
          .rpsn = field.rpsn};
}

// A complete PDU, including the R-CRC.
struct PlainPdu {
  uint8_t* start;  // of its RH
  uint32_t bytes;
};

// Completes the PDU around `bytes` bytes of `commands`, with room for the RH in front.
[[gnu::always_inline]] inline PlainPdu FinishPlain(const HeaderTemplate& header, uint8_t* commands,
                                                   uint32_t bytes, const ReliabilityHeader& rh) {
  uint8_t* const start = commands - kRhBytes;
  return {.start = start, .bytes = FinishPdu(start, bytes, header.length, rh)};
}

// Completes the frame around `bytes` bytes of `commands` in its buffer, with room for headers in
// front.
[[gnu::always_inline]] inline void FillFrame(const PortContext& port, const HeaderTemplate& header,
                                             Frame* frame, uint8_t* commands, uint32_t bytes,
                                             const ReliabilityHeader& rh) {
  const PlainPdu pdu = FinishPlain(header, commands, bytes, rh);
  SetFrame(port, header, frame, pdu.start, pdu.bytes);
}

}  // namespace suede

#endif  // SUEDE_FRAME_FRAME_WRITER_H_
