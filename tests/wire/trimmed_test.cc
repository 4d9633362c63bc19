// SPDX-License-Identifier: Apache-2.0
// Trimmed frames of every encapsulation, and frames that only look like them.
#include "wire/trimmed.h"

#include <gtest/gtest.h>

#include <random>

#include "frames.h"
#include "wire/encap.h"
#include "wire/ethernet.h"

namespace suede {
namespace {

constexpr uint8_t kTrimmedDscp = 57;
constexpr size_t kRhEnd = 50;  // of udp4, untagged

size_t InnerAt(const Bytes& frame) { return EthernetBytes(frame.data()); }

bool IsTrimmable(Encap encap) {
  return encap == Encap::kUdp4 || encap == Encap::kUdp6 || encap == Encap::kAfh1s;
}

// The bytes that a switch leaves of a frame.
size_t BytesLeft(Encap encap) { return encap == Encap::kUdp6 ? 128 : 64; }

void SetIpv4Checksum(Bytes& frame) {
  uint8_t* ip = &frame[InnerAt(frame)];
  StoreBe16(ip + 10, 0);
  StoreBe16(ip + 10, Checksum(ip, 20));
}

// Trims a frame as a switch does that finds no room: the first bytes, with another DSCP.
Bytes Trim(Encap encap, Bytes frame, size_t bytes, uint8_t dscp = kTrimmedDscp) {
  uint8_t* inner = &frame[InnerAt(frame)];
  if (encap == Encap::kUdp6) {
    StoreBe16(inner, static_cast<uint16_t>((LoadBe16(inner) & 0xf03f) | dscp << 6));
  } else {
    inner[1] = static_cast<uint8_t>(dscp << 2 | (inner[1] & 3));
    if (encap == Encap::kUdp4) SetIpv4Checksum(frame);
  }
  frame.resize(bytes);
  return frame;
}

// Parses a copy of exactly the frame's bytes, so that a sanitizer sees every access beyond them.
std::optional<ParsedFrame> ParseCut(const FrameRules& rules, const Bytes& frame,
                                    uint8_t dscp = kTrimmedDscp) {
  Bytes exact(frame.begin(), frame.end());
  exact.shrink_to_fit();
  auto parsed = ParseTrimmed(rules, exact.data(), static_cast<uint32_t>(exact.size()), dscp);
  EXPECT_EQ(exact, frame) << "it was written to";
  if (parsed) parsed->pdu = frame.data() + (parsed->pdu - exact.data());
  return parsed;
}

class TrimmedTest : public ::testing::TestWithParam<Dialect> {
 protected:
  Encap encap() const { return GetParam().encap; }
  HeaderSpec Spec() const { return SpecOf(GetParam()); }
  FrameRules Rules() const { return RulesOf(encap(), Spec()); }
  size_t header_bytes() const {
    return TraitsOf(encap()).header_bytes + (GetParam().tagged ? kTagBytes : 0);
  }
  Bytes Whole(size_t command_bytes = 1000) const {
    return BuildBytes(encap(), Spec(), Bytes(command_bytes, 0x22), kRh);
  }
  Bytes Cut(size_t bytes) const { return Trim(encap(), Whole(), bytes); }

