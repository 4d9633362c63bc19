// SPDX-License-Identifier: Apache-2.0
// Credit as a layer of an endpoint's link: two links on one cable, which the test plays.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <tuple>
#include <vector>

#include "base/big_endian.h"
#include "fake_port.h"
#include "link/link.h"

namespace suede {
namespace {

constexpr uint32_t kCredits = 40;  // of each class; the largest frame of the port has 16
constexpr std::array<uint8_t, kLinkFlows> kClassOf = {0, 1, 2, 3, 6};

LinkParams ParamsOf(bool retry, uint64_t boot) {
  CreditGrant grant;
  for (const uint8_t c : kClassOf) grant.limits[c] = kCredits;
  LinkParams params{.secret = {1, boot}, .credit = OfferOf(grant)};
  params.retry.on = retry;
  return params;
}

// IPv4 of a class.
void WriteFrame(Frame* frame, uint32_t traffic_class, uint32_t bytes) {
  frame->data = frame->buffer + Frame::kCommandOffset;
  frame->length = bytes;
  std::memset(frame->data, 0, bytes);
  StoreBe16(frame->data + 12, 0x0800);
  frame->data[14] = 0x45;
  frame->data[15] = static_cast<uint8_t>(traffic_class << 5);
}

struct LinkSide {
  LinkSide(bool retry, uint64_t boot) : link(&port, ParamsOf(retry, boot), &lane) {
    link.credit()->SetClasses(kClassOf);
  }
  Pdu* Stage(uint8_t vc, uint32_t bytes) {
    EXPECT_TRUE(link.frames().Has(1));
    Pdu* pdu = link.frames().NewPdu();
    pdu->vc = vc;
    WriteFrame(FrameOf(pdu), kClassOf[vc], bytes);
    link.Stage(pdu, kClassOf[vc]);
    return pdu;
  }
  CreditSender& sender() { return link.credit()->end().sender(); }
  CreditReceiver& receiver() { return link.credit()->end().receiver(); }
  uint64_t Count(LinkCounter counter) { return link.end()->counters().Get(counter); }

  FakePort port;
  PacketLane lane{FrameRules{}, 2048, 64};
  Link link;
  CounterBlock counters;
  std::vector<Frame*> up;  // frames of data that came
};

class CreditLayerTest : public ::testing::TestWithParam<bool> {
 protected:
  // A turn of one side: what has come, then what leaves. `frees`: the pipeline handles what came.
  void Turn(LinkSide& side, LinkSide& other) {
    Frame* frames[2 * kBurst];
    const uint32_t count = side.link.Receive(frames, now);
    side.up.insert(side.up.end(), frames, frames + count);
    side.link.Transmit(side.counters, now);
    side.link.frames().Flush();
    for (const Frame* frame : side.port.sent) {
      if (IsToNeighbour(frame->data)) {
        EXPECT_EQ(frame->tx_offload, TxOffload::kNone);
      }
      if (drops && drops(*frame)) continue;
      Frame* const copy = other.port.MakeFrame();
      copy->data = copy->buffer + Frame::kCommandOffset;
      copy->length = frame->length;
      std::memcpy(copy->data, frame->data, frame->length);
      other.port.arrived.push_back(copy);
    }
    side.port.sent.clear();
  }
  void Run(int turns, Duration step = std::chrono::microseconds(1)) {
    for (int i = 0; i < turns; ++i, now += step) {
      Turn(a, b);
      Turn(b, a);
    }
  }
  void Agree() {
    Run(4000);
    ASSERT_TRUE(a.link.credit()->is_on() && b.link.credit()->is_on());
    ASSERT_EQ(a.sender().waiting(), 0u);
    ASSERT_EQ(a.link.room(), kEveryVc);
  }

