// SPDX-License-Identifier: Apache-2.0
// The rules of every encapsulation, tagged and not.
#include "wire/encap.h"

#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <set>

#include "frames.h"

namespace suede {
namespace {

TEST(Encap, NamesBothWays) {
  std::set<std::string_view> names;
  for (size_t i = 0; i < kEncapNames.size(); ++i) {
    const auto encap = static_cast<Encap>(i);
    EXPECT_EQ(ParseEncap(EncapName(encap)), encap);
    names.insert(EncapName(encap));
  }
  EXPECT_EQ(names.size(), kEncapNames.size());
  for (const std::string_view wrong : {"", "udp", "udp44", "UDP4", "afh"}) {
    EXPECT_EQ(ParseEncap(wrong), std::nullopt);
  }
}

// The tag stands between addresses and EtherType, and changes nothing else.
TEST(Encap, WritesTheTag) {
  for (const Dialect& dialect : AllDialects()) {
    if (!dialect.tagged) continue;
    const Bytes frame = BuildBytes(dialect.encap, SpecOf(dialect), Bytes(60, 0x11));
    Bytes expected = BuildBytes(dialect.encap, SpecOf({dialect.encap, false}), Bytes(60, 0x11));
    const Bytes tag{0x81, 0x00, 0xa0, 0x64};
    expected.insert(expected.begin() + 12, tag.begin(), tag.end());
    EXPECT_EQ(frame, expected) << DialectName(dialect);
  }
}

// Whether the header says where the PDU ends, so that bytes behind it do not matter.
bool HasLength(Encap encap) { return TraitsOf(encap).has_length; }

class EncapTest : public ::testing::TestWithParam<Dialect> {
 protected:
  Encap encap() const { return GetParam().encap; }
  HeaderSpec Spec() const { return SpecOf(GetParam()); }
  uint32_t header_bytes() const { return TraitsOf(encap()).header_bytes + (GetParam().tagged ? 4 : 0); }
};

TEST_P(EncapTest, Template) {
  const HeaderTemplate header = MakeTemplate(encap(), Spec());
  EXPECT_EQ(header.encap, encap());
  EXPECT_EQ(header.length, header_bytes());
  EXPECT_EQ(header.l2_length, GetParam().tagged ? 18 : 14);
  EXPECT_EQ(header.l3_length, encap() == Encap::kUdp4 ? 20 : encap() == Encap::kUdp6 ? 40 : 0);
}

TEST_P(EncapTest, AnotherSessionMakesTheHeaderOfThatSession) {
  HeaderSpec spec = Spec();
  HeaderTemplate header = MakeTemplate(encap(), spec);
  const uint32_t count = SessionCount(encap());
  for (const uint32_t session : {count - 1, count / 3, 0u}) {
    spec.session = static_cast<uint16_t>(session);
    SetSession(header, spec.session);
    const HeaderTemplate made = MakeTemplate(encap(), spec);
    EXPECT_EQ(std::memcmp(header.bytes, made.bytes, sizeof(header.bytes)), 0) << session;
    EXPECT_EQ(header.checksum, made.checksum) << session;
    EXPECT_EQ(header.session, made.session) << session;
    EXPECT_EQ(header.session, SessionCount(encap()) > 1 ? session : 0) << session;
  }
}

TEST(JoinEncapsTest, NamesThoseOfTheSetInOrder) {
  EncapSet set;
  EXPECT_EQ(JoinEncaps(set, ", ", " and "), "");
  set.Add(Encap::kUdp4);
  EXPECT_EQ(JoinEncaps(set, ", ", " and "), "udp4");
  set.Add(Encap::kAfh2);
  EXPECT_EQ(JoinEncaps(set, ", ", " and "), "udp4 and afh2");
  set.Add(Encap::kAfh1);
  EXPECT_EQ(JoinEncaps(set, ", ", " and "), "udp4, afh1 and afh2");
}

TEST_P(EncapTest, OnlyThoseWithATagWriteIt) {
  HeaderSpec spec = Spec();
  spec.tagged = true;
  const Bytes frame = BuildBytes(encap(), spec, Bytes(60, 0x11));
  EXPECT_EQ(LoadBe16(&frame[12]) == 0x8100, CanTag(encap()));
}

TEST_P(EncapTest, WritesNothingOutsideItsRoom) {
  constexpr size_t kStart = 120;
  const HeaderTemplate header = MakeTemplate(encap(), Spec());
  for (const bool offload : {false, true}) {
    Bytes buffer(300, 0xee);
    uint8_t* pdu = buffer.data() + kStart;
    EXPECT_EQ(WriteHeader(header, pdu, 100, offload), pdu - header.length);
    for (size_t i = 0; i < kStart - HeaderTemplate::kRoomBytes; ++i) ASSERT_EQ(buffer[i], 0xee);
    const size_t untouched = kStart + (encap() == Encap::kAfh2c ? kRhBytes : 0);
    for (size_t i = untouched; i < buffer.size(); ++i) ASSERT_EQ(buffer[i], 0xee) << i;
  }
}

TEST_P(EncapTest, ReadsWhatWasWritten) {
  std::mt19937 random(11);
  const auto u16 = [&random] { return static_cast<uint16_t>(random()); };
  const auto u64 = [&random] { return uint64_t{random()} << 32 | random(); };
  for (int round = 0; round < 2000; ++round) {
    HeaderSpec spec = Spec();
    spec.vid = static_cast<uint16_t>(random() % 4096);
    spec.udp_port = u16();
    spec.session = static_cast<uint16_t>(random() % SessionCount(encap()));
    spec.mac_prefix = static_cast<uint32_t>(random());
    do spec.ether_type = u16();
    while (spec.ether_type == 0x8100);
    spec.traffic_class = {static_cast<uint8_t>(random() % 8), static_cast<uint8_t>(random() % 64),
                          static_cast<uint8_t>(random() % 4)};
    for (NetAddress* address : {&spec.source, &spec.destination}) {
      *address = {.high = u64(), .low = u64()};
      const EncapTraits& traits = TraitsOf(encap());
      if (traits.addresses == AddressKind::kIpv6) continue;
      const uint32_t bits = traits.addresses == AddressKind::kIpv4 ? 32 : traits.forwarding_bits;
      *address = {.low = address->low >> (64 - bits)};
    }
    const ReliabilityHeader rh{.ver = static_cast<uint8_t>(random() % 4),
                               .op = static_cast<RhOp>(random() % 3),
                               .xpuid = static_cast<uint16_t>(spec.source.low & 0x3ff),
                               .psn = Psn(u16()),
                               .vc = static_cast<uint8_t>(random() % 4),
                               .partition = static_cast<uint16_t>(random() % 1024),
                               .rpsn = Psn(u16())};
    const Bytes commands = RandomBytes(random, random() % 2049 * 2);
    Bytes frame = BuildBytes(encap(), spec, commands, rh);
    const size_t pdu_bytes = frame.size() - header_bytes();
    if (HasLength(encap())) frame.resize(frame.size() + random() % 20, 0xcc);
    const ParsedFrame parsed = ParseBytes(RulesOf(encap(), spec), frame, random() % 2 != 0);
    ASSERT_EQ(parsed.error, FrameError::kNone);
    ASSERT_EQ(parsed.source, spec.source);
    ASSERT_EQ(parsed.destination, spec.destination);
    ASSERT_EQ(parsed.session, spec.session);
    const uint32_t class_bits = TraitsOf(encap()).class_bits;
    ASSERT_EQ(parsed.dscp, spec.traffic_class.dscp & ~(63u >> class_bits));
    ASSERT_EQ(parsed.ecn, class_bits != 0 ? spec.traffic_class.ecn : 0);
    ASSERT_EQ(parsed.pdu, frame.data() + header_bytes());
    ASSERT_EQ(parsed.pdu_bytes, pdu_bytes);
    ASSERT_TRUE(RcrcGood(parsed.pdu, parsed.pdu_bytes));
    uint8_t canonical[kRhBytes];
    EncodeRh(rh, canonical);
    ASSERT_TRUE(std::equal(canonical, canonical + kRhBytes, parsed.pdu));
    ASSERT_TRUE(std::equal(commands.begin(), commands.end(), parsed.pdu + kRhBytes));
  }
}

// The same commands twice in one buffer, as a retransmission sends them.
TEST_P(EncapTest, MayBeWrittenAgain) {
  const HeaderTemplate header = MakeTemplate(encap(), Spec());
  Bytes buffer(256, 0x31);
  uint8_t* pdu = buffer.data() + 120;
  for (const uint16_t rpsn : std::vector<uint16_t>{1, 2}) {
    const ReliabilityHeader rh{.op = RhOp::kAck, .xpuid = 7, .psn = Psn(5), .rpsn = Psn(rpsn)};
    const uint32_t bytes = FinishPdu(pdu, 40, header.length, rh);
    const uint8_t* start = WriteHeader(header, pdu, bytes, false);
    EXPECT_EQ(Bytes(start, start + header.length + bytes),
              BuildBytes(encap(), Spec(), Bytes(40, 0x31), rh));
  }
}

TEST_P(EncapTest, PadsToTheLeastFrame) {
  for (uint32_t bytes = 0; bytes <= 60; bytes += 2) {
    const Bytes frame = BuildBytes(encap(), Spec(), Bytes(bytes, 0x12));
    const uint32_t unpadded = header_bytes() + kRhBytes + bytes + kRcrcBytes;
    EXPECT_EQ(frame.size(), std::max(kMinFrameBytes, unpadded));
    Bytes read = frame;
    const ParsedFrame parsed = ParseBytes(RulesOf(encap(), Spec()), read);
    ASSERT_EQ(parsed.error, FrameError::kNone);
    ASSERT_TRUE(RcrcGood(parsed.pdu, parsed.pdu_bytes));
    EXPECT_EQ(parsed.pdu + parsed.pdu_bytes, read.data() + read.size());
    for (uint32_t i = kRhBytes + bytes; i < parsed.pdu_bytes - kRcrcBytes; ++i) {
      ASSERT_EQ(parsed.pdu[i], 0);
    }
  }
}

// A frame that its sender did not pad, and a switch did not either.
TEST_P(EncapTest, TheShortestUnpaddedFrameIsTaken) {
  const Bytes padded = BuildBytes(encap(), Spec(), {});
  Bytes pdu(kRhBytes + kRcrcBytes);
  std::copy_n(padded.begin() + header_bytes(), kRhBytes, pdu.begin());
  Bytes frame(padded.begin(), padded.begin() + header_bytes());
  const uint32_t min = header_bytes() + kRhBytes + kRcrcBytes;
  frame.resize(min);
  const size_t l3 = GetParam().tagged ? 18 : 14;
  switch (encap()) {
    case Encap::kUdp4:
      StoreBe16(&frame[l3 + 2], 20 + 8 + kRhBytes + kRcrcBytes);
      StoreBe16(&frame[l3 + 20 + 4], 8 + kRhBytes + kRcrcBytes);
      break;
    case Encap::kAfh1s:
      StoreBe16(&frame[l3 + 6], kRhBytes + kRcrcBytes);
      break;
    default: return;  // TruncatedAtEveryLength has those without a length
  }
  const ParsedFrame parsed = ParseFrame(RulesOf(encap(), Spec()), frame.data(), min, true);
  ASSERT_EQ(parsed.error, FrameError::kNone);
  EXPECT_EQ(parsed.pdu_bytes, kRhBytes + kRcrcBytes);
  EXPECT_EQ(parsed.pdu, frame.data() + header_bytes());
  // One byte less is no frame.
  Bytes cut = frame;
  cut.pop_back();
  EXPECT_EQ(ErrorOf(RulesOf(encap(), Spec()), cut, true), FrameError::kTruncated);
}

TEST_P(EncapTest, LargestPdu) {
  const Bytes commands(kMaxPackBytes, 0x5a);
  Bytes frame = BuildBytes(encap(), Spec(), commands);
  ASSERT_EQ(frame.size(), header_bytes() + kRhBytes + kMaxPackBytes + kRcrcBytes);
  const ParsedFrame parsed = ParseBytes(RulesOf(encap(), Spec()), frame);
  ASSERT_EQ(parsed.error, FrameError::kNone);
  EXPECT_EQ(parsed.pdu_bytes, kRhBytes + kMaxPackBytes + kRcrcBytes);
  EXPECT_TRUE(RcrcGood(parsed.pdu, parsed.pdu_bytes));
}

// Without a length in the header a cut is found by the R-CRC, once there is room for one.
TEST_P(EncapTest, TruncatedAtEveryLength) {
  const FrameRules rules = RulesOf(encap(), Spec());
  const Bytes frame = BuildBytes(encap(), Spec(), Bytes(60, 0x22));
  const size_t min = HasLength(encap()) ? frame.size() : header_bytes() + kMinPduBytes;
  for (size_t bytes = 0; bytes < frame.size(); ++bytes) {
    Bytes cut(frame.begin(), frame.begin() + static_cast<std::ptrdiff_t>(bytes));
    EXPECT_EQ(ErrorOf(rules, cut), bytes < min ? FrameError::kTruncated : FrameError::kNone)
        << bytes;
    EXPECT_EQ(ErrorOf(rules, cut, true), ErrorOf(rules, cut)) << bytes;
    if (bytes < min) continue;
    const ParsedFrame parsed = ParseBytes(rules, cut);
    EXPECT_FALSE(RcrcGood(parsed.pdu, parsed.pdu_bytes)) << bytes;
  }
  EXPECT_EQ(ErrorOf(rules, frame), FrameError::kNone);
}

TEST_P(EncapTest, AnotherEtherTypeIsNotSue) {
  const Bytes good = BuildBytes(encap(), Spec(), Bytes(60, 0x22));
  const size_t type_at = GetParam().tagged ? 16 : 12;
  for (const uint16_t type : std::vector<uint16_t>{0x0806, 0x8100, 0x88a8, 0x88cc}) {
    Bytes frame = good;
    StoreBe16(&frame[type_at], type);
    EXPECT_EQ(ErrorOf(RulesOf(encap(), Spec()), frame), FrameError::kNotSue) << type;
    // A short one too, as soon as it has an EtherType.
    frame.resize(type_at + 2 + (type == 0x8100 ? 4 : 0));
    EXPECT_EQ(ErrorOf(RulesOf(encap(), Spec()), frame), FrameError::kNotSue) << type;
  }
}

// A frame of somebody else is told from one that ends too early, once the bytes are there that say
// so.
TEST(Encap, ErrorsOfHeadersThatEndEarly) {
  struct Case {
    Encap encap;
    size_t at;  // of 16 bits that change, behind the Ethernet header and the tag
    uint16_t value;
    FrameError error;
    size_t from;  // bytes behind the Ethernet header and the tag
  };
  const uint16_t port = SpecOf({Encap::kUdp4, false}).udp_port;
  for (const Case& c :
       {Case{Encap::kUdp4, 8, 0x4006, FrameError::kNotSue, 20},  // TCP
        Case{Encap::kUdp4, 6, 0x0001, FrameError::kNotSue, 20},  // a later fragment
        Case{Encap::kUdp4, 22, 0x0001, FrameError::kNotSue, 24},
        Case{Encap::kUdp4, 0, 0x4600, FrameError::kNotSue, 28},  // options, then another port
        Case{Encap::kUdp4, 0, 0x6500, FrameError::kIpHeader, 24},
        Case{Encap::kUdp4, 0, 0x4400, FrameError::kIpHeader, 24},
        Case{Encap::kUdp4, 6, 0x2000, FrameError::kIpHeader, 24},
        Case{Encap::kUdp6, 6, 0x0640, FrameError::kNotSue, 40},
        Case{Encap::kUdp6, 42, 0x0001, FrameError::kNotSue, 44},
        Case{Encap::kUdp6, 0, 0x7000, FrameError::kIpHeader, 44},
        Case{Encap::kAfh1s, 0, 0x1000, FrameError::kShimVersion, 8},
        Case{Encap::kAfh1s, 2, 0x4002, FrameError::kNextHeader, 8},
        Case{Encap::kAfh1s, 2, 0x0001, FrameError::kHopLimit, 8},
        Case{Encap::kEsun, 0, 0x4000, FrameError::kRevision, 4},
        Case{Encap::kEsun, 2, 0x000f, FrameError::kHopLimit, 4}}) {
    for (const bool tagged : {false, true}) {
      const HeaderSpec spec = SpecOf({c.encap, tagged});
      const size_t l2 = tagged ? 18 : 14;
      Bytes frame = BuildBytes(c.encap, spec, Bytes(60, 0x22));
      StoreBe16(&frame[l2 + c.at], c.value);
      for (size_t bytes = 0; bytes < frame.size(); ++bytes) {
        const Bytes cut(frame.begin(), frame.begin() + static_cast<std::ptrdiff_t>(bytes));
        EXPECT_EQ(ErrorOf(RulesOf(c.encap, spec), cut),
                  bytes < l2 + c.from ? FrameError::kTruncated : c.error)
            << EncapName(c.encap) << " " << c.at << ": " << c.value << ", " << bytes;
      }
    }
  }
  // Behind options the port is ours.
  Bytes frame = BuildBytes(Encap::kUdp4, SpecOf({Encap::kUdp4, false}), Bytes(60, 0x22));
  frame[14] = 0x4f;
  StoreBe16(&frame[14 + 60 + 2], port);
  for (size_t bytes = 34; bytes < frame.size(); ++bytes) {
    const Bytes cut(frame.begin(), frame.begin() + static_cast<std::ptrdiff_t>(bytes));
    EXPECT_EQ(ErrorOf(RulesOf(Encap::kUdp4, SpecOf({Encap::kUdp4, false})), cut),
              bytes < 14 + 60 + 4 ? FrameError::kTruncated : FrameError::kIpHeader)
        << bytes;
  }
}

// On a port of any encapsulation, frames of others do not pass for its own.
TEST_P(EncapTest, FramesOfOthersAreNotSue) {
  HeaderSpec spec = Spec();
  spec.ether_type = 0;
  const Bytes frame = BuildBytes(encap(), spec, Bytes(200, 0x22));
  for (const Dialect& other : AllDialects()) {
    if (other.encap == encap()) continue;
    EXPECT_EQ(ErrorOf(RulesOf(other.encap, spec), frame), FrameError::kNotSue)
        << DialectName(other);
  }
}

TEST_P(EncapTest, DefaultEtherTypes) {
  if (kWithoutEtherType.Has(encap())) return;
  HeaderSpec spec = Spec();
  spec.ether_type = 0;
  const Bytes frame = BuildBytes(encap(), spec, Bytes(60, 0x22));
  EXPECT_EQ(ErrorOf(RulesOf(encap(), spec), frame), FrameError::kNone);
  const uint16_t type = LoadBe16(&frame[GetParam().tagged ? 16 : 12]);
  EXPECT_EQ(type, TraitsOf(encap()).ether_type);
}

INSTANTIATE_TEST_SUITE_P(All, EncapTest, ::testing::ValuesIn(AllDialects()),
                         [](const auto& test) { return DialectName(test.param); });

}  // namespace
}  // namespace suede
