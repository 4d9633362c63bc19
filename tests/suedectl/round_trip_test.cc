// SPDX-License-Identifier: Apache-2.0
// A good frame of any sender decodes to an object that encodes to the same frame.
#include <set>

#include "frame_bench.h"
#include "wire/forwarding.h"
#include "wire/rcrc.h"
#include "wire/udp.h"

namespace suede::ctl {
namespace {

FrameRules RulesOf(const FrameDescription& d) {
  return {.encap = d.encap,
          .udp_port = d.values.NumberOr<uint16_t>(Field::kDport, kDefaultUdpPort),
          .mac_prefix = d.values.NumberOr<uint32_t>(Field::kMacPrefix, kDefaultMacPrefix),
          .ether_type = d.values.NumberOr<uint16_t>(Field::kEtherType, 0)};
}

std::vector<TestCommand> RandomCommands(std::mt19937& random) {
  std::vector<TestCommand> commands(random() % 5);
  for (TestCommand& command : commands) command = RandomCommand(random);
  return commands;
}

uint64_t RandomWord(std::mt19937& random) { return uint64_t{random()} << 32 | random(); }

// Some of the fields that the encapsulation has, each with a value in range.
FieldValues RandomValues(Encap encap, std::mt19937& random) {
  FieldValues values;
  for (const FieldRow& row : FieldRows()) {
    if (!row.In(encap) || row.field == Field::kVer || random() % 2 != 0) continue;
    const uint64_t word = RandomWord(random);
    switch (row.kind) {
      case FieldKind::kNumber: {
        const uint64_t max = MaxOf(row, encap);
        values.Set(row.field, row.min + word % (max - row.min + 1));
        break;
      }
      case FieldKind::kFlag:
        values.Set(row.field, word & 1);
        break;
      case FieldKind::kMac:
        values.Set(row.field, word >> 16);
        break;
      case FieldKind::kMacPrefix:
        values.Set(row.field, word >> 32);
        break;
      case FieldKind::kIpAddress:
        values.Set(row.field, encap == Encap::kUdp6
                                  ? NetAddress{.high = RandomWord(random), .low = word}
                                  : NetAddress{.low = word >> 32});
        break;
    }
  }
  if (values.Has(Field::kPadding)) values.Set(Field::kPadding, random() % 100);
  if (values.WordOr(Field::kEtherType, 0) == 0x8100) values.Set(Field::kEtherType, 0x8101);
  if (kWithoutEtherType.Has(encap) && !values.Has(Field::kEtherType)) {
    values.Set(Field::kEtherType, 0x9e5a);
  }
  if (encap == Encap::kAfh2c && values.Has(Field::kSrcFwd)) {
    values.Set(Field::kXpuid, values.WordOr(Field::kSrcFwd, 0) & (kMaxXpus - 1));
  }
  return values;
}

TEST(FrameRoundTrip, OfRandomObjects) {
  std::mt19937 random(1);
  for (size_t e = 0; e < kEncapNames.size(); ++e) {
    int good = 0;
    for (int i = 0; i < 1000; ++i) {
      FrameDescription d{.encap = static_cast<Encap>(e)};
      d.values = RandomValues(d.encap, random);
      for (const TestCommand& command : RandomCommands(random)) {
        if (!d.commands.has_value()) d.commands.emplace();
        d.commands->push_back({command.control, command.data});
      }
      const auto made = MakeFrame(d);
      ASSERT_TRUE(made.ok()) << made.status() << "\n" << FrameToJson(d);
      EXPECT_EQ(MakeAgain(d), *made);
      const FrameDescription read = Describe(RulesOf(d), *made);
      if (!read.error.empty()) continue;  // hop limit 0, an IP checksum or length at random
      ++good;
      EXPECT_EQ(MakeAgain(read), *made) << FrameToJson(d);
      EXPECT_EQ(*read.commands, d.commands.value_or(std::vector<FrameCommand>()));
    }
    EXPECT_GT(good, 100) << kEncapNames[e];
  }
}

// Corrects fields that a receiver would refuse: IP and UDP checksums, and the R-CRC.
void Mend(Encap encap, Bytes& frame, uint32_t header_bytes, uint32_t l2, uint32_t pdu_bytes) {
  uint8_t* pdu = frame.data() + header_bytes;
  if (encap != Encap::kAfh2c) StoreRcrc(pdu, pdu_bytes - kRcrcBytes);
  uint8_t* ip = frame.data() + l2;
  if (encap == Encap::kUdp4) {
    StoreBe16(ip + 10, 0);
    StoreSum(ip + 10, ~FoldSum(InternetSum(ip, 20)));
  }
  const uint32_t ip_bytes = encap == Encap::kUdp6 ? 40 : 20;
  const bool udp = encap == Encap::kUdp6 || (encap == Encap::kUdp4 && LoadBe16(ip + 26) != 0);
  // A length that was altered may run past the frame.
  if (udp && l2 + ip_bytes + LoadBe16(ip + ip_bytes + 4) <= frame.size()) {
    SetUdpChecksum(encap, ip);
  }
}

TEST(FrameRoundTrip, OfFramesThatOthersSent) {
  std::mt19937 random(2);
  for (const Dialect& dialect : AllDialects()) {
    SCOPED_TRACE(DialectName(dialect));
    const HeaderSpec spec = SpecOf(dialect);
    const HeaderTemplate header = MakeTemplate(dialect.encap, spec);
    const FrameRules rules = suede::RulesOf(dialect.encap, spec);
    int good = 0;
    for (int i = 0; i < 4000; ++i) {
      Bytes frame = BuildBytes(dialect.encap, spec, PackCommands(RandomCommands(random)));
      const auto pdu_bytes = static_cast<uint32_t>(frame.size()) - header.length;
      const size_t head_bytes = std::min<size_t>(frame.size(), header.length + kRhBytes);
      for (uint32_t n = random() % 4; n > 0; --n) {
        frame[random() % head_bytes] ^= static_cast<uint8_t>(1u << random() % 8);
      }
      Mend(dialect.encap, frame, header.length, header.l2_length, pdu_bytes);
      const bool has_length = header.l3_length != 0 || dialect.encap == Encap::kAfh1s;
      if (has_length && random() % 2 == 0) frame.resize(frame.size() + random() % 9, 0x5a);
      const FrameDescription read = Describe(rules, frame);
      if (!read.error.empty()) continue;
      ++good;
      EXPECT_EQ(MakeAgain(read), frame) << FrameToJson(read);
    }
    EXPECT_GT(good, 400);
  }
}

// Both values of a checksum that comes out as zero are right: the one that was sent stays.
TEST(FrameRoundTrip, KeepsAnIpChecksumOfAllOnes) {
  Bytes frame = BuildBytes(Encap::kUdp4, SpecOf({Encap::kUdp4}), {});
  uint8_t* ip = frame.data() + 14;
  StoreBe16(ip + 4, LoadBe16(ip + 10));  // an identification that brings the checksum to zero
  StoreBe16(ip + 10, 0xffff);
  const FrameDescription read = Describe(ctl::RulesOf(Encap::kUdp4), frame);
  EXPECT_EQ(read.error, "");
  EXPECT_EQ(read.values.WordOr(Field::kIpChecksum, 0), 0xffffu);
  EXPECT_EQ(MakeAgain(read), frame);
}

TEST(FrameRoundTrip, OfPaddingThatIsMoreOrLessThanNeeded) {
  for (const char* padding : {"0", "1", "700"}) {
    const std::string text = std::string(R"({"encap": "afh1", "padding": )") + padding + "}";
    const auto made = MakeFrame(*FrameFromJson(text));
    ASSERT_TRUE(made.ok()) << made.status();
    EXPECT_EQ(made->size(), 26 + std::stoul(padding));
    const FrameDescription read = Describe({.encap = Encap::kAfh1}, *made);
    EXPECT_EQ(read.error, "");
    EXPECT_EQ(read.values.WordOr(Field::kPadding, 9999), std::stoul(padding));
    EXPECT_EQ(MakeAgain(read), *made);
  }
}

TEST(FrameRoundTrip, OfAFrameOfTheLargestSize) {
  FrameDescription d{.encap = Encap::kUdp4};
  d.commands.emplace(kMaxPackBytes / 2, FrameCommand{.control = {0x01, 0x00}, .data = {}});
  const auto made = MakeFrame(d);
  ASSERT_TRUE(made.ok()) << made.status();
  const FrameDescription read = Describe({.encap = Encap::kUdp4}, *made);
  EXPECT_EQ(read.error, "");
  EXPECT_EQ(MakeAgain(read), *made);
  const Outcome text = Decode({"--encap", "udp4"}, ToHex(*made));
  EXPECT_EQ(text.code, 0) << text.err;
  EXPECT_EQ(Encode({}, text.out).out, ToHex(*made) + "\n");
  // More can be made, to see what a receiver says of it.
  d.commands->push_back(d.commands->front());
  const auto more = MakeFrame(d);
  ASSERT_TRUE(more.ok()) << more.status();
  const FrameDescription refused = Describe({.encap = Encap::kUdp4}, *more);
  EXPECT_EQ(refused.error, "malformed");
  EXPECT_EQ(refused.detail, "the commands have 4098 bytes, and 4096 are the most of a PDU");
  d.commands->resize((kMaxFrameBytes - Udp4::kHeaderBytes - kMinPduBytes) / 2 + 2,
                     d.commands->front());
  EXPECT_FALSE(MakeFrame(d).ok());
}

std::vector<ControlMessage> Messages() {
  constexpr Identities kSome{.own = 77, .peer = 0xfedcba9876543210};
  return {Hello{.identities = kSome,
                .nonce = 5,
                .echo = 0xffffffffffffffff,
                .psn_scope = 1,
                .answers_planes = true,
                .sends_generations = false,
                .counts_credit = true,
                .window_pdus = 512,
                .pack_limit_bytes = 2048,
                .receive_bytes = 4078,
                .receive_lines = 1000,
                .sessions = 7,
                .first = {Psn(9), Psn(8), Psn(7), Psn(65535)},
                .credit_lines = {1, 2, 3, 0xffffffff},
                .reply_wanted = true,
                .hears_pauses = true,
                .answers_congestion = true,
                .wants_echoes = false},
          NotReady{.identities = kSome, .vc = 3, .expected = Psn(65535), .backoff_us = 100000},
          Ready{.identities = kSome, .vc = 2, .expected = Psn(9)},
          PlaneHello{.identities = kSome,
                     .state = PlaneState::kInit,
                     .plane = 3,
                     .tx_generation = 65535,
                     .rx_generation = 1,
                     .sequence = 4000000000,
                     .heard = 3999999999,
                     .has_heard = true,
                     .reply_wanted = false,
                     .first = {Psn(32768), Psn(1), Psn(65535), Psn(0)},
                     .more = {.count = 2, .psns = {Psn(10), Psn(11)}},
                     .held_up = true,
                     .failed = 15,
                     .hops = 255,
                     .heard_plane = 4,
                     .paired = true},
          Fence{.identities = kSome,
                .plane = 2,
                .own = true,
                .generation = 40001,
                .oldest = {Psn(4), Psn(3), Psn(2), Psn(65535)},
                .more = {.count = 3, .psns = {Psn(10), Psn(11), Psn(12)}}},
          Fenced{.identities = kSome,
                 .plane = 1,
                 .generation = 40001,
                 .expected = {Psn(5), Psn(6), Psn(7), Psn(8)},
                 .more = {.count = 2, .psns = {Psn(65535), Psn(11)}}},
          Credit{.identities = kSome,
                 .vc = 1,
                 .grant = true,
                 .give_back = false,
                 .reply_wanted = true,
                 .on_demand = true,
                 .round = 65535,
                 .limit = 4294967295,
                 .accepted = 70000,
                 .sent = 71000,
                 .wanted = 300},
          Congestion{.identities = kSome,
                     .request = true,
                     .grant = false,
                     .echo = true,
                     .target = 16777215,
                     .sent = 16770000,
                     .limit = 70000,
                     .granted = 3,
                     .received = 4294967295,
                     .marked = 71000,
                     .trimmed = 300,
                     .sessions = 0x8000000000000005},
          SessionNumber{.identities = kSome,
                        .slot = 63,
                        .number = 16383,
                        .in_use = 65,
                        .turn = 4000000000,
                        .answer = true,
                        .psns = {Psn(1), Psn(2), Psn(65535), Psn(3)}},
          Path{.identities = kSome,
               .report = true,
               .long_reply = false,
               .traffic_class = 4,
               .number = 70000,
               .sent_ns = 5,
               .received_ns = UINT64_MAX,
               .order = 3,
               .bytes = 9014,
               .there = {.ds = 0xb9, .hops = 63, .has_ds = true, .has_hops = true},
               .sent = {.ds = 4,
                        .hops = 64,
                        .tci = 0x600a,
                        .has_ds = true,
                        .has_hops = true,
                        .tagged = true},
               .address_drops = 1,
               .rcrc_drops = 2,
               .not_sue_drops = 3,
               .trimmed = 4,
               .pauses = 4294967295},
          Repair{.identities = kSome,
                 .vc = 3,
                 .slot = 63,
                 .expected = Psn(65535),
                 .fenced_session = true,
                 .plane = 2,
                 .generation = 40001,
                 .marks = {1, {{{UINT64_MAX, 5}}}}}};
}

#define SOME R"("identity": "000000000000004d", "peer_identity": "fedcba9876543210")"
// The output of decode for each, in the same order.
const char* const kMessageTexts[] = {
    R"({"type": "hello", )" SOME R"(, "nonce": "0000000000000005", "echo": "ffffffffffffffff",
        "psn_scope": 1, "answers_planes": true, "sends_generations": false, "counts_credit": true,
        "hears_pauses": true, "answers_congestion": true, "wants_echoes": false,
        "answers_path": false, "selective": false, "unordered": false,
        "window_pdus": 512, "pack_limit_bytes": 2048, "receive_bytes": 4078, "receive_lines": 1000,
        "sessions": 7, "first": [9, 8, 7, 65535], "credit_lines": [1, 2, 3, 4294967295],
        "reply_wanted": true})",
    R"({"type": "not_ready", )" SOME R"(, "vc": 3, "expected": 65535, "backoff_us": 100000})",
    R"({"type": "ready", )" SOME R"(, "vc": 2, "expected": 9})",
    R"({"type": "plane", )" SOME R"(, "state": "init", "plane": 3,
        "tx_generation": 65535, "rx_generation": 1, "sequence": 4000000000, "heard": 3999999999,
        "has_heard": true, "reply_wanted": false, "held_up": true, "failed": 15, "hops": 255,
        "heard_plane": 4, "paired": true,
        "first": [32768, 1, 65535, 0], "more": [10, 11]})",
    R"({"type": "fence", )" SOME R"(, "plane": 2, "own": true,
        "generation": 40001, "oldest": [4, 3, 2, 65535], "more": [10, 11, 12]})",
    R"({"type": "fenced", )" SOME R"(, "plane": 1, "repairs": 0, "generation": 40001,
        "expected": [5, 6, 7, 8], "more": [65535, 11]})",
    R"({"type": "credit", )" SOME R"(, "vc": 1, "grant": true, "give_back": false,
        "reply_wanted": true, "on_demand": true, "round": 65535, "limit": 4294967295, "accepted": 70000,
        "sent": 71000, "wanted": 300})",
    R"({"type": "congestion", )" SOME R"(, "request": true, "grant": false, "echo": true,
        "target": 16777215, "sent": 16770000, "limit": 70000, "granted": 3,
        "received": 4294967295, "marked": 71000, "trimmed": 300,
        "marked_sessions": "8000000000000005"})",
    R"({"type": "session_number", )" SOME R"(, "slot": 63, "number": 16383, "in_use": 65,
        "turn": 4000000000, "answer": true, "fence": false, "anew": false, "psns": [1, 2, 65535, 3],
        "repairs": 0})",
    R"({"type": "path", )" SOME R"(, "report": true, "long_reply": false, "class": 4,
        "frame_bytes": 9014, "probe": 70000, "sent_ns": "0000000000000005",
        "received_ns": "ffffffffffffffff", "order": 3, "has_ds": true, "has_hops": true,
        "tagged": false, "ds": 185, "hops": 63, "tci": 0, "sent_has_ds": true,
        "sent_has_hops": true, "sent_tagged": true, "sent_ds": 4, "sent_hops": 64,
        "sent_tci": 24586, "address_drops": 1, "rcrc_drops": 2, "not_sue_drops": 3, "trimmed": 4,
        "pauses": 4294967295})",
    R"({"type": "repair", )" SOME R"(, "vc": 3, "slot": 63, "expected": 65535,
        "fenced_plane": false, "fenced_session": true, "plane": 2, "generation": 40001,
        "marks": ["ffffffffffffffff", "0000000000000005"]})"};
