// SPDX-License-Identifier: Apache-2.0
// Steers frames to the device's queues by address. If several lcores share a device, rte_flow rules
// steer each instance's frames to the queue of the instance's lcore. If the device has no such
// rules, the lcores forward frames to each other (lib/link/handover.h). Nothing here includes a
// DPDK header.
#ifndef SUEDE_DPDK_STEERING_H_
#define SUEDE_DPDK_STEERING_H_

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

namespace suede {

// How a port's frames reach the lcore of their instance.
enum class Steering : uint8_t {
  kOneQueue,  // no choice
  kRules,     // the device steers frames by rules
  kRss,       // the device distributes frames by RSS; lcores forward those of others
  kSoftware,  // lcores forward frames of others
};
// Returns "one queue", "rules", "rss" or "software".
std::string_view NameOf(Steering steering);

// An instance's address, and its lcore's queue.
struct SteeredAddress {
  enum class Kind : uint8_t { kEthernet, kIpv4, kIpv6 };
  Kind kind = Kind::kIpv4;
  // The address in network order: the 6 bytes at the destination MAC address, an IPv4 address, or
  // an IPv6 address.
  std::array<uint8_t, 16> bytes{};
  std::array<uint8_t, 6> mask{};  // kEthernet: bits to match
  uint16_t queue = 0;
};

// The fields by which a device steers frames.
struct SteeringPlan {
  std::vector<SteeredAddress> addresses;  // all of one kind
  uint16_t ether_type = 0;                // of frames with addresses of kEthernet
  uint16_t udp_port = 0;                  // destination port of frames with IP addresses
  bool tagged = false;                    // frames have a VLAN tag
};

}  // namespace suede

#endif  // SUEDE_DPDK_STEERING_H_
