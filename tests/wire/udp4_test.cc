#include <gtest/gtest.h>

#include <functional>
#include <random>

#include "base/big_endian.h"
#include "packed.h"
#include "wire/frame_builder.h"

namespace suede {
namespace {

HeaderSpec Spec(bool tagged) {
  return {.source_mac = {2, 0, 0, 1, 0, 0x50},
          .destination_mac = {2, 0, 0, 0, 0xbc, 0xa9},
          .tagged = tagged,
          .vid = 100,
          .source = {.low = 0xc612038c},
          .destination = {.low = 0xc6120317},
          .session = 2,
          .traffic_class = {.pcp = 5, .dscp = 46, .ecn = 2}};
}

Octets Build(const HeaderSpec& spec, const Octets& commands = Octets{1, 2, 3, 4, 5, 6, 7, 8}) {
  Octets buffer(FrameBufferBytes(static_cast<uint32_t>(commands.size())));
  const auto frame = BuildFrame(Udp4::MakeTemplate(spec), {.xpuid = 7}, commands, buffer);
  return Octets(frame.begin(), frame.end());
}

// Parses a copy of exactly the frame's octets, so that a sanitizer sees every read beyond them.
FrameError ErrorOf(const Octets& frame, bool checksums_good = false) {
  Octets exact(frame.begin(), frame.end());
  return Udp4::Parse({}, exact.data(), static_cast<uint32_t>(exact.size()), checksums_good).error;
}

// RFC 1071 as it is written there: 16 bits at a time, in network order.
uint16_t Checksum(const uint8_t* data, size_t bytes, uint32_t sum = 0) {
  for (size_t i = 0; i < bytes; ++i) sum += i % 2 == 0 ? uint32_t{data[i]} << 8 : data[i];
  while (sum > 0xffff) sum = (sum & 0xffff) + (sum >> 16);
  return static_cast<uint16_t>(~sum);
}

void FixIpChecksum(Octets& frame, size_t l2) {
  StoreBe16(&frame[l2 + 10], 0);
  StoreBe16(&frame[l2 + 10], Checksum(&frame[l2], 20));
}

void SetUdpChecksum(Octets& frame, size_t l2) {
  uint8_t* udp = &frame[l2 + 20];
  const uint32_t bytes = LoadBe16(udp + 4);
  uint32_t pseudo = 17 + bytes;
  for (size_t i = 12; i < 20; i += 2) pseudo += LoadBe16(&frame[l2 + i]);
  StoreBe16(udp + 6, 0);
  const uint16_t checksum = Checksum(udp, bytes, pseudo);
  StoreBe16(udp + 6, checksum == 0 ? 0xffff : checksum);
}

// Runs `mend` on a good frame, untagged and tagged, sets the IP checksum right and parses it.
void ExpectError(FrameError expected, const std::function<void(uint8_t* ip)>& mend) {
  for (bool tagged : {false, true}) {
    Octets frame = Build(Spec(tagged));
    const size_t l2 = tagged ? 18 : 14;
    mend(&frame[l2]);
    FixIpChecksum(frame, l2);
    EXPECT_EQ(ErrorOf(frame), expected) << "tagged " << tagged;
    EXPECT_EQ(ErrorOf(frame, true), expected) << "tagged " << tagged;
  }
}

TEST(Udp4, Template) {
  const HeaderTemplate untagged = Udp4::MakeTemplate(Spec(false));
  EXPECT_EQ(untagged.length, Udp4::kHeaderBytes);
  EXPECT_EQ(untagged.l2_length, 14);
  const HeaderTemplate tagged = Udp4::MakeTemplate(Spec(true));
  EXPECT_EQ(tagged.length, Udp4::kHeaderBytes + 4);
  EXPECT_EQ(tagged.l2_length, 18);
}

TEST(Udp4, WritesTheTag) {
  const Octets frame = Build(Spec(true));
  EXPECT_EQ(Octets(frame.begin() + 12, frame.begin() + 18),
            (Octets{0x81, 0x00, 0xa0, 0x64, 0x08, 0x00}));
}

TEST(Udp4, WritesNothingOutsideItsRoom) {
  for (bool tagged : {false, true}) {
    Octets buffer(300, 0xee);
    uint8_t* pdu = buffer.data() + 100;
    const HeaderTemplate header = Udp4::MakeTemplate(Spec(tagged));
    const uint8_t* frame = Udp4::Write(header, pdu, 100, false);
    EXPECT_EQ(frame, pdu - header.length);
    for (size_t i = 0; i < 100 - HeaderTemplate::kRoomBytes; ++i) ASSERT_EQ(buffer[i], 0xee);
    for (size_t i = 100; i < buffer.size(); ++i) ASSERT_EQ(buffer[i], 0xee);
  }
}

TEST(Udp4, OffloadLeavesTheChecksumZero) {
  Octets buffer(256);
  uint8_t* pdu = buffer.data() + 64;
  const uint8_t* frame = Udp4::Write(Udp4::MakeTemplate(Spec(false)), pdu, 100, true);
  EXPECT_EQ(LoadBe16(frame + 24), 0);
  EXPECT_EQ(Udp4::Parse({}, frame, 142, true).error, FrameError::kNone);
  EXPECT_EQ(Udp4::Parse({}, frame, 142, false).error, FrameError::kIpChecksum);
}

TEST(Udp4, ChecksumOfEveryLength) {
  Octets buffer(8192);
  uint8_t* pdu = buffer.data() + 64;
  std::mt19937 random(5);
  for (uint32_t bytes = 12; bytes <= 4108; ++bytes) {
    HeaderSpec spec = Spec(bytes % 2 != 0);
    spec.source.low = static_cast<uint32_t>(random());
    spec.destination.low = static_cast<uint32_t>(random());
    const HeaderTemplate header = Udp4::MakeTemplate(spec);
    const uint8_t* frame = Udp4::Write(header, pdu, bytes, false);
    ASSERT_EQ(Checksum(frame + header.l2_length, 20), 0) << bytes;
  }
}

TEST(Udp4, ReadsWhatWasWritten) {
  std::mt19937 random(11);
  for (int round = 0; round < 3000; ++round) {
    const HeaderSpec spec{
        .tagged = random() % 2 != 0,
        .vid = static_cast<uint16_t>(random() % 4096),
        .source = {.low = static_cast<uint32_t>(random())},
        .destination = {.low = static_cast<uint32_t>(random())},
        .udp_port = static_cast<uint16_t>(random()),
        .session = static_cast<uint16_t>(random() % 16384),
        .traffic_class = {static_cast<uint8_t>(random() % 8), static_cast<uint8_t>(random() % 64),
                          static_cast<uint8_t>(random() % 4)}};
    const Octets commands = RandomOctets(random, random() % 2049 * 2);
    Octets frame = Build(spec, commands);
    const size_t l2 = spec.tagged ? 18 : 14;
    ASSERT_GE(frame.size(), kMinFrameBytes);
    const size_t pdu_bytes = frame.size() - l2 - 28;
    if (random() % 2 != 0) SetUdpChecksum(frame, l2);
    frame.resize(frame.size() + random() % 20, 0xcc);  // Ethernet padding is ignored
    const ParsedFrame parsed = Udp4::Parse({.udp_port = spec.udp_port}, frame.data(),
                                           static_cast<uint32_t>(frame.size()), random() % 2 != 0);
    ASSERT_EQ(parsed.error, FrameError::kNone);
    ASSERT_EQ(parsed.source, spec.source);
    ASSERT_EQ(parsed.destination, spec.destination);
    ASSERT_EQ(parsed.session, spec.session);
    ASSERT_EQ(parsed.dscp, spec.traffic_class.dscp);
    ASSERT_EQ(parsed.ecn, spec.traffic_class.ecn);
    ASSERT_EQ(parsed.pdu, frame.data() + l2 + 28);
    ASSERT_EQ(parsed.pdu_bytes, pdu_bytes);
    ASSERT_TRUE(RcrcGood(parsed.pdu, parsed.pdu_bytes));
    ASSERT_TRUE(std::equal(commands.begin(), commands.end(), parsed.pdu + kRhBytes));
  }
}

TEST(Udp4, TruncatedAtEveryLength) {
  for (bool tagged : {false, true}) {
    const Octets frame = Build(Spec(tagged), Octets(60, 0x22));
    for (size_t bytes = 0; bytes < frame.size(); ++bytes) {
      const Octets cut(frame.begin(), frame.begin() + static_cast<long>(bytes));
      EXPECT_EQ(ErrorOf(cut), FrameError::kTruncated) << bytes;
    }
    EXPECT_EQ(ErrorOf(frame), FrameError::kNone);
  }
}

TEST(Udp4, NotSue) {
  ExpectError(FrameError::kNotSue, [](uint8_t* ip) { StoreBe16(ip - 2, 0x86dd); });
  ExpectError(FrameError::kNotSue, [](uint8_t* ip) { StoreBe16(ip - 2, 0x8100); });
  ExpectError(FrameError::kNotSue, [](uint8_t* ip) { ip[9] = 6; });
  ExpectError(FrameError::kNotSue, [](uint8_t* ip) { StoreBe16(ip + 22, 3334); });
  // A later fragment has no port, whatever stands there.
  ExpectError(FrameError::kNotSue, [](uint8_t* ip) { StoreBe16(ip + 6, 0x0001); });
  Octets arp(42, 0);
  StoreBe16(&arp[12], 0x0806);
  EXPECT_EQ(ErrorOf(arp), FrameError::kNotSue);
}

TEST(Udp4, OptionsOfOthersAreNotSue) {
  Octets frame = Build(Spec(false), Octets(40, 0));
  frame[14] = 0x46;  // what now stands at the port is the first half of the PDU's RH
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
    StoreBe16(ip + 26, kDefaultUdpPort);
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
    Octets frame = Build(Spec(tagged));
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
    Octets frame = Build(Spec(false), Octets(command_bytes, 0x77));
    SetUdpChecksum(frame, 14);
    EXPECT_EQ(ErrorOf(frame), FrameError::kNone);
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
  const Octets frame = Build(spec);
  const ParsedFrame parsed =
      Udp4::Parse({}, frame.data(), static_cast<uint32_t>(frame.size()), false);
  EXPECT_EQ(parsed.error, FrameError::kNone);
  EXPECT_GE(parsed.session, 16384);
}

}  // namespace
}  // namespace suede
