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
                                    .receive_bytes = 0x0e0f,
                                    .answers_planes = true,
                                    .reply_wanted = true,
                                    .continuing = true};
const ControlMessage kNotReady =
    NotReady{.vc = 3, .expected = Psn(0xfffe), .backoff_us = 0x00010203};
const ControlMessage kReady = Ready{.vc = 2, .expected = Psn(0x1234)};
const ControlMessage kPlane = PlaneHello{.epoch = 0x01020304,
                                         .peer_epoch = 0x05060708,
                                         .state = PlaneState::kUp,
                                         .plane = 3,
                                         .tx_generation = 0x1112,
                                         .rx_generation = 0x1314,
                                         .sequence = 0x1516,
                                         .heard = 0x1718,
                                         .has_heard = true,
                                         .reply_wanted = true,
                                         .first = {Psn(0x2122), Psn(0x2324), Psn(1), Psn(2)}};
const ControlMessage kFence = Fence{.epoch = 0x01020304,
                                    .peer_epoch = 0x05060708,
                                    .plane = 2,
                                    .own = true,
                                    .generation = 0x1112,
                                    .oldest = {Psn(0x2122), Psn(0x2324), Psn(1), Psn(2)}};
const ControlMessage kFenced = Fenced{.epoch = 0x01020304,
                                      .peer_epoch = 0x05060708,
                                      .plane = 1,
                                      .generation = 0x1112,
                                      .expected = {Psn(0x2122), Psn(0x2324), Psn(1), Psn(2)}};
const ControlMessage kAll[] = {kHello, kNotReady, kReady, kPlane, kFence, kFenced};

TEST(ControlPdu, Layout) {
  EXPECT_EQ(Encoded(kHello),
            (Octets{1, 3, 0, 16, 1, 2, 3, 4, 5, 6, 7, 8, 1, 1, 0x0a, 0x0b, 0x0c, 0x0d, 0x0e,
                    0x0f}));
  EXPECT_EQ(Encoded(kNotReady), (Octets{2, 0, 0, 8, 3, 0, 0xff, 0xfe, 0, 1, 2, 3}));
  EXPECT_EQ(Encoded(kReady), (Octets{3, 0, 0, 4, 2, 0, 0x12, 0x34}));
  EXPECT_EQ(Encoded(kPlane),
            (Octets{4, 3, 0, 28, 1, 2, 3, 4, 5, 6, 7, 8, 2, 3, 0x11, 0x12, 0x13, 0x14, 0x15, 0x16,
                    0x17, 0x18, 0, 0, 0x21, 0x22, 0x23, 0x24, 0, 1, 0, 2}));
  EXPECT_EQ(Encoded(kFence), (Octets{5, 0, 0, 20, 1, 2, 3, 4, 5, 6, 7, 8, 2, 1, 0x11, 0x12, 0x21,
                                     0x22, 0x23, 0x24, 0, 1, 0, 2}));
  EXPECT_EQ(Encoded(kFenced), (Octets{6, 0, 0, 20, 1, 2, 3, 4, 5, 6, 7, 8, 1, 0, 0x11, 0x12, 0x21,
                                      0x22, 0x23, 0x24, 0, 1, 0, 2}));
}

TEST(ControlPdu, HelloFlags) {
  EXPECT_EQ(Encoded(Hello{.epoch = 1})[1], 0);
  EXPECT_EQ(Encoded(Hello{.epoch = 1, .reply_wanted = true})[1], 1);
  EXPECT_EQ(Encoded(Hello{.epoch = 1, .continuing = true})[1], 2);
  EXPECT_EQ(Encoded(Hello{.epoch = 1, .sends_generations = true})[13], 2);
  EXPECT_EQ(Encoded(PlaneHello{.epoch = 1, .reply_wanted = true})[1], 1);
  EXPECT_EQ(Encoded(PlaneHello{.epoch = 1, .has_heard = true})[1], 2);
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
              half(), half(), random() % 2 != 0, random() % 2 != 0, random() % 2 != 0,
              random() % 2 != 0},
        NotReady{vc, Psn(half()), static_cast<uint32_t>(random())}, Ready{vc, Psn(half())},
        PlaneHello{epoch, epoch + 1, static_cast<PlaneState>(random() % 3), vc, half(), half(),
                   half(), half(), random() % 2 != 0, random() % 2 != 0,
                   {Psn(half()), Psn(half()), Psn(half()), Psn(half())}},
        Fence{epoch, epoch + 1, vc, random() % 2 != 0, half(),
              {Psn(half()), Psn(half()), Psn(half()), Psn(half())}},
        Fenced{epoch, epoch + 1, vc, half(),
               {Psn(half()), Psn(half()), Psn(half()), Psn(half())}}};
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
  for (const ControlMessage& message : kAll) {
    Octets octets = Encoded(message);
    while (!octets.empty()) {
      octets.pop_back();
      EXPECT_EQ(Decode(octets), ControlError::kMalformed) << octets.size();
    }
  }
}

TEST(ControlPdu, ShortBodyIsMalformedAndLongBodyIsNot) {
  for (const ControlMessage& message : kAll) {
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
    EXPECT_EQ(error == ControlError::kUnknownType, type == 0 || type > 6) << type;
  }
}

TEST(ControlPdu, ValuesThatCannotBe) {
  EXPECT_EQ(Decode(Encoded(Hello{.epoch = 0})), ControlError::kMalformed);
  EXPECT_EQ(Decode(Encoded(Hello{.epoch = 1, .psn_scope = 2})), ControlError::kMalformed);
  EXPECT_EQ(Decode(Encoded(NotReady{.vc = 4})), ControlError::kMalformed);
  EXPECT_EQ(Decode(Encoded(Ready{.vc = 4})), ControlError::kMalformed);
  EXPECT_EQ(Decode(Encoded(PlaneHello{.epoch = 1, .state = static_cast<PlaneState>(3)})),
            ControlError::kMalformed);
  EXPECT_EQ(Decode(Encoded(PlaneHello{.epoch = 1, .plane = 4})), ControlError::kMalformed);
  EXPECT_EQ(Decode(Encoded(Fence{.epoch = 1, .plane = 4})), ControlError::kMalformed);
  EXPECT_EQ(Decode(Encoded(Fenced{.epoch = 1, .plane = 4})), ControlError::kMalformed);
  EXPECT_EQ(Decode(Encoded(PlaneHello{})), ControlError::kMalformed);  // no boot has epoch 0
  EXPECT_EQ(Decode(Encoded(Fence{})), ControlError::kMalformed);
  EXPECT_EQ(Decode(Encoded(Fenced{})), ControlError::kMalformed);
  Octets fence = Encoded(Fence{.epoch = 1});
  fence[kControlHeadBytes + 9] = 2;
  EXPECT_EQ(Decode(fence), ControlError::kMalformed);
}

TEST(ControlPdu, ReservedIsIgnored) {
  Octets octets = Encoded(kHello);
  octets[1] |= 0xfc;
  octets[13] |= 0xfc;  // features beyond those that there are
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