  LinkSide a{GetParam(), 1};
  LinkSide b{GetParam(), 2};
  std::function<bool(const Frame&)> drops;
  Time now = TimeFromNs(1'000'000'000);
};

TEST_P(CreditLayerTest, BothEndsAgreeAndFramesPass) {
  Agree();
  for (int round = 0; round < 50; ++round) {
    for (uint8_t vc = 0; vc < kVcCount; ++vc) {
      if (a.link.HasRoom(vc)) a.Stage(vc, 400);
    }
    Run(1);
  }
  Run(500);
  EXPECT_GT(b.up.size(), 100u);
  EXPECT_EQ(a.sender().used(0), 0u);
  EXPECT_EQ(a.sender().consumed(0), b.receiver().freed(0));
  EXPECT_EQ(b.Count(LinkCounter::kCreditExceeded), 0u);
  EXPECT_EQ(a.Count(LinkCounter::kCreditWaits), 0u) << "what was staged had credit";
}

TEST_P(CreditLayerTest, AFlowIsClosedByWhatIsStagedAndOpensWithCredit) {
  Agree();
  int staged = 0;
  for (; a.link.HasRoom(1); ++staged) a.Stage(1, 1000);
  EXPECT_EQ(staged, 4) << "8 credits each, and 16 are left for a frame of any length";
  EXPECT_EQ(a.link.room(), kEveryVc & ~(1u << 1));
  EXPECT_FALSE(a.link.IsOpen(1));
  EXPECT_TRUE(a.link.HasFrontRoom());
  EXPECT_FALSE(a.link.IsHeld(1)) << "by itself alone";
  a.link.credit()->TakeOpened();
  // The neighbour's buffer is full: no update comes back.
  drops = [](const Frame& frame) { return IsToNeighbour(frame.data); };
  Run(3);
  EXPECT_EQ(b.up.size(), 4u);
  EXPECT_TRUE(a.link.IsHeld(1));
  EXPECT_EQ(a.sender().used(1), 32u);
  EXPECT_FALSE(a.link.credit()->TakeOpened());
  const Time since = a.link.HeldFlowSince(1);
  EXPECT_GT(since, now - std::chrono::microseconds(4));
  EXPECT_LT(since, now);
  Run(3);
  EXPECT_EQ(a.link.HeldFlowSince(1), since);
  EXPECT_EQ(a.link.HeldFlowSince(0), kNever);
  drops = nullptr;
  Run(600);
  EXPECT_TRUE(a.link.credit()->TakeOpened());
  EXPECT_FALSE(a.link.IsHeld(1));
  EXPECT_TRUE(a.link.HasRoom(1));
}

// A flow is open as long as a frame of any length has credit: 16 of it, and of a PDU without
// commands, which is short, 2.
TEST_P(CreditLayerTest, AFlowIsOpenForAFrameOfAnyLength) {
  Agree();
  for (const auto& [flow, traffic_class, max] :
       {std::tuple<uint32_t, uint32_t, uint32_t>{1, 1, 16}, {kVcCount, 6, 2}}) {
    a.sender().OnSent(traffic_class, kCredits - max, now);
    a.link.RemoveWithdrawn();  // looks at the credit anew
    EXPECT_TRUE(a.link.IsOpen(flow)) << flow;
    EXPECT_EQ(a.sender().free(traffic_class), max);
    a.sender().OnSent(traffic_class, 1, now);
    a.link.RemoveWithdrawn();
    EXPECT_FALSE(a.link.IsOpen(flow)) << flow;
  }
  EXPECT_FALSE(a.link.HasFrontRoom());
  EXPECT_EQ(a.link.RoomOf(1), 0u);
  EXPECT_EQ(a.link.RoomOf(0), 1u) << "one at a time";
}

// PDUs without commands always wait: acknowledgements are owed.
TEST_P(CreditLayerTest, AcknowledgementsWithoutCreditAreAStormByThemselves) {
  Agree();
  drops = [](const Frame& frame) {
    return IsToNeighbour(frame.data) && LoadLinkWord(frame.data).kind == LinkKind::kCfUpdate;
  };
  a.sender().OnSent(6, kCredits, now);
  Run(990, std::chrono::microseconds(100));
  EXPECT_EQ(a.Count(LinkCounter::kCreditStorms), 0u);
  EXPECT_TRUE(a.link.IsHeld(kVcCount));
  Run(20, std::chrono::microseconds(100));
  EXPECT_EQ(a.Count(LinkCounter::kCreditStorms), 1u);
}

// A short frame has credit, but may not overtake the long frame of its link VC.
TEST_P(CreditLayerTest, FramesThatWaitKeepTheOrderOfTheirLinkVc) {
  Agree();
  drops = [](const Frame& frame) { return IsToNeighbour(frame.data); };
  a.sender().OnSent(2, a.sender().free(2) - 2, now);
  a.Stage(2, 1000);
  a.Stage(2, 60);
  for (int i = 0; i < 3; ++i) a.link.Transmit(a.counters, now);
  EXPECT_EQ(a.link.credit()->waiting(), 2u);
  b.up.clear();
  Run(2);
  EXPECT_TRUE(b.up.empty());
  drops = nullptr;
  Run(900);
  ASSERT_EQ(b.up.size(), 2u);
  EXPECT_EQ(b.up[0]->length, 1000u);
  EXPECT_EQ(b.up[1]->length, 60u);
}

TEST_P(CreditLayerTest, NoUpdateIsMadeUnlessOneIsDue) {
  Agree();
  uint8_t at[kMinLinkFrameBytes];
  CreditEnd& credit = a.link.credit()->end();
  const uint64_t before = a.Count(LinkCounter::kCreditTxConsumed);
  EXPECT_GT(before, 0u);
  EXPECT_EQ(credit.NextConsumed(*a.link.end(), at, now), 0u);
  EXPECT_EQ(credit.NextFreed(*a.link.end(), at, now), 0u);
  EXPECT_EQ(a.Count(LinkCounter::kCreditTxConsumed), before);
}

// The frame that its owner has staged again, as busy, is still the frame that waited.
TEST_P(CreditLayerTest, AFrameThatWaitsIsNumberedThoughItIsStagedAgain) {
  if (!GetParam()) return;  // without link-level retry no frame has a number
  Agree();
  drops = [](const Frame& frame) { return IsToNeighbour(frame.data); };
  a.sender().OnSent(2, a.sender().free(2), now);
  Pdu* const waits = a.Stage(2, 1000);
  a.link.Transmit(a.counters, now);
  ASSERT_EQ(a.link.credit()->waiting(), 1u);
  const uint64_t plain = a.Count(LinkCounter::kLlrTxPlain);
  drops = nullptr;
  // It leaves in the turn in which it is staged once more.
  for (int i = 0; i < 600; ++i) {
    if (a.link.credit()->waiting() != 0) a.link.StageBusy(waits);
    Run(1);
  }
  EXPECT_EQ(a.link.credit()->waiting(), 0u);
  EXPECT_EQ(b.up.size(), 1u);
  EXPECT_EQ(a.Count(LinkCounter::kLlrTxPlain), plain);
}

TEST_P(CreditLayerTest, GaugesShowTheCreditOfBothDirections) {
  const LinkCounters& gauges = a.link.end()->counters();
  a.link.Transmit(a.counters, now);
  EXPECT_EQ(gauges.Get(LinkGauge::kCreditOn), 0u);
  EXPECT_EQ(gauges.credit(1).granted, 0u);
  Agree();
  EXPECT_EQ(gauges.Get(LinkGauge::kCreditOn), 1u);
  a.Stage(1, 1000);
  b.Stage(2, 1000);
  drops = [](const Frame& frame) { return IsToNeighbour(frame.data); };
  Run(2);
  const ShownCredit one = gauges.credit(1);
  EXPECT_EQ(one.limit, kCredits);
  EXPECT_EQ(one.free, kCredits - 8);
  EXPECT_EQ(one.granted, kCredits);
  EXPECT_EQ(gauges.credit(2).free, kCredits);
  EXPECT_EQ(gauges.credit(2).held, 0u) << "what came is handled in its turn";
  EXPECT_EQ(gauges.credit(4).limit, 0u);
}

// The port takes one frame. The others stay, and none is lost.
TEST_P(CreditLayerTest, APortThatTakesAPartOfABurstKeepsTheOrder) {
  if (GetParam()) return;  // link-level retry has taken the frames by then
  Agree();
  for (const bool waits_first : {false, true}) {
    a.sender().OnSent(2, a.sender().free(2), now);
    if (waits_first) a.Stage(2, 1000);
    Pdu* const first = a.Stage(0, 100);
    Pdu* const second = a.Stage(0, 100);
    Pdu* const waits = a.Stage(2, 1000);
    Pdu* const third = a.Stage(3, 100);
    const uint64_t waited = a.Count(LinkCounter::kCreditWaits);
    a.port.max = 1;
    a.link.Transmit(a.counters, now);
    EXPECT_EQ(a.port.sent, std::vector<Frame*>{FrameOf(first)});
    const std::vector<Frame*> left(a.link.staged().begin(), a.link.staged().end());
    EXPECT_EQ(left, (std::vector<Frame*>{FrameOf(second), FrameOf(waits), FrameOf(third)}));
    EXPECT_EQ(a.Count(LinkCounter::kCreditWaits), waited + (waits_first ? 1 : 0));
    a.port.max = ~0u;
    a.link.Transmit(a.counters, now);
    EXPECT_TRUE(a.link.empty());
    EXPECT_EQ(a.Count(LinkCounter::kCreditWaits), waited + (waits_first ? 2 : 1));
    b.up.clear();
    Run(900);
    EXPECT_EQ(b.up.size(), waits_first ? 5u : 4u);
  }
}

// The frames of a few bursts may wait; then they stay staged. None is lost.
TEST_P(CreditLayerTest, SoManyFramesMayWaitForCredit) {
  Agree();
  drops = [](const Frame& frame) {
    return IsToNeighbour(frame.data) && LoadLinkWord(frame.data).kind == LinkKind::kCfUpdate;
  };
  a.sender().OnSent(2, a.sender().free(2), now);
  const CreditGate& gate = *a.link.credit();
  uint32_t staged = 0;
  for (; a.link.empty(); a.link.Transmit(a.counters, now)) {
    ASSERT_LT(staged, 1000u);
    for (uint32_t i = 0; i < kBurst; ++i, ++staged) a.Stage(2, 60);
  }
  EXPECT_EQ(gate.waiting(), CreditGate::kMaxWaiting);
  EXPECT_EQ(a.link.staged().size(), staged - CreditGate::kMaxWaiting);
  EXPECT_EQ(a.Count(LinkCounter::kCreditWaits), CreditGate::kMaxWaiting);
  // A management packet would wait, too.
  std::vector<uint8_t> packet(60, 0xff);
  ASSERT_TRUE(a.lane.Send(packet, now));
  EXPECT_FALSE(a.link.StagePacket(a.counters));
  drops = nullptr;
  b.up.clear();
  Run(3000);
  EXPECT_EQ(b.up.size(), staged);
  EXPECT_EQ(gate.waiting(), 0u);
  EXPECT_TRUE(a.link.empty());
  EXPECT_TRUE(a.link.StagePacket(a.counters));
}

TEST_P(CreditLayerTest, WithoutItsNeighbourALinkUsesNoCredit) {
  Agree();
  drops = [](const Frame&) { return true; };
  Run(1000, std::chrono::microseconds(100));
  EXPECT_FALSE(a.link.credit()->is_on());
  EXPECT_FALSE(a.receiver().is_on());
  EXPECT_EQ(a.link.room(), kEveryVc);
  EXPECT_EQ(a.link.end()->counters().Get(LinkGauge::kCreditOn), 0u);
}

// An update that comes as a numbered frame has a tag of its own.
TEST_P(CreditLayerTest, AnUpdateOfAnotherSessionIsIgnored) {
  if (!GetParam()) return;  // without a number it is dropped before
  Agree();
  Frame* update = a.port.MakeFrame();
  update->data = update->buffer + Frame::kCommandOffset;
  const LinkEnd& end = *a.link.end();
  end.Begin(LinkKind::kCcUpdate, 30'000, update->data);
  CreditUpdate forged{.vcs = 1};
  forged.counters[0] = Credit20(5);
  EncodeCreditUpdate(forged, update->data + kLinkBodyAt);
  update->data[15] ^= 1;
  update->length = kMinLinkFrameBytes;
  a.link.StageFront(update, TxNote::kNoCredit);
  a.link.Transmit(a.counters, now);
  ASSERT_TRUE(a.link.empty());
  const uint64_t stale = b.Count(LinkCounter::kCreditStale);
  b.up.clear();
  Run(10);
  EXPECT_EQ(b.Count(LinkCounter::kCreditStale), stale + 1);
  EXPECT_TRUE(b.up.empty()) << "it is the link's";
  EXPECT_EQ(b.receiver().counted(0), Credit20(0));
}

// No frame of the pool is free when the neighbour is to be told what was freed.
TEST_P(CreditLayerTest, AnUpdateWaitsForAFrameOfThePool) {
  Agree();
  for (int i = 0; i < 4; ++i) a.Stage(1, 1000);
  b.port.empty = true;
  Run(4);
  ASSERT_EQ(b.up.size(), 4u);
  EXPECT_EQ(a.sender().used(1), 32u);
  b.port.empty = false;
  Run(3);
  EXPECT_EQ(a.sender().used(1), 0u);
}

// The frame of a sealed PDU keeps the plain PDU, and has no network header: the bytes there are
// from the frame's last use.
TEST_P(CreditLayerTest, ASealedPduIsChargedByTheFrameThatLeaves) {
  Agree();
  a.link.ExpectSealed();
  int staged = 0;
  for (; a.link.HasRoom(1); ++staged) {
    ASSERT_LT(staged, 32) << "no credit of its VC is used up";
    ASSERT_TRUE(a.link.frames().Has(2));
    Pdu* const pdu = a.link.frames().NewPdu();
    pdu->vc = 1;
    WriteFrame(FrameOf(pdu), kClassOf[2], 1000);
    Frame* const sealed = a.link.frames().New();
    WriteFrame(sealed, kClassOf[1], 1000);
    a.link.frames().SetSealed(pdu, sealed);
    a.link.Stage(pdu, kClassOf[1]);
  }
  EXPECT_EQ(staged, 4) << "8 credits each, and 16 are left for a frame of any length";
  EXPECT_EQ(a.link.room(), kEveryVc & ~(1u << 1)) << "no other VC is closed";
  a.link.Transmit(a.counters, now);
  EXPECT_EQ(a.sender().used(1), 32u);
  EXPECT_EQ(a.sender().used(2), 0u);
  EXPECT_EQ(a.Count(LinkCounter::kCreditWaits), 0u);
}

TEST_P(CreditLayerTest, ANeighbourThatReturnsNoCreditIsCountedOnce) {
  Agree();
  while (a.link.HasRoom(1)) a.Stage(1, 1000);
  drops = [](const Frame& frame) {
    return IsToNeighbour(frame.data) && LoadLinkWord(frame.data).kind == LinkKind::kCfUpdate;
  };
  Run(3);
  ASSERT_TRUE(a.link.IsHeld(1));
  Run(2000, std::chrono::microseconds(100));
  EXPECT_EQ(a.Count(LinkCounter::kCreditStorms), 0u) << "nothing waits";
  a.link.NoteWaiting(1u << 1, now);
  Run(990, std::chrono::microseconds(100));
  EXPECT_EQ(a.Count(LinkCounter::kCreditStorms), 0u);
  Run(2000, std::chrono::microseconds(100));
  EXPECT_EQ(a.Count(LinkCounter::kCreditStorms), 1u);
  EXPECT_TRUE(a.link.HasRoom(0)) << "others go on";
  drops = nullptr;
  Run(20, std::chrono::microseconds(100));
  EXPECT_FALSE(a.link.IsHeld(1));
}

TEST_P(CreditLayerTest, StagedFramesWithoutCreditWaitAndHoldNoOtherUp) {
  Agree();
  std::vector<Frame*> waits;
  for (int i = 0; i < 3; ++i) waits.push_back(FrameOf(a.Stage(2, 1000)));
  Pdu* const other = a.Stage(3, 1000);
  // The credit of their class is used up without a check of its room.
  a.sender().OnSent(2, 36, now);
  a.link.Transmit(a.counters, now);
  EXPECT_TRUE(a.link.empty());
  EXPECT_EQ(a.Count(LinkCounter::kCreditWaits), 3u);
  for (Frame* frame : waits) EXPECT_TRUE(a.link.IsBusy(frame));
  // Its PDU is unanswered, and the link says since when.
  PduOf(waits[2])->sent_at = now;
  a.port.reclaims = true;
  EXPECT_EQ(a.link.HeldSince(PduOf(waits[2]), std::chrono::microseconds(10),
                             now + std::chrono::milliseconds(1)),
            now);
  EXPECT_FALSE(a.link.HasRoom(2));
  EXPECT_TRUE(a.link.HasRoom(3));
  // The transport sends one of the frames again, and gives another one up.
  a.link.StageBusy(PduOf(waits[0]));
  a.link.frames().ReleasePdu(PduOf(waits[1]));
  Run(3);
  ASSERT_EQ(b.up.size(), 1u);
  EXPECT_EQ(b.up[0]->data[15], 3 << 5);
  (void)other;
  Run(600);
  EXPECT_EQ(b.up.size(), 4u) << "none was lost, and none came twice";
  EXPECT_EQ(a.link.credit()->waiting(), 0u);
  EXPECT_TRUE(a.link.HasRoom(2));
}

// A frame that the device keeps is no frame that waits.
TEST_P(CreditLayerTest, AFrameThatIsRepeatedWaitsOnce) {
  Agree();
  a.port.keeps = true;
  Pdu* const sent = a.Stage(2, 1000);
  Run(600);
  ASSERT_EQ(b.up.size(), 1u);
  a.sender().OnSent(2, a.sender().free(2), now);
  Pdu* const waits = a.Stage(2, 1000);
  for (int i = 0; i < 2; ++i) {
    a.link.Transmit(a.counters, now);
    EXPECT_EQ(a.link.credit()->waiting(), 1u);
    a.link.StageBusy(waits);
  }
  a.link.StageBusy(sent);
  a.link.Transmit(a.counters, now);
  // With link-level retry it has an old shim, and its copy is the link's.
  EXPECT_EQ(a.link.credit()->waiting(), GetParam() ? 1u : 2u);
  EXPECT_EQ(a.Count(LinkCounter::kCreditWaits), GetParam() ? 1u : 2u);
  if (!GetParam()) return;  // what has left and is repeated leaves again
  // The frames leave in the turn in which one of them is repeated once more.
  for (int i = 0; i < 600; ++i) {
    if (a.link.credit()->waiting() != 0) a.link.StageBusy(waits);
    Run(1);
  }
  EXPECT_EQ(a.link.credit()->waiting(), 0u);
  EXPECT_TRUE(a.link.empty());
  EXPECT_EQ(b.up.size(), 3u);
  for (const Frame* frame : b.up) EXPECT_EQ(frame->length, 1000u);
}

TEST_P(CreditLayerTest, AManagementPacketThatIsStagedCountsWithItsClass) {
  Agree();
  for (int i = 0; i < 3; ++i) a.Stage(1, 1000);
  ASSERT_TRUE(a.link.HasRoom(1)) << "24 credits are used, and a frame of any length has 16";
  Frame* const packet = a.port.MakeFrame();
  WriteFrame(packet, kClassOf[1], 1000);
  ASSERT_TRUE(a.lane.Send({packet->data, packet->length}, now));
  ASSERT_TRUE(a.link.StagePacket(a.counters));
  EXPECT_EQ(a.link.room(), kEveryVc & ~(1u << 1));
  Run(3);
  EXPECT_EQ(b.up.size(), 4u);
  EXPECT_EQ(a.Count(LinkCounter::kCreditWaits), 0u);
  Run(600);
  EXPECT_EQ(a.sender().used(1), 0u);
  EXPECT_EQ(a.link.room(), kEveryVc);
}

// The update is repeated sooner than the sender asks again, 256 us after the last time.
TEST_P(CreditLayerTest, AnUpdateThatThePortDoesNotTakeGoesLater) {
  Agree();
  for (int i = 0; i < 4; ++i) a.Stage(1, 1000);
  b.port.max = 0;
  Run(2);
  ASSERT_EQ(b.up.size(), 4u);
  EXPECT_EQ(a.sender().used(1), 32u);
  b.port.max = ~0u;
  Run(3);
  EXPECT_EQ(a.sender().used(1), 0u);
  // A question goes later, too: the freed credit is lost on its way, so the sender asks.
  drops = [](const Frame& frame) {
    return IsToNeighbour(frame.data) && LoadLinkWord(frame.data).kind == LinkKind::kCfUpdate;
  };
  for (int i = 0; i < 4; ++i) a.Stage(1, 1000);
  Run(240);
  ASSERT_EQ(a.sender().used(1), 32u);
  drops = nullptr;
  a.port.max = 0;
  Run(40);
  ASSERT_EQ(a.sender().used(1), 32u);
  a.port.max = ~0u;
  Run(3);
  EXPECT_EQ(a.sender().used(1), 0u);
}

TEST_P(CreditLayerTest, LostFramesAndUpdatesAreRepaired) {
  Agree();
  int number = 0;
  // Every seventh frame is lost, link frames as well as data.
  drops = [&number](const Frame&) { return ++number % 7 == 0; };
  size_t sent = 0;
  for (int round = 0; round < 60000 && sent < 500; ++round) {
    if (a.link.HasRoom(0)) {
      a.Stage(0, 700);
      ++sent;
    }
    Run(1);
    a.sender().CheckInvariants();
    b.receiver().CheckInvariants();
  }
  drops = nullptr;
  Run(2000);
  EXPECT_EQ(sent, 500u);
  EXPECT_EQ(a.sender().used(0), 0u);
  EXPECT_EQ(a.sender().consumed(0), b.receiver().freed(0));
  EXPECT_EQ(b.Count(LinkCounter::kCreditExceeded), 0u);
  if (GetParam()) {
    EXPECT_EQ(b.up.size(), 500u) << "the link repeats what is lost";
    EXPECT_EQ(b.Count(LinkCounter::kCreditRepaired), 0u);
  } else {
    EXPECT_GT(b.Count(LinkCounter::kCreditRepaired), 0u);
  }
}

TEST_P(CreditLayerTest, ANeighbourThatOffersTooLittleIsRefused) {
  LinkParams params = ParamsOf(GetParam(), 3);
  for (uint32_t& limit : params.credit.credits) limit = std::min(limit, 15u);
  LinkSide poor(GetParam(), 3);
  FakePort port;
  Link link(&port, params);
  CounterBlock counters;
  for (int i = 0; i < 4000; ++i, now += std::chrono::microseconds(1)) {
    Frame* frames[2 * kBurst];
    link.Receive(frames, now);
    link.Transmit(counters, now);
    for (Frame* frame : port.sent) a.port.arrived.push_back(frame);
    port.sent.clear();
    a.link.Receive(frames, now);
    a.link.Transmit(a.counters, now);
    for (Frame* frame : a.port.sent) port.arrived.push_back(frame);
    a.port.sent.clear();
  }
  EXPECT_FALSE(a.link.credit()->is_on());
  EXPECT_EQ(a.Count(LinkCounter::kCreditRefused), 1u);
  EXPECT_EQ(a.link.room(), kEveryVc);
  // The neighbour does not wait for credit that this end will never give.
  EXPECT_FALSE(link.credit()->is_on());
  EXPECT_EQ(link.room(), kEveryVc);
}

TEST_P(CreditLayerTest, ForgedUpdatesChangeNothing) {
  Agree();
  a.Stage(0, 1000);
  drops = [](const Frame& frame) { return IsToNeighbour(frame.data); };
  Run(1);
  const uint32_t used = a.sender().used(0);
  EXPECT_EQ(used, 8u);
  const LinkEnd& end = *b.link.end();
  const auto forge = [&](uint32_t counter, uint16_t serial, bool spoilt) {
    Frame* const frame = a.port.MakeFrame();
    CreditUpdate update{.vcs = 1};
    update.counters[0] = Credit20(counter);
    end.Begin(LinkKind::kCfUpdate, serial, frame->data);
    EncodeCreditUpdate(update, frame->data + kLinkBodyAt);
    frame->length = kMinLinkFrameBytes;
    if (spoilt) frame->data[kLinkBodyAt] = 99;
    a.port.arrived.push_back(frame);
    Frame* frames[2 * kBurst];
    EXPECT_EQ(a.link.Receive(frames, now), 0u);
  };
  forge(9, 1000, false);
  EXPECT_EQ(a.Count(LinkCounter::kCreditImpossible), 1u);
  forge(8, 1000, false);
  EXPECT_EQ(a.Count(LinkCounter::kCreditStale), 1u);
  forge(8, 1001, true);
  EXPECT_EQ(a.Count(LinkCounter::kRxMalformed), 1u);
  EXPECT_EQ(a.sender().used(0), used);
}

INSTANTIATE_TEST_SUITE_P(Retry, CreditLayerTest, ::testing::Bool(), [](const auto& seen) {
  return seen.param ? "with_retry" : "without_retry";
});

}  // namespace
}  // namespace suede
