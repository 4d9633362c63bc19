// SPDX-License-Identifier: Apache-2.0
// The wait for assigned addresses, over fake ports under simulated time.
#include "endpoint/address_wait.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "fake_port.h"

namespace suede {
namespace {

constexpr lldp::Mac kFar{2, 0, 0, 0, 0, 9};

lldp::Assignment Address(uint32_t last, uint32_t gateway = 1) {
  return {.address = {.low = 0x0a000000 + last},
          .prefix = 24,
          .gateway = lldp::IpAddress{.low = 0x0a000000 + gateway}};
}

std::vector<uint8_t> FrameWith(const std::optional<lldp::Assignment>& assignment,
                               const std::string& chassis = "sw") {
  return lldp::Encode({.chassis = {.subtype = 7, .value = chassis},
                       .port = {.subtype = 5, .value = "s0"},
                       .ttl_s = 121,
                       .assignment = assignment},
                      kFar);
}

// Two ports, each with two queue pairs, whose neighbours assign addresses.
class AddressWaitTest : public testing::Test {
 protected:
  AddressWaitTest()
      : config_(
            *ParseConfig("version: 1\nname: left\nlcores: [{cpu: 0}]\n"
                         "ports: [{name: p0, device: net_null0, lldp: on, lldp_addresses: on},\n"
                         "        {name: p1, device: net_null1, lldp: on, lldp_addresses: on, "
                         "lldp_wait_s: 90}]\n"
                         "instances: [{xpu: 0, ports: [{port: p0}, {port: p1}]}]\n",
                         "test.yaml", {.cpu_count = 4})),
        wait_(
            &config_,
            [this](EalLogLevel, std::string_view, std::string_view line) {
              lines_.emplace_back(line);
            },
            {FactsOf(0), FactsOf(1)}, now_) {}

  AddressWait::PortFacts FactsOf(uint32_t port) {
    AddressWait::PortFacts facts{.number = port, .source = {2, 0, 0, 0, 0, 1}};
    for (FakePort& pair : pairs_[port]) facts.pairs.push_back(&pair);
    facts.own = {.chassis = {.subtype = 7, .value = "own"},
                 .port = {.subtype = 5, .value = config_.ports[port].name}};
    return facts;
  }
  void Arrive(uint32_t port, const std::vector<uint8_t>& bytes, uint32_t pair = 0) {
    FakePort& at = pairs_[port][pair];
    Frame* const frame = at.MakeFrame();
    std::ranges::copy(bytes, frame->data);
    frame->length = static_cast<uint32_t>(bytes.size());
    at.arrived.push_back(frame);
  }
  bool Poll() {
    now_ += std::chrono::milliseconds(5);
    return wait_.Poll(now_);
  }
  uint64_t AddressOf(uint32_t plane) const { return config_.instances[0].ports[plane].address.low; }
  std::string Error() const { return std::string(wait_.Check(now_).message()); }