static_assert(std::size(kMessageTexts) == std::variant_size_v<ControlMessage>);
#undef SOME

TEST(FrameRoundTrip, OfControlPdus) {
  for (const Dialect& dialect : AllDialects()) {
    const std::vector<ControlMessage> messages = Messages();
    ASSERT_EQ(messages.size(), std::size(kMessageTexts));
    for (size_t i = 0; i < messages.size(); ++i) {
      const ControlMessage& message = messages[i];
      Bytes body(kMaxControlPduBytes);
      body.resize(EncodeControl(message, body.data()));
      const HeaderSpec spec = SpecOf(dialect);
      const Bytes frame = BuildBytes(dialect.encap, spec, body, ControlRh(7, 5));
      const FrameDescription read = Describe(suede::RulesOf(dialect.encap, spec), frame);
      EXPECT_EQ(read.error, "");
      ASSERT_TRUE(read.control_pdu.has_value());
      EXPECT_EQ(read.control_pdu->message, message);
      EXPECT_TRUE(read.control_pdu->bytes.empty());
      const Json object = Json::parse(FrameToJson(read));
      EXPECT_EQ(object["control_pdu"], Json::parse(kMessageTexts[i]));
      EXPECT_FALSE(object.contains("commands"));
      EXPECT_EQ(MakeAgain(read), frame);
    }
  }
}

