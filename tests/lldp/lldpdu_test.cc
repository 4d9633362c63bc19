// SPDX-License-Identifier: Apache-2.0
// The bytes of LLDP frames: each TLV to bytes and back, and each way in which a frame or a TLV may
// be ill-formed.
#include "lldp/lldpdu.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "sample.h"

namespace suede::lldp {
namespace {

using Bytes = std::vector<uint8_t>;

// Returns the decoding of a frame with a valid head and one more TLV.
Decoded With(const Tlv& tlv) { return Decode(FrameOf({kChassis, kPort, kTtl, tlv, kEnd})); }

Tlv Organization(Bytes oui_and_subtype, size_t value_octets, uint8_t fill = 0) {
  oui_and_subtype.resize(oui_and_subtype.size() + value_octets, fill);
  return {127, oui_and_subtype};
}

Tlv EtsTlv(const Bytes& rest) {
  Bytes value{0x00, 0x80, 0xc2, 9};
  value.insert(value.end(), rest.begin(), rest.end());
  return {127, value};
}

FrameFault FaultOf(std::initializer_list<Tlv> tlvs) { return Decode(FrameOf(tlvs)).fault; }

bool Contains(const Bytes& frame, const Bytes& part) {
  return std::search(frame.begin(), frame.end(), part.begin(), part.end()) != frame.end();
}

TEST(Lldpdu, EachTlvReturns) {
  const Bytes frame = Encode(FullPdu(), kSource);
  ASSERT_TRUE(IsLldp(frame));
  const Decoded decoded = Decode(frame);
  EXPECT_EQ(decoded.fault, FrameFault::kNone);
  EXPECT_EQ(decoded.tlvs, TlvFaults{});
  EXPECT_EQ(decoded.pdu, FullPdu());
}

TEST(Lldpdu, MandatoryTlvsAreEnough) {
  const Bytes frame = Encode(SmallPdu(), kSource);
  EXPECT_EQ(frame.size(), kMinFrameBytes);
  EXPECT_EQ(Decode(frame).pdu, SmallPdu());
}

TEST(Lldpdu, BytesAreThoseOfTheStandards) {
  const Bytes frame = Encode(FullPdu(), kSource);
  const Bytes head{
      0x01, 0x80, 0xc2, 0,   0,   0x0e, 0x02, 0, 0, 0, 0,    0x11,
      0x88, 0xcc, 0x02, 7,   4,   2,    0,    0, 0, 0, 0x11,  // chassis id: MAC address
      0x04, 3,    5,    'p', '0',                             // port id: interface
      0x06, 2,    0,    121};                                 // TTL
  ASSERT_GE(frame.size(), head.size());
  EXPECT_TRUE(std::equal(head.begin(), head.end(), frame.begin()));
  EXPECT_TRUE(Contains(frame, {0x0a, 4, 'l', 'e', 'f', 't'}));
  EXPECT_TRUE(Contains(frame, {0xfe, 6, 0x00, 0x12, 0x0f, 4, 0x05, 0xee}));
  EXPECT_TRUE(
      Contains(frame, {0xfe, 25, 0x00, 0x80, 0xc2, 9, 0xc3, 0x00, 0x11, 0x22, 0x27, 20,  30, 50,
                       0,    0,  0,    0,    0,    2, 2,    2,    0,    1,    0,    255, 0}));
  EXPECT_TRUE(Contains(frame, {0xfe, 25, 0x00, 0x80, 0xc2, 10, 0x00, 0x00, 0x11, 0x22, 0x27}));
  EXPECT_TRUE(Contains(frame, {0xfe, 6, 0x00, 0x80, 0xc2, 11, 0xc8, 0x4f}));
  EXPECT_TRUE(Contains(frame, {0xfe, 11, 0x00, 0x80, 0xc2, 12, 0, 0x65, 0, 26, 0xe1, 0x89, 0x15}));
  EXPECT_TRUE(Contains(frame, {0xfe, 47, 0x02, 0x53, 0x55, 1, 1, 0x0f, 0xfe, 0x50, 0, 128, 0,
                               1,    2,  3,    6,    0,    0, 0, 1,    0,    0,    0, 2}));
  EXPECT_EQ(frame[frame.size() - 2], 0);
  EXPECT_EQ(frame[frame.size() - 1], 0);
}

TEST(Lldpdu, LastFrameHasTtlZeroAndNoFurtherTlv) {
  Lldpdu pdu = FullPdu();
  pdu.ttl_s = 0;
  const Lldpdu read = Decode(Encode(pdu, kSource)).pdu;
  EXPECT_EQ(read.ttl_s, 0);
  EXPECT_EQ(read.chassis, pdu.chassis);
  EXPECT_FALSE(read.system_name.has_value());
  EXPECT_FALSE(read.link.has_value());
}

TEST(Lldpdu, LongTextsAndListsAreCut) {
  Lldpdu pdu = FullPdu();
  pdu.system_name = std::string(600, 'x');
  pdu.applications->resize(300, {.selector = 5, .protocol = 1, .priority = 1});
  const Decoded decoded = Decode(Encode(pdu, kSource));
  EXPECT_EQ(decoded.fault, FrameFault::kNone);
  EXPECT_EQ(decoded.tlvs, TlvFaults{});
  EXPECT_EQ(decoded.pdu.system_name, std::string(255, 'x'));
  EXPECT_EQ(decoded.pdu.applications->size(), Lldpdu::kMaxApplications);
}

TEST(Lldpdu, OtherFramesAreNotLldp) {
  Bytes frame = Encode(SmallPdu(), kSource);
  EXPECT_FALSE(IsLldp(std::span(frame).first(13)));
  frame[5] = 0x03;  // another group
  EXPECT_FALSE(IsLldp(frame));
  frame[5] = 0x0e;
  frame[13] = 0xcd;
  EXPECT_FALSE(IsLldp(frame));
}

TEST(Lldpdu, MandatoryTlvsComeFirstInOrder) {
  EXPECT_EQ(FaultOf({kChassis, kPort, kTtl, kEnd}), FrameFault::kNone);
  EXPECT_EQ(FaultOf({kPort, kChassis, kTtl, kEnd}), FrameFault::kOrder);
  EXPECT_EQ(FaultOf({kChassis, kTtl, kPort, kEnd}), FrameFault::kOrder);
  EXPECT_EQ(FaultOf({kChassis, kPort, {5, {'n'}}, kTtl, kEnd}), FrameFault::kOrder);
  EXPECT_EQ(FaultOf({kChassis, kPort, kEnd}), FrameFault::kOrder);
  EXPECT_EQ(FaultOf({kChassis}), FrameFault::kOrder);
  EXPECT_EQ(FaultOf({kEnd}), FrameFault::kOrder);
  EXPECT_EQ(FaultOf({}), FrameFault::kOrder);
}

TEST(Lldpdu, MandatoryTlvsHaveLengths) {
  EXPECT_EQ(FaultOf({{1, {7}}, kPort, kTtl, kEnd}), FrameFault::kMandatory);
  EXPECT_EQ(FaultOf({{1, Bytes(257, 'c')}, kPort, kTtl, kEnd}), FrameFault::kMandatory);
  EXPECT_EQ(FaultOf({{1, Bytes(256, 'c')}, kPort, kTtl, kEnd}), FrameFault::kNone);
  EXPECT_EQ(FaultOf({kChassis, {2, {}}, kTtl, kEnd}), FrameFault::kMandatory);
  EXPECT_EQ(FaultOf({kChassis, kPort, {3, {100}}, kEnd}), FrameFault::kMandatory);
  EXPECT_EQ(FaultOf({kChassis, kPort, kTtl, {0, {1}}}), FrameFault::kMandatory);
}

TEST(Lldpdu, MandatoryTlvsComeOnce) {
  EXPECT_EQ(FaultOf({kChassis, kPort, kTtl, kChassis, kEnd}), FrameFault::kDuplicate);
  EXPECT_EQ(FaultOf({kChassis, kPort, kTtl, kPort, kEnd}), FrameFault::kDuplicate);
  EXPECT_EQ(FaultOf({kChassis, kPort, kTtl, kTtl, kEnd}), FrameFault::kDuplicate);
}

TEST(Lldpdu, EveryTruncationIsFound) {
  const Bytes frame = FrameOf({kChassis, kPort, kTtl, {5, {'n', 'a', 'm', 'e'}}, kEnd});
  ASSERT_EQ(Decode(frame).fault, FrameFault::kNone);
  for (size_t bytes = 14; bytes < frame.size(); ++bytes) {
    EXPECT_NE(Decode(std::span(frame).first(bytes)).fault, FrameFault::kNone) << bytes;
  }
  EXPECT_EQ(Decode(std::span(frame).first(frame.size() - 1)).fault, FrameFault::kTruncated);
  EXPECT_EQ(Decode(std::span(frame).first(frame.size() - 2)).fault, FrameFault::kNoEnd);
}

TEST(Lldpdu, OctetsBehindTheEndAreIgnored) {
  Bytes frame = FrameOf({kChassis, kPort, kTtl, kEnd, kChassis});
  frame.push_back(0xff);
  EXPECT_EQ(Decode(frame).fault, FrameFault::kNone);
}

TEST(Lldpdu, UnknownTlvsAreSkipped) {
  const Decoded decoded = Decode(FrameOf({kChassis,
                                          kPort,
                                          kTtl,
                                          {7, {0, 4, 0, 4}},
                                          {99, {1, 2}},
                                          Organization({0x00, 0x12, 0xbb, 1}, 3),
                                          Organization({0x02, 0x53, 0x55, 9}, 3),
                                          Organization({0x00, 0x80, 0xc2, 3}, 3),
                                          {5, {'n'}},
                                          kEnd}));
  EXPECT_EQ(decoded.fault, FrameFault::kNone);
  EXPECT_EQ(decoded.tlvs, (TlvFaults{.unknown = 5}));
  EXPECT_EQ(decoded.pdu.system_name, "n");
}

TEST(Lldpdu, WrongLengthsOfOptionalTlvsCostThemAlone) {
  const TlvFaults length{.length = 1};
  EXPECT_EQ(With({4, Bytes(256, 'x')}).tlvs, length);
  EXPECT_EQ(With({5, Bytes(256, 'x')}).tlvs, length);
  EXPECT_EQ(With({6, Bytes(511, 'x')}).tlvs, length);
  EXPECT_EQ(With({127, {0x00, 0x80, 0xc2}}).tlvs, length);
  for (const size_t octets : {1u, 3u}) {
    EXPECT_EQ(With(Organization({0x00, 0x12, 0x0f, 4}, octets)).tlvs, length);
    EXPECT_EQ(With(Organization({0x00, 0x80, 0xc2, 11}, octets)).tlvs, length);
  }
  for (const uint8_t subtype : {uint8_t{9}, uint8_t{10}}) {
    EXPECT_EQ(With(Organization({0x00, 0x80, 0xc2, subtype}, 20)).tlvs, length);
    EXPECT_EQ(With(Organization({0x00, 0x80, 0xc2, subtype}, 22)).tlvs, length);
  }
  EXPECT_EQ(With(Organization({0x00, 0x80, 0xc2, 12}, 0)).tlvs, length);
  EXPECT_EQ(With(Organization({0x00, 0x80, 0xc2, 12}, 3)).tlvs, length);
  EXPECT_EQ(With(Organization({0x02, 0x53, 0x55, 1}, 42, 1)).tlvs, length);
  EXPECT_EQ(With(Organization({0x02, 0x53, 0x55, 1}, 0)).fault, FrameFault::kNone);
}

TEST(Lldpdu, ImpossibleValuesOfOptionalTlvsCostThemAlone) {
  const TlvFaults value{.value = 1};
  Bytes ets(21);
  EXPECT_EQ(With(EtsTlv(ets)).tlvs, TlvFaults{});
  ets[5] = 99;  // percent
  EXPECT_EQ(With(EtsTlv(ets)).tlvs, value);
  ets[12] = 1;
  EXPECT_EQ(With(EtsTlv(ets)).tlvs, TlvFaults{});
  ets[13] = 3;  // no selection algorithm
  EXPECT_EQ(With(EtsTlv(ets)).tlvs, value);
  ets[13] = 0;
  ets[1] = 0x08;  // no class
  EXPECT_EQ(With(EtsTlv(ets)).tlvs, value);
  EXPECT_EQ(With({127, {0x00, 0x80, 0xc2, 11, 9, 0xff}}).tlvs, value);
  EXPECT_EQ(With({127, {0x00, 0x80, 0xc2, 12, 0, 0x60, 0, 1}}).tlvs, value);
  EXPECT_EQ(With({127, {0x00, 0x80, 0xc2, 12, 0, 0x66, 0, 1}}).tlvs, value);
  EXPECT_EQ(With(Organization({0x02, 0x53, 0x55, 1}, 43)).tlvs, value);  // version 0
}

TEST(Lldpdu, LaterVersionsOfTheOwnTlvMayBeLonger) {
  const Decoded decoded = With(Organization({0x02, 0x53, 0x55, 1, 2}, 50));
  EXPECT_EQ(decoded.tlvs, TlvFaults{});
  EXPECT_TRUE(decoded.pdu.link.has_value());
}

TEST(Lldpdu, SecondOptionalTlvsAreIgnored) {
  const Tlv tlvs[] = {{4, {'a'}},
                      {5, {'a'}},
                      {6, {'a'}},
                      Organization({0x00, 0x12, 0x0f, 4}, 2),
                      Organization({0x00, 0x80, 0xc2, 9}, 21),
                      Organization({0x00, 0x80, 0xc2, 10}, 21),
                      Organization({0x00, 0x80, 0xc2, 11}, 2),
                      Organization({0x00, 0x80, 0xc2, 12}, 1),
                      Organization({0x02, 0x53, 0x55, 1}, 43, 1)};
  for (const Tlv& tlv : tlvs) {
    const Decoded decoded = Decode(FrameOf({kChassis, kPort, kTtl, tlv, tlv, kEnd}));
    EXPECT_EQ(decoded.fault, FrameFault::kNone);
    EXPECT_EQ(decoded.tlvs, (TlvFaults{.duplicate = 1})) << tlv.type;
  }
  const Decoded two = Decode(FrameOf({kChassis, kPort, kTtl, {5, {'a'}}, {5, {'b'}}, kEnd}));
  EXPECT_EQ(two.pdu.system_name, "a");
}

TEST(Lldpdu, TextIsPrintable) {
  EXPECT_EQ(TextOf("a b~\x7f\n\xc3\xa4"), "a b~????");
  EXPECT_EQ(ChassisText(FullPdu().chassis), "02:00:00:00:00:11");
  EXPECT_EQ(ChassisText({.subtype = 7, .value = "rack\t1"}), "rack?1");
  EXPECT_EQ(ChassisText({.subtype = Id::kChassisMac, .value = "short"}), "short");
  EXPECT_EQ(PortText({.subtype = Id::kPortMac, .value = std::string(6, '\x0a')}),
            "0a:0a:0a:0a:0a:0a");
  EXPECT_EQ(ClassesText(0), "none");
  EXPECT_EQ(ClassesText(0x89), "0,3,7");
}

}  // namespace
}  // namespace suede::lldp
