#include "wire/control_pdu.h"

#include <gtest/gtest.h>

#include <random>

#include "packed.h"
#include "wire/frame_builder.h"

namespace suede {
namespace {

Octets Encoded(const ControlMessage& message) {
  Octets octets(kMaxControlPduBytes);
  octets.resize(EncodeControl(message, octets.data()));
  return octets;
}

ControlError Decode(const Octets& octets, ControlMessage& message) {
  const Octets exact(octets.begin(), octets.end());
  return DecodeControl(exact.data(), static_cast<uint32_t>(exact.size()), message);
}

ControlError Decode(const Octets& octets) {
  ControlMessage message;
  return Decode(octets, message);
}

const ControlMessage kHello = Hello{.epoch = 0x01020304,
                                    .peer_epoch = 0x05060708,
                                    .psn_scope = 1,
                                    .window_pdus = 0x0a0b,
                                    .pack_limit_bytes = 0x0c0d,
                                    .reply_wanted = true,
                                    .continuing = true};
const ControlMessage kNotReady =
    NotReady{.vc = 3, .expected = Psn(0xfffe), .backoff_us = 0x00010203};
const ControlMessage kReady = Ready{.vc = 2, .expected = Psn(0x1234)};

TEST(ControlPdu, Layout) {
  EXPECT_EQ(Encoded(kHello),
            (Octets{1, 3, 0, 16, 1, 2, 3, 4, 5, 6, 7, 8, 1, 0, 0x0a, 0x0b, 0x0c, 0x0d, 0, 0}));
  EXPECT_EQ(Encoded(kNotReady), (Octets{2, 0, 0, 8, 3, 0, 0xff, 0xfe, 0, 1, 2, 3}));
  EXPECT_EQ(Encoded(kReady), (Octets{3, 0, 0, 4, 2, 0, 0x12, 0x34}));
}

TEST(ControlPdu, HelloFlags) {
  EXPECT_EQ(Encoded(Hello{.epoch = 1})[1], 0);
  EXPECT_EQ(Encoded(Hello{.epoch = 1, .reply_wanted = true})[1], 1);
  EXPECT_EQ(Encoded(Hello{.epoch = 1, .continuing = true})[1], 2);
}

TEST(ControlPdu, Header) {
  uint8_t octets[kRhBytes];
  EncodeRh(ControlRh(0x3ff, 0x155), octets);
  EXPECT_EQ(Octets(octets, octets + kRhBytes), (Octets{0xe3, 0xff, 0, 0, 0x01, 0x55, 0, 0}));
}

TEST(ControlPdu, ReadsWhatWasEncoded) {
  std::mt19937 random(7);
  for (int round = 0; round < 3000; ++round) {
    const auto half = [&] { return static_cast<uint16_t>(random()); };
    const auto vc = static_cast<uint8_t>(random() % 4);
    const auto epoch = static_cast<uint32_t>(random()) | 1u;
    const ControlMessage messages[] = {
        Hello{epoch, static_cast<uint32_t>(random()), static_cast<uint8_t>(random() % 2), half(),
              half(), random() % 2 != 0, random() % 2 != 0},
        NotReady{vc, Psn(half()), static_cast<uint32_t>(random())}, Ready{vc, Psn(half())}};
    for (const ControlMessage& sent : messages) {
      Octets octets = Encoded(sent);
      octets.resize(octets.size() + random() % 40);
      ControlMessage read;
      ASSERT_EQ(Decode(octets, read), ControlError::kNone) << "round " << round;
      ASSERT_EQ(read, sent) << "round " << round;
    }
  }
}

TEST(ControlPdu, TruncatedIsMalformed) {
  for (const ControlMessage& message : {kHello, kNotReady, kReady}) {
    Octets octets = Encoded(message);
    while (!octets.empty()) {
      octets.pop_back();
      EXPECT_EQ(Decode(octets), ControlError::kMalformed) << octets.size();
    }
  }
}

TEST(ControlPdu, ShortBodyIsMalformedAndLongBodyIsNot) {
  for (const ControlMessage& message : {kHello, kNotReady, kReady}) {
    Octets octets = Encoded(message);
    const uint8_t body_bytes = octets[3];
    for (uint8_t shorter = 0; shorter < body_bytes; ++shorter) {
      octets[3] = shorter;
      EXPECT_EQ(Decode(octets), ControlError::kMalformed);
    }
    octets.resize(octets.size() + 5, 0xee);
    octets[3] = static_cast<uint8_t>(body_bytes + 5);
    ControlMessage read;
    EXPECT_EQ(Decode(octets, read), ControlError::kNone);
    EXPECT_EQ(read, message);
    octets[3] = static_cast<uint8_t>(body_bytes + 6);
    EXPECT_EQ(Decode(octets), ControlError::kMalformed);
  }
}

TEST(ControlPdu, UnknownTypes) {
  for (unsigned type = 0; type < 256; ++type) {
    Octets octets = Encoded(kHello);
    octets[0] = static_cast<uint8_t>(type);
    const ControlError error = Decode(octets);
    EXPECT_EQ(error == ControlError::kUnknownType, type == 0 || type > 3) << type;
  }
}

TEST(ControlPdu, ValuesThatCannotBe) {
  EXPECT_EQ(Decode(Encoded(Hello{.epoch = 0})), ControlError::kMalformed);
  EXPECT_EQ(Decode(Encoded(Hello{.epoch = 1, .psn_scope = 2})), ControlError::kMalformed);
  EXPECT_EQ(Decode(Encoded(NotReady{.vc = 4})), ControlError::kMalformed);
  EXPECT_EQ(Decode(Encoded(Ready{.vc = 4})), ControlError::kMalformed);
}

TEST(ControlPdu, ReservedIsIgnored) {
  Octets octets = Encoded(kHello);
  octets[1] |= 0xfc;
  for (size_t at : {13u, 18u, 19u}) octets[at] = 0xff;
  ControlMessage read;
  EXPECT_EQ(Decode(octets, read), ControlError::kNone);
  EXPECT_EQ(read, kHello);
}

TEST(ControlPdu, AsAFrame) {
  const Octets sent = Encoded(kReady);
  Octets buffer(FrameBufferBytes(static_cast<uint32_t>(sent.size())));
  const auto frame = BuildFrame(Udp4::MakeTemplate({}), ControlRh(5, 6), sent, buffer);
  ASSERT_EQ(frame.size(), Udp4::kHeaderBytes + kRhBytes + sent.size() + kRcrcBytes);
  const ParsedFrame parsed =
      ParseFrame({}, frame.data(), static_cast<uint32_t>(frame.size()), false);
  ASSERT_EQ(parsed.error, FrameError::kNone);
  ASSERT_TRUE(RcrcGood(parsed.pdu, parsed.pdu_bytes));
  EXPECT_EQ(DecodeRh(parsed.pdu).ver, static_cast<uint8_t>(RhVersion::kControl));
  ControlMessage read;
  EXPECT_EQ(DecodeControl(parsed.pdu + kRhBytes, parsed.pdu_bytes - kRhBytes - kRcrcBytes, read),
            ControlError::kNone);
  EXPECT_EQ(read, kReady);
}

}  // namespace
}  // namespace suede
