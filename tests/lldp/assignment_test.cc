// SPDX-License-Identifier: Apache-2.0
// Addresses that a neighbour assigns: the bytes of the TLV, each refusal, and the agent's verdicts.
#include "lldp/assignment.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "lldp/agent.h"
#include "sample.h"

namespace suede::lldp {
namespace {

using Bytes = std::vector<uint8_t>;
using Verdict = AddressVerdict;

constexpr IpAddress V4(uint32_t a, uint32_t b, uint32_t c, uint32_t d) {
  return {.low = a << 24 | b << 16 | c << 8 | d};
}
constexpr IpAddress V6(uint64_t high, uint64_t low) {
  return {.is_v6 = true, .high = high, .low = low};
}
constexpr uint64_t kDoc = 0x20010db8'00000000;  // 2001:db8::/64

const Assignment kV4{.address = V4(10, 0, 0, 5), .prefix = 24, .gateway = V4(10, 0, 0, 1)};
const Assignment kV6{.address = V6(kDoc, 5), .prefix = 64, .gateway = V6(kDoc, 1)};

// The words 0253 5502 0104 1800 0a00 0005 0a00 0001 have the sum 845f.
const Bytes kV4Tlv{0x02, 0x53, 0x55, 2, 1, 4, 24, 0, 10, 0, 0, 5, 10, 0, 0, 1, 0x7b, 0xa0};

Decoded With(const Bytes& value) {
  return Decode(FrameOf({kChassis, kPort, kTtl, {127, value}, kEnd}));
}

Lldpdu Assigning(const std::optional<Assignment>& assignment, const std::string& chassis = "far") {
  Lldpdu pdu = SmallPdu(chassis);
  pdu.assignment = assignment;
  return pdu;
}

TEST(AssignmentTlv, HasTheBytesOfThePage) {
  EXPECT_EQ(With(kV4Tlv).pdu.assignment, kV4);
  EXPECT_EQ(With(kV4Tlv).tlvs, TlvFaults{});
  const Bytes frame = Encode(Assigning(kV4), kSource);
  EXPECT_NE(std::search(frame.begin(), frame.end(), kV4Tlv.begin(), kV4Tlv.end()), frame.end());
}

TEST(AssignmentTlv, EachOneReturns) {
  for (Assignment one : {kV4, kV6}) {
    EXPECT_EQ(Decode(Encode(Assigning(one), kSource)).pdu.assignment, one);
    one.gateway = std::nullopt;
    EXPECT_EQ(Decode(Encode(Assigning(one), kSource)).pdu.assignment, one);
  }
}

// Family and version select the octets, so that a wrong one is found before the checksum.
TEST(AssignmentTlv, EveryFlippedBitIsFound) {
  for (size_t at = 3; at < kV4Tlv.size(); ++at) {
    for (uint32_t bit = 0; bit < 8; ++bit) {
      Bytes value = kV4Tlv;
      value[at] = static_cast<uint8_t>(value[at] ^ 1u << bit);
      const Decoded decoded = With(value);
      EXPECT_FALSE(decoded.pdu.assignment.has_value()) << at << " " << bit;
      const TlvFaults& faults = decoded.tlvs;
      EXPECT_EQ(faults.length + faults.value + faults.checksum + faults.unknown, 1u);
      EXPECT_EQ(faults.checksum, at > 5 ? 1u : faults.checksum) << at << " " << bit;
    }
  }
}

TEST(AssignmentTlv, LengthsAndValuesAreChecked) {
  for (size_t octets = 4; octets < kV4Tlv.size(); ++octets) {
    Bytes value = kV4Tlv;
    value.resize(octets);
    EXPECT_EQ(With(value).tlvs, (TlvFaults{.length = 1})) << octets;
  }
  Bytes longer = kV4Tlv;
  longer.push_back(7);  // of a later version
  EXPECT_EQ(With(longer).pdu.assignment, kV4);
  for (const Assignment& one : {kV4, kV6}) {
    for (const uint32_t prefix : {0u, one.address.is_v6 ? 129u : 33u}) {
      Assignment wrong = one;
      wrong.prefix = static_cast<uint8_t>(prefix);
      EXPECT_EQ(Decode(Encode(Assigning(wrong), kSource)).tlvs, (TlvFaults{.value = 1}));
    }
  }
  EXPECT_EQ(Decode(FrameOf({kChassis, kPort, kTtl, {127, kV4Tlv}, {127, kV4Tlv}, kEnd})).tlvs,
            (TlvFaults{.duplicate = 1}));
}

TEST(AssignmentTlv, IsShownAsText) {
  EXPECT_EQ(AssignmentText(kV4), "10.0.0.5/24");
  EXPECT_EQ(AssignmentText(kV6), "2001:db8::5/64");
}

TEST(Checksum, IsThatOfTheRfc) {
  // RFC 1071, section 3: the sum of these is ddf2.
  EXPECT_EQ(InternetChecksum(Bytes{0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7}), 0x220d);
  EXPECT_EQ(InternetChecksum(Bytes{0x12}), 0xedff);
  EXPECT_EQ(InternetChecksum({}), 0xffff);
}

Verdict Of(const IpAddress& address, uint8_t prefix = 24) {
  return FaultOf({.address = address, .prefix = prefix, .gateway = {}});
}

TEST(AssignmentFault, AddressIsThatOfAHost) {
  EXPECT_EQ(Of(V4(10, 0, 0, 5)), Verdict::kUsable);
  EXPECT_EQ(Of(V4(0, 0, 0, 0)), Verdict::kUnspecified);
  EXPECT_EQ(Of(V4(0, 1, 2, 3)), Verdict::kUnspecified);
  EXPECT_EQ(Of(V4(127, 0, 0, 1)), Verdict::kLoopback);
  EXPECT_EQ(Of(V4(224, 0, 0, 1)), Verdict::kMulticast);
  EXPECT_EQ(Of(V4(239, 255, 0, 1)), Verdict::kMulticast);
  EXPECT_EQ(Of(V4(240, 0, 0, 1)), Verdict::kReserved);
  EXPECT_EQ(Of(V4(255, 255, 255, 255)), Verdict::kBroadcast);
  EXPECT_EQ(Of(V4(10, 0, 0, 255)), Verdict::kBroadcast);
  EXPECT_EQ(Of(V4(10, 0, 0, 255), 23), Verdict::kUsable);
  EXPECT_EQ(Of(V4(10, 0, 0, 0)), Verdict::kNetwork);
  EXPECT_EQ(Of(V4(10, 0, 0, 3), 30), Verdict::kBroadcast);
  EXPECT_EQ(Of(V4(10, 0, 0, 1), 31), Verdict::kUsable);
  EXPECT_EQ(Of(V4(10, 0, 0, 0), 32), Verdict::kUsable);
  EXPECT_EQ(Of(V6(kDoc, 5), 64), Verdict::kUsable);
  EXPECT_EQ(Of(V6(0, 0), 64), Verdict::kUnspecified);
  EXPECT_EQ(Of(V6(0, 1), 64), Verdict::kLoopback);
  EXPECT_EQ(Of(V6(0xff02ull << 48, 1), 64), Verdict::kMulticast);
  EXPECT_EQ(Of(V6(0, 0xffff0a000005), 64), Verdict::kReserved);
}

TEST(AssignmentFault, GatewayIsAnotherHostOfTheNetwork) {
  const auto of = [](Assignment assignment, const IpAddress& gateway) {
    assignment.gateway = gateway;
    return FaultOf(assignment);
  };
  EXPECT_EQ(of(kV4, V4(10, 0, 0, 254)), Verdict::kUsable);
  for (const IpAddress& gateway :
       {V4(10, 0, 1, 1), V4(10, 0, 0, 5), V4(10, 0, 0, 255), V4(10, 0, 0, 0), V6(kDoc, 1)}) {
    EXPECT_EQ(of(kV4, gateway), Verdict::kGateway) << AddressText(gateway);
  }
  EXPECT_EQ(of(kV6, V6(kDoc, 9)), Verdict::kUsable);
  EXPECT_EQ(of(kV6, V6(kDoc + 1, 1)), Verdict::kGateway);
}

TEST(Network, HasTheAddressesWithThePrefix) {
  EXPECT_TRUE(IsSameNetwork(V4(10, 0, 0, 1), V4(10, 0, 1, 1), 23));
  EXPECT_FALSE(IsSameNetwork(V4(10, 0, 0, 1), V4(10, 0, 1, 1), 24));
  EXPECT_TRUE(IsSameNetwork(V4(10, 0, 0, 1), V4(10, 0, 0, 1), 32));
  EXPECT_FALSE(IsSameNetwork(V4(10, 0, 0, 1), V4(10, 0, 0, 0), 32));
  EXPECT_TRUE(IsSameNetwork(V6(kDoc, 1), V6(kDoc, 2), 64));
  EXPECT_FALSE(IsSameNetwork(V6(kDoc, 1), V6(kDoc, 2), 128));
  EXPECT_FALSE(IsSameNetwork(V6(kDoc, 1), V6(kDoc + 1, 1), 64));
  EXPECT_TRUE(IsSameNetwork(V6(kDoc, 1), V6(kDoc + 1, 9), 63));
}

TEST(Network, FarPeersAreBehindTheGateway) {
  EXPECT_EQ(NextHop(kV4, V4(10, 0, 0, 9)), V4(10, 0, 0, 9));
  EXPECT_EQ(NextHop(kV4, V4(10, 0, 1, 9)), V4(10, 0, 0, 1));
  const Assignment alone{.address = V4(10, 0, 0, 5), .prefix = 24, .gateway = {}};
  EXPECT_EQ(NextHop(alone, V4(10, 0, 1, 9)), V4(10, 0, 1, 9));
}

TEST(Classification, FollowsThePolicy) {
  EXPECT_EQ(Classify({}, kV4), Verdict::kOff);
  AddressPolicy policy{.accepts = true, .used = {}, .taken = {}};
  EXPECT_EQ(Classify(policy, kV4), Verdict::kUsable);
  EXPECT_EQ(Classify(policy, kV6), Verdict::kFamily);
  EXPECT_EQ(Classify(policy, {.address = V4(224, 0, 0, 1), .prefix = 24, .gateway = {}}),
            Verdict::kMulticast);
  policy.taken = {V4(10, 0, 0, 4), V4(10, 0, 0, 5)};
  EXPECT_EQ(Classify(policy, kV4), Verdict::kTaken);
  policy.used = kV4;
  EXPECT_EQ(Classify(policy, kV4), Verdict::kUsed);
  Assignment other = kV4;
  other.address = V4(10, 0, 0, 6);
  EXPECT_EQ(Classify(policy, other), Verdict::kChanged);
  other = kV4;
  other.prefix = 16;
  policy.taken.clear();
  EXPECT_EQ(Classify(policy, other), Verdict::kChanged);
}

TEST(Classification, OnlyAFaultOrAChangeIsARefusal) {
  for (const Verdict good : {Verdict::kNone, Verdict::kUsable, Verdict::kUsed, Verdict::kOff}) {
    EXPECT_FALSE(IsRefused(good));
  }
  for (const Verdict bad : {Verdict::kChanged, Verdict::kFamily, Verdict::kGateway}) {
    EXPECT_TRUE(IsRefused(bad));
  }
  EXPECT_EQ(NameOf(Verdict::kNone), "");
  EXPECT_EQ(NameOf(Verdict::kFamily), "family");
  EXPECT_EQ(NameOf(Verdict::kGateway), "gateway");
}

class AssignmentAgentTest : public testing::Test {
 protected:
  // Returns the next report; a report without a change of the neighbours is a failure.
  Report Hear(const Lldpdu& pdu) {
    agent_.OnFrame(Encode(pdu, kSource), now_);
    now_ += std::chrono::seconds(1);
    const auto report = agent_.TakeReport();
    EXPECT_TRUE(report.has_value());
    return report.value_or(Report{});
  }
  uint64_t Refused() const { return counters_.Get(LldpCounter::kRxAddressRefused); }

