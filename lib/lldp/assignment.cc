// SPDX-License-Identifier: Apache-2.0
#include "lldp/assignment.h"

#include <algorithm>
#include <array>

namespace suede::lldp {
namespace {

constexpr uint64_t kAll = ~uint64_t{0};

// Returns the mask of the `bits` lower bits.
constexpr uint64_t LowMask(uint32_t bits) { return bits >= 64 ? kAll : (uint64_t{1} << bits) - 1; }

AddressVerdict FaultOfIpv4(const IpAddress& address) {
  const uint64_t first = address.low >> 24;
  if (first == 0) return AddressVerdict::kUnspecified;
  if (first == 127) return AddressVerdict::kLoopback;
  if (address.low == UINT32_MAX) return AddressVerdict::kBroadcast;
  if (first >= 240) return AddressVerdict::kReserved;
  return first >= 224 ? AddressVerdict::kMulticast : AddressVerdict::kUsable;
}

AddressVerdict FaultOfIpv6(const IpAddress& address) {
  constexpr uint64_t kMapped = 0xffff;  // ::ffff:0:0/96
  if (address.high >> 56 == 0xff) return AddressVerdict::kMulticast;
  if (address.high != 0) return AddressVerdict::kUsable;
  if (address.low == 0) return AddressVerdict::kUnspecified;
  if (address.low == 1) return AddressVerdict::kLoopback;
  return address.low >> 32 == kMapped ? AddressVerdict::kReserved : AddressVerdict::kUsable;
}

// Returns the fault of an address of a network of this prefix length.
AddressVerdict FaultIn(const IpAddress& address, uint8_t prefix) {
  const AddressVerdict fault = address.is_v6 ? FaultOfIpv6(address) : FaultOfIpv4(address);
  // IPv6 has no broadcast, and networks of up to two addresses have no address of their own.
  if (fault != AddressVerdict::kUsable || address.is_v6 || prefix > 30) return fault;
  const uint64_t hosts = LowMask(32u - prefix);
  if ((address.low & hosts) == hosts) return AddressVerdict::kBroadcast;
  return (address.low & hosts) == 0 ? AddressVerdict::kNetwork : fault;
}

}  // namespace

bool IsSameNetwork(const IpAddress& a, const IpAddress& b, uint8_t prefix) {
  const uint32_t bits = a.is_v6 ? 128 : 32;
  const uint32_t hosts = bits - std::min<uint32_t>(prefix, bits);
  if (((a.low ^ b.low) & ~LowMask(hosts)) != 0) return false;
  return ((a.high ^ b.high) & ~LowMask(hosts > 64 ? hosts - 64 : 0)) == 0;
}

IpAddress NextHop(const Assignment& assignment, const IpAddress& address) {
  const bool is_far = !IsSameNetwork(assignment.address, address, assignment.prefix);
  return is_far ? assignment.gateway.value_or(address) : address;
}

std::string_view NameOf(AddressVerdict verdict) {
  static constexpr std::array<std::string_view, 14> kNames = {
      "",         "usable",    "used",     "changed",   "off",     "family", "unspecified",
      "loopback", "multicast", "reserved", "broadcast", "network", "taken",  "gateway"};
  static_assert(kNames.size() == static_cast<size_t>(AddressVerdict::kGateway) + 1);
  return kNames[static_cast<size_t>(verdict)];
}

AddressVerdict FaultOf(const Assignment& assignment) {
  const AddressVerdict fault = FaultIn(assignment.address, assignment.prefix);
  if (fault != AddressVerdict::kUsable || !assignment.gateway) return fault;
  const IpAddress& gateway = *assignment.gateway;
  const bool is_good = gateway.is_v6 == assignment.address.is_v6 && gateway != assignment.address &&
                       IsSameNetwork(assignment.address, gateway, assignment.prefix) &&
                       FaultIn(gateway, assignment.prefix) == AddressVerdict::kUsable;
  return is_good ? AddressVerdict::kUsable : AddressVerdict::kGateway;
}

AddressVerdict Classify(const AddressPolicy& policy, const Assignment& assignment) {
  if (!policy.accepts) return AddressVerdict::kOff;
  if (assignment == policy.used) return AddressVerdict::kUsed;
  if (assignment.address.is_v6 != policy.is_v6) return AddressVerdict::kFamily;
  const AddressVerdict fault = FaultOf(assignment);
  if (fault != AddressVerdict::kUsable) return fault;
  if (std::ranges::find(policy.taken, assignment.address) != policy.taken.end()) {
    return AddressVerdict::kTaken;
  }
  return policy.used ? AddressVerdict::kChanged : AddressVerdict::kUsable;
}

}  // namespace suede::lldp
