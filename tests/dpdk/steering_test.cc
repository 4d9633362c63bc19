// SPDX-License-Identifier: Apache-2.0
// The rules that devices are asked for, and what a port says where it has no such rules.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rte_byteorder.h>
#include <rte_dev.h>
#include <rte_flow.h>
#include <unistd.h>

#include <array>
#include <bit>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "dpdk/dpdk_port.h"
#include "dpdk/eal.h"
#include "dpdk/flow_rules.h"

namespace suede::internal {
namespace {

using Kind = SteeredAddress::Kind;

// Returns the last byte of an IPv6 address: an array in DPDK 22.11, a structure of one in 24.11.
template <typename Address>
uint8_t LastByteOf(const Address& address) {
  return std::bit_cast<std::array<uint8_t, 16>>(address).back();
}

// The items, and what they ask for, in words.
std::string Words(const FlowPattern& pattern) {
  std::string words;
  for (uint32_t i = 0; i < pattern.count; ++i) {
    const rte_flow_item& item = pattern.items[i];
    switch (item.type) {
      case RTE_FLOW_ITEM_TYPE_ETH:
        absl::StrAppend(&words, "eth");
        if (item.spec == nullptr) break;
        for (int byte = 0; byte < 6; ++byte) {
          if (pattern.eth_mask.dst.addr_bytes[byte] == 0) continue;
          absl::StrAppend(&words, " ", byte, "=", pattern.eth.dst.addr_bytes[byte]);
        }
        if (pattern.eth_mask.type != 0) {
          absl::StrAppend(&words, " type=", rte_be_to_cpu_16(pattern.eth.type));
        }
        break;
      case RTE_FLOW_ITEM_TYPE_VLAN:
        absl::StrAppend(&words, ", vlan");
        break;
      case RTE_FLOW_ITEM_TYPE_IPV4:
        EXPECT_EQ(pattern.ipv4_mask.hdr.dst_addr, ~0u);
        absl::StrAppend(&words, ", ipv4 ", rte_be_to_cpu_32(pattern.ipv4.hdr.dst_addr));
        break;
      case RTE_FLOW_ITEM_TYPE_IPV6:
        EXPECT_EQ(LastByteOf(pattern.ipv6_mask.hdr.dst_addr), 0xff);
        absl::StrAppend(&words, ", ipv6 ..", LastByteOf(pattern.ipv6.hdr.dst_addr));
        break;
      case RTE_FLOW_ITEM_TYPE_UDP:
        absl::StrAppend(&words, ", udp ", rte_be_to_cpu_16(pattern.udp.hdr.dst_port));
        break;
      case RTE_FLOW_ITEM_TYPE_END:
        absl::StrAppend(&words, ".");
        break;
      default:
        absl::StrAppend(&words, "?");
    }
  }
  return words;
}

// Takes rules of the forms that have none of some items, and of these a number.
class FakeTable final : public FlowTable {
 public:
  bool Add(const FlowPattern& pattern, uint16_t queue) override {
    const std::string words = Words(pattern);
    asked.push_back(words);
    if (rules.size() == max) return false;
    for (const std::string& item : refused) {
      if (words.find(item) != std::string::npos) return false;
    }
    rules.emplace_back(words, queue);
    return true;
  }
  void RemoveAll() override { rules.clear(); }

