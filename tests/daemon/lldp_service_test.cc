// SPDX-License-Identifier: Apache-2.0
// The agents of two daemons, each of whose frames arrives at the other: events and rows.
#include "daemon/lldp_service.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace suede {
namespace {

using Frames = std::vector<std::vector<uint8_t>>;

std::string TextOf(const Event& event) {
  std::string text(event.row().name);
  for (const EventValue& value : event.values) {
    text += " ";
    text += RowOf(value.field).name;
    text += "=";
    if (const auto* number = std::get_if<int64_t>(&value.value)) text += std::to_string(*number);
    if (const auto* words = std::get_if<std::string>(&value.value)) text += *words;
  }
  return text;
}

// A daemon with one port.
struct End {
  explicit End(const std::string& name, uint16_t max_frame_bytes,
               const std::optional<lldp::Assignment>& assigns = {},
               lldp::AddressPolicy addresses = {}) {
    service.AddPort(3, {.name = "p3",
                        .source = {2, 0, 0, 0, 0, 1},
                        .own = {.chassis = {.subtype = 7, .value = name},
                                .port = {.subtype = 5, .value = "p3"},
                                .system_name = name,
                                .max_frame_bytes = max_frame_bytes,
                                .pfc = lldp::Pfc{.classes = 5},
                                .assignment = assigns},
                        .addresses = std::move(addresses),
                        .link_up = [this] { return up; },
                        .send =
                            [this](std::span<const uint8_t> frame) {
                              if (full) return false;
                              sent.emplace_back(frame.begin(), frame.end());
                              return true;
                            }});
  }
  std::vector<std::string> Events() const {
    std::vector<std::string> texts;
    for (const Event* event : events.Read({.since = 0}).events) texts.push_back(TextOf(*event));
    return texts;
  }

