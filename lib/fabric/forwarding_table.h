// SPDX-License-Identifier: Apache-2.0
// The forwarding table of a switch by the addresses of frames: their keys, the output of a frame,
// and what the switch learns of its source. Owned by one lcore.
#ifndef SUEDE_FABRIC_FORWARDING_TABLE_H_
#define SUEDE_FABRIC_FORWARDING_TABLE_H_

#include <bit>
#include <cstdint>

#include "base/time.h"
#include "fabric/address_table.h"
#include "fabric/frame_view.h"

namespace suede::fabric {

class ForwardingTable : public AddressTable {
 public:
  ForwardingTable(Forwarding forwarding, const Limits& limits, uint32_t ports)
      : AddressTable(limits, ports), forwarding_(forwarding), ports_(ports) {}

  // Keys of the table.
  static NetAddress MacKey(uint64_t mac, uint16_t vid) {
    return {.high = kMacKind | vid, .low = mac};
  }
  static NetAddress ForwardingKey(uint32_t address) { return {.high = kMacKind, .low = address}; }
  static NetAddress Ipv4Key(Ipv4Address address) { return {.high = kIpv4Kind, .low = address}; }
  static NetAddress Ipv6Key(const NetAddress& address) { return address; }
  enum class KeyKind : uint8_t { kMac, kForwarding, kIpv4, kIpv6 };
  KeyKind KindOf(const NetAddress& key) const {
    if ((key.high & kKindMask) == kIpv4Kind) return KeyKind::kIpv4;
    if ((key.high & kKindMask) != kMacKind) return KeyKind::kIpv6;
    return is_by_mac() ? KeyKind::kMac : KeyKind::kForwarding;
  }
  static uint16_t VidOf(const NetAddress& mac_key) {
    return static_cast<uint16_t>(mac_key.high & 0xfff);
  }

  // Returns the output of the frame. `routed`: by an address of a host.
  uint16_t FindOutput(const FrameView& view, Time now, bool& routed) const {
    if (forwarding_ == Forwarding::kIp && view.network != NetworkHeader::kNone) {
      const bool ipv4 = view.network == NetworkHeader::kIpv4;
      const NetAddress key = ipv4 ? Ipv4Key(static_cast<Ipv4Address>(view.ip_destination.low))
                                  : Ipv6Key(view.ip_destination);
      const uint16_t port = Find(key, now);
      routed = port != kNoPort;
      if (routed) return port;
    }
    return Find(is_by_mac() ? MacKey(view.destination, view.vid)
                            : ForwardingKey(static_cast<uint32_t>(view.destination)),
                now);
  }
  // The frame was received on `port`.
  Learnt LearnSource(const FrameView& view, uint16_t port, Time now) {
    const NetAddress key = forwarding_ == Forwarding::kAfh1
                               ? ForwardingKey(static_cast<uint32_t>(view.source))
                               : MacKey(view.source, view.vid);
    return Learn(key, port, now);
  }
  // Forgets addresses learnt on some of the first 64 ports (a bit each).
  void ForgetPorts(uint64_t ports) {
    for (; ports != 0; ports &= ports - 1) {
      const auto port = static_cast<uint16_t>(std::countr_zero(ports));
      if (port < ports_) Forget(port);
    }
  }

 private:
  static constexpr uint64_t kKindMask = uint64_t{0xff} << 56;
  static constexpr uint64_t kMacKind = uint64_t{0xff} << 56;   // prefixes that no host address has:
  static constexpr uint64_t kIpv4Kind = uint64_t{0xfe} << 56;  // of IPv6 groups and link-local
                                                               // addresses
  bool is_by_mac() const { return IsByMac(forwarding_); }

  const Forwarding forwarding_;
  const uint32_t ports_;
};

}  // namespace suede::fabric

#endif  // SUEDE_FABRIC_FORWARDING_TABLE_H_
