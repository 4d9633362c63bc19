// SPDX-License-Identifier: Apache-2.0
#include "wiring.h"

#include "wire/forwarding.h"

namespace suede {

MacAddress Wiring::MacOf(uint32_t host, uint32_t number) const {
  const auto low = static_cast<uint8_t>(host);
  const bool prefixed = TraitsOf(EncapOf(number)).macs == MacKind::kPrefixed;
  if (prefixed) return {0x02, 0x53, 0x55, 0x45, 0, low};
  return {2, 0, 0, 0, 0, low};
}

NetAddress Wiring::AddressOf(uint32_t host, uint32_t number) const {
  switch (TraitsOf(EncapOf(number)).addresses) {
    case AddressKind::kIpv4:
      return {.low = 0xc6120000u + (number << 8) + host};
    case AddressKind::kIpv6:
      return {.high = 0xfd53'5545'0000'0000 + number, .low = host};
    case AddressKind::kForwarding:
      break;
  }
  return {.low = DefaultForwardingAddress(0, host)};
}

fabric::Forwarding Wiring::ForwardingOf(uint32_t number) const {
  if (EncapOf(number) == Encap::kEsun) return fabric::Forwarding::kEsun;
  return TraitsOf(EncapOf(number)).macs == MacKind::kOther ? fabric::Forwarding::kAfh2
                                                           : fabric::Forwarding::kMac;
}

FrameRules Wiring::RulesOf(uint32_t number) const {
  return {.encap = EncapOf(number),
          .ether_type = EncapOf(number) == Encap::kEsun ? kSimEsunType : uint16_t{0}};
}

PortParams Wiring::PortOf(uint32_t host, uint32_t plane) const {
  const uint32_t number = SwitchOf(host, plane);
  return {.rules = RulesOf(number),
          .tagged = tagged_frames && TraitsOf(EncapOf(number)).can_be_tagged,
          .mac = MacOf(host, number),
          .rate_bps = rate_bps};
}

void Wiring::Connect(uint32_t host, InstanceParams& params) const {
  for (uint32_t plane = 0; plane < PlanesOf(host); ++plane) {
    const uint32_t number = SwitchOf(host, plane);
    params.planes.push_back({.port = plane,
                             .address = AddressOf(host, number),
                             .weight = weights.empty() ? 1 : weights[number]});
  }
  for (uint32_t peer = 0; peer < hosts; ++peer) {
    if (peer == host) continue;
    params.peers.push_back({.xpuid = static_cast<uint16_t>(peer), .planes = {}});
    for (uint32_t plane = 0; plane < PlanesOf(host); ++plane) {
      const uint32_t number = SwitchOf(host, plane);
      bool there = false;
      for (uint32_t p = 0; p < PlanesOf(peer); ++p) there |= SwitchOf(peer, p) == number;
      params.peers.back().planes.push_back({.present = there,
                                            .address = AddressOf(peer, number),
                                            .mac = MacOf(peer, number)});
    }
  }
}

}  // namespace suede