  static constexpr ReliabilityHeader kRh{.op = RhOp::kAck,
                                         .xpuid = 7,
                                         .psn = Psn(0xfedc),
                                         .vc = 2,
                                         .partition = 3,
                                         .rpsn = Psn(0x1234)};
};

TEST_P(TrimmedTest, SaysWhatTheWholeFrameSaid) {
  Bytes whole = Whole();
  const ParsedFrame before = ParseBytes(Rules(), whole);
  ASSERT_EQ(before.error, FrameError::kNone);
  const Bytes cut = Trim(encap(), whole, BytesLeft(encap()));
  const auto parsed = ParseCut(Rules(), cut);
  ASSERT_EQ(parsed.has_value(), IsTrimmable(encap()));
  if (!parsed) return;
  EXPECT_EQ(ErrorOf(Rules(), cut), FrameError::kTruncated);
  EXPECT_EQ(parsed->error, FrameError::kNone);
  EXPECT_EQ(parsed->dscp, kTrimmedDscp);
  EXPECT_EQ(parsed->ecn, before.ecn);
  EXPECT_EQ(parsed->session, before.session);
  EXPECT_EQ(parsed->source, before.source);
  EXPECT_EQ(parsed->destination, before.destination);
  EXPECT_EQ(parsed->pdu_bytes, before.pdu_bytes);
  ASSERT_EQ(parsed->pdu, cut.data() + header_bytes());
  uint8_t canonical[kRhBytes];
  EncodeRh(kRh, canonical);
  EXPECT_TRUE(std::equal(canonical, canonical + kRhBytes, parsed->pdu));
}

// A cut from the last byte of the RH to the last byte but one of the frame is recognized.
TEST_P(TrimmedTest, CutAnywhereBehindTheRh) {
  const size_t whole = Whole().size();
  for (size_t bytes = 0; bytes <= whole; ++bytes) {
    const Bytes cut = Trim(encap(), Whole(), bytes);
    const bool has_rh = bytes >= header_bytes() + kRhBytes;
    EXPECT_EQ(ParseCut(Rules(), cut).has_value(), IsTrimmable(encap()) && has_rh && bytes < whole)
        << bytes;
  }
}

TEST_P(TrimmedTest, AFrameThatIsWholeIsNone) {
  for (const size_t command_bytes : {0, 10, 60, 1000}) {
    Bytes frame = Whole(command_bytes);
    if (IsTrimmable(encap())) frame = Trim(encap(), frame, frame.size());
    EXPECT_EQ(ParseCut(Rules(), frame), std::nullopt) << command_bytes;
    frame.resize(frame.size() + 20);
    EXPECT_EQ(ParseCut(Rules(), frame), std::nullopt) << command_bytes << ", with a trailer";
  }
}

// A frame that something else has cut, or that another DSCP's switch has.
TEST_P(TrimmedTest, AnotherDscpIsNone) {
  if (!IsTrimmable(encap())) return;
  for (uint8_t dscp = 0; dscp < 64; ++dscp) {
    const Bytes cut = Trim(encap(), Whole(), BytesLeft(encap()), dscp);
    EXPECT_EQ(ParseCut(Rules(), cut).has_value(), dscp == kTrimmedDscp) << int{dscp};
    EXPECT_TRUE(ParseCut(Rules(), cut, dscp)) << int{dscp};
  }
}

TEST_P(TrimmedTest, OfAnotherPortIsNone) {
  if (!IsTrimmable(encap())) return;
  const Bytes cut = Cut(BytesLeft(encap()));
  for (const Dialect& other : AllDialects()) {
    if (other.encap == encap()) continue;
    const FrameRules rules = RulesOf(other.encap, SpecOf(other));
    EXPECT_EQ(ParseCut(rules, cut), std::nullopt) << DialectName(other);
  }
  FrameRules rules = Rules();
  rules.udp_port ^= 1;
  rules.mac_prefix ^= 1;
  EXPECT_EQ(ParseCut(rules, cut), std::nullopt);
}

// Whatever a header says, only the frame is read, and the returned PDU is within it.
TEST_P(TrimmedTest, AnyHeaderIsReadInTheFrame) {
  std::mt19937 random(29);
  size_t trimmed = 0;
  for (int round = 0; round < 20000; ++round) {
    Bytes cut = IsTrimmable(encap()) ? Cut(random() % 140) : Whole(8);
    for (auto flips = random() % 3; flips != 0 && !cut.empty(); --flips) {
      cut[random() % cut.size()] ^= static_cast<uint8_t>(1u << random() % 8);
    }
    const bool has_ip = encap() == Encap::kUdp4 && cut.size() >= header_bytes();
    if (has_ip && random() % 2 == 0 && InnerAt(cut) + 20 <= cut.size()) SetIpv4Checksum(cut);
    const auto parsed = ParseCut(Rules(), cut);
    if (!parsed) continue;
    ++trimmed;
    ASSERT_GE(parsed->pdu, cut.data());
    ASSERT_LE(parsed->pdu + kRhBytes, cut.data() + cut.size());
    ASSERT_GT(parsed->pdu + parsed->pdu_bytes, cut.data() + cut.size());
    ASSERT_EQ(parsed->dscp, kTrimmedDscp);
  }
  EXPECT_EQ(trimmed > 1000, IsTrimmable(encap())) << trimmed;
}

INSTANTIATE_TEST_SUITE_P(All, TrimmedTest, ::testing::ValuesIn(AllDialects()),
                         [](const auto& test) { return DialectName(test.param); });

// Alters the IPv4 header and UDP header of a trimmed frame, sets the checksum right and parses it.
std::optional<ParsedFrame> AfterUdp4(const std::function<void(uint8_t* ip)>& alter,
                                     size_t bytes = 64) {
  const HeaderSpec spec = SpecOf({Encap::kUdp4, false});
  Bytes cut = Trim(Encap::kUdp4, BuildBytes(Encap::kUdp4, spec, Bytes(1000, 0x22)), 64);
  alter(&cut[kEthernetBytes]);
  SetIpv4Checksum(cut);
  cut.resize(bytes);
  return ParseCut(RulesOf(Encap::kUdp4, spec), cut);
}

void SetLengths(uint8_t* ip, uint32_t total, uint32_t udp_bytes) {
  StoreBe16(ip + 2, static_cast<uint16_t>(total));
  StoreBe16(ip + 20 + 4, static_cast<uint16_t>(udp_bytes));
}

TEST(Trimmed, TheLengthsOfIpv4AndUdp) {
  constexpr uint32_t kThere = 64 - kEthernetBytes;  // bytes behind the Ethernet header
  const auto with = [](uint32_t total, uint32_t udp_bytes) {
    return AfterUdp4([&](uint8_t* ip) { SetLengths(ip, total, udp_bytes); });
  };
  EXPECT_EQ(with(kThere, kThere - 20), std::nullopt) << "the frame is whole";
  EXPECT_EQ(with(kThere - 1, kThere - 21), std::nullopt) << "a trailer follows";
  ASSERT_TRUE(with(kThere + 1, kThere - 19)) << "a byte is missing";
  EXPECT_EQ(with(kThere + 1, kThere - 19)->pdu_bytes, kThere - 27);
  EXPECT_EQ(with(kThere + 1, kThere - 20), std::nullopt) << "the datagram is whole";
  EXPECT_EQ(with(kThere, kThere - 19), std::nullopt) << "the datagram is longer than IP says";
  EXPECT_EQ(with(kThere + 1, kThere - 18), std::nullopt) << "likewise";
  EXPECT_EQ(with(kThere + 20, kThere - 19)->pdu_bytes, kThere - 27) << "IP has a trailer";
  EXPECT_EQ(with(0xffff, 0xffff - 20)->pdu_bytes, 0xffffu - 28);
  EXPECT_EQ(with(0, 0), std::nullopt);
  EXPECT_EQ(with(0xffff, 0), std::nullopt);
  EXPECT_EQ(with(0xffff, 19), std::nullopt) << "no room for a PDU";
}

TEST(Trimmed, TheWholeRhIsThere) {
  const auto nothing = [](uint8_t*) {};
  EXPECT_TRUE(AfterUdp4(nothing, kRhEnd));
  EXPECT_EQ(AfterUdp4(nothing, kRhEnd - 1), std::nullopt);
  EXPECT_EQ(AfterUdp4(nothing, kRhEnd - kRhBytes), std::nullopt);
  // A tag takes four bytes of what the switch leaves.
  const HeaderSpec spec = SpecOf({Encap::kUdp4, true});
  const Bytes whole = BuildBytes(Encap::kUdp4, spec, Bytes(1000, 0x22));
  const FrameRules rules = RulesOf(Encap::kUdp4, spec);
  EXPECT_TRUE(ParseCut(rules, Trim(Encap::kUdp4, whole, kRhEnd + 4)));
  EXPECT_EQ(ParseCut(rules, Trim(Encap::kUdp4, whole, kRhEnd + 3)), std::nullopt);
}

TEST(Trimmed, Ipv4HeadersOfOthers) {
  const auto with = [](size_t at, uint8_t value) {
    return AfterUdp4([=](uint8_t* ip) { ip[at] = value; });
  };
  EXPECT_TRUE(with(8, 1)) << "the hop limit says nothing";
  EXPECT_TRUE(with(26, 0x12)) << "nor does the UDP checksum";
  // Options would lie behind the end of what is left.
  for (uint32_t first = 0; first < 256; ++first) {
    EXPECT_EQ(with(0, static_cast<uint8_t>(first)).has_value(), first == 0x45) << first;
  }
  EXPECT_EQ(with(6, 0x20), std::nullopt) << "more fragments";
  EXPECT_EQ(with(7, 0x01), std::nullopt) << "a later fragment";
  EXPECT_EQ(with(9, 6), std::nullopt) << "TCP";
  EXPECT_EQ(with(23, 0), std::nullopt) << "another port";
}

TEST(Trimmed, TheChecksumOfTheIpv4Header) {
  const HeaderSpec spec = SpecOf({Encap::kUdp4, false});
  const Bytes good = Trim(Encap::kUdp4, BuildBytes(Encap::kUdp4, spec, Bytes(1000, 0x22)), 64);
  const FrameRules rules = RulesOf(Encap::kUdp4, spec);
  ASSERT_TRUE(ParseCut(rules, good));
  for (size_t at = kEthernetBytes; at < kEthernetBytes + 20; ++at) {
    Bytes bad = good;
    bad[at] ^= 0x10;
    EXPECT_EQ(ParseCut(rules, bad), std::nullopt) << at;
  }
}

TEST(Trimmed, TheLengthsOfIpv6AndUdp) {
  const HeaderSpec spec = SpecOf({Encap::kUdp6, false});
  const Bytes good = Trim(Encap::kUdp6, BuildBytes(Encap::kUdp6, spec, Bytes(1000, 0x22)), 128);
  constexpr uint32_t kThere = 128 - kEthernetBytes - 40;
  const auto with = [&](uint32_t payload, uint32_t udp_bytes) {
    Bytes cut = good;
    StoreBe16(&cut[kEthernetBytes + 4], static_cast<uint16_t>(payload));
    StoreBe16(&cut[kEthernetBytes + 44], static_cast<uint16_t>(udp_bytes));
    return ParseCut(RulesOf(Encap::kUdp6, spec), cut);
  };
  EXPECT_EQ(with(kThere, kThere), std::nullopt);
  ASSERT_TRUE(with(kThere + 1, kThere + 1));
  EXPECT_EQ(with(kThere + 1, kThere + 1)->pdu_bytes, kThere - 7);
  EXPECT_EQ(with(kThere + 1, kThere), std::nullopt) << "the datagram is whole";
  EXPECT_EQ(with(kThere, kThere + 1), std::nullopt) << "the datagram is longer than IP says";
  EXPECT_EQ(with(0xffff, 0xffff)->pdu_bytes, 0xffffu - 8);
  EXPECT_EQ(with(0xffff, 19), std::nullopt) << "no room for a PDU";
  EXPECT_EQ(with(0, 0xffff), std::nullopt);
}

TEST(Trimmed, TheLengthOfTheShim) {
  const HeaderSpec spec = SpecOf({Encap::kAfh1s, false});
  const Bytes good = Trim(Encap::kAfh1s, BuildBytes(Encap::kAfh1s, spec, Bytes(1000, 0x22)), 64);
  constexpr uint32_t kThere = 64 - kEthernetBytes - 8;
  const auto with = [&](uint32_t length) {
    Bytes cut = good;
    StoreBe16(&cut[kEthernetBytes + 6], static_cast<uint16_t>(length));
    return ParseCut(RulesOf(Encap::kAfh1s, spec), cut);
  };
  EXPECT_EQ(with(kThere - 1), std::nullopt);
  EXPECT_EQ(with(kThere), std::nullopt);
  ASSERT_TRUE(with(kThere + 1));
  EXPECT_EQ(with(kThere + 1)->pdu_bytes, kThere + 1);
  EXPECT_EQ(with(0xffff)->pdu_bytes, 0xffffu);
  // The shortest PDU, of which only the RH is left.
  Bytes shortest = good;
  StoreBe16(&shortest[kEthernetBytes + 6], kMinPduBytes);
  shortest.resize(kEthernetBytes + 8 + kRhBytes);
  const auto parsed = ParseCut(RulesOf(Encap::kAfh1s, spec), shortest);
  ASSERT_TRUE(parsed);
  EXPECT_EQ(parsed->pdu_bytes, kMinPduBytes);
}

}  // namespace
}  // namespace suede
