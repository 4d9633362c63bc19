// SPDX-License-Identifier: Apache-2.0
// Layout of the ESUN header behind the EtherType (OCP ESUN base specification 1.0; wire profile §5,
// esun), for endpoints and switches. Big-endian: revision (2 bits), F, CoS (3), ECN (2); flow label
// (16); TTL (4), user-defined (2), reserved (2).
#ifndef SUEDE_WIRE_ENCAP_ESUN_H_
#define SUEDE_WIRE_ENCAP_ESUN_H_

#include <cstdint>

#include "base/big_endian.h"

namespace suede::esun {

inline constexpr uint32_t kBytes = 4;
inline constexpr uint8_t kRevision = 0;
inline constexpr uint8_t kHasLabel = 0x20;  // F: the flow label is valid

constexpr uint8_t RevisionOf(const uint8_t* header) { return header[0] >> 6; }
// Returns the class and ECN as a DS byte, whose DSCP is 8 times the CoS.
constexpr uint8_t DsOf(const uint8_t* header) {
  return static_cast<uint8_t>((header[0] & 0x1c) << 3 | (header[0] & 3));
}
// Stores ECN and the upper three bits of the DSCP.
constexpr void SetDs(uint8_t* header, uint8_t ds_byte) {
  header[0] = static_cast<uint8_t>((header[0] & 0xe0) | ds_byte >> 5 << 2 | (ds_byte & 3));
}
// Returns the flow label; 0 if it is not valid.
inline uint16_t LabelOf(const uint8_t* header) {
  return (header[0] & kHasLabel) != 0 ? LoadBe16(header + 1) : uint16_t{0};
}
inline constexpr uint8_t kMaxTtl = 15;
constexpr uint8_t TtlOf(const uint8_t* header) { return header[3] >> 4; }
constexpr void SetTtl(uint8_t* header, uint8_t ttl) {
  header[3] = static_cast<uint8_t>((header[3] & 0xf) | ttl << 4);
}

}  // namespace suede::esun

#endif  // SUEDE_WIRE_ENCAP_ESUN_H_
