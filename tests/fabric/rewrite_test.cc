// SPDX-License-Identifier: Apache-2.0
// Fields of frames that an impaired link overwrites. Expected frames are built with the new values,
// so that checksums and all other bytes are compared, too.
#include "fabric/rewrite.h"

#include <gtest/gtest.h>

#include <functional>

#include "fabric_fixture.h"
#include "wire/ethernet.h"

namespace suede::fabric {
namespace {

using Bytes = std::vector<uint8_t>;

constexpr RewriteParams kAllFields = {.dscp = 40, .ecn = 1, .pcp = 5, .hop_limit = 7};

Forwarding ForwardingFor(Encap encap) {
  switch (encap) {
    case Encap::kAfh1:
    case Encap::kAfh1s:
      return Forwarding::kAfh1;
    case Encap::kAfh2:
    case Encap::kAfh2c:
      return Forwarding::kAfh2;
    case Encap::kEsun:
      return Forwarding::kEsun;
    default:
      return Forwarding::kMac;
  }
}
FrameView ViewOf(Encap encap, const Bytes& frame) {
  return ViewFrame(ForwardingFor(encap), frame.data(), static_cast<uint32_t>(frame.size()),
                   kEsunType);
}

// Frames go from port 0 to port 1, and keep their hop limit.
struct Path : Fabric {
  explicit Path(Encap encap) : Fabric(Params(encap)) {
    const auto frame = BytesOf({.encap = encap});
    const uint64_t mac = uint64_t{LoadBe16(frame.data())} << 32 | LoadBe32(frame.data() + 2);
    for (const uint16_t vid : {uint16_t{0}, uint16_t{7}}) {
      the_switch.table().AddStatic(IsByMac(ForwardingFor(encap))
                                       ? ForwardingTable::MacKey(mac, vid)
                                       : ForwardingTable::ForwardingKey(2),
                                   1);
    }
  }
  static SwitchParams Params(Encap encap) {
    SwitchParams params = ParamsOf(2, ForwardingFor(encap));
    params.learns = false;
    for (PortParams& port : params.ports) port.decrements_hops = false;
    return params;
  }
  Bytes Through(const SueFrame& sue) {
    In(0, sue, At(0));
    auto got = Out(1, At(0));
    return got.size() == 1 ? got[0] : Bytes();
  }
  uint64_t rewritten(uint32_t port) { return Count(port, SwitchPortCounter::kImpairRewritten); }
};

struct HeaderKind {
  Encap encap;
  bool tagged;
};

class RewriteTest : public testing::TestWithParam<HeaderKind> {
 protected:
  SueFrame Sent() const {
    return {.encap = GetParam().encap,
            .traffic_class = {.pcp = 1, .dscp = 16, .ecn = 2},
            .tagged = GetParam().tagged,
            .vid = static_cast<uint16_t>(GetParam().tagged ? 7 : 0),
            .hop_limit = 12};
  }
  // The frame that comes out of a path whose direction `in` or out rewrites.
  void ExpectRewritten(const RewriteParams& to, const SueFrame& expected, bool in) {
    Path path(GetParam().encap);
    Impairment& impairment = in ? path.the_switch.port(0).in() : path.the_switch.port(1).out();
    impairment.Set({.rewrite = to});
    EXPECT_EQ(path.Through(Sent()), BytesOf(expected));
    EXPECT_EQ(path.rewritten(in ? 0 : 1), BytesOf(expected) != BytesOf(Sent()) ? 1u : 0u);
  }
};

TEST_P(RewriteTest, EachFieldChangesAlone) {
  const std::pair<RewriteParams, std::function<void(SueFrame&)>> cases[] = {
      {{.dscp = 40}, [](SueFrame& sue) { sue.traffic_class.dscp = 40; }},
      {{.dscp = 0}, [](SueFrame& sue) { sue.traffic_class.dscp = 0; }},
      {{.ecn = 3}, [](SueFrame& sue) { sue.traffic_class.ecn = 3; }},
      {{.ecn = 0}, [](SueFrame& sue) { sue.traffic_class.ecn = 0; }},
      {{.pcp = 6}, [](SueFrame& sue) { sue.traffic_class.pcp = 6; }},
      {{.pcp = 0}, [](SueFrame& sue) { sue.traffic_class.pcp = 0; }},
      {{.hop_limit = 9}, [](SueFrame& sue) { sue.hop_limit = 9; }},
      {{}, [](SueFrame&) {}},
  };
  for (const auto& [to, change] : cases) {
    SueFrame expected = Sent();
    change(expected);
    for (const bool in : {false, true}) ExpectRewritten(to, expected, in);
  }
}

TEST_P(RewriteTest, AllFieldsChangeAtOnce) {
  SueFrame expected = Sent();
  expected.traffic_class = {.pcp = 5, .dscp = 40, .ecn = 1};
  expected.hop_limit = 7;
  for (const bool in : {false, true}) ExpectRewritten(kAllFields, expected, in);
}

TEST_P(RewriteTest, AFrameThatHasTheValuesIsNotCounted) {
  const TrafficClass own = Sent().traffic_class;
  ExpectRewritten({.dscp = own.dscp, .ecn = own.ecn, .pcp = own.pcp, .hop_limit = 12}, Sent(),
                  false);
}

TEST_P(RewriteTest, TheTagIsRemoved) {
  for (const bool in : {false, true}) {
    Path path(GetParam().encap);
    Impairment& impairment = in ? path.the_switch.port(0).in() : path.the_switch.port(1).out();
    impairment.Set({.rewrite = {.pcp = 3}, .strip_tag = true});
    SueFrame expected = Sent();
    expected.tagged = false;
    EXPECT_EQ(path.Through(Sent()), BytesOf(expected));
    EXPECT_EQ(path.rewritten(in ? 0 : 1), GetParam().tagged ? 1u : 0u);
  }
}

// Nothing is written where a frame ends before the field; the sanitizer finds writes behind it.
TEST_P(RewriteTest, FramesThatEndEarlyHoldNoFieldToWrite) {
  const Bytes whole = BytesOf(Sent());
  for (size_t bytes = 0; bytes < 80; ++bytes) {
    Bytes cut(whole.begin(), whole.begin() + static_cast<ptrdiff_t>(bytes));
    cut.shrink_to_fit();
    const FrameView view = ViewOf(GetParam().encap, cut);
    const Bytes before = cut;
    const bool changed = RewriteFields(kAllFields, view, cut.data());
    EXPECT_EQ(changed, cut != before) << bytes;
    Frame frame;
    frame.buffer = frame.data = cut.data();
    frame.length = static_cast<uint32_t>(bytes);
    EXPECT_EQ(StripTag(view, &frame), GetParam().tagged && bytes >= kEthernetBytes + kTagBytes);
  }
}

INSTANTIATE_TEST_SUITE_P(
    All, RewriteTest,
    testing::Values(HeaderKind{Encap::kUdp4, false}, HeaderKind{Encap::kUdp4, true},
                    HeaderKind{Encap::kUdp6, false}, HeaderKind{Encap::kUdp6, true},
                    HeaderKind{Encap::kAfh1, false}, HeaderKind{Encap::kAfh1, true},
                    HeaderKind{Encap::kAfh1s, false}, HeaderKind{Encap::kAfh1s, true},
                    HeaderKind{Encap::kAfh2, false}, HeaderKind{Encap::kAfh2c, false},
                    HeaderKind{Encap::kEsun, false}, HeaderKind{Encap::kEsun, true}),
    [](const auto& test) {
      return std::string(EncapName(test.param.encap)) + (test.param.tagged ? "_tagged" : "");
    });

TEST(Rewrite, FieldsOfEsunAreNarrower) {
  Bytes frame = BytesOf({.encap = Encap::kEsun, .traffic_class = {.dscp = 40}, .hop_limit = 15});
  const Bytes sent = frame;
  const FrameView view = ViewOf(Encap::kEsun, frame);
  // DSCP 46 is CoS 5, as DSCP 40 is.
  EXPECT_FALSE(RewriteFields({.dscp = 46, .hop_limit = 200}, view, frame.data()));
  EXPECT_EQ(frame, sent);
  EXPECT_TRUE(RewriteFields({.dscp = 63}, view, frame.data()));
  EXPECT_EQ(frame,
            BytesOf({.encap = Encap::kEsun, .traffic_class = {.dscp = 56}, .hop_limit = 15}));
}

TEST(Rewrite, FramesWithoutTheseHeadersStayAsTheyAre) {
  Bytes other_revision = BytesOf({.encap = Encap::kEsun});
  other_revision[kEthernetBytes] |= 0x40;
  const Bytes frames[] = {FrameOfPfc(1, 1000), other_revision};
  for (const Bytes& sent : frames) {
    Bytes frame = sent;
    EXPECT_FALSE(RewriteFields(kAllFields, ViewOf(Encap::kEsun, frame), frame.data()));
    EXPECT_EQ(frame, sent);
  }
}

// A port rewrites before it looks at a frame: class and VLAN are those of the new header.
TEST(Rewrite, AnInputClassifiesByTheNewFields) {
  Path path(Encap::kUdp4);
  path.the_switch.port(0).in().Set({.rewrite = {.dscp = 48}});
  EXPECT_FALSE(path.Through({.traffic_class = {.dscp = 8}}).empty());
  EXPECT_EQ(path.Count(1, 6, SwitchClassCounter::kFrames), 1u);
  SwitchParams params = Path::Params(Encap::kUdp4);
  params.ports[0].strict_vlans = true;
  params.ports[0].vlans = {7};
  Fabric strict(params);
  strict.the_switch.port(0).in().Set({.strip_tag = true});
  strict.In(0, SueFrame{.tagged = true, .vid = 7}, At(0));
  strict.the_switch.Poll(At(0));
  EXPECT_EQ(strict.Count(0, SwitchPortCounter::kRxVlan), 1u);
}

TEST(Rewrite, AClassHasFieldsOfItsOwn) {
  ImpairmentParams params{.rewrite = {.ecn = 1, .hop_limit = 5}};
  params.of_class[2].rewrite = {.dscp = 56, .hop_limit = 9};
  for (const bool in : {false, true}) {
    Path path(Encap::kUdp4);
    (in ? path.the_switch.port(0).in() : path.the_switch.port(1).out()).Set(params);
    EXPECT_EQ(path.Through({.traffic_class = {.dscp = 16}}),
              BytesOf({.traffic_class = {.dscp = 56, .ecn = 1}, .hop_limit = 9}));
    EXPECT_EQ(path.Through({.traffic_class = {.dscp = 24}}),
              BytesOf({.traffic_class = {.dscp = 24, .ecn = 1}, .hop_limit = 5}));
    EXPECT_EQ(path.rewritten(in ? 0 : 1), 2u);
  }
}

TEST(Rewrite, ACopyIsRewrittenOnce) {
  Path path(Encap::kUdp4);
  path.the_switch.port(1).out().Set({.reorder_delay = Duration(0),
                                     .duplicate = ChanceOf(1),
                                     .rewrite = {.dscp = 1},
                                     .strip_tag = true});
  path.In(0, SueFrame{.tagged = true, .vid = 7}, At(0));
  const auto got = path.Out(1, At(0));
  ASSERT_EQ(got.size(), 2u);
  for (const Bytes& frame : got) EXPECT_EQ(frame, BytesOf({.traffic_class = {.dscp = 1}}));
  EXPECT_EQ(path.rewritten(1), 1u);
}

}  // namespace
}  // namespace suede::fabric
