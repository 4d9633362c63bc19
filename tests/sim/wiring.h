// SPDX-License-Identifier: Apache-2.0
// The switch and the address of each port of each host. Each plane of a host is on a
// switch of its own, and hosts need not number them alike.
#ifndef SUEDE_TESTS_SIM_WIRING_H_
#define SUEDE_TESTS_SIM_WIRING_H_

#include <cstdint>
#include <vector>

#include "fabric/frame_view.h"
#include "lcore/params.h"
#include "wire/encap.h"

namespace suede {

// The EtherType of ESUN, which has no usual one.
inline constexpr uint16_t kSimEsunType = 0x9e5a;

struct Wiring {
  uint32_t hosts = 2;
  uint32_t switches = 1;                       // 1, 2 or 4
  std::vector<Encap> encaps = {Encap::kUdp4};  // of each switch; the last one's holds for the rest
  bool tagged_frames = false;                  // with an 802.1Q tag
  bool shifted = false;           // plane 0 of a host is on the switch of its number, and so on
  std::vector<uint32_t> weights;  // of each switch; empty: all have 1
  uint64_t rate_bps = 0;          // that ports are said to have; 0: it is not known
  uint32_t single = ~0u;          // this host has one port

  uint32_t PlanesOf(uint32_t host) const { return host == single ? 1 : switches; }
  uint32_t SwitchOf(uint32_t host, uint32_t plane) const {
    return (plane + (shifted ? host : 0)) % switches;
  }
  Encap EncapOf(uint32_t number) const {
    return encaps[number < encaps.size() ? number : encaps.size() - 1];
  }
  MacAddress MacOf(uint32_t host, uint32_t number) const;
  NetAddress AddressOf(uint32_t host, uint32_t number) const;
  // How the switch forwards.
  fabric::Forwarding ForwardingOf(uint32_t number) const;
  FrameRules RulesOf(uint32_t number) const;

  PortParams PortOf(uint32_t host, uint32_t plane) const;
  // The planes of the host, and those of its peers as it numbers them.
  void Connect(uint32_t host, InstanceParams& params) const;
};

}  // namespace suede

#endif  // SUEDE_TESTS_SIM_WIRING_H_
