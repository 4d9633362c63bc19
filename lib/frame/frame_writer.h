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

// Notes the length of a frame, and what the device is to compute. `pdu_bytes`: with the R-CRC.
[[gnu::always_inline]] inline void Describe(const PortContext& port, const HeaderTemplate& header,
                                            Frame* frame, uint32_t pdu_bytes) {
  frame->length = header.length + pdu_bytes;
  frame->tx_offload = port.tx_offload;
  frame->l2_length = header.l2_length;
  frame->l3_length = header.l3_length;
}

// Writes the network header of a described frame in front of its complete PDU.
[[gnu::always_inline]] inline void WriteHeaderOf(const HeaderTemplate& header, Frame* frame,
                                                 uint8_t* pdu, uint32_t pdu_bytes) {
  frame->data = WriteHeader(header, pdu, pdu_bytes, frame->tx_offload != TxOffload::kNone);
}

// Describes a frame, and writes the network header in front of its complete PDU.
[[gnu::always_inline]] inline void SetFrame(const PortContext& port, const HeaderTemplate& header,
                                            Frame* frame, uint8_t* pdu, uint32_t pdu_bytes) {
  Describe(port, header, frame, pdu_bytes);
  WriteHeaderOf(header, frame, pdu, pdu_bytes);
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

}  // namespace suede

#endif  // SUEDE_FRAME_FRAME_WRITER_H_