// Each field by itself: a change in the object is a change in the PDU, and the only one.
TEST(FrameRoundTrip, OfControlPdusWithOneOtherField) {
  for (const char* text : kMessageTexts) {
    const Json usual = Json::parse(text);
    for (const auto& [name, value] : usual.items()) {
      if (name == "type") continue;
      Json object = {{"encap", "afh1"}, {"control_pdu", usual}};
      Json& field = object["control_pdu"][name];
      if (value.is_boolean()) {
        field = !value.get<bool>();
      } else if (value.is_array()) {
        field[1] = value[1].is_string() ? Json("0123456789abcdef") : Json(12345);
      } else if (value.is_string()) {
        field = name == "state" ? "up" : "0123456789abcdef";
      } else {
        field = value == 1 ? 0 : 1;
      }
      SCOPED_TRACE(object.dump());
      const auto read = FrameFromJson(object.dump());
      ASSERT_TRUE(read.ok()) << read.status();
      const auto made = MakeFrame(*read);
      ASSERT_TRUE(made.ok()) << made.status();
      const Json again = Json::parse(FrameToJson(Describe({.encap = Encap::kAfh1}, *made)));
      EXPECT_EQ(again["control_pdu"], object["control_pdu"]);
    }
  }
}

// The least that encode wants of each: a frame that a port takes.
TEST(FrameRoundTrip, OfControlPdusWithNothingSaid) {
  for (const char* text : kMessageTexts) {
    const Json object = {{"encap", "udp6"}, {"control_pdu", {{"type", Json::parse(text)["type"]}}}};
    const auto made = MakeFrame(*FrameFromJson(object.dump()));
    ASSERT_TRUE(made.ok()) << made.status();
    const FrameDescription read = Describe({.encap = Encap::kUdp6}, *made);
    EXPECT_EQ(read.error, "") << text;
    EXPECT_EQ(Json::parse(FrameToJson(read))["control_pdu"].size(), Json::parse(text).size());
  }
}

