// SPDX-License-Identifier: Apache-2.0
// Questions to DPDK about the capabilities of a device.
#include <rte_ethdev.h>
#include <rte_flow.h>

#include <array>

#include "dpdk/capabilities.h"
#include "dpdk/eal_log.h"
#include "dpdk/link_settings.h"
#include "dpdk/port_opener.h"
#include "memif/device.h"

namespace suede {
namespace {

using internal::QuietEalLog;
using Multicast = DeviceFacts::Multicast;
using Pfc = DeviceFacts::Pfc;

bool Has(uint64_t capabilities, uint64_t wanted) { return (capabilities & wanted) == wanted; }

// Whether a mode can be turned on; leaves it as it was.
bool CanTurnOn(uint16_t id, int (*get)(uint16_t), int (*on)(uint16_t), int (*off)(uint16_t)) {
  if (get(id) == 1) return true;
  if (on(id) != 0) return false;
  off(id);
  return true;
}

bool HasRules(uint16_t id) {
  const rte_flow_attr ingress{.ingress = 1};
  const std::array<rte_flow_item, 2> pattern{
      {{.type = RTE_FLOW_ITEM_TYPE_ETH}, {.type = RTE_FLOW_ITEM_TYPE_END}}};
  const rte_flow_action_queue queue{.index = 0};
  const std::array<rte_flow_action, 2> actions{
      {{.type = RTE_FLOW_ACTION_TYPE_QUEUE, .conf = &queue}, {.type = RTE_FLOW_ACTION_TYPE_END}}};
  rte_flow_error error{};
  // Any other refusal is that of this rule.
  return rte_flow_validate(id, &ingress, pattern.data(), actions.data(), &error) != -ENOSYS;
}

// DPDK has no question about PFC. Drivers with it refuse a request without thresholds and pause
// time as invalid, except net_axgbe, which obeys any.
Pfc PfcOf(uint16_t id, const std::string& driver) {
  if (driver == "net_axgbe") return Pfc::kClasses;
  rte_eth_pfc_conf nothing{};
  const int error = rte_eth_dev_priority_flow_ctrl_set(id, &nothing);
  if (error != -ENOTSUP && error != -ENOSYS) return Pfc::kClasses;
  rte_eth_pfc_queue_info info{};
  return rte_eth_dev_priority_flow_ctrl_queue_info_get(id, &info) == 0 ? Pfc::kQueues : Pfc::kNone;
}

std::string FecOf(uint16_t id) {
  std::array<rte_eth_fec_capa, 16> speeds{};
  const int count = rte_eth_fec_get_capability(id, speeds.data(), speeds.size());
  uint32_t capable = 0;
  for (int i = 0; i < std::min<int>(count, speeds.size()); ++i) capable |= speeds[i].capa;
  return capable == 0 ? std::string() : internal::FecText(capable);
}

}  // namespace

// Reads facts of the receive filter. To be called before the device starts and frames come.
void PortOpener::ReadFilterFacts() {
  const QuietEalLog quiet;
  DeviceFacts& facts = port_->facts_;
  facts.promiscuous = CanTurnOn(port_->id_, rte_eth_promiscuous_get, rte_eth_promiscuous_enable,
                                rte_eth_promiscuous_disable);
  const bool all = CanTurnOn(port_->id_, rte_eth_allmulticast_get, rte_eth_allmulticast_enable,
                             rte_eth_allmulticast_disable);
  facts.multicast = all                 ? Multicast::kAll
                    : facts.promiscuous ? Multicast::kPromiscuous
                                        : Multicast::kNone;
}

// Reads the other facts. To be called after the start, before which some drivers have no filters.
void PortOpener::ReadFacts() {
  const QuietEalLog quiet;
  DeviceFacts& facts = port_->facts_;
  const uint16_t id = port_->id_;
  rte_ether_addr none{};
  if (rte_eth_dev_set_mc_addr_list(id, &none, 0) == 0) facts.multicast = Multicast::kList;
  if (port_->reports_speed_) facts.speeds = internal::SpeedsText(info_.speed_capa);
  facts.fec = FecOf(id);
  facts.rx_queues = OfferedQueues(info_.max_rx_queues);
  facts.tx_queues = OfferedQueues(info_.max_tx_queues);
  facts.flow_rules = HasRules(id);
  facts.rss = (info_.flow_type_rss_offloads &
               (RTE_ETH_RSS_NONFRAG_IPV4_UDP | RTE_ETH_RSS_NONFRAG_IPV6_UDP)) != 0;
  facts.vlan_filter = Has(info_.rx_offload_capa, RTE_ETH_RX_OFFLOAD_VLAN_FILTER);
  rte_eth_fc_conf conf{};
  facts.flow_control = rte_eth_dev_flow_ctrl_get(id, &conf) == 0;
  facts.pfc = options_.pfc ? Pfc::kClasses : PfcOf(id, port_->driver_);
  facts.rx_checksums =
      Has(info_.rx_offload_capa, RTE_ETH_RX_OFFLOAD_IPV4_CKSUM | RTE_ETH_RX_OFFLOAD_UDP_CKSUM);
  facts.tx_checksum = Has(info_.tx_offload_capa, RTE_ETH_TX_OFFLOAD_UDP_CKSUM) && !Is("net_tap");
  facts.min_mtu = info_.min_mtu;
  facts.max_mtu = info_.max_mtu;
}

// A memif receives everything.
void PortOpener::SetMemifFacts() {
  DeviceFacts& facts = port_->facts_;
  facts.rx_queues = facts.tx_queues = port_->queues_;
  facts.promiscuous = true;
  facts.multicast = Multicast::kAll;
  facts.max_mtu = UINT16_MAX;
}

}  // namespace suede
