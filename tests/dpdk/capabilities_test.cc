// SPDX-License-Identifier: Apache-2.0
// Consequences of a device's capabilities, and their table in docs/dpdk.md.
#include "dpdk/capabilities.h"

#include <gtest/gtest.h>

#include <map>

#include "dpdk/dpdk_port.h"
#include "page_tables.h"

namespace suede {
namespace {

using Multicast = DeviceFacts::Multicast;
using Pfc = DeviceFacts::Pfc;

// Returns "VALUE; CONSEQUENCE" of a row.
std::string TextOf(std::string_view name, const DeviceFacts& facts, const PortOptions& options) {
  for (const DeviceCapability& one : CapabilitiesOf(facts, options)) {
    if (one.name == name) return one.value + "; " + one.consequence;
  }
  return "no such row";
}

TEST(CapabilitiesTest, PfcOfTheDevice) {
  const PortOptions off;
  PortOptions software;
  software.takes_mac_control = true;
  PortOptions device;
  device.pfc = DevicePfc{.classes = 1};
  DeviceFacts facts;
  EXPECT_EQ(TextOf("PFC", facts, off), "no; for PFC use pfc: software");
  EXPECT_EQ(TextOf("PFC", facts, software), "no; pfc: software is in use");
  facts.pfc = Pfc::kQueues;
  EXPECT_EQ(TextOf("PFC", facts, off), "by queue; for PFC use pfc: software");
  facts.pfc = Pfc::kClasses;
  EXPECT_EQ(TextOf("PFC", facts, off), "by class; pfc: device is possible");
  EXPECT_EQ(TextOf("PFC", facts, software),
            "by class; pfc: software is in use; pfc: device is possible");
  EXPECT_EQ(TextOf("PFC", facts, device), "by class; pfc: device is in use");
}

TEST(CapabilitiesTest, FramesOfGroups) {
  PortOptions options;
  DeviceFacts facts;
  EXPECT_EQ(TextOf("multicast filter", facts, options), "no; not needed here");
  options.groups.push_back({1, 0x80, 0xc2, 0, 0, 1});
  EXPECT_EQ(TextOf("multicast filter", facts, options),
            "no; may not hear the neighbour: set llr and cbfc to off, pfc to device or off");
  const std::map<Multicast, std::string> values = {{Multicast::kPromiscuous, "by promiscuous mode"},
                                                   {Multicast::kAll, "all groups"},
                                                   {Multicast::kList, "by address"}};
  for (const auto& [multicast, value] : values) {
    facts.multicast = multicast;
    EXPECT_EQ(TextOf("multicast filter", facts, options),
              value + "; receives link frames and PFC frames");
  }
}

TEST(CapabilitiesTest, QueuesAndSteering) {
  PortOptions options;
  DeviceFacts facts{.rx_queues = 16, .tx_queues = 8};
  EXPECT_EQ(TextOf("queues", facts, options),
            "16 rx, 8 tx; 1 pair used; at most 8 lcores may serve the port");
  EXPECT_EQ(TextOf("flow rules", facts, options), "no; not needed here: one pair of queues");
  options.queue_pairs = 2;
  facts.steering = Steering::kSoftware;
  EXPECT_EQ(TextOf("flow rules", facts, options),
            "no; steering: software, so lcores forward frames to each other");
  EXPECT_EQ(TextOf("RSS over UDP", facts, options), "no; other frames arrive at the first queue");
  facts.flow_rules = facts.rss = true;
  facts.steering = Steering::kRss;
  EXPECT_EQ(TextOf("flow rules", facts, options),
            "yes; the driver refuses those of this encapsulation; steering: rss, so lcores "
            "forward frames to each other");
  EXPECT_EQ(TextOf("RSS over UDP", facts, options), "yes; spreads frames over the queues");
  facts.steering = Steering::kRules;
  EXPECT_EQ(TextOf("flow rules", facts, options), "yes; steering: rules");
}

TEST(CapabilitiesTest, LinkOfTheDevice) {
  PortOptions options;
  DeviceFacts facts;
  EXPECT_EQ(TextOf("speeds", facts, options),
            "not reported; no link_speeds_gbps; pfc: software, congestion and unequal planes need "
            "bandwidth_gbps");
  options.has_rate = true;
  EXPECT_EQ(TextOf("speeds", facts, options),
            "not reported; no link_speeds_gbps; bandwidth_gbps is the rate");
  facts.speeds = "25, 100";
  EXPECT_EQ(TextOf("speeds", facts, options), "25, 100 Gbit/s; all are offered to the neighbour");
  options.link_speeds_gbps = {100};
  EXPECT_EQ(TextOf("speeds", facts, options), "25, 100 Gbit/s; link_speeds_gbps offers 100");
  EXPECT_EQ(TextOf("FEC", facts, options),
            "no; no fec: it is as the device or its firmware has it");
  facts.fec = "off or rs";
  EXPECT_EQ(TextOf("FEC", facts, options), "off or rs; as the device has it; fec may change it");
  options.fec = FecMode::kRs;
  EXPECT_EQ(TextOf("FEC", facts, options), "off or rs; fec: rs");
}

TEST(CapabilitiesTest, ThePageHasTheRows) {
  std::string table = "| capability | answered by | needed for |\n|---|---|---|\n";
  for (const CapabilityRow& row : CapabilityRows()) {
    table += "| " + std::string(row.name) + " | `" + std::string(row.source) + "` | " +
             std::string(row.sentence) + " |\n";
  }
  ExpectTable("docs/dpdk.md", "capabilities", table);
}

}  // namespace
}  // namespace suede
