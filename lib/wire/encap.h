// SPDX-License-Identifier: Apache-2.0
// Network headers in front of a PDU (SUE framework §3.4, wire profile §5), as templates.
//
// A connection's header is built once per traffic class; sending a PDU copies it and patches the
// fields that depend on the PDU. Each row of encap/traits.h is a struct of the same functions,
// which a file in encap/ defines; MakeTemplate, WriteHeader and ParseFrame choose among them by one
// switch.
#ifndef SUEDE_WIRE_ENCAP_H_
#define SUEDE_WIRE_ENCAP_H_

#include <cstdint>

#include "wire/encap/header.h"
#include "wire/encap/traits.h"
#include "wire/encap/udp4.h"

namespace suede {

// Write, Parse and Restore are those of WriteHeader, ParseFrame and RestoreFrame below. Restore is
// there where the header holds the RH, SetSession where the header has a number of a session.
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

// Gives the header another session, a number below SessionCount of its encapsulation: the header is
// then the one that MakeTemplate makes with that number. Without effect where a header has none.
void SetSession(HeaderTemplate& header, uint16_t session);

// Writes the header in front of `pdu`, a PDU that FinishPdu has completed, and returns where the
// frame starts: `header.length` bytes in front of it. Writes up to HeaderTemplate::kRoomBytes
// bytes in front of `pdu`. A header that holds the RH is written over the RH too, and a sender that
// sends the PDU again completes it again. With `offload` the device computes the checksum: udp4
// leaves the IPv4 header's 0, and udp6 puts the pseudo-header's sum where the UDP checksum goes.
inline uint8_t* WriteHeader(const HeaderTemplate& header, uint8_t* pdu, uint32_t pdu_bytes,
                            bool offload) {
  // Asked by itself, udp4 costs a compare and not a jump through a table.
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

// Reads a frame's headers. A header that holds the RH is read by putting the RH back into its
// canonical form, over the header's last bytes, so a frame is parsed once, or else put back by
// RestoreFrame. `checksums_good` says that the device has verified checksums.
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

// ParseFrame, inline, for frames of udp4 without an error and without a UDP checksum: nearly all.
// Changes no byte of the frame. False for all other frames, which are for ParseFrame.
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
