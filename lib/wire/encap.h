// SPDX-License-Identifier: Apache-2.0
// Network headers in front of a PDU (SUE framework §3.4, wire profile §5), as templates.
//
// A connection's header is built once per traffic class; sending a PDU copies the header and
// patches the fields that depend on the PDU. Each row of encap/traits.h is a struct with the same
// functions, which a file in encap/ defines; MakeTemplate, WriteHeader and ParseFrame choose among
// them by one switch.
#ifndef SUEDE_WIRE_ENCAP_H_
#define SUEDE_WIRE_ENCAP_H_

#include <cstdint>

#include "wire/encap/header.h"
#include "wire/encap/traits.h"
#include "wire/encap/udp4.h"

namespace suede {

// Write, Parse and Restore implement WriteHeader, ParseFrame and RestoreFrame below. Restore exists
// only if the header holds the RH, SetSession only if the header has a session field.
#define SUEDE_ENCAP_STRUCT(id, ...)                                                          \
  struct id {                                                                                \
    static constexpr uint32_t kHeaderBytes = TraitsOf(Encap::k##id).header_bytes;            \
    static HeaderTemplate MakeTemplate(const HeaderSpec& spec);                              \
    static void SetSession(HeaderTemplate& header, uint16_t session);                        \
    static uint8_t* Write(const HeaderTemplate& header, uint8_t* pdu, uint32_t pdu_bytes,    \
                          bool offload);                                                     \
    static ParsedFrame Parse(const FrameRules& rules, uint8_t* frame, uint32_t bytes,        \
                             bool checksums_good);                                           \
    static void Restore(const FrameRules& rules, uint8_t* frame, const ParsedFrame& parsed); \
  };
SUEDE_ENCAPS(SUEDE_ENCAP_STRUCT)
#undef SUEDE_ENCAP_STRUCT

HeaderTemplate MakeTemplate(Encap encap, const HeaderSpec& spec);

// Changes the header's session to a number below SessionCount of its encapsulation; the result
// equals that of MakeTemplate with this number. No effect if the header has no session field.
void SetSession(HeaderTemplate& header, uint16_t session);

// Writes the header in front of `pdu`, a PDU that FinishPdu has completed, and returns the start of
// the frame, `header.length` bytes in front of the PDU. Writes up to HeaderTemplate::kRoomBytes
// bytes in front of `pdu`. A header that holds the RH overwrites the RH; to send the PDU again,
// call FinishPdu again. With `offload` the device computes udp6's checksum: the field has the sum
// of the pseudo-header.
inline uint8_t* WriteHeader(const HeaderTemplate& header, uint8_t* pdu, uint32_t pdu_bytes,
                            bool offload) {
  // A separate test makes udp4 cost a compare instead of a jump through a table.
  if (header.encap == Encap::kUdp4) return Udp4::Write(header, pdu, pdu_bytes, offload);
  switch (header.encap) {
#define SUEDE_ENCAP_WRITE(id, ...) \
  case Encap::k##id:               \
    return id::Write(header, pdu, pdu_bytes, offload);
    SUEDE_ENCAPS(SUEDE_ENCAP_WRITE)
#undef SUEDE_ENCAP_WRITE
  }
  return Udp4::Write(header, pdu, pdu_bytes, offload);
}

// Parses a frame's headers. If the header holds the RH, ParseFrame restores the canonical RH over
// the header's last bytes; such a frame may be parsed once only, unless RestoreFrame undoes it.
// `checksums_good`: the device has verified the checksums.
inline ParsedFrame ParseFrame(const FrameRules& rules, uint8_t* frame, uint32_t bytes,
                              bool checksums_good) {
  if (rules.encap == Encap::kUdp4) return Udp4::Parse(rules, frame, bytes, checksums_good);
  switch (rules.encap) {
#define SUEDE_ENCAP_PARSE(id, ...) \
  case Encap::k##id:               \
    return id::Parse(rules, frame, bytes, checksums_good);
    SUEDE_ENCAPS(SUEDE_ENCAP_PARSE)
#undef SUEDE_ENCAP_PARSE
  }
  return Udp4::Parse(rules, frame, bytes, checksums_good);
}

// ParseFrame, inline, for udp4 frames without an error and without a UDP checksum, which are nearly
// all. Changes no byte of the frame. Returns false for all other frames; call ParseFrame for them.
inline bool ParseInPlace(const FrameRules& rules, uint8_t* frame, uint32_t bytes,
                         bool checksums_good, ParsedFrame& parsed) {
  return rules.encap == Encap::kUdp4 &&
         udp4::ParseGood(rules, frame, bytes, checksums_good, parsed);
}

// Restores a frame that was parsed without an error, so that another lcore can parse it.
inline void RestoreFrame(const FrameRules& rules, uint8_t* frame, const ParsedFrame& parsed) {
#define SUEDE_ENCAP_RESTORE(id, ...)                                           \
  if constexpr (TraitsOf(Encap::k##id).holds_rh) {                             \
    if (rules.encap == Encap::k##id) return id::Restore(rules, frame, parsed); \
  }
  SUEDE_ENCAPS(SUEDE_ENCAP_RESTORE)
#undef SUEDE_ENCAP_RESTORE
}

}  // namespace suede

#endif  // SUEDE_WIRE_ENCAP_H_
