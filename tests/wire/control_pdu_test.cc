// SPDX-License-Identifier: Apache-2.0
#include "wire/control_pdu.h"

#include <gtest/gtest.h>

#include <random>

#include "packed.h"
#include "wire/frame_builder.h"

namespace suede {
namespace {

Bytes Encoded(const ControlMessage& message) {
  Bytes bytes(kMaxControlPduBytes);
  bytes.resize(EncodeControl(message, bytes.data()));
  return bytes;
}

ControlError Decode(const Bytes& bytes, ControlMessage& message) {
  const Bytes exact(bytes.begin(), bytes.end());
  return DecodeControl(exact.data(), static_cast<uint32_t>(exact.size()), message);
}

ControlError Decode(const Bytes& bytes) {
  ControlMessage message;
  return Decode(bytes, message);
}

constexpr Identities kSome = {.own = 0x0102030405060708, .peer = 0x1112131415161718};
constexpr VcPsns kPsns = {Psn(0x2122), Psn(0x2324), Psn(1), Psn(2)};
const ControlMessage kHello = Hello{.identities = kSome,
                                    .nonce = 0x2122232425262728,
                                    .echo = 0x3132333435363738,
                                    .psn_scope = 1,
                                    .answers_planes = true,
                                    .counts_credit = true,
                                    .window_pdus = 0x0a0b,
                                    .pack_limit_bytes = 0x0c0d,
                                    .receive_bytes = 0x0e0f,
                                    .receive_lines = 0x1011,
                                    .sessions = 0x1213,
                                    .first = kPsns,
                                    .credit_lines = {0x41424344, 2, 3, 0xf0000000},
                                    .reply_wanted = true};
const ControlMessage kNotReady =
    NotReady{.identities = kSome, .vc = 3, .expected = Psn(0xfffe), .backoff_us = 0x00010203};
const ControlMessage kReady = Ready{.identities = kSome, .vc = 2, .expected = Psn(0x1234)};
const ControlMessage kPlane = PlaneHello{.identities = kSome,
                                         .state = PlaneState::kUp,
                                         .plane = 3,
                                         .tx_generation = 0x1112,
                                         .rx_generation = 0x1314,
                                         .sequence = 0x15161718,
                                         .heard = 0x191a1b1c,
                                         .has_heard = true,
                                         .reply_wanted = true,
                                         .first = kPsns,
                                         .failed = 0x0a,
                                         .hops = 0xfe,
                                         .heard_plane = 4};
const ControlMessage kFence =
    Fence{.identities = kSome, .plane = 2, .own = true, .generation = 0x1112, .oldest = kPsns};
const ControlMessage kFenced =
    Fenced{.identities = kSome, .plane = 1, .generation = 0x1112, .expected = kPsns};
const ControlMessage kCredit = Credit{.identities = kSome,
                                      .vc = 2,
                                      .grant = true,
                                      .reply_wanted = true,
                                      .round = 0x1112,
                                      .limit = 0x21222324,
                                      .accepted = 0x31323334,
                                      .sent = 0x41424344,
                                      .wanted = 0x51525354};
const ControlMessage kCongestion = Congestion{.identities = kSome,
                                              .request = true,
                                              .echo = true,
                                              .target = 0x111213,
                                              .sent = 0x212223,
                                              .limit = 0x313233,
                                              .granted = 0x414243,
                                              .received = 0x51525354,
                                              .marked = 0x61626364,
                                              .trimmed = 0x71727374,
                                              .sessions = 0x8182838485868788};
const ControlMessage kPath =
    Path{.identities = kSome,
         .report = true,
         .long_reply = true,
         .traffic_class = 3,
         .number = 0x01020304,
         .sent_ns = 0x1112131415161718,
         .received_ns = 0x2122232425262728,
         .order = 0x31323334,
         .bytes = 0x4142,
         .there = {.ds = 0x51, .hops = 0x52, .tci = 0x5354, .has_ds = true},
         .sent = {.ds = 0x61, .hops = 0x62, .tci = 0x6364, .tagged = true},
         .address_drops = 1,
         .rcrc_drops = 2,
         .not_sue_drops = 3,
         .trimmed = 4,
         .pauses = 5};
const ControlMessage kSession =
    SessionNumber{.identities = kSome,
                  .slot = 3,
                  .number = 0x1112,
                  .in_use = 0x2122,
                  .turn = 0x31323334,
                  .psns = {Psn(0x4142), Psn(0x4344), Psn(0x4546), Psn(0x4748)}};
const ControlMessage kRepair = Repair{.identities = kSome,
                                      .vc = 2,
                                      .slot = 5,
                                      .expected = Psn(0x1112),
                                      .fenced_plane = true,
                                      .plane = 3,
                                      .generation = 0x2122,
                                      .marks = {2, {{{0x3132333435363738, 1}, {2, 3}}}}};
const ControlMessage kAll[] = {kHello,  kNotReady,   kReady,   kPlane, kFence, kFenced,
                               kCredit, kCongestion, kSession, kPath,  kRepair};

// A head, both identities of kSome, and the rest of a body.
Bytes Laid(uint8_t type, uint8_t flags, const Bytes& rest) {
  Bytes all = {type, flags, 0,    static_cast<uint8_t>(16 + rest.size()),
               1,    2,     3,    4,
               5,    6,     7,    8,
               0x11, 0x12,  0x13, 0x14,
               0x15, 0x16,  0x17, 0x18};
  all.insert(all.end(), rest.begin(), rest.end());
  return all;
}

TEST(ControlPdu, Layout) {
  EXPECT_EQ(
      Encoded(kHello),
      Laid(8, 1, {0x21, 0x22, 0x23, 0x24, 0x25, 0x26, 0x27, 0x28, 0x31, 0x32, 0x33, 0x34, 0x35,
                  0x36, 0x37, 0x38, 1,    5,    0x0a, 0x0b, 0x0c, 0x0d, 0x0e, 0x0f, 0x10, 0x11,
                  0x12, 0x13, 0x21, 0x22, 0x23, 0x24, 0,    1,    0,    2,    0x41, 0x42, 0x43,
                  0x44, 0,    0,    0,    2,    0,    0,    0,    3,    0xf0, 0,    0,    0}));
  EXPECT_EQ(Encoded(kNotReady), Laid(9, 0, {3, 0, 0xff, 0xfe, 0, 1, 2, 3}));
  EXPECT_EQ(Encoded(kReady), Laid(10, 0, {2, 0, 0x12, 0x34}));
  EXPECT_EQ(Encoded(kPlane),
            Laid(11, 3, {2,    3,    0x11, 0x12, 0x13, 0x14, 0x4a, 0xfe, 0x15, 0x16, 0x17, 0x18,
                         0x19, 0x1a, 0x1b, 0x1c, 0x21, 0x22, 0x23, 0x24, 0,    1,    0,    2}));
  EXPECT_EQ(Encoded(kFence), Laid(12, 0, {2, 1, 0x11, 0x12, 0x21, 0x22, 0x23, 0x24, 0, 1, 0, 2}));
  EXPECT_EQ(Encoded(kFenced), Laid(13, 0, {1, 0, 0x11, 0x12, 0x21, 0x22, 0x23, 0x24, 0, 1, 0, 2}));
  EXPECT_EQ(Encoded(kCredit),
            Laid(14, 5, {2,    0,    0x11, 0x12, 0x21, 0x22, 0x23, 0x24, 0x31, 0x32,
                         0x33, 0x34, 0x41, 0x42, 0x43, 0x44, 0x51, 0x52, 0x53, 0x54}));
  EXPECT_EQ(Encoded(kCongestion),
            Laid(15, 5, {0,    0x11, 0x12, 0x13, 0,    0x21, 0x22, 0x23, 0,    0x31, 0x32, 0x33,
                         0,    0x41, 0x42, 0x43, 0x51, 0x52, 0x53, 0x54, 0x61, 0x62, 0x63, 0x64,
                         0x71, 0x72, 0x73, 0x74, 0x81, 0x82, 0x83, 0x84, 0x85, 0x86, 0x87, 0x88}));
  EXPECT_EQ(Encoded(kSession),
            Laid(16, 0, {3,    0,    0x11, 0x12, 0x21, 0x22, 0,    0,    0x31, 0x32,
                         0x33, 0x34, 0x41, 0x42, 0x43, 0x44, 0x45, 0x46, 0x47, 0x48}));
  EXPECT_EQ(Encoded(kPath),
            Laid(17, 3, {3,    0x21, 0x41, 0x42, 1,    2,    3,    4,    0x11, 0x12, 0x13, 0x14,
                         0x15, 0x16, 0x17, 0x18, 0x21, 0x22, 0x23, 0x24, 0x25, 0x26, 0x27, 0x28,
                         0x31, 0x32, 0x33, 0x34, 0x51, 0x52, 0x53, 0x54, 0x61, 0x62, 0x63, 0x64,
                         0,    0,    0,    1,    0,    0,    0,    2,    0,    0,    0,    3,
                         0,    0,    0,    4,    0,    0,    0,    5}));
  Bytes repair = {2,    5,    0x11, 0x12, 3,    0,    0x21, 0x22,
                  0x31, 0x32, 0x33, 0x34, 0x35, 0x36, 0x37, 0x38};
  for (uint8_t word = 1; word < 4; ++word) {
    repair.insert(repair.end(), {0, 0, 0, 0, 0, 0, 0, word});
  }
  EXPECT_EQ(Encoded(kRepair), Laid(18, 1, repair));
}

TEST(ControlPdu, Flags) {
  EXPECT_EQ(Encoded(Hello{})[1], 0);
  EXPECT_EQ(Encoded(Hello{.reply_wanted = true})[1], 1);
  constexpr size_t kFeatures = kControlHeadBytes + 33;
  EXPECT_EQ(Encoded(Hello{.answers_planes = true})[kFeatures], 1);
  EXPECT_EQ(Encoded(Hello{.sends_generations = true})[kFeatures], 2);
  EXPECT_EQ(Encoded(Hello{.counts_credit = true})[kFeatures], 4);
  EXPECT_EQ(Encoded(Hello{.hears_pauses = true})[kFeatures], 8);
  EXPECT_EQ(Encoded(Hello{.answers_congestion = true})[kFeatures], 16);
  EXPECT_EQ(Encoded(Hello{.wants_echoes = true})[kFeatures], 32);
  EXPECT_EQ(Encoded(Hello{.selective = true})[kFeatures], 128);
  EXPECT_EQ(Encoded(Hello{.unordered = true})[1], 2);
  EXPECT_EQ(Encoded(Repair{.fenced_session = true})[1], 2);
  EXPECT_EQ(Encoded(PlaneHello{.reply_wanted = true})[1], 1);
  EXPECT_EQ(Encoded(PlaneHello{.has_heard = true})[1], 2);
  EXPECT_EQ(Encoded(PlaneHello{.held_up = true})[1], 4);
  EXPECT_EQ(Encoded(PlaneHello{.paired = true})[1], 8);
  EXPECT_EQ(Encoded(SessionNumber{.answer = true})[1], 2);
  EXPECT_EQ(Encoded(SessionNumber{.fence = true})[1], 4);
  EXPECT_EQ(Encoded(SessionNumber{.anew = true})[1], 8);
  EXPECT_EQ(Encoded(Credit{.grant = true})[1], 1);
  EXPECT_EQ(Encoded(Credit{.give_back = true})[1], 2);
  EXPECT_EQ(Encoded(Credit{.reply_wanted = true})[1], 4);
  EXPECT_EQ(Encoded(Credit{.on_demand = true})[1], 8);
  EXPECT_EQ(Encoded(Congestion{})[1], 0);
  EXPECT_EQ(Encoded(Congestion{.request = true})[1], 1);
  EXPECT_EQ(Encoded(Congestion{.grant = true})[1], 2);
  EXPECT_EQ(Encoded(Congestion{.echo = true})[1], 4);
}

TEST(ControlPdu, IdentitiesOfEach) {
  for (const ControlMessage& message : kAll) EXPECT_EQ(IdentitiesOf(message), kSome);
}

TEST(ControlPdu, Header) {
  uint8_t bytes[kRhBytes];
  EncodeRh(ControlRh(0x3ff, 0x155), bytes);
  EXPECT_EQ(Bytes(bytes, bytes + kRhBytes), (Bytes{0xe3, 0xff, 0, 0, 0x01, 0x55, 0, 0}));
}

TEST(ControlPdu, ReadsWhatWasEncoded) {
  std::mt19937 random(7);
  for (int round = 0; round < 3000; ++round) {
    const auto half = [&] { return static_cast<uint16_t>(random()); };
    const auto vc = static_cast<uint8_t>(random() % 4);
    const auto word = [&] { return uint64_t{random()} << 32 | random(); };
    const Identities some{word() | 1, word()};
    const VcPsns psns{Psn(half()), Psn(half()), Psn(half()), Psn(half())};
    const auto flag = [&] { return random() % 2 != 0; };
    const auto number = [&] { return static_cast<uint32_t>(random()); };
    const auto credit = [&] { return number() & Congestion::kMaxCredit; };
    const ControlMessage messages[] = {
        Hello{some,
              word() | 1,
              word(),
              static_cast<uint8_t>(random() % 2),
              flag(),
              flag(),
              flag(),
              half(),
              half(),
              half(),
              half(),
              static_cast<uint16_t>(half() | 1),
              psns,
              {number(), number(), number(), number()},
              flag(),
              flag(),
              flag(),
              flag()},
        NotReady{some, vc, Psn(half()), number()},
        Ready{some, vc, Psn(half())},
        PlaneHello{some,
                   static_cast<PlaneState>(random() % 3),
                   vc,
                   half(),
                   half(),
                   number(),
                   number(),
                   flag(),
                   flag(),
                   psns,
                   {},
                   flag(),
                   static_cast<uint8_t>(random() % 16),
                   static_cast<uint8_t>(random() % 256),
                   static_cast<uint8_t>(random() % 5),
                   flag()},
        Fence{some, vc, flag(), half(), psns, {}},
        Fenced{some, vc, half(), psns, {}},
        Credit{some, vc, flag(), flag(), flag(), flag(), half(), number(), number(), number(),
               number()},
        Congestion{some, flag(), flag(), flag(), credit(), credit(), credit(), credit(), number(),
                   number(), number()},
        SessionNumber{some, static_cast<uint8_t>(random() % 64), half(), half(), number(), flag()},
        Repair{some,
               vc,
               static_cast<uint8_t>(random() % 64),
               Psn(half()),
               flag(),
               flag(),
               static_cast<uint8_t>(random() % 4),
               half(),
               {2, {{{word(), word()}, {word(), word()}}}}}};
    for (const ControlMessage& sent : messages) {
      Bytes bytes = Encoded(sent);
      bytes.resize(bytes.size() + random() % 40);
      ControlMessage read;
      ASSERT_EQ(Decode(bytes, read), ControlError::kNone) << "round " << round;
      ASSERT_EQ(read, sent) << "round " << round;
    }
  }
}

// PSNs of further sessions lie behind the body that there is without them.
TEST(ControlPdu, PlaneFenceAndFencedGrowWithTheSessions) {
  for (uint8_t count = 0; count <= MorePsns::kMax; ++count) {
    MorePsns more{.count = count};
    for (uint8_t i = 0; i < count; ++i) more.psns[i] = Psn(static_cast<uint16_t>(0x1000 + i));
    const ControlMessage messages[] = {PlaneHello{.identities = kSome, .more = more},
                                       Fence{.identities = kSome, .more = more},
                                       Fenced{.identities = kSome, .more = more}};
    for (const ControlMessage& sent : messages) {
      const Bytes bytes = Encoded(sent);
      EXPECT_LE(bytes.size(), kMaxControlPduBytes);
      ControlMessage read;
      ASSERT_EQ(Decode(bytes, read), ControlError::kNone);
      EXPECT_EQ(read, sent);
    }
    if (count == 0) continue;
    const Bytes plane = Encoded(messages[0]);
    EXPECT_EQ(LoadBe16(plane.data() + kControlHeadBytes + 40), 0x1000);
  }
}

TEST(ControlPdu, TruncatedIsMalformed) {
  for (const ControlMessage& message : kAll) {
    Bytes bytes = Encoded(message);
    while (!bytes.empty()) {
      bytes.pop_back();
      EXPECT_EQ(Decode(bytes), ControlError::kMalformed) << bytes.size();
    }
  }
}

TEST(ControlPdu, ShortBodyIsMalformedAndLongBodyIsNot) {
  for (const ControlMessage& message : kAll) {
    Bytes bytes = Encoded(message);
    const uint8_t body_bytes = bytes[3];
    // The sessions of the marks came later; a REPAIR may have any number of marks.
    const uint8_t min = message == kCongestion ? uint8_t{44}
                        : message == kRepair   ? uint8_t{24}
                                               : body_bytes;
    for (uint8_t shorter = 0; shorter < min; ++shorter) {
      bytes[3] = shorter;
      EXPECT_EQ(Decode(bytes), ControlError::kMalformed);
    }
    bytes.resize(bytes.size() + 5, 0xee);
    bytes[3] = static_cast<uint8_t>(body_bytes + 5);
    ControlMessage read;
    EXPECT_EQ(Decode(bytes, read), ControlError::kNone);
    // These go on with PSNs.
    std::visit(
        [](auto& known) {
          if constexpr (requires { known.more; }) known.more = {};
          if constexpr (requires { known.marks; }) known.marks.count = 2;
        },
        read);
    EXPECT_EQ(read, message);
    bytes[3] = static_cast<uint8_t>(body_bytes + 6);
    EXPECT_EQ(Decode(bytes), ControlError::kMalformed);
  }
}

TEST(ControlPdu, UnknownTypes) {
  for (unsigned type = 0; type < 256; ++type) {
    Bytes bytes = Encoded(kHello);
    bytes[0] = static_cast<uint8_t>(type);
    const ControlError error = Decode(bytes);
    const bool unknown = type < 8 || type > 18;
    EXPECT_EQ(error == ControlError::kUnknownType, unknown) << type;
    // The body of an unknown type may be any, and may be none.
    EXPECT_EQ(Decode({static_cast<uint8_t>(type), 0, 0, 0}),
              unknown ? ControlError::kUnknownType : ControlError::kMalformed)
        << type;
  }
}

TEST(ControlPdu, ValuesThatCannotBe) {
  const ControlMessage wrong[] = {
      Hello{.identities = kSome, .nonce = 0},
      Hello{.identities = kSome, .nonce = 1, .psn_scope = 2},
      Hello{.identities = kSome, .nonce = 1, .sessions = 0}, NotReady{.identities = kSome, .vc = 4},
      Ready{.identities = kSome, .vc = 4}, Credit{.identities = kSome, .vc = 4},
      PlaneHello{.identities = kSome, .state = static_cast<PlaneState>(3)},
      PlaneHello{.identities = kSome, .plane = 4},
      PlaneHello{.identities = kSome, .heard_plane = 5}, Fence{.identities = kSome, .plane = 4},
      Fenced{.identities = kSome, .plane = 4},
      // Nobody's identity is 0.
      Hello{.nonce = 1}, NotReady{}, Ready{}, PlaneHello{}, Fence{}, Fenced{}, Credit{},
      Congestion{}, Path{}, Path{.identities = kSome, .traffic_class = 5}, SessionNumber{},
      SessionNumber{.identities = kSome, .slot = 64},
      SessionNumber{.identities = kSome, .repairs = 65}, Fenced{.identities = kSome, .repairs = 65},
      Repair{}, Repair{.identities = kSome, .vc = 4}, Repair{.identities = kSome, .slot = 64},
      Repair{.identities = kSome, .plane = 4},
      SessionNumber{.identities = kSome, .fence = true, .anew = true}};
  for (const ControlMessage& message : wrong) {
    EXPECT_EQ(Decode(Encoded(message)), ControlError::kMalformed);
  }
  Bytes fence = Encoded(kFence);
  fence[kControlHeadBytes + 17] = 2;
  EXPECT_EQ(Decode(fence), ControlError::kMalformed);
}

TEST(ControlPdu, ReservedIsIgnored) {
  Bytes bytes = Encoded(kHello);
  bytes[1] |= 0xfc;
  ControlMessage read;
  EXPECT_EQ(Decode(bytes, read), ControlError::kNone);
  EXPECT_EQ(read, kHello);
  bytes = Encoded(kPlane);
  bytes[1] |= 0xf0;
  bytes[kControlHeadBytes + 22] |= 0x80;
  EXPECT_EQ(Decode(bytes, read), ControlError::kNone);
  EXPECT_EQ(read, kPlane);
  bytes = Encoded(kCongestion);
  bytes[1] |= 0xf8;
  for (size_t at = 16; at < 32; at += 4) bytes[kControlHeadBytes + at] = 0xff;
  EXPECT_EQ(Decode(bytes, read), ControlError::kNone);
  EXPECT_EQ(read, kCongestion);
}

TEST(ControlPdu, ACongestionMayEndBeforeTheSessionsOfTheMarks) {
  Bytes bytes = Encoded(kCongestion);
  bytes.resize(bytes.size() - 8);
  bytes[3] = static_cast<uint8_t>(bytes[3] - 8);
  Congestion shorter = std::get<Congestion>(kCongestion);
  shorter.sessions = 0;
  ControlMessage read;
  EXPECT_EQ(Decode(bytes, read), ControlError::kNone);
  EXPECT_EQ(read, ControlMessage(shorter));
}

// Credit is counted modulo 2^24: what is more goes as its low bits, and never into reserved ones.
TEST(ControlPdu, CongestionHasCreditOf24Bits) {
  const Congestion beyond{.identities = kSome,
                          .target = 0x01000002,
                          .sent = 0xffffffff,
                          .limit = 0x80000000,
                          .granted = 0x01ffffff};
  ControlMessage read;
  ASSERT_EQ(Decode(Encoded(beyond), read), ControlError::kNone);
  EXPECT_EQ(
      read,
      ControlMessage(Congestion{
          .identities = kSome, .target = 2, .sent = 0xffffff, .limit = 0, .granted = 0xffffff}));
  for (size_t at = 16; at < 32; at += 4) {
    EXPECT_EQ(Encoded(beyond)[kControlHeadBytes + at], 0) << at;
  }
}

TEST(ControlPdu, AsAFrame) {
  const Bytes sent = Encoded(kReady);
  Bytes buffer(FrameBufferBytes(static_cast<uint32_t>(sent.size())));
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
