// SPDX-License-Identifier: Apache-2.0
// IP addresses that a neighbour assigns to a port (docs/lldp.md, "Assigned addresses"): the rules
// that such an address obeys.
#ifndef SUEDE_LLDP_ASSIGNMENT_H_
#define SUEDE_LLDP_ASSIGNMENT_H_

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace suede::lldp {

// IPv4: the address is `low`.
struct IpAddress {
  bool is_v6 = false;
  uint64_t high = 0;
  uint64_t low = 0;
  friend bool operator==(const IpAddress&, const IpAddress&) = default;
};

struct Assignment {
  IpAddress address;
  uint8_t prefix = 0;  // mask: its leading ones, 1 to 32, or with IPv6 to 128
  std::optional<IpAddress> gateway;
  friend bool operator==(const Assignment&, const Assignment&) = default;
};

// Whether both addresses, of one family, are in one network of this prefix length.
bool IsSameNetwork(const IpAddress& a, const IpAddress& b, uint8_t prefix);

// Returns the address to which frames to `address` go: the gateway, if the address is outside the
// assigned network.
IpAddress NextHop(const Assignment& assignment, const IpAddress& address);

enum class AddressVerdict : uint8_t {
  kNone,    // no address is assigned
  kUsable,  // accepted, and none is in use
  kUsed,
  kChanged,  // another one than the address in use
  kOff,      // the port accepts none
  // Faults of an assignment.
  kFamily,       // not of the port's encapsulation
  kUnspecified,  // zero
  kLoopback,
  kMulticast,
  kReserved,   // 240.0.0.0/4 without broadcast; an IPv4 address mapped to IPv6
  kBroadcast,  // of its network, or of all
  kNetwork,    // address of the network itself
  kTaken,      // another instance or a peer has it
  kGateway,    // its own address, no unicast address, or outside the mask
};
// Returns the name in rows and events: "used", "family"; of kNone "".
std::string_view NameOf(AddressVerdict verdict);

// Returns the fault of an assignment by itself; kUsable: it has none.
AddressVerdict FaultOf(const Assignment& assignment);

// The part of a port's configuration that decides about assignments.
struct AddressPolicy {
  bool accepts = false;
  bool is_v6 = false;              // of the port's encapsulation
  std::optional<Assignment> used;  // nullopt: none yet
  std::vector<IpAddress> taken;    // by other instances, or by peers on the port
};
AddressVerdict Classify(const AddressPolicy& policy, const Assignment& assignment);

// Whether the port accepts addresses, but not this one.
constexpr bool IsRefused(AddressVerdict verdict) {
  return verdict == AddressVerdict::kChanged || verdict > AddressVerdict::kOff;
}

}  // namespace suede::lldp

#endif  // SUEDE_LLDP_ASSIGNMENT_H_
