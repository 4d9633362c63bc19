// SPDX-License-Identifier: Apache-2.0
// Classes of frames (docs/switch.md, "Classes") and their link VCs (docs/link.md, "Link VCs").
#include "wire/frame_class.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "wire/frame_builder.h"
#include "wire/rh.h"

namespace suede {
namespace {

// An EtherType for ESUN, which has no usual one.
constexpr uint16_t kEsunType = 0x9e5a;

FrameClassRule RuleFor(Encap encap) {
  return {.afh2 = TraitsOf(encap).macs == MacKind::kOther, .esun_ether_type = kEsunType};
}

HeaderTemplate HeaderOf(Encap encap, const TrafficClass& traffic_class, bool tagged,
                        uint16_t ether_type = 0) {
  const HeaderSpec spec{
      .source_mac = {2, 0, 0, 0, 0, 1},
      .destination_mac = {2, 0, 0, 0, 0, 2},
      .tagged = tagged,
      .source = {.low = 0x0a000001},
      .destination = {.low = 0x0a000002},
      .ether_type = ether_type == 0 && encap == Encap::kEsun ? kEsunType : ether_type,
      .traffic_class = traffic_class};
  return MakeTemplate(encap, spec);
}

std::vector<uint8_t> FrameOf(const HeaderTemplate& header, const ReliabilityHeader& rh,
                             uint32_t bytes) {
  std::vector<uint8_t> commands(bytes);
  if (bytes != 0) commands[0] = 1;
  std::vector<uint8_t> buffer(FrameBufferBytes(bytes) + 64);
  const auto frame = BuildFrame(header, rh, commands, buffer);
  return {frame.begin(), frame.end()};
}

std::vector<uint8_t> FrameOf(Encap encap, const ReliabilityHeader& rh, uint32_t bytes,
                             const TrafficClass& traffic_class, bool tagged) {
  return FrameOf(HeaderOf(encap, traffic_class, tagged), rh, bytes);
}

uint8_t ClassOf(const FrameClassRule& rule, const std::vector<uint8_t>& frame) {
  return FrameClassOf(rule, frame.data(), static_cast<uint32_t>(frame.size()));
}

class LinkVcTest : public ::testing::TestWithParam<size_t> {
 protected:
  Encap encap() const { return static_cast<Encap>(GetParam()); }
  bool has_class() const { return TraitsOf(encap()).class_bits != 0; }
  uint8_t LinkVc(const ReliabilityHeader& rh, uint32_t bytes, const TrafficClass& of = {},
                 bool tagged = false) const {
    const std::vector<uint8_t> frame = FrameOf(encap(), rh, bytes, of, tagged);
    return LinkVcOf(RuleFor(encap()), frame.data(), static_cast<uint32_t>(frame.size()));
  }
};

// The DSCP decides, or the PCP if it comes first or there is no DSCP.
TEST_P(LinkVcTest, TheClassIsThatOfDscpOrPcp) {
  FrameClassRule rule = RuleFor(encap());
  for (const bool pcp_first : {false, true}) {
    rule.pcp_first = pcp_first;
    for (uint8_t dscp = 0; dscp < 64; ++dscp) {
      const TrafficClass of{.pcp = static_cast<uint8_t>(7 - dscp % 8), .dscp = dscp, .ecn = 3};
      const uint8_t by_dscp = has_class() ? dscp / 8 : 0;
      EXPECT_EQ(ClassOf(rule, FrameOf(encap(), {}, 8, of, false)), by_dscp) << int{dscp};
      if (!TraitsOf(encap()).can_be_tagged) continue;
      // The CoS of ESUN always comes first.
      const bool by_pcp = (pcp_first && encap() != Encap::kEsun) || !has_class();
      EXPECT_EQ(ClassOf(rule, FrameOf(encap(), {}, 8, of, true)), by_pcp ? of.pcp : by_dscp)
          << int{dscp};
    }
  }
}

// A frame that ends before its DSCP's header does has the class of its PCP, or class 0.
TEST_P(LinkVcTest, AClassIsReadFromAWholeHeader) {
  const uint32_t inner = encap() == Encap::kUdp4    ? 20
                         : encap() == Encap::kUdp6  ? 40
                         : encap() == Encap::kAfh1s ? 8
                         : encap() == Encap::kEsun  ? 4
                                                    : 0;
  for (const bool tagged : {false, true}) {
    if (tagged && !TraitsOf(encap()).can_be_tagged) continue;
    const std::vector<uint8_t> whole = FrameOf(encap(), {}, 64, {.pcp = 5, .dscp = 26}, tagged);
    const uint32_t l2 = tagged ? 18 : 14;
    for (uint32_t bytes = 0; bytes < whole.size(); ++bytes) {
      const uint8_t without = tagged && bytes >= l2 ? 5 : 0;
      const bool has_dscp = has_class() && bytes >= l2 + inner;
      EXPECT_EQ(ClassOf(RuleFor(encap()), {whole.begin(), whole.begin() + bytes}),
                has_dscp ? 3 : without)
          << bytes;
    }
  }
}

TEST(FrameClass, HeadersOfAnotherKindHaveNoDscp) {
  struct Case {
    Encap encap;
    size_t at;  // of the byte that changes
    uint8_t value;
  };
  for (const Case& c :
       {Case{Encap::kUdp4, 12, 0x09}, Case{Encap::kUdp4, 14, 0x65}, Case{Encap::kUdp6, 13, 0xde},
        Case{Encap::kUdp6, 14, 0x40}, Case{Encap::kAfh1s, 13, 0xb7}, Case{Encap::kEsun, 13, 0x5b},
        Case{Encap::kAfh2, 13, 0xb7}, Case{Encap::kAfh2, 0, 0x00}, Case{Encap::kAfh2, 0, 0x42}}) {
    std::vector<uint8_t> frame = FrameOf(c.encap, {}, 64, {.dscp = 26}, false);
    EXPECT_EQ(ClassOf(RuleFor(c.encap), frame), 3);
    frame[c.at] = c.value;
    EXPECT_EQ(ClassOf(RuleFor(c.encap), frame), 0) << EncapName(c.encap) << " " << c.at;
  }
  // A group's frame of AFH Gen 2 has one, too, and none on a port without these addresses.
  std::vector<uint8_t> frame = FrameOf(Encap::kAfh2, {}, 64, {.dscp = 26}, false);
  EXPECT_EQ(ClassOf({}, frame), 0);
  frame[0] |= 1;
  EXPECT_EQ(ClassOf({.afh2 = true}, frame), 3);
}

// With levels, bits 2:1 of the DSCP choose among the four link VCs in place of one.
TEST_P(LinkVcTest, LevelsMultiplyLinkVcs) {
  FrameClassRule rule = RuleFor(encap());
  for (uint8_t dscp = 0; dscp < 64; ++dscp) {
    for (const uint32_t bytes : {0u, 8u}) {
      const std::vector<uint8_t> frame =
          FrameOf(encap(), {.vc = 2}, bytes, {.dscp = dscp, .ecn = 3}, false);
      const auto length = static_cast<uint32_t>(frame.size());
      rule.levels = false;
      const uint32_t without = LinkVcOf(rule, frame.data(), length);
      rule.levels = true;
      EXPECT_EQ(LinkVcOf(rule, frame.data(), length), without * 4 + (rule.afh2 ? dscp / 2 % 4 : 0))
          << int{dscp} << " " << bytes;
    }
  }
}

TEST(FrameClass, TheLevelIsInBits2And1OfTheDscp) {
  for (uint32_t ds = 0; ds < 256; ++ds) {
    for (uint8_t level = 0; level < kLevelsOfClass; ++level) {
      const uint8_t with = DsWithLevel(static_cast<uint8_t>(ds), level);
      EXPECT_EQ(LevelOfDs(with), level);
      EXPECT_EQ(with & 0b11100111, ds & 0b11100111u) << "class, lowest bit, ECN";
    }
  }
  EXPECT_EQ(LevelOfDs(0b101'10'1'11), 2);
}

TEST_P(LinkVcTest, OfClass0ItIsTheVc) {
  for (uint8_t vc = 0; vc < 4; ++vc) {
    for (const uint32_t bytes : {2u, 64u, 1000u}) {
      EXPECT_EQ(LinkVc({.xpuid = 1, .vc = vc}, bytes), vc) << bytes;
      EXPECT_EQ(LinkVc({.ver = 1, .xpuid = 1, .vc = vc}, bytes), vc) << "sealed";
    }
    EXPECT_EQ(LinkVc({.xpuid = 1, .vc = vc}, 0), kAckLinkVc);
    EXPECT_EQ(LinkVc({.ver = 3, .xpuid = 1, .vc = vc}, 64), kAckLinkVc);
    EXPECT_EQ(LinkVc({.ver = 2, .xpuid = 1, .vc = vc}, 64), kAckLinkVc);
  }
}

TEST_P(LinkVcTest, OfAnyOtherClassItIsTheClass) {
  if (has_class()) {
    EXPECT_EQ(LinkVc({.xpuid = 1, .vc = 2}, 64, {.dscp = 26}), 3);
    EXPECT_EQ(LinkVc({.xpuid = 1, .vc = 2}, 64, {.dscp = 7}), 2) << "class 0";
  }
  if (!TraitsOf(encap()).can_be_tagged) return;
  const uint8_t expected = has_class() ? 2 : 5;
  EXPECT_EQ(LinkVc({.xpuid = 1, .vc = 2}, 64, {.pcp = 5}, true), expected);
}

// The sender of a frame computes its link VC without reading the frame.
TEST_P(LinkVcTest, TheSenderOfAFrameKnowsIt) {
  struct Pdu {
    uint8_t ver;
    uint32_t bytes;
    bool counts;  // as LinkVcOfPdu has it
  };
  for (uint32_t bits = 0; bits < 8; ++bits) {
    FrameClassRule rule = RuleFor(encap());
    rule.pcp_first = (bits & 1) != 0;
    const bool tagged = (bits & 2) != 0 && TraitsOf(encap()).can_be_tagged;
    const uint16_t ether_type = (bits & 4) != 0 ? 0x88b7 : 0;
    for (uint8_t c = 0; c < 8; ++c) {
      const TrafficClass of{.pcp = static_cast<uint8_t>(c * 3 % 8),
                            .dscp = static_cast<uint8_t>(c * 8 + 1)};
      const HeaderTemplate header = HeaderOf(encap(), of, tagged, ether_type);
      const uint8_t link_class = LinkClassOf(rule, header);
      for (const Pdu& pdu : {Pdu{0, 0, false},
                             {0, 64, true},
                             {1, 0, true},
                             {1, 64, true},
                             {2, 64, false},
                             {3, 64, false}}) {
        for (uint8_t vc = 0; vc < 4; ++vc) {
          const std::vector<uint8_t> frame =
              FrameOf(header, {.ver = pdu.ver, .xpuid = 1, .vc = vc}, pdu.bytes);
          EXPECT_EQ(LinkVcOfPdu(link_class, pdu.counts, Vc(vc)),
                    LinkVcOf(rule, frame.data(), static_cast<uint32_t>(frame.size())))
              << bits << " " << int{c} << " " << int{pdu.ver} << " " << int{vc};
        }
      }
    }
  }
}

// Frames end anywhere, and are changed on their way.
TEST_P(LinkVcTest, NothingBehindAFrameIsRead) {
  std::vector<uint8_t> whole = FrameOf(encap(), {.xpuid = 1, .vc = 3}, 64, {}, false);
  for (uint32_t bytes = 0; bytes <= whole.size(); ++bytes) {
    const std::vector<uint8_t> frame(whole.begin(), whole.begin() + bytes);
    EXPECT_LT(LinkVcOf(RuleFor(encap()), frame.data(), bytes), 8);
  }
}

// The RH is read once it is there as a whole, and the first command where it is in front of the
// R-CRC.
TEST_P(LinkVcTest, IsThatOfTheBytesThatAreThere) {
  const EncapTraits& traits = TraitsOf(encap());
  if (traits.holds_rh) return;
  for (const bool tagged : {false, true}) {
    if (tagged && !traits.can_be_tagged) continue;
    const uint32_t commands = traits.header_bytes + (tagged ? 4 : 0) + kRhBytes;
    const uint32_t first_end = commands + 1 + (traits.has_length ? 0 : kRcrcBytes);
    const std::vector<uint8_t> plain = FrameOf(encap(), {.xpuid = 1, .vc = 3}, 64, {}, tagged);
    const std::vector<uint8_t> sealed =
        FrameOf(encap(), {.ver = 1, .xpuid = 1, .vc = 3}, 64, {}, tagged);
    for (uint32_t bytes = 0; bytes <= plain.size(); ++bytes) {
      const uint8_t of_plain = bytes < commands ? 0 : bytes < first_end ? kAckLinkVc : 3;
      EXPECT_EQ(LinkVcOf(RuleFor(encap()), plain.data(), bytes), of_plain) << bytes;
      EXPECT_EQ(LinkVcOf(RuleFor(encap()), sealed.data(), bytes), bytes < commands ? 0 : 3)
          << bytes;
    }
  }
}

TEST_P(LinkVcTest, ZeroLengthEndsTheCommands) {
  std::vector<uint8_t> frame = FrameOf(encap(), {.xpuid = 1, .vc = 3}, 64, {}, false);
  const size_t at = TraitsOf(encap()).header_bytes + kRhBytes;
  for (const auto& [first, expected] : {std::pair{0xf8, uint8_t{3}}, {0xf0, kAckLinkVc}}) {
    frame[at] = static_cast<uint8_t>(first);
    EXPECT_EQ(LinkVcOf(RuleFor(encap()), frame.data(), static_cast<uint32_t>(frame.size())),
              expected)
        << first;
  }
}

// The short way for devices of a mesh finds the same as the other end of the cable.
TEST(LinkVc, OfMeshesIsTheSame) {
  for (uint32_t dscp = 0; dscp < 64; ++dscp) {
    for (uint8_t ver = 0; ver < 4; ++ver) {
      for (const uint8_t first : {uint8_t{0xf0}, uint8_t{0x01}}) {
        std::vector<uint8_t> frame = FrameOf(Encap::kAfh2, {.ver = ver, .xpuid = 1, .vc = 3}, 64,
                                             {.dscp = static_cast<uint8_t>(dscp)}, false);
        frame[TraitsOf(Encap::kAfh2).header_bytes + kRhBytes] = first;
        for (uint32_t bytes = kEthernetBytes; bytes <= frame.size(); ++bytes) {
          for (const bool levels : {false, true}) {
            const FrameClassRule rule{.afh2 = true, .levels = levels};
            const std::vector<uint8_t> part(frame.begin(), frame.begin() + bytes);
            ASSERT_EQ(LinkVcOfAfh2(rule, part.data(), bytes), LinkVcOf(rule, part.data(), bytes))
                << dscp << " " << int{ver} << " " << bytes;
          }
        }
      }
    }
  }
}

// Frames of other protocols have no VC, and a length in the header says where the commands end.
TEST(LinkVc, GoesByTheFieldsOfTheHeaders) {
  constexpr uint8_t kOther = kUnclassified;
  struct Case {
    Encap encap;
    size_t at;  // of 16 bits that change
    uint16_t value;
    uint8_t expected;
  };
  for (const Case& c :
       {Case{Encap::kUdp4, 14, 0x4600, kOther},  // options
        Case{Encap::kUdp4, 20, 0x2000, kOther},  // more fragments
        Case{Encap::kUdp4, 20, 0x0001, kOther},  // a later fragment
        Case{Encap::kUdp4, 20, 0x4000, 3}, Case{Encap::kUdp4, 22, 0x4006, kOther},  // TCP
        Case{Encap::kUdp4, 38, 8 + 12, kAckLinkVc}, Case{Encap::kUdp4, 38, 8 + 13, 3},
        Case{Encap::kUdp6, 14, 0x7000, kOther},  // IP version
        Case{Encap::kUdp6, 20, 0x0640, kOther},  // TCP
        Case{Encap::kUdp6, 58, 8 + 12, kAckLinkVc}, Case{Encap::kUdp6, 58, 8 + 13, 3},
        Case{Encap::kAfh1s, 16, 0x4002, kOther},  // next header
        Case{Encap::kAfh1s, 20, 12, kAckLinkVc}, Case{Encap::kAfh1s, 20, 13, 3},
        Case{Encap::kEsun, 12, 0x9e5b, kOther}, Case{Encap::kAfh1s, 20, 0, kAckLinkVc},
        Case{Encap::kAfh1, 12, 0x0801, kOther}, Case{Encap::kAfh2, 12, 0x0800, kOther}}) {
    std::vector<uint8_t> frame = FrameOf(c.encap, {.xpuid = 1, .vc = 3}, 64, {}, false);
    frame[c.at] = static_cast<uint8_t>(c.value >> 8);
    frame[c.at + 1] = static_cast<uint8_t>(c.value);
    EXPECT_EQ(LinkVcOf(RuleFor(c.encap), frame.data(), static_cast<uint32_t>(frame.size())),
              c.expected)
        << EncapName(c.encap) << " " << c.at << ": " << c.value;
  }
}

INSTANTIATE_TEST_SUITE_P(Encapsulations, LinkVcTest, ::testing::Range(size_t{0}, kEncapCount),
                         [](const auto& param_info) {
                           return std::string(EncapName(static_cast<Encap>(param_info.param)));
                         });

}  // namespace
}  // namespace suede
