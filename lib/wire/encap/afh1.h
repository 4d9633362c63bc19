// SPDX-License-Identifier: Apache-2.0
// AFH Gen 1, with and without a shim behind its Ethernet header (SUE framework §3.4.3; wire profile
// §5): Ethernet II whose addresses are a prefix of 32 bits and a forwarding address of 16.
#ifndef SUEDE_WIRE_ENCAP_AFH1_H_
#define SUEDE_WIRE_ENCAP_AFH1_H_

#include "base/big_endian.h"
#include "wire/encap/ethernet_fields.h"
#include "wire/encap/fields.h"
#include "wire/encap/header.h"
#include "wire/ethernet.h"

namespace suede::afh1 {

inline MacAddress MacOf(uint32_t prefix, const NetAddress& address) {
  MacAddress mac;
  StoreBe32(mac.data(), prefix);
  StoreBe16(mac.data() + 4, static_cast<uint16_t>(address.low));
  return mac;
}

// Starts a template for `header.encap`. Returns the position of the inner header.
inline uint8_t* Start(HeaderTemplate& header, const HeaderSpec& spec, uint32_t inner_bytes) {
  return StartTemplate(header, spec, MacOf(spec.mac_prefix, spec.destination),
                       MacOf(spec.mac_prefix, spec.source),
                       EtherTypeOf(header.encap, spec.ether_type), inner_bytes);
}

// Returns 0 if an Ethernet header of `l2` bytes matches the rules.
template <Encap kEncap>
uint32_t Differs(const FrameRules& rules, const uint8_t* frame, uint32_t l2) {
  return (LoadBe16(frame + l2 - 2) ^ uint32_t{EtherTypeOf(kEncap, rules.ether_type)}) |
         (LoadBe32(frame) ^ rules.mac_prefix) | (LoadBe32(frame + 6) ^ rules.mac_prefix);
}

// Returns the error of a frame that Parse has not accepted.
template <Encap kEncap>
[[gnu::cold, gnu::noinline]] FrameError Refuse(const FrameRules& rules, const uint8_t* frame,
                                               uint32_t bytes) {
  const uint32_t l2 = EthernetBytes(frame, bytes);
  if (l2 == 0) return FrameError::kTruncated;
  return Differs<kEncap>(rules, frame, l2) != 0 ? FrameError::kNotSue : FrameError::kTruncated;
}

// ---- Declaration of the fields of the Ethernet header, in parsing order.

inline constexpr HeaderField kMacAddresses[] = {DestinationMac(), SourceMac()};

constexpr HeaderField EtherTypeField() {
  return ValueField("EtherType", FieldBase::kType, 0, 16, FieldKey::kEtherType, "as configured",
                    "the same");
}
constexpr HeaderField PrefixIsOurs(uint16_t at) {
  return Ruled(FieldBase::kFrame, at, 32, FieldKey::kMacPrefix, kMacAddresses);
}
constexpr HeaderField Prefix(uint16_t at) {
  return ValueField("prefix", FieldBase::kFrame, at, 32, FieldKey::kMacPrefix, "as configured",
                    "the same");
}
constexpr HeaderField DestinationAddress() {
  return ValueField("destination forwarding address", FieldBase::kFrame, 32, 16, FieldKey::kDstFwd,
                    "the peer's", "handed on");
}
constexpr HeaderField SourceAddress() {
  return ValueField("source forwarding address", FieldBase::kFrame, 80, 16, FieldKey::kSrcFwd,
                    "own", "handed on");
}

}  // namespace suede::afh1

#endif  // SUEDE_WIRE_ENCAP_AFH1_H_
