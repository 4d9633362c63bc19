// SPDX-License-Identifier: Apache-2.0
// Names that drivers of DPDK 22.11 have for pauses and discards, and our counters for these.
#include "dpdk/device_counters.h"

#include <gtest/gtest.h>

#include <string>

namespace suede {
namespace {

using Kind = DeviceCounterKind;

TEST(ClassifyXstatTest, KnowsThePausesOfTheDrivers) {
  for (const std::string name :
       {"rx_xoff_packets", "rx_flow_control_xoff_packets", "rx_pause_frames", "rx_pause_packets",
        "rx_pause", "mac_rx_mac_pause_num", "rx_valid_pause"}) {
    EXPECT_EQ(ClassifyXstat(name), (DeviceCounterName{Kind::kRxPause, 0})) << name;
  }
  for (const std::string name : {"tx_xoff_packets", "tx_pause_frames", "mac_tx_mac_pause_num"}) {
    EXPECT_EQ(ClassifyXstat(name), (DeviceCounterName{Kind::kTxPause, 0})) << name;
  }
}

TEST(ClassifyXstatTest, KnowsThePausesOfPriorities) {
  EXPECT_EQ(ClassifyXstat("rx_priority3_xoff_packets"), (DeviceCounterName{Kind::kRxPfc, 3}));
  EXPECT_EQ(ClassifyXstat("tx_priority0_xoff_packets"), (DeviceCounterName{Kind::kTxPfc, 0}));
  EXPECT_EQ(ClassifyXstat("rx_pfc_ena_frames_pri7"), (DeviceCounterName{Kind::kRxPfc, 7}));
  EXPECT_EQ(ClassifyXstat("mac_tx_pfc_pri5_pkt_num"), (DeviceCounterName{Kind::kTxPfc, 5}));
  EXPECT_EQ(ClassifyXstat("rx_prio2_pause"), (DeviceCounterName{Kind::kRxPfc, 2}));
}

TEST(ClassifyXstatTest, KnowsDiscards) {
  EXPECT_EQ(ClassifyXstat("rx_discards_phy"), (DeviceCounterName{Kind::kRxDiscards, 0}));
  EXPECT_EQ(ClassifyXstat("tx_dropped_packets"), (DeviceCounterName{Kind::kTxDiscards, 0}));
}

TEST(ClassifyXstatTest, LeavesOutWhatIsNoPauseOrWouldCountTwice) {
  for (const std::string name :
       {"rx_good_packets", "rx_xon_packets", "tx_priority3_xon_packets",
        "tx_priority2_xon_to_xoff_packets", "rx_prio3_pause_duration", "mac_rx_pfc_pkt_num",
        "pfc_pri0_rx_transitions", "rx_pause_storm", "continuous_pause_events", "rx_", "", "mac_",
        "rx_q0_packets", "rx_size_64_packets", "rx_missed_errors"}) {
    EXPECT_EQ(ClassifyXstat(name), std::nullopt) << name;
  }
}

}  // namespace
}  // namespace suede
