// SPDX-License-Identifier: Apache-2.0
// AFH Gen 2, normal and compressed (SUE framework §3.4.2; wire profile §5): the 12 bytes of the two
// MAC addresses hold other fields, as the AAI quadrant of IEEE 802c permits.
#ifndef SUEDE_WIRE_ENCAP_AFH2_H_
#define SUEDE_WIRE_ENCAP_AFH2_H_

#include "base/big_endian.h"
#include "wire/encap/fields.h"
#include "wire/encap/header.h"
#include "wire/ethernet.h"

namespace suede::afh2 {

// First byte: W, V, two zero bits, Z, Y, X, M.
inline constexpr uint8_t kNormal = 0x02;      // X
inline constexpr uint8_t kCompressed = 0x82;  // W, X
inline constexpr uint8_t kMulticast = 0x01;   // M

// Returns the error of a frame with another EtherType or first byte, or to a multicast group; else
// kNone.
inline FrameError RefuseStart(const uint8_t* frame, uint32_t bytes, uint16_t ether_type,
                              uint8_t first) {
  if (bytes < kEthernetBytes) return FrameError::kTruncated;
  if (LoadBe16(frame + 12) != ether_type || ((frame[0] ^ first) & ~kMulticast) != 0) {
    return FrameError::kNotSue;
  }
  return (frame[0] & kMulticast) != 0 ? FrameError::kMulticast : FrameError::kNone;
}

// Writes the class and EtherType, which both headers have in the same place. Returns the start of
// the header.
inline uint8_t* Start(HeaderTemplate& header, const HeaderSpec& spec) {
  uint8_t* at = header.bytes + HeaderTemplate::kMaxBytes - kEthernetBytes;
  at[6] = spec.traffic_class.ds_byte();
  StoreBe16(at + 12, EtherTypeOf(header.encap, spec.ether_type));
  header.l2_length = kEthernetBytes;
  return at;
}

// ---- Declaration of the common fields, in parsing order.

constexpr HeaderField EtherTypeField() {
  return ValueField("EtherType", FieldBase::kType, 0, 16, FieldKey::kEtherType, "as configured",
                    "the same");
}
constexpr HeaderField EtherTypeIsOurs() {
  return Ruled(FieldBase::kType, 0, 16, FieldKey::kEtherType);
}
constexpr HeaderField Bit(std::string_view name, uint16_t at, uint16_t bits, uint64_t value) {
  const std::string_view text = value != 0 ? "1" : "0";
  return ConstField(name, FieldBase::kFrame, at, bits, value, text, text);
}
constexpr HeaderField W(uint64_t value) { return Bit("W", 0, 1, value); }
constexpr HeaderField V() { return Bit("V", 1, 1, 0); }
constexpr HeaderField Zero() { return Bit("zero", 2, 2, 0); }
constexpr HeaderField Z() { return Bit("Z", 4, 1, 0); }
constexpr HeaderField Y() { return Bit("Y", 5, 1, 0); }
constexpr HeaderField X() { return Bit("X", 6, 1, 1); }
constexpr HeaderField M() { return WrittenField("M", FieldBase::kFrame, 7, 1, "0", "0"); }
constexpr HeaderField Dscp() {
  return ValueField("DSCP", FieldBase::kFrame, 48, 6, FieldKey::kDscp, "of the class", "handed on");
}
constexpr HeaderField Ecn() {
  return ValueField("ECN", FieldBase::kFrame, 54, 2, FieldKey::kEcn, "of the class", "handed on");
}
constexpr HeaderField Destination(uint16_t at, uint16_t bits) {
  return ValueField("destination forwarding address", FieldBase::kFrame, at, bits,
                    FieldKey::kDstFwd, "the peer's", "handed on");
}
constexpr HeaderField Source(uint16_t at, uint16_t bits) {
  return ValueField("source forwarding address", FieldBase::kFrame, at, bits, FieldKey::kSrcFwd,
                    "own", "handed on");
}

}  // namespace suede::afh2

#endif  // SUEDE_WIRE_ENCAP_AFH2_H_
