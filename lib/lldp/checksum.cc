// SPDX-License-Identifier: Apache-2.0
#include "lldp/lldpdu.h"

namespace suede::lldp {

uint16_t InternetChecksum(std::span<const uint8_t> octets) {
  uint32_t sum = 0;  // a TLV has up to 511 octets
  for (size_t i = 0; i < octets.size(); ++i) {
    sum += i % 2 == 0 ? uint32_t{octets[i]} << 8 : octets[i];
  }
  while (sum >> 16 != 0) sum = (sum & 0xffff) + (sum >> 16);
  return static_cast<uint16_t>(~sum);
}

}  // namespace suede::lldp
