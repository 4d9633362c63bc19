// SPDX-License-Identifier: Apache-2.0
// Flow rules for a device, in the order in which they are tried. Private to drivers/dpdk.
#ifndef SUEDE_DPDK_FLOW_RULES_H_
#define SUEDE_DPDK_FLOW_RULES_H_

#include <rte_flow.h>

#include <array>
#include <cstdint>
#include <vector>

#include "dpdk/steering.h"

namespace suede::internal {

// The pattern of a rule, with the values to which its items point.
struct FlowPattern {
  FlowPattern() = default;
  FlowPattern(const FlowPattern&) = delete;
  FlowPattern& operator=(const FlowPattern&) = delete;

  static constexpr uint32_t kMaxItems = 5;  // Ethernet, VLAN, IP, UDP, end
  std::array<rte_flow_item, kMaxItems> items{};
  uint32_t count = 0;
  rte_flow_item_eth eth{}, eth_mask{};
  rte_flow_item_ipv4 ipv4{}, ipv4_mask{};
  rte_flow_item_ipv6 ipv6{}, ipv6_mask{};
  rte_flow_item_udp udp{}, udp_mask{};
};

// Forms of a rule: the items of a pattern beside the address. A device that rejects one form may
// accept a later one, which also matches frames other than SUE's.
struct FlowForm {
  bool vlan = false;   // an item for the tag
  bool upper = false;  // the UDP port, or the EtherType
};
std::vector<FlowForm> FormsOf(const SteeringPlan& plan);

// Writes the pattern for an address.
void MakePattern(const SteeringPlan& plan, const SteeredAddress& address, const FlowForm& form,
                 FlowPattern* pattern);

// The flow rules of a device.
class FlowTable {
 public:
  virtual ~FlowTable() = default;
  // Steers matching frames to the queue. Returns false if the device rejects the rule.
  virtual bool Add(const FlowPattern& pattern, uint16_t queue) = 0;
  virtual void RemoveAll() = 0;
};

// Adds a rule for each address, all of one form: the first form that the device accepts for every
// address. Returns false, without any rule left, if there is none.
bool AddRules(const SteeringPlan& plan, FlowTable& table);
// Calls AddRules for a started device.
bool SteerByRules(const SteeringPlan& plan, uint16_t port);

}  // namespace suede::internal

#endif  // SUEDE_DPDK_FLOW_RULES_H_