TEST(FrameRoundTrip, OfControlPdusThatSayMore) {
  std::mt19937 random(3);
  for (const ControlMessage& message : Messages()) {
    for (int i = 0; i < 200; ++i) {
      Bytes body(kMaxControlPduBytes);
      body.resize(EncodeControl(message, body.data()));
      if (i % 2 == 0) body[1] = static_cast<uint8_t>(random());  // flags
      // One that fences and lets in anew would be malformed.
      if (std::holds_alternative<SessionNumber>(message)) body[1] &= static_cast<uint8_t>(~4);
      if (i % 7 == 0 && std::holds_alternative<Hello>(message)) {
        body[13] = static_cast<uint8_t>(random());  // features
      }
      if (i % 7 == 1 && std::holds_alternative<Congestion>(message)) {
        body[20 + 4 * (random() % 4)] = static_cast<uint8_t>(random());  // reserved
      }
      if (i % 3 == 0) {  // a longer body
        body.resize(body.size() + random() % 7);
        StoreBe16(body.data() + 2, static_cast<uint16_t>(body.size() - kControlHeadBytes));
      }
      if (i % 5 == 0) body.insert(body.end(), {0, 0, static_cast<uint8_t>(random()), 0});
      const Bytes frame = BuildBytes(Encap::kUdp6, SpecOf({Encap::kUdp6}), body, ControlRh(7, 5));
      const FrameDescription read = Describe(ctl::RulesOf(Encap::kUdp6), frame);
      EXPECT_EQ(read.error, "");
      EXPECT_EQ(MakeAgain(read), frame) << FrameToJson(read);
    }
  }
}

TEST(FrameRoundTrip, WhatSuedeSendsShowsNothingUnusual) {
  for (const Dialect& dialect : AllDialects()) {
    SCOPED_TRACE(DialectName(dialect));
    const HeaderSpec spec = SpecOf(dialect);
    const Bytes frame = BuildBytes(dialect.encap, spec, {0x01, 0x00});
    const Json object =
        Json::parse(FrameToJson(Describe(suede::RulesOf(dialect.encap, spec), frame)));
    for (const FieldRow& row : FieldRows()) {
      const bool of_tag = row.field == Field::kPcp || row.field == Field::kVid;
      const bool want =
          row.In(dialect.encap) && row.shown == Shown::kAlways && (!of_tag || dialect.tagged);
      EXPECT_EQ(object.contains(std::string(row.name)), want) << row.name;
    }
  }
}

}  // namespace
}  // namespace suede::ctl
