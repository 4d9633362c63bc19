// SPDX-License-Identifier: Apache-2.0
// Each reason for which a port drops a frame, by the name of its counter.
#include <set>

#include "frame_bench.h"
#include "link/link_credit.h"
#include "stats/counters.h"
#include "wire/rcrc.h"

namespace suede::ctl {
namespace {

struct Case {
  std::string reason;
  Encap encap;
  Bytes frame;
};

Bytes Good(Encap encap, const Bytes& commands = {0x01, 0x00},
           const ReliabilityHeader& rh = {.xpuid = 7}) {
  return BuildBytes(encap, SpecOf({encap}), commands, rh);
}

Bytes Changed(Bytes frame, size_t at, uint8_t value) {
  frame[at] = value;
  return frame;
}

Bytes Cut(Bytes frame, size_t bytes) {
  frame.resize(bytes);
  return frame;
}

Bytes Message(const ControlMessage& message) {
  Bytes bytes(kMaxControlPduBytes);
  bytes.resize(EncodeControl(message, bytes.data()));
  return bytes;
}

Bytes ControlFrame(const Bytes& body) { return Good(Encap::kUdp4, body, ControlRh(7, 0)); }

std::vector<Case> Cases() {
  const Bytes udp4 = Good(Encap::kUdp4);
  const Bytes udp6 = Good(Encap::kUdp6);
  const Bytes afh1s = Good(Encap::kAfh1s);
  const Bytes afh2 = Good(Encap::kAfh2);
  const Bytes esun = Good(Encap::kEsun);
  std::vector<Case> cases = {
      {"ip_header", Encap::kUdp4, Changed(udp4, 20, 0x20)},  // more fragments
      {"ip_header", Encap::kUdp6, Changed(udp6, 14, 0x50)},
      {"ip_checksum", Encap::kUdp4, Changed(udp4, 24, static_cast<uint8_t>(udp4[24] ^ 1))},
      {"udp_checksum", Encap::kUdp4, Changed(udp4, 40, 0x12)},
      {"udp_checksum", Encap::kUdp6, Changed(udp6, 60, static_cast<uint8_t>(udp6[60] ^ 1))},
      {"shim_version", Encap::kAfh1s, Changed(afh1s, 14, 0x10)},
      {"next_header", Encap::kAfh1s, Changed(afh1s, 17, 2)},
      {"hop_limit", Encap::kAfh1s, Changed(afh1s, 16, 0)},
      {"hop_limit", Encap::kAfh2, Changed(afh2, 1, 0)},
      {"hop_limit", Encap::kEsun, Changed(esun, 17, 0)},
      {"revision", Encap::kEsun, Changed(esun, 14, 0x60)},
      {"multicast", Encap::kAfh2, Changed(afh2, 0, 0x03)},
      {"multicast", Encap::kAfh2c, Changed(Good(Encap::kAfh2c), 0, 0x83)},
      {"control_unknown", Encap::kUdp4, ControlFrame({1, 0, 0, 0})},
      {"control_unknown", Encap::kUdp4, ControlFrame({99, 0, 0, 0})},
      {"control_malformed", Encap::kUdp4, ControlFrame(Message(PlaneHello{}))},
      {"control_malformed", Encap::kUdp4,
       ControlFrame(Message(PlaneHello{.identities = {.own = 1}, .plane = 4}))},
      {"control_malformed", Encap::kUdp4,
       ControlFrame(Changed(Message(PlaneHello{.identities = {.own = 1}}), 20, 3))},
      {"control_malformed", Encap::kUdp4,
       ControlFrame(Changed(Message(Fence{.identities = {.own = 1}}), 21, 2))},
      {"control_malformed", Encap::kUdp4,
       ControlFrame(Changed(Message(Fenced{.identities = {.own = 1}}), 3, 27))},
      {"control_malformed", Encap::kUdp4, ControlFrame({8, 0, 0, 2, 0, 0})},
      {"control_malformed", Encap::kUdp4, ControlFrame({8})},
  };
  for (const Dialect& dialect : AllDialects()) {
    if (dialect.tagged) continue;
    const Encap encap = dialect.encap;
    const Bytes good = Good(encap);
    cases.push_back({"not_sue", encap, Changed(good, 12, 0x77)});
    cases.push_back({"truncated", encap, Cut(good, 13)});
    cases.push_back({"truncated", encap, {}});
    cases.push_back({"malformed", encap, Good(encap, {0x01, 0x00, 0x0a, 0x00})});
    cases.push_back({"version", encap, Good(encap, {}, {.ver = 1, .xpuid = 7})});
    cases.push_back({"version", encap, Good(encap, {}, {.ver = 2, .xpuid = 7})});
    if (encap == Encap::kUdp6) continue;  // whose checksum finds it first
    cases.push_back(
        {"rcrc", encap, Changed(good, good.size() - 1, static_cast<uint8_t>(~good.back()))});
  }
  return cases;
}

// The counter of a reason, or none.
const CounterRow* RowOf(const std::string& reason) {
  for (const CounterRow& row : CounterRows()) {
    const bool named =
        row.name == "rx_drop_" + reason + "_total" || row.name == "rx_" + reason + "_total";
    if (named && row.severity == Severity::kDrop) return &row;
  }
  return nullptr;
}

TEST(FrameReasons, EachIsTheNameOfACounter) {
  std::set<std::string> seen;
  for (const Case& c : Cases()) {
    SCOPED_TRACE(c.reason + " " + std::string(EncapName(c.encap)));
    const FrameDescription description = Describe(RulesOf(c.encap), c.frame);
    EXPECT_EQ(description.error, c.reason);
    EXPECT_NE(RowOf(description.error), nullptr) << description.error;
    seen.insert(description.error);
    const Json object = Json::parse(FrameToJson(description));
    EXPECT_EQ(object["error"], c.reason);
    EXPECT_EQ(object["encap"], EncapName(c.encap));
    const auto refused = FrameFromJson(FrameToJson(description));
    EXPECT_FALSE(refused.ok());
    EXPECT_EQ(refused.status().message().find("error: "), 0u);
  }
  // Nothing that lib/wire can say is missing here, nor on the page.
  for (size_t i = 1; i < kFrameErrorNames.size(); ++i) {
    EXPECT_TRUE(seen.contains(std::string(kFrameErrorNames[i]))) << kFrameErrorNames[i];
  }
  const std::string page = ReadFile(SUEDE_SOURCE_DIR "/docs/frames.md");
  for (const std::string& reason : seen) {
    EXPECT_NE(page.find("\n| `" + reason + "` | "), std::string::npos) << reason;
  }
}

TEST(FrameReasons, WhatWasReadBeforeStays) {
  FrameDescription d =
      Describe(RulesOf(Encap::kUdp4), Changed(Good(Encap::kUdp4), 24, 0));  // IP checksum
  EXPECT_TRUE(d.values.Has(Field::kDport));
  EXPECT_FALSE(d.values.Has(Field::kVer));
  d = Describe(RulesOf(Encap::kUdp4), Cut(Good(Encap::kUdp4), 30));
  EXPECT_TRUE(d.values.Has(Field::kDmac));
  EXPECT_FALSE(d.values.Has(Field::kDip));
  d = Describe(RulesOf(Encap::kAfh1), Good(Encap::kAfh1, {}, {.ver = 2, .xpuid = 7}));
  EXPECT_EQ(d.values.WordOr(Field::kXpuid, 0), 7u);
  EXPECT_FALSE(d.commands.has_value());
}

struct MalformedCase {
  Bytes commands;
  size_t good;
  const char* says;
};

class Malformed : public testing::TestWithParam<MalformedCase> {};

TEST_P(Malformed, IsSaidInASentence) {
  const FrameDescription d =
      Describe(RulesOf(Encap::kAfh2), Good(Encap::kAfh2, GetParam().commands));
  EXPECT_EQ(d.error, "malformed");
  EXPECT_NE(d.detail.find(GetParam().says), std::string::npos) << d.detail;
  ASSERT_TRUE(d.commands.has_value());
  EXPECT_EQ(d.commands->size(), GetParam().good);
}

Bytes Odd() {
  Bytes commands(60, 0);
  commands[0] = 0x11;  // one byte of data, which starts behind the two of the control
  commands[3] = 0x01;
  return commands;
}
Bytes Overrun() {
  Bytes commands(48, 0);
  commands[0] = 0x11;
  commands[1] = 0xff;
  return commands;
}
Bytes LoneByte() {
  Bytes commands;
  for (int i = 0; i < 30; ++i) commands.insert(commands.end(), {0x01, 0x00});
  commands.push_back(0x05);
  return commands;
}

INSTANTIATE_TEST_SUITE_P(
    All, Malformed,
    testing::Values(
        MalformedCase{{0x01, 0x00, 0x0c, 0x00},
                      1,
                      "command 1, at byte 2 behind the RH: its control length is 12"},
        MalformedCase{Overrun(), 0,
                      "command 0, at byte 0 behind the RH: it has 258 bytes and runs past"},
        MalformedCase{Odd(), 0, "command 0, at byte 0 behind the RH: the byte that makes"},
        MalformedCase{LoneByte(), 30,
                      "command 30, at byte 60 behind the RH: padding that is not zero"},
        MalformedCase{{0x01, 0x00, 0x00, 0x00, 0x09},
                      1,
                      "command 1, at byte 2 behind the RH: padding that is not"}));

TEST(FrameReasons, ACaptureThatCutTheFrameSaysSo) {
  const std::string full = ToHex(Good(Encap::kUdp4)) + "\n";
  const Outcome written = Decode({"--encap", "udp4", "--output", "pcap"}, full);
  std::string capture = written.out;
  // The record's length on the wire, in the bytes 36 to 39.
  capture[36] = static_cast<char>(capture[36] + 8);
  const Outcome whole = Decode({"--encap=udp4", "--udp_port=4791", "--input=pcap"}, capture);
  EXPECT_EQ(whole.code, 0) << whole.err;
  EXPECT_FALSE(Json::parse(whole.out).contains("error")) << whole.out;
  capture[32] = static_cast<char>(capture[32] - 4);
  capture.resize(capture.size() - 4);
  const Outcome cut = Decode({"--encap=udp4", "--udp_port=4791", "--input=pcap"}, capture);
  const Json object = Json::parse(cut.out);
  EXPECT_EQ(object["error"], "truncated");
  EXPECT_EQ(object["detail"], "the capture has 56 of the frame's 68 bytes");
}

TEST(LinkFrameTest, WhatTheEndsOfACableSayIsDescribed) {
  const auto describe = [](const Bytes& frame) {
    return DescribeFrame({.encap = Encap::kUdp4}, frame).detail;
  };
  LinkHelloBody hello{.nonce = 5, .echo = 6};
  hello.offer = {.cbfc = true, .credit_octets = 128, .credit_overhead = 8};
  hello.offer.credits[0] = 120;
  hello.offer.credits[6] = 77;
  Bytes frame(LinkHelloBody::kBytes);
  EncodeLinkHello(kDefaultLinkEtherType, {}, hello, frame.data());
  EXPECT_EQ(describe(frame),
            "a link frame: HELLO, nonce 5, echo 6, CBFC with credits of 128 bytes, overhead 8: "
            "VC 0 120, VC 6 77");
  hello.offer = {.llr = true};
  hello.place = {.mesh = 1, .device = 5, .port = 3, .plane = 2, .specification = 0x0123'4567'89ab};
  frame.resize(kMaxLinkFrameBytes);
  frame.resize(EncodeLinkHello(kDefaultLinkEtherType, {}, hello, frame.data()));
  EXPECT_EQ(describe(frame),
            "a link frame: HELLO, nonce 5, echo 6, LLR, place M1D5P3 in plane 2, "
            "specification 0123456789ab");
  hello.place->specification = 0;
  EncodeLinkHello(kDefaultLinkEtherType, {}, hello, frame.data());
  EXPECT_EQ(describe(frame), "a link frame: HELLO, nonce 5, echo 6, LLR, place M1D5P3 in plane 2");
  frame.pop_back();
  EXPECT_EQ(describe(frame), "a link frame: a malformed HELLO");

  CreditUpdate update{.vcs = 0x9, .starts = 0x8};
  update.counters[0] = Credit20(41);
  update.counters[3] = Credit20(0);
  frame.assign(kMinLinkFrameBytes, 0);
  BeginLinkFrame(kDefaultLinkEtherType, {}, {.kind = LinkKind::kCcUpdate, .tag = 9, .sequence = 3},
                 frame.data());
  EncodeCreditUpdate(update, frame.data() + kLinkBodyAt);
  EXPECT_EQ(describe(frame), "a link frame: CC_UPDATE, serial 3, tag 9: VC 0 41, VC 3 0 (start)");
  frame[kLinkBodyAt] = 33;
  EXPECT_EQ(describe(frame), "a link frame: a malformed CC_UPDATE");
}

}  // namespace
}  // namespace suede::ctl
