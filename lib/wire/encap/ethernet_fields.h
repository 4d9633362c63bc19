// SPDX-License-Identifier: Apache-2.0
// Declares the fields of Ethernet II that several headers share.
#ifndef SUEDE_WIRE_ENCAP_ETHERNET_FIELDS_H_
#define SUEDE_WIRE_ENCAP_ETHERNET_FIELDS_H_

#include "wire/encap/fields.h"

namespace suede {

constexpr HeaderField DestinationMac() {
  return ValueField("destination MAC address", FieldBase::kFrame, 0, 48, FieldKey::kDmac,
                    "the peer's", "ignored");
}
constexpr HeaderField SourceMac() {
  return ValueField("source MAC address", FieldBase::kFrame, 48, 48, FieldKey::kSmac, "the port's",
                    "ignored");
}

}  // namespace suede

#endif  // SUEDE_WIRE_ENCAP_ETHERNET_FIELDS_H_