  Time now_ = TimeFromMs(1000);
  Config config_;
  FakePort pairs_[2][2];
  std::vector<std::string> lines_;
  AddressWait wait_;
};

TEST_F(AddressWaitTest, PortsAndTimeAreThoseOfTheConfiguration) {
  EXPECT_EQ(AddressWait::PortsOf(config_), (std::vector<uint32_t>{0, 1}));
  EXPECT_EQ(AddressWait::MaxSeconds(config_), 90u);
}

TEST_F(AddressWaitTest, SendsFramesAndTakesAddressesOfBothPorts) {
  EXPECT_FALSE(Poll());
  ASSERT_EQ(pairs_[0][0].sent.size(), 1u);
  const Frame& sent = *pairs_[0][0].sent[0];
  EXPECT_EQ(lldp::Decode({sent.data, sent.length}).pdu.chassis.value, "own");
  const std::vector<uint8_t> first = FrameWith(Address(5));
  Arrive(0, first);
  EXPECT_FALSE(Poll());
  EXPECT_EQ(AddressOf(0), 0x0a000005u);
  EXPECT_EQ(AddressOf(1), 0u);
  Arrive(1, FrameWith(Address(6)), 1);  // at the second queue pair
  EXPECT_TRUE(Poll());
  EXPECT_EQ(AddressOf(1), 0x0a000006u);
  ASSERT_EQ(wait_.assigned().size(), 2u);
  EXPECT_EQ(wait_.assigned()[0].assignment, Address(5));
  EXPECT_EQ(wait_.assigned()[0].frame, first);
  EXPECT_EQ(wait_.assigned()[1].port, 1u);
  EXPECT_EQ(pairs_[0][0].released.size(), 2u);  // the sent one and the received one
}

TEST_F(AddressWaitTest, OtherFramesAreDropped) {
  std::vector<uint8_t> other = FrameWith(Address(5));
  other[5] = 0x03;  // another group
  Arrive(0, other);
  other[5] = 0x0e;
  other.resize(20);
  Arrive(0, other);
  Arrive(0, FrameWith(std::nullopt));
  EXPECT_FALSE(Poll());
  EXPECT_EQ(AddressOf(0), 0u);
  EXPECT_TRUE(pairs_[0][0].arrived.empty());
}

TEST_F(AddressWaitTest, RefusedAddressesAreLoggedAndTheNextGoodOneIsTaken) {
  Arrive(0, FrameWith(Address(255)));
  Arrive(0, FrameWith(Address(255)));
  Arrive(0, FrameWith(lldp::Assignment{
                .address = {.is_v6 = true, .high = 1}, .prefix = 64, .gateway = {}}));
  EXPECT_FALSE(Poll());
  EXPECT_EQ(std::ranges::count_if(
                lines_, [](const std::string& line) { return line.starts_with("refused"); }),
            2);
  EXPECT_NE(lines_.back().find("reason=family"), std::string::npos) << lines_.back();
  Arrive(0, FrameWith(Address(5)));
  EXPECT_FALSE(Poll());
  EXPECT_EQ(AddressOf(0), 0x0a000005u);
}

// The second port may not take the address of the first.
TEST_F(AddressWaitTest, OneAddressIsForOnePort) {
  Arrive(0, FrameWith(Address(5)));
  Arrive(1, FrameWith(Address(5)));
  EXPECT_FALSE(Poll());
  EXPECT_EQ(AddressOf(0), 0x0a000005u);
  EXPECT_EQ(AddressOf(1), 0u);
  EXPECT_NE(lines_.back().find("reason=taken"), std::string::npos) << lines_.back();
}

TEST_F(AddressWaitTest, ErrorNamesPortTimeAndCause) {
  Poll();
  now_ += std::chrono::seconds(59);
  EXPECT_TRUE(wait_.Check(now_).ok());
  now_ += std::chrono::seconds(1);
  EXPECT_EQ(Error(),
            "port p0: the neighbour assigned no address within 60 s (no LLDP frame came); set "
            "ports[].lldp_assign at the switch, or ip of the instance here");
  Arrive(0, FrameWith(std::nullopt));
  Poll();
  EXPECT_NE(Error().find("(its frames have none)"), std::string::npos) << Error();
  Arrive(0, FrameWith(Address(5, 5)));
  Poll();
  EXPECT_NE(Error().find("(refused 10.0.0.5/24: gateway)"), std::string::npos) << Error();
  pairs_[0][0].up = false;
  Poll();
  EXPECT_NE(Error().find("(the link is down)"), std::string::npos) << Error();
  pairs_[0][0].up = true;
  Poll();
  Arrive(0, FrameWith(Address(5)));
  Poll();
  EXPECT_TRUE(wait_.Check(now_).ok());  // p1 has 90 s
}

TEST_F(AddressWaitTest, WithoutRoomTheFrameIsRepeated) {
  pairs_[0][0].empty = true;
  Poll();
  EXPECT_TRUE(pairs_[0][0].sent.empty());
  pairs_[0][0].empty = false;
  pairs_[0][0].max = 0;
  now_ += std::chrono::seconds(1);
  Poll();
  EXPECT_EQ(pairs_[0][0].released.size(), 1u);
  pairs_[0][0].max = 1;
  now_ += std::chrono::seconds(1);
  Poll();
  EXPECT_EQ(pairs_[0][0].sent.size(), 1u);
}

}  // namespace
}  // namespace suede