  bool up = true;
  bool full = false;
  Frames sent;
  EventLog events;
  LldpService service{&events};
};

class LldpServiceTest : public testing::Test {
 protected:
  void Exchange() {
    left_.service.Poll(now_);
    right_.service.Poll(now_);
    for (const auto& frame : std::exchange(left_.sent, {})) right_.service.OnFrame(3, frame, now_);
    for (const auto& frame : std::exchange(right_.sent, {})) left_.service.OnFrame(3, frame, now_);
    left_.service.Poll(now_);
    right_.service.Poll(now_);
  }
  Time now_ = TimeFromMs(5000);
  End left_{"left", 1518};
  End right_{"right", 9018};
};

TEST_F(LldpServiceTest, NeighbourAndDifferenceAreEvents) {
  Exchange();
  EXPECT_EQ(left_.Events(),
            (std::vector<std::string>{
                "lldp_neighbour port=p3 change=new chassis=right port_id=p3 system=right",
                "lldp_differs port=p3 what=max_frame_bytes own=1518 theirs=9018"}));
  const LldpView view = right_.service.View(now_ + std::chrono::seconds(2));
  ASSERT_EQ(view.neighbours.size(), 1u);
  EXPECT_EQ(view.neighbours[0].system, "left");
  EXPECT_EQ(view.neighbours[0].age_ns, 2'000'000'000u);
  EXPECT_EQ(view.neighbours[0].ttl_s, 121u);
  EXPECT_EQ(view.neighbours[0].max_frame_bytes, 1518u);
  EXPECT_EQ(view.neighbours[0].pfc_classes, "0,2");
  EXPECT_FALSE(view.neighbours[0].llr.has_value());
  ASSERT_EQ(view.neighbours[0].differences.size(), 1u);
  EXPECT_EQ(view.neighbours[0].differences[0].theirs, "1518");
  ASSERT_EQ(view.ports.size(), 1u);
  EXPECT_EQ(view.ports[0].counters->Get(LldpCounter::kTxFrames), 1u);
  EXPECT_EQ(view.ports[0].counters, right_.service.counters(3));
}

const lldp::Assignment kAssigned{
    .address = {.low = 0x0a000005}, .prefix = 24, .gateway = lldp::IpAddress{.low = 0x0a000001}};

// Lets a switch that assigns an address speak to an endpoint. Returns the endpoint's row of it.
LldpNeighbourView Assign(End& endpoint) {
  End far("sw", 1518, kAssigned);
  const Time now = TimeFromMs(5000);
  far.service.Poll(now);
  for (const auto& frame : far.sent) endpoint.service.OnFrame(3, frame, now);
  endpoint.service.Poll(now);
  const LldpView view = endpoint.service.View(now);
  EXPECT_EQ(view.neighbours.size(), 1u);
  return view.neighbours.empty() ? LldpNeighbourView{} : view.neighbours[0];
}

TEST(LldpAddressTest, IsShownWhereItIsNotAccepted) {
  End endpoint("left", 1518);
  const LldpNeighbourView row = Assign(endpoint);
  EXPECT_EQ(row.assigned, "10.0.0.5/24");
  EXPECT_EQ(row.gateway, "10.0.0.1");
  EXPECT_EQ(row.address_state, "off");
  EXPECT_EQ(endpoint.Events().size(), 1u);  // the neighbour
}

TEST(LldpAddressTest, RefusalIsAnEventWithItsReason) {
  End endpoint("left", 1518, {}, {.accepts = true, .used = {}, .taken = {kAssigned.address}});
  EXPECT_EQ(Assign(endpoint).address_state, "taken");
  EXPECT_EQ(endpoint.Events().back(),
            "lldp_address_refused port=p3 assigned=10.0.0.5/24 reason=taken "
            "remedy=correct ports[].lldp_assign at the neighbour");
  EXPECT_EQ(endpoint.service.counters(3)->Get(LldpCounter::kRxAddressRefused), 1u);
}

TEST(LldpAddressTest, AnotherOneThanInUseNeedsARestart) {
  lldp::Assignment used = kAssigned;
  used.address.low = 0x0a000006;
  End endpoint("left", 1518, {}, {.accepts = true, .used = used, .taken = {}});
  EXPECT_EQ(Assign(endpoint).address_state, "changed");
  EXPECT_EQ(endpoint.Events().back(),
            "lldp_address_refused port=p3 assigned=10.0.0.5/24 reason=changed "
            "remedy=restart the daemon to use it");
  End same("left", 1518, {}, {.accepts = true, .used = kAssigned, .taken = {}});
  EXPECT_EQ(Assign(same).address_state, "used");
  EXPECT_EQ(same.Events().size(), 1u);
}

TEST_F(LldpServiceTest, ShutdownEndsItAtTheNeighbour) {
  Exchange();
  EXPECT_TRUE(left_.service.Shutdown());
  EXPECT_FALSE(left_.service.Shutdown());
  Exchange();
  EXPECT_EQ(right_.Events().back(),
            "lldp_neighbour port=p3 change=gone chassis=left port_id=p3 system=left "
            "reason=shutdown");
  EXPECT_TRUE(right_.service.View(now_).neighbours.empty());
  now_ += std::chrono::seconds(100);
  left_.service.Poll(now_);
  EXPECT_TRUE(left_.sent.empty());
}

TEST_F(LldpServiceTest, LinkDownForgets) {
  Exchange();
  left_.up = false;
  left_.service.Poll(now_);
  EXPECT_EQ(left_.Events().back(),
            "lldp_neighbour port=p3 change=gone chassis=right port_id=p3 system=right reason=link");
}

TEST_F(LldpServiceTest, OtherFramesAndPortsAreNotItsOwn) {
  left_.service.Poll(now_);
  ASSERT_EQ(left_.sent.size(), 1u);
  std::vector<uint8_t> frame = left_.sent[0];
  EXPECT_FALSE(right_.service.OnFrame(2, frame, now_));
  EXPECT_TRUE(right_.service.OnFrame(3, frame, now_));
  frame[13] = 0;
  EXPECT_FALSE(right_.service.OnFrame(3, frame, now_));
  EXPECT_EQ(right_.service.counters(2), nullptr);
}

TEST_F(LldpServiceTest, FramesDroppedBeforeAreCounted) {
  left_.service.OnDropped(3, 7);
  left_.service.OnDropped(2, 7);
  EXPECT_EQ(left_.service.counters(3)->Get(LldpCounter::kRxRate), 7u);
}

TEST_F(LldpServiceTest, FullQueueIsCounted) {
  left_.full = true;
  left_.service.Poll(now_);
  EXPECT_EQ(left_.service.counters(3)->Get(LldpCounter::kTxFull), 1u);
  EXPECT_EQ(left_.service.counters(3)->Get(LldpCounter::kTxFrames), 0u);
}

}  // namespace
}  // namespace suede