  LldpCounters counters_;
  Agent agent_{SmallPdu("own"),
               kSource,
               {.addresses = {.accepts = true, .used = kV4, .taken = {V4(10, 0, 0, 7)}}},
               &counters_};
  Time now_ = TimeFromMs(1'000'000);
};

TEST_F(AssignmentAgentTest, NeighbourHasTheVerdict) {
  const Report used = Hear(Assigning(kV4));
  EXPECT_TRUE(used.assigns);
  EXPECT_EQ(used.neighbour.address, Verdict::kUsed);
  EXPECT_EQ(Refused(), 0u);
  const Report none = Hear(Assigning(std::nullopt));
  EXPECT_FALSE(none.assigns);
  EXPECT_EQ(none.neighbour.address, Verdict::kNone);
}

TEST_F(AssignmentAgentTest, RefusedFramesAreCountedAndReportedOnce) {
  Assignment taken = kV4;
  taken.address = V4(10, 0, 0, 7);
  const Report first = Hear(Assigning(taken));
  EXPECT_TRUE(first.assigns);
  EXPECT_EQ(first.neighbour.address, Verdict::kTaken);
  agent_.OnFrame(Encode(Assigning(taken), kSource), now_);
  EXPECT_FALSE(agent_.TakeReport().has_value());
  EXPECT_EQ(Refused(), 2u);
  Lldpdu renamed = Assigning(taken);
  renamed.system_name = "other";
  EXPECT_FALSE(Hear(renamed).assigns);
  Assignment changed = kV4;
  changed.address = V4(10, 0, 0, 8);
  const Report second = Hear(Assigning(changed));
  EXPECT_TRUE(second.assigns);
  EXPECT_EQ(second.neighbour.address, Verdict::kChanged);
}

TEST_F(AssignmentAgentTest, WrongChecksumIsCounted) {
  Bytes value = kV4Tlv;
  value.back() ^= 1;
  agent_.OnFrame(FrameOf({kChassis, kPort, kTtl, {127, value}, kEnd}), now_);
  EXPECT_EQ(counters_.Get(LldpCounter::kRxTlvChecksum), 1u);
  EXPECT_EQ(agent_.neighbours().at(0).address, Verdict::kNone);
}

}  // namespace
}  // namespace suede::lldp
