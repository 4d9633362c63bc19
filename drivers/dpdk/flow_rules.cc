// SPDX-License-Identifier: Apache-2.0
#include "dpdk/flow_rules.h"

#include <rte_byteorder.h>

#include <algorithm>
#include <cstring>

#include "dpdk/eal_log.h"

namespace suede {

std::string_view NameOf(Steering steering) {
  switch (steering) {
    case Steering::kOneQueue:
      return "one queue";
    case Steering::kRules:
      return "rules";
    case Steering::kRss:
      return "rss";
    case Steering::kSoftware:
      return "software";
  }
  return "";
}

namespace internal {
namespace {

void Add(FlowPattern* pattern, rte_flow_item_type type, const void* spec = nullptr,
         const void* mask = nullptr) {
  pattern->items[pattern->count++] = {.type = type, .spec = spec, .last = nullptr, .mask = mask};
}

void AddEthernet(const SteeringPlan& plan, const SteeredAddress& address, bool upper,
                 FlowPattern* pattern) {
  std::copy_n(address.bytes.begin(), address.mask.size(), pattern->eth.dst.addr_bytes);
  std::copy(address.mask.begin(), address.mask.end(), pattern->eth_mask.dst.addr_bytes);
  if (upper) {
    pattern->eth.type = rte_cpu_to_be_16(plan.ether_type);
    pattern->eth_mask.type = 0xffff;
  }
  Add(pattern, RTE_FLOW_ITEM_TYPE_ETH, &pattern->eth, &pattern->eth_mask);
}

void AddIp(const SteeredAddress& address, FlowPattern* pattern) {
  if (address.kind == SteeredAddress::Kind::kIpv4) {
    std::memcpy(&pattern->ipv4.hdr.dst_addr, address.bytes.data(), 4);
    pattern->ipv4_mask.hdr.dst_addr = ~0u;
    Add(pattern, RTE_FLOW_ITEM_TYPE_IPV4, &pattern->ipv4, &pattern->ipv4_mask);
  } else {
    std::memcpy(&pattern->ipv6.hdr.dst_addr, address.bytes.data(), 16);
    std::memset(&pattern->ipv6_mask.hdr.dst_addr, 0xff, 16);
    Add(pattern, RTE_FLOW_ITEM_TYPE_IPV6, &pattern->ipv6, &pattern->ipv6_mask);
  }
}

class DeviceTable final : public FlowTable {
 public:
  explicit DeviceTable(uint16_t port) : port_(port) {}

  bool Add(const FlowPattern& pattern, uint16_t queue) override {
    const rte_flow_attr attributes{.ingress = 1};
    const rte_flow_action_queue to{.index = queue};
    const rte_flow_action actions[] = {{.type = RTE_FLOW_ACTION_TYPE_QUEUE, .conf = &to},
                                       {.type = RTE_FLOW_ACTION_TYPE_END, .conf = nullptr}};
    rte_flow_error error{};
    if (rte_flow_validate(port_, &attributes, pattern.items.data(), actions, &error) != 0) {
      return false;
    }
    rte_flow* const rule =
        rte_flow_create(port_, &attributes, pattern.items.data(), actions, &error);
    if (rule == nullptr) return false;
    rules_.push_back(rule);
    return true;
  }
  void RemoveAll() override {
    rte_flow_error error{};
    for (rte_flow* rule : rules_) rte_flow_destroy(port_, rule, &error);
    rules_.clear();
  }

 private:
  const uint16_t port_;
  std::vector<rte_flow*> rules_;  // owned by the device until it is closed
};

}  // namespace

std::vector<FlowForm> FormsOf(const SteeringPlan& plan) {
  std::vector<FlowForm> forms;
  const bool by_ip =
      !plan.addresses.empty() && plan.addresses.front().kind != SteeredAddress::Kind::kEthernet;
  // Some devices match a tagged frame's EtherType against the tag's, others against the inner one.
  if (plan.tagged && by_ip) forms = {{.vlan = true, .upper = true}, {.vlan = true}};
  if (by_ip || !plan.tagged) forms.push_back({.upper = true});
  forms.push_back({});
  return forms;
}

void MakePattern(const SteeringPlan& plan, const SteeredAddress& address, const FlowForm& form,
                 FlowPattern* pattern) {
  if (address.kind == SteeredAddress::Kind::kEthernet) {
    AddEthernet(plan, address, form.upper, pattern);
  } else {
    Add(pattern, RTE_FLOW_ITEM_TYPE_ETH);
    if (form.vlan) Add(pattern, RTE_FLOW_ITEM_TYPE_VLAN);
    AddIp(address, pattern);
    if (form.upper) {
      pattern->udp.hdr.dst_port = rte_cpu_to_be_16(plan.udp_port);
      pattern->udp_mask.hdr.dst_port = 0xffff;
      Add(pattern, RTE_FLOW_ITEM_TYPE_UDP, &pattern->udp, &pattern->udp_mask);
    }
  }
  Add(pattern, RTE_FLOW_ITEM_TYPE_END);
}

bool AddRules(const SteeringPlan& plan, FlowTable& table) {
  if (plan.addresses.empty()) return false;
  for (const FlowForm& form : FormsOf(plan)) {
    const bool all = std::all_of(plan.addresses.begin(), plan.addresses.end(),
                                 [&](const SteeredAddress& address) {
                                   FlowPattern pattern;
                                   MakePattern(plan, address, form, &pattern);
                                   return table.Add(pattern, address.queue);
                                 });
    if (all) return true;
    table.RemoveAll();
  }
  return false;
}

bool SteerByRules(const SteeringPlan& plan, uint16_t port) {
  const QuietEalLog quiet;  // a rejected form is not an error
  DeviceTable table(port);
  return AddRules(plan, table);
}

}  // namespace internal
}  // namespace suede
