// SPDX-License-Identifier: Apache-2.0
// The properties of udp6 alone: its fields, its checksum, its errors by name.
#include <gtest/gtest.h>

#include <functional>
#include <random>

#include "frames.h"

namespace suede {
namespace {

HeaderSpec Spec6(bool tagged) { return SpecOf({Encap::kUdp6, tagged}); }
const FrameRules kRules6 = RulesOf(Encap::kUdp6, Spec6(false));

Bytes Build(bool tagged, const Bytes& commands = Bytes(40, 0x12)) {
  return BuildBytes(Encap::kUdp6, Spec6(tagged), commands);
}

// Runs `mend` on a good frame, untagged and tagged, sets the UDP checksum right and parses it.
void ExpectError6(FrameError expected, const std::function<void(uint8_t* ip)>& mend) {
  for (const bool tagged : {false, true}) {
    Bytes frame = Build(tagged);
    uint8_t* ip = &frame[tagged ? 18 : 14];
    mend(ip);
    if (LoadBe16(ip + 44) < frame.size() - 60) SetUdpChecksum(Encap::kUdp6, ip);
    EXPECT_EQ(ErrorOf(kRules6, frame), expected) << "tagged " << tagged;
    EXPECT_EQ(ErrorOf(kRules6, frame, true), expected) << "tagged " << tagged;
  }
}

TEST(Udp6, Fields) {
  const Bytes frame = Build(false);
  EXPECT_EQ(Bytes(frame.begin() + 12, frame.begin() + 22),
            (Bytes{0x86, 0xdd, 0x6b, 0xa0, 0, 0, 0, 60, 17, 64}));
}

TEST(Udp6, ChecksumOfEveryLength) {
  Bytes buffer(8192);
  uint8_t* pdu = buffer.data() + 100;
  std::mt19937 random(5);
  for (uint32_t bytes = 12; bytes <= 4108; ++bytes) {
    HeaderSpec spec = Spec6(bytes % 2 != 0);
    spec.source.high = uint64_t{random()} << 32 | random();
    spec.destination.low = uint64_t{random()} << 32 | random();
    for (uint32_t i = 0; i < 4; ++i) pdu[random() % bytes] = static_cast<uint8_t>(random());
    const HeaderTemplate header = MakeTemplate(Encap::kUdp6, spec);
    uint8_t* frame = WriteHeader(header, pdu, bytes, false);
    const uint8_t* ip = frame + header.l2_length;
    ASSERT_EQ(Checksum(ip + 40, bytes + 8, Ipv6PseudoSum(ip)), 0) << bytes;
    ASSERT_NE(LoadBe16(ip + 46), 0) << bytes;
    ASSERT_EQ(ParseFrame(kRules6, frame, header.length + bytes, false).error, FrameError::kNone);
  }
}

// One word of the PDU runs through all values, so the checksum does too.
TEST(Udp6, ChecksumZeroGoesAsOnes) {
  Bytes buffer(200, 0x35);
  uint8_t* pdu = buffer.data() + 100;
  const HeaderTemplate header = MakeTemplate(Encap::kUdp6, Spec6(false));
  uint32_t ones = 0;
  for (uint32_t value = 0; value < 0x10000; ++value) {
    StoreBe16(pdu + 10, static_cast<uint16_t>(value));
    uint8_t* frame = WriteHeader(header, pdu, 20, false);
    const uint16_t checksum = LoadBe16(frame + 60);
    ASSERT_NE(checksum, 0);
    if (checksum == 0xffff) ++ones;
    ASSERT_EQ(ParseFrame(kRules6, frame, 82, false).error, FrameError::kNone);
  }
  EXPECT_GE(ones, 1u);
}

TEST(Udp6, OffloadLeavesThePseudoHeadersSum) {
  for (const uint32_t bytes : {12u, 13u, 100u, 4108u}) {
    Bytes buffer(4300, 0x35);
    uint8_t* frame =
        WriteHeader(MakeTemplate(Encap::kUdp6, Spec6(false)), buffer.data() + 100, bytes, true);
    const uint8_t* ip = frame + 14;
    EXPECT_EQ(LoadBe16(ip + 46), Ipv6PseudoSum(ip));
    // As a device does it: the sum over the datagram, its checksum field included, complemented.
    const uint16_t checksum = Checksum(ip + 40, bytes + 8);
    FinishUdpChecksum(frame + 54);
    EXPECT_EQ(LoadBe16(frame + 60), checksum);
    EXPECT_EQ(ParseFrame(kRules6, frame, 62 + bytes, false).error, FrameError::kNone);
  }
}

TEST(Udp6, ADevicesChecksumIsTheOneThatIsComputedHere) {
  Bytes buffer(200, 0x35);
  uint8_t* pdu = buffer.data() + 100;
  const HeaderTemplate header = MakeTemplate(Encap::kUdp6, Spec6(false));
  for (uint32_t value = 0; value < 0x10000; ++value) {
    StoreBe16(pdu + 10, static_cast<uint16_t>(value));
    const uint16_t expected = LoadBe16(WriteHeader(header, pdu, 20, false) + 60);
    uint8_t* frame = WriteHeader(header, pdu, 20, true);
    FinishUdpChecksum(frame + 54);
    ASSERT_EQ(LoadBe16(frame + 60), expected) << value;
  }
}

TEST(Udp6, NotSue) {
  ExpectError6(FrameError::kNotSue, [](uint8_t* ip) { StoreBe16(ip - 2, 0x0800); });
  ExpectError6(FrameError::kNotSue, [](uint8_t* ip) { ip[6] = 6; });
  ExpectError6(FrameError::kNotSue, [](uint8_t* ip) { StoreBe16(ip + 42, 4790); });
  // Extension headers, behind which our port may stand.
  for (const uint8_t extension : Bytes{0, 43, 44, 50, 51, 60}) {
    ExpectError6(FrameError::kNotSue, [extension](uint8_t* ip) { ip[6] = extension; });
  }
}

TEST(Udp6, IpHeader) {
  ExpectError6(FrameError::kIpHeader, [](uint8_t* ip) { ip[0] = 0x45; });
  ExpectError6(FrameError::kIpHeader, [](uint8_t* ip) { ip[0] = 0x7b; });
  ExpectError6(FrameError::kIpHeader, [](uint8_t* ip) { StoreBe16(ip + 4, 7); });
  ExpectError6(FrameError::kIpHeader, [](uint8_t* ip) { StoreBe16(ip + 4, 0); });  // a jumbogram
}

TEST(Udp6, LengthsThatRunOut) {
  ExpectError6(FrameError::kTruncated, [](uint8_t* ip) { StoreBe16(ip + 4, 0xffff); });
  ExpectError6(FrameError::kTruncated, [](uint8_t* ip) { StoreBe16(ip + 44, 0xffff); });
  ExpectError6(FrameError::kTruncated, [](uint8_t* ip) { StoreBe16(ip + 4, 61); });
  ExpectError6(FrameError::kTruncated, [](uint8_t* ip) { StoreBe16(ip + 4, 59); });
  ExpectError6(FrameError::kTruncated, [](uint8_t* ip) { StoreBe16(ip + 44, 61); });
  for (const uint16_t udp_bytes : std::vector<uint16_t>{0, 7, 8, 19}) {
    ExpectError6(FrameError::kTruncated,
                [udp_bytes](uint8_t* ip) { StoreBe16(ip + 44, udp_bytes); });
  }
  ExpectError6(FrameError::kNone, [](uint8_t* ip) { StoreBe16(ip + 44, 20); });
}

TEST(Udp6, UdpChecksum) {
  for (const uint32_t command_bytes : {40u, 41u, 42u, 43u}) {
    Bytes frame = Build(false, Bytes(command_bytes, 0x77));
    EXPECT_EQ(ErrorOf(kRules6, frame), FrameError::kNone);
    for (size_t at = 22; at < frame.size(); ++at) {
      if (at == 56 || at == 57 || at == 58 || at == 59) continue;  // port and length
      frame[at] ^= 0x01;
      EXPECT_EQ(ErrorOf(kRules6, frame), FrameError::kUdpChecksum) << at;
      EXPECT_EQ(ErrorOf(kRules6, frame, true), FrameError::kNone) << at;
      frame[at] ^= 0x01;
    }
  }
}

TEST(Udp6, NoChecksumAtAllIsAnError) {
  Bytes frame = Build(false);
  StoreBe16(&frame[60], 0);
  EXPECT_EQ(ErrorOf(kRules6, frame), FrameError::kUdpChecksum);
  EXPECT_EQ(ErrorOf(kRules6, frame, true), FrameError::kUdpChecksum);
}

TEST(Udp6, FlowLabelAndHopLimitAreNoMatter) {
  ExpectError6(FrameError::kNone, [](uint8_t* ip) { StoreBe32(ip, 0x6bafffff); });
  ExpectError6(FrameError::kNone, [](uint8_t* ip) { ip[7] = 0; });
}

}  // namespace
}  // namespace suede
