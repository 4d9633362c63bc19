// SPDX-License-Identifier: Apache-2.0
// Declares the fields that headers of IP and UDP share.
#ifndef SUEDE_WIRE_ENCAP_UDP_FIELDS_H_
#define SUEDE_WIRE_ENCAP_UDP_FIELDS_H_

#include "wire/encap/ethernet_fields.h"
#include "wire/udp.h"

namespace suede {

constexpr HeaderField IpEtherType(uint16_t type) {
  HeaderField field =
      ConstField("EtherType", FieldBase::kType, 0, 16, type, "that of IP", "the same");
  field.key = FieldKey::kEtherType;
  return field;
}
constexpr HeaderField UdpSourcePort(uint16_t ip_bytes) {
  return ValueField("UDP source port", FieldBase::kInner, static_cast<uint16_t>(ip_bytes * 8), 16,
                    FieldKey::kSession, "49152 + session",
                    "session = port − 49152, modulo 2^16; 16384 and above is no session's, for the "
                    "caller to refuse",
                    /*usual=*/0, kFirstSourcePort);
}
constexpr HeaderField UdpDestinationPort(uint16_t ip_bytes) {
  return ValueField("UDP destination port", FieldBase::kInner,
                    static_cast<uint16_t>(ip_bytes * 8 + 16), 16, FieldKey::kDport,
                    "3333 or as configured", "the same");
}
constexpr HeaderField UdpLength(uint16_t ip_bytes) {
  return WrittenField("UDP length", FieldBase::kInner, static_cast<uint16_t>(ip_bytes * 8 + 32), 16,
                      "8 + PDU", "8 + PDU");
}

}  // namespace suede

#endif  // SUEDE_WIRE_ENCAP_UDP_FIELDS_H_