  std::set<std::string> refused;
  size_t max = 100;
  std::vector<std::pair<std::string, uint16_t>> rules;
  std::vector<std::string> asked;
};

SteeringPlan PlanOfIpv4() {
  SteeringPlan plan{.addresses = {}, .udp_port = 3333};
  for (uint8_t i = 0; i < 3; ++i) {
    plan.addresses.push_back({.bytes = {0, 0, 1, i}, .queue = static_cast<uint16_t>(i % 2)});
  }
  return plan;
}

using Rules = std::vector<std::pair<std::string, uint16_t>>;

TEST(FlowRulesTest, EachAddressGoesToItsQueue) {
  FakeTable table;
  ASSERT_TRUE(AddRules(PlanOfIpv4(), table));
  EXPECT_EQ(table.rules, (Rules{{"eth, ipv4 256, udp 3333.", 0},
                                {"eth, ipv4 257, udp 3333.", 1},
                                {"eth, ipv4 258, udp 3333.", 0}}));
}

TEST(FlowRulesTest, WhereThePortIsRefusedTheAddressAloneIsAskedFor) {
  FakeTable table;
  table.refused = {"udp"};
  ASSERT_TRUE(AddRules(PlanOfIpv4(), table));
  EXPECT_EQ(table.rules,
            (Rules{{"eth, ipv4 256.", 0}, {"eth, ipv4 257.", 1}, {"eth, ipv4 258.", 0}}));
}

TEST(FlowRulesTest, TaggedFramesAreAskedForWithTheTagFirst) {
  SteeringPlan plan = PlanOfIpv4();
  plan.tagged = true;
  plan.addresses.resize(1);
  FakeTable table;
  table.refused = {"eth"};
  EXPECT_FALSE(AddRules(plan, table));
  EXPECT_EQ(table.asked,
            (std::vector<std::string>{"eth, vlan, ipv4 256, udp 3333.", "eth, vlan, ipv4 256.",
                                      "eth, ipv4 256, udp 3333.", "eth, ipv4 256."}));
}

TEST(FlowRulesTest, Ipv6) {
  SteeringPlan plan{.addresses = {{.kind = Kind::kIpv6, .queue = 1}}, .udp_port = 3333};
  plan.addresses[0].bytes[15] = 9;
  FakeTable table;
  ASSERT_TRUE(AddRules(plan, table));
  EXPECT_EQ(table.rules, (Rules{{"eth, ipv6 ..9, udp 3333.", 1}}));
}

TEST(FlowRulesTest, ForwardingAddressesStandWhereMacAddressesDo) {
  SteeringPlan plan{.addresses = {{.kind = Kind::kEthernet,
                                   .bytes = {2, 3, 4, 5, 6, 7},
                                   .mask = {0, 0, 0, 0, 0xff, 0xff},
                                   .queue = 1}},
                    .ether_type = 0x88b5};
  FakeTable table;
  ASSERT_TRUE(AddRules(plan, table));
  EXPECT_EQ(table.rules, (Rules{{"eth 4=6 5=7 type=34997.", 1}}));
  table.rules.clear();
  table.refused = {"type"};
  ASSERT_TRUE(AddRules(plan, table));
  EXPECT_EQ(table.rules, (Rules{{"eth 4=6 5=7.", 1}}));
  // The type of a tagged frame is that of the tag to some devices.
  plan.tagged = true;
  table.asked.clear();
  table.rules.clear();
  ASSERT_TRUE(AddRules(plan, table));
  EXPECT_EQ(table.asked, (std::vector<std::string>{"eth 4=6 5=7."}));
}

TEST(FlowRulesTest, ADeviceWithRoomForSomeRulesKeepsNone) {
  FakeTable table;
  table.max = 2;
  EXPECT_FALSE(AddRules(PlanOfIpv4(), table));
  EXPECT_TRUE(table.rules.empty());
  EXPECT_FALSE(AddRules({}, table));
}

absl::StatusOr<std::unique_ptr<DpdkPort>> Open(const std::string& device, uint16_t pairs) {
  return DpdkPort::Open({.name = "p0",
                         .device = device,
                         .lcores = pairs,
                         .queue_pairs = pairs,
                         .steering = PlanOfIpv4(),
                         .pool_frames = 512});
}

// net_tap makes its rules of the kernel's traffic control.
TEST(SteeringTest, ATapTakesRulesWhereTheKernelDoes) {
  const std::string device = absl::StrCat("net_tap0,iface=st", getpid());
  if (rte_eal_hotplug_add("vdev", "net_tap0", device.c_str() + device.find(',') + 1) != 0) {
    GTEST_SKIP() << "no TAP devices here";
  }
  auto port = Open(device, 2);
  ASSERT_TRUE(port.ok()) << port.status();
  if ((*port)->steering() != Steering::kRules) {
    EXPECT_NE((*port)->steering(), Steering::kOneQueue);
    GTEST_SKIP() << "the kernel takes no rules (cls_flower, act_skbedit)";
  }
}

TEST(SteeringTest, APortSaysHowItsFramesAreSteered) {
  auto one = Open("net_ring0", 1);
  ASSERT_TRUE(one.ok()) << one.status();
  EXPECT_EQ((*one)->steering(), Steering::kOneQueue);
  auto two = Open("net_ring1", 2);  // knows neither rules nor RSS
  ASSERT_TRUE(two.ok()) << two.status();
  EXPECT_EQ((*two)->steering(), Steering::kSoftware);
  EXPECT_EQ(NameOf((*two)->steering()), "software");
  auto null = Open("net_null0", 2);  // says that it hashes
  ASSERT_TRUE(null.ok()) << null.status();
  EXPECT_EQ((*null)->steering(), Steering::kRss);
}

}  // namespace
}  // namespace suede::internal

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  suede::EalOptions options;
  options.file_prefix = "suede_steering_test_" + std::to_string(getpid());
  options.no_huge = true;
  options.memory_mb = 128;
  options.cpus = {0};
  options.vdevs = {"net_ring0", "net_ring1", "net_null0"};
  if (const absl::Status status = suede::StartEal(options); !status.ok()) {
    std::fprintf(stderr, "%s\n", status.ToString().c_str());
    return 1;
  }
  const int result = RUN_ALL_TESTS();
  return suede::StopEal() ? result : 1;
}
