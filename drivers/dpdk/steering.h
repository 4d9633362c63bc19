// SPDX-License-Identifier: Apache-2.0
// Which queue of a device the frames for an address come by. Where several lcores share a device,
// it is asked by rte_flow to bring each instance's frames to the queue of the instance's lcore.
// Where it cannot, the lcores forward frames to each other (lib/link/handover.h). Nothing here
// includes a DPDK header.
#ifndef SUEDE_DPDK_STEERING_H_
#define SUEDE_DPDK_STEERING_H_

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

namespace suede {

// How a port's frames find the lcore of their instance.
enum class Steering : uint8_t {
  kOneQueue,  // there is nothing to choose
  kRules,     // the device brings them there
  kRss,       // the device spreads them, and lcores forward what is not theirs
  kSoftware,  // lcores forward what is not theirs
};
// "one queue", "rules", "rss", "software".
std::string_view NameOf(Steering steering);

// An address of an instance, and the queue of its lcore.
struct SteeredAddress {
  enum class Kind : uint8_t { kEthernet, kIpv4, kIpv6 };
  Kind kind = Kind::kIpv4;
  // The address in network order: the 6 bytes in the place of the destination MAC address, an IPv4
  // address, an IPv6 address.
  std::array<uint8_t, 16> bytes{};
  std::array<uint8_t, 6> mask{};  // kEthernet: bits that count
  uint16_t queue = 0;
};

// The fields by which a device is to tell frames apart.
struct SteeringPlan {
  std::vector<SteeredAddress> addresses;  // all of one kind
  uint16_t ether_type = 0;                // of frames with addresses of kEthernet
  uint16_t udp_port = 0;                  // destination port of frames with IP addresses
  bool tagged = false;                    // frames have a VLAN tag
};

}  // namespace suede

#endif  // SUEDE_DPDK_STEERING_H_
