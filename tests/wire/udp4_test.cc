// SPDX-License-Identifier: Apache-2.0
// The properties of udp4 alone: its fields, its checksums, its errors by name.
#include <gtest/gtest.h>

#include <functional>
#include <random>

#include "frames.h"
#include "wire/encap/fields.h"

namespace suede {
namespace {

HeaderSpec Spec(bool tagged) { return SpecOf({Encap::kUdp4, tagged}); }
const FrameRules kRules = RulesOf(Encap::kUdp4, Spec(false));

Bytes Build(const HeaderSpec& spec, const Bytes& commands = Bytes{1, 2, 3, 4, 5, 6, 7, 8}) {
  return BuildBytes(Encap::kUdp4, spec, commands);
}

FrameError ErrorOf(const Bytes& frame, bool checksums_good = false) {
  return suede::ErrorOf(kRules, frame, checksums_good);
}

void FixIpChecksum(Bytes& frame, size_t l2) {
  StoreBe16(&frame[l2 + 10], 0);
  StoreBe16(&frame[l2 + 10], Checksum(&frame[l2], 20));
}

// Runs `mend` on a good frame, untagged and tagged, sets the IP checksum right and parses it.
void ExpectError(FrameError expected, const std::function<void(uint8_t* ip)>& mend) {
  for (bool tagged : {false, true}) {
    Bytes frame = Build(Spec(tagged));
    const size_t l2 = tagged ? 18 : 14;
    mend(&frame[l2]);
    FixIpChecksum(frame, l2);
    EXPECT_EQ(ErrorOf(frame), expected) << "tagged " << tagged;
    EXPECT_EQ(ErrorOf(frame, true), expected) << "tagged " << tagged;
  }
}

TEST(Udp4, ChecksumIsNotLeftToTheDevice) {
  Bytes buffer(256);
  uint8_t* frame = WriteHeader(Udp4::MakeTemplate(Spec(false)), buffer.data() + 100, 100, true);
  EXPECT_EQ(ParseFrame(kRules, frame, 142, false).error, FrameError::kNone);
}

TEST(Udp4, ChecksumOfEveryLength) {
  Bytes buffer(8192);
  uint8_t* pdu = buffer.data() + 100;
  std::mt19937 random(5);
  for (uint32_t bytes = 12; bytes <= 4108; ++bytes) {
    HeaderSpec spec = Spec(bytes % 2 != 0);
    spec.source.low = static_cast<uint32_t>(random());
    spec.destination.low = static_cast<uint32_t>(random());
    const HeaderTemplate header = Udp4::MakeTemplate(spec);
    const uint8_t* frame = WriteHeader(header, pdu, bytes, false);
    ASSERT_EQ(Checksum(frame + header.l2_length, 20), 0) << bytes;
  }
}

// A frame that is taken for a repetition of another has the same result when it is read.
TEST(Udp4, RepeatedHeadersHaveTheSameResult) {
  for (const bool tagged : {false, true}) {
    for (const bool good : {false, true}) {
      Bytes frame = Build(Spec(tagged));
      const auto bytes = static_cast<uint32_t>(frame.size());
      ParsedFrame parsed;
      ASSERT_TRUE(ParseInPlace(kRules, frame.data(), bytes, good, parsed));
      udp4::Headers headers;
      EXPECT_FALSE(headers.AreOf(frame.data(), bytes, good));
      headers.Keep(frame.data(), bytes, good, parsed);
      EXPECT_TRUE(headers.AreOf(frame.data(), bytes, good));
      EXPECT_FALSE(headers.AreOf(frame.data(), bytes, !good));
      EXPECT_FALSE(headers.AreOf(frame.data(), bytes - 1, good));
      EXPECT_EQ(frame.data() + headers.pdu_at(), parsed.pdu);
      EXPECT_EQ(headers.pdu_bytes(), parsed.pdu_bytes);
      for (size_t bit = 0; bit < headers.pdu_at() * 8; ++bit) {
        Bytes other = frame;
        other[bit / 8] ^= static_cast<uint8_t>(1u << bit % 8);
        if (!headers.AreOf(other.data(), bytes, good)) continue;
        EXPECT_LT(bit / 8, kEthernetBytes - 2) << "all but MAC addresses count";
        const ParsedFrame again = ParseFrame(kRules, other.data(), bytes, good);
        EXPECT_EQ(again.error, FrameError::kNone) << bit;
        EXPECT_EQ(again.source, parsed.source);
        EXPECT_EQ(again.destination, parsed.destination);
        EXPECT_EQ(again.pdu - other.data(), parsed.pdu - frame.data());
        EXPECT_EQ(again.pdu_bytes, parsed.pdu_bytes);
      }
      // Bytes behind the headers do not count.
      frame[headers.pdu_at()] ^= 1;
      EXPECT_TRUE(headers.AreOf(frame.data(), bytes, good));
    }
  }
}

TEST(Udp4, NotSue) {
  ExpectError(FrameError::kNotSue, [](uint8_t* ip) { StoreBe16(ip - 2, 0x86dd); });
  ExpectError(FrameError::kNotSue, [](uint8_t* ip) { StoreBe16(ip - 2, 0x8100); });
  ExpectError(FrameError::kNotSue, [](uint8_t* ip) { ip[9] = 6; });
  ExpectError(FrameError::kNotSue, [](uint8_t* ip) { StoreBe16(ip + 22, 3334); });
  // A later fragment has no port, whatever bytes stand there.
  ExpectError(FrameError::kNotSue, [](uint8_t* ip) { StoreBe16(ip + 6, 0x0001); });
  Bytes arp(42, 0);
  StoreBe16(&arp[12], 0x0806);
  EXPECT_EQ(ErrorOf(arp), FrameError::kNotSue);
}

TEST(Udp4, OptionsOfOthersAreNotSue) {
  Bytes frame = Build(Spec(false), Bytes(40, 0));
  frame[14] = 0x46;  // the first half of the PDU's RH now stands at the port
  FixIpChecksum(frame, 14);
  EXPECT_EQ(ErrorOf(frame), FrameError::kNotSue);
}

TEST(Udp4, IpHeader) {
  ExpectError(FrameError::kIpHeader, [](uint8_t* ip) { ip[0] = 0x65; });
  ExpectError(FrameError::kIpHeader, [](uint8_t* ip) { ip[0] = 0x44; });
  ExpectError(FrameError::kIpHeader, [](uint8_t* ip) { StoreBe16(ip + 6, 0x2000); });
  ExpectError(FrameError::kIpHeader, [](uint8_t* ip) { StoreBe16(ip + 2, 27); });
  ExpectError(FrameError::kIpHeader, [](uint8_t* ip) {
    ip[0] = 0x46;
    StoreBe16(ip + 26, kRules.udp_port);
  });
}

TEST(Udp4, LengthsThatRunOut) {
  ExpectError(FrameError::kTruncated, [](uint8_t* ip) { StoreBe16(ip + 2, 0xffff); });
  ExpectError(FrameError::kTruncated, [](uint8_t* ip) { StoreBe16(ip + 24, 0xffff); });
  ExpectError(FrameError::kTruncated,
              [](uint8_t* ip) { StoreBe16(ip + 2, uint16_t(LoadBe16(ip + 2) + 1)); });
  ExpectError(FrameError::kTruncated,
              [](uint8_t* ip) { StoreBe16(ip + 24, uint16_t(LoadBe16(ip + 24) + 1)); });
  for (const int udp_bytes : {0, 7, 8, 19}) {
    ExpectError(FrameError::kTruncated,
                [udp_bytes](uint8_t* ip) { StoreBe16(ip + 24, uint16_t(udp_bytes)); });
  }
  ExpectError(FrameError::kNone, [](uint8_t* ip) { StoreBe16(ip + 24, 20); });
}

TEST(Udp4, IpChecksum) {
  for (bool tagged : {false, true}) {
    Bytes frame = Build(Spec(tagged));
    const size_t l2 = tagged ? 18 : 14;
    for (size_t at : {1u, 4u, 8u, 10u, 11u, 12u, 19u}) {
      frame[l2 + at] ^= 0x40;
      EXPECT_EQ(ErrorOf(frame), FrameError::kIpChecksum) << at;
      EXPECT_EQ(ErrorOf(frame, true), FrameError::kNone) << at;
      frame[l2 + at] ^= 0x40;
    }
    EXPECT_EQ(ErrorOf(frame), FrameError::kNone);
  }
}

TEST(Udp4, UdpChecksum) {
  for (uint32_t command_bytes : {8u, 9u, 10u, 11u}) {
    Bytes frame = Build(Spec(false), Bytes(command_bytes, 0x77));
    const ParsedFrame without = ParseBytes(kRules, frame);
    Bytes patched = frame;
    SetUdpChecksum(Encap::kUdp4, &frame[14]);
    FieldValues wanted;
    wanted.Set(FieldKey::kUdpChecksum, 1);
    PatchHeader(Encap::kUdp4, wanted, patched);
    EXPECT_EQ(patched, frame) << "the declared field's is the same";
    const ParsedFrame with = ParseBytes(kRules, frame);
    ASSERT_EQ(with.error, FrameError::kNone);
    EXPECT_EQ(with.pdu, without.pdu);
    EXPECT_EQ(with.pdu_bytes, without.pdu_bytes);
    EXPECT_EQ(with.source, without.source);
    EXPECT_EQ(with.session, without.session);
    for (size_t at = 42; at < frame.size(); ++at) {
      frame[at] ^= 0x01;
      EXPECT_EQ(ErrorOf(frame), FrameError::kUdpChecksum) << at;
      EXPECT_EQ(ErrorOf(frame, true), FrameError::kNone) << at;
      frame[at] ^= 0x01;
    }
  }
}

TEST(Udp4, ReservedFlagAndMissingDontFragmentAreNoMatter) {
  ExpectError(FrameError::kNone, [](uint8_t* ip) { StoreBe16(ip + 6, 0x0000); });
  ExpectError(FrameError::kNone, [](uint8_t* ip) { StoreBe16(ip + 6, 0x8000); });
}

TEST(Udp4, PortsOutsideTheSessions) {
  HeaderSpec spec = Spec(false);
  spec.session = static_cast<uint16_t>(1024 - 49152);
  Bytes frame = Build(spec);
  const ParsedFrame parsed = ParseBytes(kRules, frame);
  EXPECT_EQ(parsed.error, FrameError::kNone);
  EXPECT_GE(parsed.session, 16384);
}

// Frames that are read in place are read by ParseFrame as well, with the same result; the rest are
// errors, or have a UDP checksum.
TEST(Udp4, ReadInPlaceAsByParseFrame) {
  std::mt19937 random(17);
  int in_place = 0;
  for (int round = 0; round < 60000; ++round) {
    Bytes frame = Build(Spec(random() % 2 == 0), Bytes(random() % 20, 1));
    const size_t l2 = frame[12] == 0x81 ? 18 : 14;
    for (auto flips = random() % 3; flips != 0; --flips) {
      frame[12 + random() % (l2 + 28 - 12)] ^= static_cast<uint8_t>(1u << random() % 8);
    }
    if (random() % 2 == 0) FixIpChecksum(frame, l2);
    if (random() % 8 == 0) frame.resize(random() % frame.size());
    const bool good = random() % 2 == 0;
    const auto bytes = static_cast<uint32_t>(frame.size());
    ParsedFrame parsed;
    const bool done = ParseInPlace(kRules, frame.data(), bytes, good, parsed);
    const ParsedFrame whole = ParseFrame(kRules, frame.data(), bytes, good);
    if (!done) {
      const bool has_sum = bytes >= l2 + 28 && LoadBe16(&frame[l2 + 26]) != 0;
      ASSERT_TRUE(whole.error != FrameError::kNone || has_sum) << round;
      continue;
    }
    ++in_place;
    ASSERT_EQ(whole.error, FrameError::kNone) << round;
    ASSERT_EQ(parsed.pdu, whole.pdu);
    ASSERT_EQ(parsed.pdu_bytes, whole.pdu_bytes);
    ASSERT_EQ(parsed.source, whole.source);
    ASSERT_EQ(parsed.destination, whole.destination);
    ASSERT_EQ(parsed.session, whole.session);
  }
  EXPECT_GT(in_place, 10000);
}

// A folded sum is the same modulo 2^16 - 1, and 0 only of 0.
TEST(Udp4, ASumIsFoldedWithItsCarries) {
  std::mt19937_64 random(19);
  for (int round = 0; round < 1000; ++round) {
    const uint64_t sum = round % 4 == 0 ? ~uint64_t{0} - random() % 9 : random() >> random() % 64;
    ASSERT_EQ(FoldSum(sum) % 0xffff, sum % 0xffff) << sum;
    ASSERT_LE(FoldSum(sum), 0xffffu) << sum;
    ASSERT_EQ(FoldSum(sum) == 0, sum == 0) << sum;
  }
}

TEST(Udp4, HeaderSumIsThatOfTheInternetSum) {
  std::mt19937 random(18);
  int good = 0;
  for (int round = 0; round < 200000; ++round) {
    uint8_t header[20];
    // Many ones and zeros: sums that fold to either.
    for (uint8_t& byte : header) {
      byte = random() % 2 == 0 ? (random() % 2 == 0 ? 0xff : 0) : static_cast<uint8_t>(random());
    }
    if (random() % 2 == 0) {
      StoreBe16(header + 10, 0);
      StoreBe16(header + 10, Checksum(header, 20));
    }
    const bool right = FoldSum(InternetSum(header, 20)) == 0xffff;
    ASSERT_EQ(udp4::IsHeaderSumGood(header), right) << round;
    good += right ? 1 : 0;
  }
  EXPECT_GT(good, 1000);
  const uint8_t zeros[20] = {};
  EXPECT_FALSE(udp4::IsHeaderSumGood(zeros));
}

}  // namespace
}  // namespace suede
