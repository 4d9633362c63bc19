// SPDX-License-Identifier: Apache-2.0
// The 26 cases of areas E1 to E6 of the scale-up ESUN test plan of sonic-mgmt (docs/switch.md,
// "ESUN"), by the names that it gives them.
#include "wire/encap/esun.h"

#include <gtest/gtest.h>

#include <array>
#include <set>
#include <vector>

#include "fabric_fixture.h"

namespace suede::fabric {
namespace {

constexpr uint32_t kHeader = 14;  // bytes in front of the ESUN header, untagged
constexpr uint32_t kPeer = 2;     // behind port 1

// Forwarding address of a MAC address that ends in `number`.
NetAddress KeyOf(uint32_t number, uint16_t vid = 0) {
  return ForwardingTable::MacKey(uint64_t{kDefaultMacPrefix} << 16 | number, vid);
}

SueFrame To(uint32_t number, TrafficClass of = {}) {
  return {.encap = Encap::kEsun, .to = number, .traffic_class = of};
}

SwitchParams Dropping(uint32_t ports = 3) {
  SwitchParams params = ParamsOf(ports, Forwarding::kEsun);
  params.floods = false;
  return params;
}

struct EsunFabric : Fabric {
  explicit EsunFabric(const SwitchParams& params = Dropping()) : Fabric(params) {
    the_switch.table().AddStatic(KeyOf(kPeer), 1);
  }
  // Sends a frame into port 0, and returns the frame that leaves by port 1; empty: none.
  std::vector<uint8_t> Pass(const std::vector<uint8_t>& sent) {
    In(0, sent, At(0));
    const auto got = Out(1, At(0));
    return got.empty() ? std::vector<uint8_t>() : got[0];
  }
};

ParsedFrame Parsed(std::vector<uint8_t>& frame) {
  return ParseFrame({.encap = Encap::kEsun, .ether_type = kEsunType}, frame.data(),
                    static_cast<uint32_t>(frame.size()), false);
}

// Whether an endpoint accepts the frame: header and R-CRC.
bool IsIntact(std::vector<uint8_t> frame) {
  const ParsedFrame parsed = Parsed(frame);
  return parsed.error == FrameError::kNone && RcrcGood(parsed.pdu, parsed.pdu_bytes);
}

// The frame as it leaves: its TTL is one lower, and nothing else has changed.
std::vector<uint8_t> OneHopOn(std::vector<uint8_t> frame, uint32_t at = kHeader) {
  frame[at + 3] = static_cast<uint8_t>(frame[at + 3] - 0x10);
  return frame;
}

// ---- E1. ESUN header processing and efficiency.

TEST(EsunE1, EhIdentification) {
  EsunFabric fabric;
  const std::vector<uint8_t> sent = BytesOf(To(kPeer));
  EXPECT_EQ(fabric.Pass(sent), OneHopOn(sent)) << "by its EtherType";
  std::vector<uint8_t> other = sent;
  StoreBe16(&other[12], kEsunType + 1);
  EXPECT_TRUE(fabric.Pass(other).empty());
  EXPECT_EQ(fabric.Count(0, SwitchPortCounter::kRxForeign), 1u);
}

TEST(EsunE1, FourByteHeaderParsing) {
  EsunFabric fabric;
  std::vector<uint8_t> sent = BytesOf(To(kPeer));
  const std::array<uint8_t, 4> header = {0b00'1'110'01, 0xbe, 0xef, 0b1010'10'01};
  std::copy(header.begin(), header.end(), sent.begin() + kHeader);
  const FrameView view =
      ViewFrame(Forwarding::kEsun, sent.data(), static_cast<uint32_t>(sent.size()), kEsunType);
  EXPECT_EQ(view.ds_byte(sent.data()), 0b110'000'01);
  EXPECT_EQ(view.hop_limit(sent.data()), 10);
  EXPECT_EQ(esun::LabelOf(&sent[kHeader]), 0xbeef);
  EXPECT_EQ(fabric.Pass(sent), OneHopOn(sent));
  EXPECT_EQ(fabric.Count(1, 6, SwitchClassCounter::kFrames), 1u);
  // A frame that ends inside the header.
  for (size_t bytes = kHeader; bytes < kHeader + 4; ++bytes) {
    EXPECT_TRUE(fabric.Pass({sent.begin(), sent.begin() + static_cast<ptrdiff_t>(bytes)}).empty());
  }
  EXPECT_EQ(fabric.Count(0, SwitchPortCounter::kRxRunt), 4u);
}

TEST(EsunE1, RevisionFieldHandling) {
  EsunFabric fabric;
  const std::vector<uint8_t> current = BytesOf(To(kPeer));
  EXPECT_EQ(fabric.Pass(current), OneHopOn(current));
  for (uint32_t revision = 1; revision < 4; ++revision) {
    std::vector<uint8_t> later = current;
    later[kHeader] = static_cast<uint8_t>(later[kHeader] | revision << 6);
    EXPECT_TRUE(fabric.Pass(later).empty()) << revision;
    EXPECT_EQ(fabric.Count(0, SwitchPortCounter::kRxRevision), revision);
  }
  EXPECT_EQ(fabric.Pass(current), OneHopOn(current)) << "the port goes on";
}

TEST(EsunE1, EcnBitsReadAndPreserved) {
  EsunFabric fabric;
  for (uint8_t ecn = 0; ecn < 4; ++ecn) {
    const std::vector<uint8_t> sent = BytesOf(To(kPeer, {.ecn = ecn}));
    std::vector<uint8_t> got = fabric.Pass(sent);
    EXPECT_EQ(got, OneHopOn(sent));
    EXPECT_EQ(Parsed(got).ecn, ecn);
  }
}

TEST(EsunE1, CosFieldExtraction) {
  EsunFabric fabric;
  std::vector<uint8_t> got = fabric.Pass(BytesOf(To(kPeer, {.dscp = 40})));
  EXPECT_EQ(fabric.Count(1, 5, SwitchClassCounter::kFrames), 1u);
  EXPECT_EQ(Parsed(got).dscp, 40) << "preserved";
}

TEST(EsunE1, FlowLabelExtraction) {
  EsunFabric fabric;
  for (const uint16_t label : std::vector<uint16_t>{0, 1, 0x8000, 0xffff}) {
    SueFrame sue = To(kPeer);
    sue.session = label;
    const std::vector<uint8_t> sent = BytesOf(sue);
    EXPECT_EQ(esun::LabelOf(&sent[kHeader]), label);
    std::vector<uint8_t> got = fabric.Pass(sent);
    EXPECT_EQ(Parsed(got).session, label) << "preserved";
  }
}

TEST(EsunE1, TtlFieldRead) {
  EsunFabric fabric;
  for (uint32_t ttl = 0; ttl < 16; ++ttl) {
    std::vector<uint8_t> sent = BytesOf(To(kPeer));
    esun::SetTtl(&sent[kHeader], static_cast<uint8_t>(ttl));
    const std::vector<uint8_t> got = fabric.Pass(sent);
    ASSERT_EQ(got.empty(), ttl < 2) << ttl;
    if (ttl >= 2) {
      EXPECT_EQ(esun::TtlOf(&got[kHeader]), ttl - 1);
    }
  }
}

TEST(EsunE1, UdFieldPassThrough) {
  EsunFabric fabric;
  for (uint32_t bits = 0; bits < 16; ++bits) {  // with the reserved ones
    std::vector<uint8_t> sent = BytesOf(To(kPeer));
    sent[kHeader + 3] = static_cast<uint8_t>(0xf0 | bits);
    EXPECT_EQ(fabric.Pass(sent), OneHopOn(sent)) << bits;
  }
}

// The switch hands its devices frames without an FCS, which they compute. The R-CRC covers no field
// that a switch changes.
TEST(EsunE1, FcsRecomputation) {
  EsunFabric fabric;
  for (const uint32_t bytes : {0u, 26u, 64u, 1000u, 4000u}) {
    SueFrame sue = To(kPeer);
    sue.bytes = bytes;
    const std::vector<uint8_t> sent = BytesOf(sue);
    const std::vector<uint8_t> got = fabric.Pass(sent);
    EXPECT_EQ(got.size(), sent.size()) << "no stale FCS";
    EXPECT_TRUE(IsIntact(got)) << bytes;
  }
}

TEST(EsunE1, EndToEndHeaderIntegrity) {
  for (const bool tagged : {false, true}) {
    EsunFabric fabric;
    fabric.the_switch.table().AddStatic(KeyOf(kPeer, 100), 1);
    SueFrame sue = To(kPeer, {.pcp = 3, .dscp = 56, .ecn = 2});
    sue.tagged = tagged;
    sue.vid = 100;
    sue.session = 0x1234;
    const std::vector<uint8_t> sent = BytesOf(sue);
    std::vector<uint8_t> got = fabric.Pass(sent);
    ASSERT_EQ(got, OneHopOn(sent, tagged ? kHeader + 4 : kHeader));
    EXPECT_TRUE(IsIntact(got));
  }
}

// ---- E2. Static L2 forwarding.

TEST(EsunE2, StaticDaForwarding) {
  EsunFabric fabric;
  fabric.the_switch.table().AddStatic(KeyOf(7), 2);
  fabric.In(0, To(7), At(0));
  EXPECT_EQ(fabric.Out(2, At(0)).size(), 1u);
  EXPECT_TRUE(fabric.Out(1, At(0)).empty());
  // All 48 bits count.
  for (size_t byte = 0; byte < 6; ++byte) {
    std::vector<uint8_t> other = BytesOf(To(7));
    other[byte] ^= 0x10;
    fabric.In(0, other, At(1));
    EXPECT_EQ(fabric.Count(0, SwitchPortCounter::kRxUnknown), byte + 1);
  }
}

TEST(EsunE2, NoMacLearning) {
  SwitchParams params = ParamsOf(3, Forwarding::kEsun);
  params.learns = true;
  EsunFabric fabric(params);
  for (uint32_t from = 10; from < 20; ++from) {
    SueFrame sue = To(kPeer);
    sue.from = from;
    fabric.In(0, sue, At(0));
  }
  EXPECT_EQ(fabric.Out(1, At(0)).size(), 10u);
  EXPECT_EQ(fabric.the_switch.table().size(), 1u);
  EXPECT_EQ(fabric.Count(0, SwitchPortCounter::kRxLearnt), 0u);
  fabric.In(1, To(10), At(1));
  EXPECT_EQ(fabric.Count(1, SwitchPortCounter::kRxFlooded), 1u) << "its source is unknown";
}

TEST(EsunE2, BumHandling) {
  std::vector<uint8_t> unknown = BytesOf(To(9));
  std::vector<uint8_t> broadcast = BytesOf(To(kPeer));
  std::fill_n(broadcast.begin(), 6, uint8_t{0xff});
  std::vector<uint8_t> multicast = BytesOf(To(kPeer));
  multicast[0] |= 1;
  for (const bool floods : {false, true}) {
    SwitchParams params = ParamsOf(3, Forwarding::kEsun);
    params.floods = floods;
    EsunFabric fabric(params);
    for (const auto* frame : {&unknown, &broadcast, &multicast}) fabric.In(0, *frame, At(0));
    const size_t each = floods ? 3 : 0;
    EXPECT_EQ(fabric.Out(1, At(0)).size(), each);
    EXPECT_EQ(fabric.Out(2, At(0)).size(), each);
    EXPECT_TRUE(fabric.Out(0, At(0)).empty());
    EXPECT_EQ(fabric.Count(0, SwitchPortCounter::kRxUnknown), 3 - each);
  }
}

// ---- E3. EH-CoS differentiation.

TEST(EsunE3, EhCosToTrafficClassMapping) {
  SwitchParams params = Dropping();
  params.classes.of_dscp[8 * 6] = 1;  // CoS 6
  EsunFabric fabric(params);
  fabric.In(0, To(kPeer, {.dscp = 48}), At(0));
  fabric.In(0, To(kPeer, {.dscp = 16}), At(0));
  fabric.Out(1, At(0));
  EXPECT_EQ(fabric.Count(1, 1, SwitchClassCounter::kFrames), 1u) << "as configured";
  EXPECT_EQ(fabric.Count(1, 2, SwitchClassCounter::kFrames), 1u) << "by default";
}

TEST(EsunE3, PrecedenceOverVlanPcp) {
  for (const bool pcp_first : {false, true}) {
    SwitchParams params = Dropping();
    params.classes.pcp_first = pcp_first;
    EsunFabric fabric(params);
    for (uint8_t pcp = 0; pcp < 8; ++pcp) {
      SueFrame sue = To(kPeer, {.pcp = pcp, .dscp = 24});
      sue.tagged = true;
      fabric.Pass(BytesOf(sue));
    }
    EXPECT_EQ(fabric.Count(1, 3, SwitchClassCounter::kFrames), 8u);
  }
}

TEST(EsunE3, PrecedenceOverCbfcTrafficClass) {
  SwitchParams params = Dropping();
  for (ClassParams& of : params.of_class) of.credits = 40;
  params.ports[0].cbfc = true;
  EsunFabric fabric(params);
  CreditReceiver& receiver = fabric.the_switch.port(0).credit()->receiver();
  receiver.Start();
  receiver.OnConsumed({.serial = 1, .vcs = 0xff, .starts = 0xff}, At(0));
  receiver.Poll(At(0));
  for (uint8_t vc = 0; vc < 4; ++vc) {  // neither the VC of the PDU nor the PCP count
    SueFrame sue = To(kPeer, {.pcp = 6, .dscp = 40});
    sue.tagged = true;
    sue.vc = vc;
    fabric.In(0, sue, At(0));
  }
  for (uint32_t vc = 0; vc < kClasses; ++vc) EXPECT_EQ(receiver.held(vc) != 0, vc == 5) << vc;
  EXPECT_EQ(fabric.Out(1, At(0)).size(), 4u);
  EXPECT_EQ(receiver.held(5), 0u);
  EXPECT_EQ(fabric.Count(1, 5, SwitchClassCounter::kFrames), 4u);
}

TEST(EsunE3, AllCosValues) {
  EsunFabric fabric;
  for (uint8_t cos = 0; cos < 8; ++cos) {
    fabric.Pass(BytesOf(To(kPeer, {.dscp = static_cast<uint8_t>(8 * cos)})));
    EXPECT_EQ(fabric.Count(1, cos, SwitchClassCounter::kFrames), 1u) << int{cos};
  }
}

// ---- E4. Flow label and F bit.

constexpr uint32_t kMembers = 4;

// A switch whose ports 1 to 4 lead to kPeer.
struct SpreadFabric : EsunFabric {
  SpreadFabric() : EsunFabric(Params()) { the_switch.table().AddStatic(KeyOf(kPeer), kFirstGroup); }
  static SwitchParams Params() {
    SwitchParams params = Dropping(kMembers + 1);
    params.groups = {{.ports = {1, 2, 3, 4}}};
    return params;
  }
  // Returns the port by which a frame with this label leaves.
  uint32_t PortOf(uint16_t label, bool is_valid = true) {
    SueFrame sue = To(kPeer);
    sue.session = label;
    std::vector<uint8_t> sent = BytesOf(sue);
    if (!is_valid) sent[kHeader] &= static_cast<uint8_t>(~esun::kHasLabel);
    In(0, sent, At(0));
    for (uint32_t port = 1; port <= kMembers; ++port) {
      if (!Out(port, At(0)).empty()) return port;
    }
    return 0;
  }
};

TEST(EsunE4, FlowLabelHashing) {
  SpreadFabric fabric;
  std::set<uint32_t> ports;
  for (uint16_t label = 0; label < 64; ++label) ports.insert(fabric.PortOf(label));
  EXPECT_EQ(ports, (std::set<uint32_t>{1, 2, 3, 4}));
}

TEST(EsunE4, DeterministicForwarding) {
  SpreadFabric fabric;
  for (uint16_t label = 0; label < 32; ++label) {
    const uint32_t port = fabric.PortOf(label);
    for (int i = 0; i < 5; ++i) EXPECT_EQ(fabric.PortOf(label), port);
  }
}

TEST(EsunE4, FBitBehavior) {
  SpreadFabric fabric;
  const uint32_t port = fabric.PortOf(0, false);
  for (uint16_t label = 0; label < 64; ++label) {
    EXPECT_EQ(fabric.PortOf(label, false), port) << "a label that is not valid is ignored";
  }
}

TEST(EsunE4, Entropy) {
  SpreadFabric fabric;
  constexpr uint32_t kLabels = 4000;
  std::array<uint32_t, kMembers + 1> frames{};
  for (uint32_t label = 0; label < kLabels; ++label) {
    ++frames[fabric.PortOf(static_cast<uint16_t>(label))];
  }
  EXPECT_EQ(frames[0], 0u);
  for (uint32_t port = 1; port <= kMembers; ++port) {
    EXPECT_NEAR(frames[port], kLabels / kMembers, kLabels / kMembers / 10) << port;
  }
}

// ---- E5. TTL and loop prevention.

TEST(EsunE5, PerHopTtlDecrement) {
  EsunFabric fabric;
  std::vector<uint8_t> frame = BytesOf(To(kPeer));
  for (uint32_t ttl = 15; ttl > 1; --ttl) {
    ASSERT_EQ(esun::TtlOf(&frame[kHeader]), ttl);
    frame = fabric.Pass(frame);
    ASSERT_TRUE(IsIntact(frame));
  }
  EXPECT_EQ(esun::TtlOf(&frame[kHeader]), 1);
}

TEST(EsunE5, TtlExpiry) {
  EsunFabric fabric;
  for (uint8_t ttl = 0; ttl < 2; ++ttl) {
    std::vector<uint8_t> sent = BytesOf(To(kPeer));
    esun::SetTtl(&sent[kHeader], ttl);
    EXPECT_TRUE(fabric.Pass(sent).empty());
    EXPECT_EQ(fabric.Count(0, SwitchPortCounter::kRxHopLimit), ttl + 1u);
  }
  EXPECT_EQ(fabric.the_switch.port(0).without_hops().count, 2u);
}

// ---- E6. ECN fabric feedback.

// A switch that marks each frame that it queues.
EsunFabric Congested() {
  SwitchParams params = Dropping();
  for (ClassParams& of : params.of_class) of.ecn = {.least_bytes = 0, .most_bytes = 0};
  return EsunFabric(params);
}

TEST(EsunE6, EhEcnEncoding) {
  EsunFabric fabric;
  for (uint8_t ecn = 0; ecn < 4; ++ecn) {
    const std::vector<uint8_t> got = fabric.Pass(BytesOf(To(kPeer, {.ecn = ecn})));
    EXPECT_EQ(got[kHeader] & 3, ecn) << "bits 1:0";
  }
}

TEST(EsunE6, CongestionMarking) {
  EsunFabric fabric = Congested();
  for (uint8_t ecn = 0; ecn < 4; ++ecn) {
    const bool capable = ecn == 1 || ecn == 2;
    const std::vector<uint8_t> got = fabric.Pass(BytesOf(To(kPeer, {.dscp = 24, .ecn = ecn})));
    EXPECT_EQ(got[kHeader] & 3, capable ? 3 : ecn);
    EXPECT_EQ(got[kHeader] >> 2 & 7, 3) << "the CoS stays";
  }
  EXPECT_EQ(fabric.Count(1, 3, SwitchClassCounter::kMarked), 2u);
}

TEST(EsunE6, FcsUpdate) {
  EsunFabric fabric = Congested();
  const std::vector<uint8_t> sent = BytesOf(To(kPeer, {.ecn = 2}));
  const std::vector<uint8_t> got = fabric.Pass(sent);
  EXPECT_EQ(got.size(), sent.size()) << "no stale FCS";
  EXPECT_NE(got[kHeader], sent[kHeader]);
  EXPECT_TRUE(IsIntact(got));
}

}  // namespace
}  // namespace suede::fabric
