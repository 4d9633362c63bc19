// SPDX-License-Identifier: Apache-2.0
// Credit-based flow control of a switch's ports (docs/link.md): frames that come on credit, and
// frames that leave on credit.
#include <gtest/gtest.h>

#include <random>

#include "fabric_fixture.h"
#include "wire/frame_class.h"

namespace suede::fabric {
namespace {

constexpr uint32_t kCredits = 40;  // of each class

// Inputs 0 and 1 with credit, output 2 without, output 3 with credit.
SwitchParams CreditSwitch() {
  SwitchParams params = ParamsOf(4);
  params.classes.pcp_first = true;
  params.learns = false;
  params.buffer_bytes = 1 << 20;
  for (ClassParams& own : params.of_class) own.credits = kCredits;
  for (uint32_t port : {0, 1, 3}) params.ports[port].cbfc = true;
  return params;
}

struct CreditFabric : Fabric {
  explicit CreditFabric(const SwitchParams& params = CreditSwitch()) : Fabric(params) {
    the_switch.table().AddStatic(ForwardingTable::MacKey(MacNumber(2), 0), 2);
    the_switch.table().AddStatic(ForwardingTable::MacKey(MacNumber(3), 0), 3);
    for (uint32_t port : {0, 1}) {
      CreditReceiver& receiver = the_switch.port(port).credit()->receiver();
      receiver.Start();
      CreditUpdate start{.serial = 1, .vcs = 0xff, .starts = 0xff};
      receiver.OnConsumed(start, At(0));
      receiver.Poll(At(0));
    }
  }
  // The neighbour behind output 3 grants `credits` of each class.
  void Grant(uint32_t credits) {
    CreditGrant grant;
    for (uint32_t c = 0; c < kClasses; ++c) grant.limits[c] = credits;
    the_switch.port(3).credit()->sender().Start(grant, At(0));
    Free(0xff, 0, 1);
  }
  void Free(LinkVcMask classes, uint32_t counter, uint16_t serial) {
    CreditUpdate update{.serial = serial, .vcs = classes};
    for (Credit20& each : update.counters) each = Credit20(counter);
    the_switch.port(3).credit()->sender().OnFreed(update);
  }
  void Send(uint32_t port, uint8_t pcp, uint32_t to, Time now, uint32_t bytes = 1000) {
    In(port,
       SueFrame{.from = 1, .to = to, .bytes = bytes, .traffic_class = {.pcp = pcp}, .tagged = true},
       now);
  }
  // Frames that leave, without the link's own.
  std::vector<std::vector<uint8_t>> Data(uint32_t port, Time now) {
    auto frames = Out(port, now);
    std::erase_if(frames, [](const auto& frame) { return IsToNeighbour(frame.data()); });
    return frames;
  }
  uint32_t Held(uint32_t port, uint32_t vc) {
    return the_switch.port(port).credit()->receiver().held(vc);
  }
};

TEST(Credit, FramesOnCreditAreFreedWhenTheyHaveLeftTheirQueue) {
  CreditFabric fabric;
  fabric.Send(0, 3, 2, At(0));
  fabric.Send(1, 3, 2, At(0));
  fabric.Send(0, 5, 2, At(0), 60);
  const uint32_t each = fabric.Held(0, 3);
  EXPECT_EQ(each, 9u) << "1,066 octets";
  EXPECT_EQ(fabric.Held(1, 3), each);
  EXPECT_EQ(fabric.Held(0, 5), 1u);
  fabric.the_switch.CheckInvariants();
  EXPECT_EQ(fabric.Data(2, At(1)).size(), 3u);
  EXPECT_EQ(fabric.Held(0, 3) + fabric.Held(1, 3) + fabric.Held(0, 5), 0u);
  const auto update = fabric.the_switch.port(0).credit()->receiver().Poll(At(6));
  ASSERT_TRUE(update.has_value());
  EXPECT_EQ(update->vcs, 0b101000u);
  EXPECT_EQ(update->counters[3], Credit20(each));
}

TEST(Credit, FramesThatTheSwitchDropsAreFreedAtOnce) {
  SwitchParams params = CreditSwitch();
  params.floods = false;
  CreditFabric fabric(params);
  fabric.Send(0, 3, 9, At(0));  // unknown
  EXPECT_EQ(fabric.Count(0, SwitchPortCounter::kRxUnknown), 1u);
  EXPECT_EQ(fabric.Held(0, 3), 0u);
  EXPECT_EQ(fabric.the_switch.port(0).credit()->receiver().unannounced(3), 9u);
  fabric.Send(0, 3, 2, At(1));
  fabric.the_switch.SetDown(2, true);
  EXPECT_EQ(fabric.Held(0, 3), 0u);
}

// The time of the call counts, on a cable that takes its time, too.
TEST(Credit, ADroppedFramesCreditIsToldInTime) {
  SwitchParams params = CreditSwitch();
  params.floods = false;
  for (const bool delayed : {false, true}) {
    CreditFabric fabric(params);
    const CreditReceiver& receiver = fabric.the_switch.port(0).credit()->receiver();
    if (delayed) fabric.the_switch.port(0).in().Set({.delay = std::chrono::microseconds(40)});
    fabric.Send(0, 3, 9, At(700));
    if (delayed) {
      EXPECT_EQ(receiver.deadline(), kNever);
      fabric.the_switch.PollPort(0, At(740));
    }
    EXPECT_EQ(fabric.Count(0, SwitchPortCounter::kRxUnknown), 1u);
    EXPECT_EQ(receiver.deadline(), At(delayed ? 745 : 705));
  }
}

TEST(Credit, ASenderThatKeepsToItsCreditAlwaysFindsRoom) {
  std::mt19937 dice(3);
  SwitchParams params = CreditSwitch();
  // The other inputs have taken all that is shared.
  params.buffer_bytes = 384 * 1024;
  for (uint32_t c = 0; c < kClasses; ++c) params.of_class[c].reserved_bytes = 2048;
  ASSERT_GE(SharedBuffer::SharedBytes(params), 0);
  CreditFabric fabric(params);
  for (int i = 0; i < 400; ++i) fabric.Send(2, 7, 3, At(0), 1400);
  EXPECT_GT(fabric.Count(3, 7, SwitchClassCounter::kTailDrop), 0u);
  for (int round = 0; round < 50; ++round) {
    uint32_t used = 0;
    for (;;) {
      const auto bytes = static_cast<uint32_t>(40 + dice() % 1400);
      const uint32_t credits = CreditRule().CreditsOf(
          static_cast<uint32_t>(BytesOf({.bytes = bytes, .tagged = true}).size()));
      if (used + credits > kCredits) break;
      used += credits;
      fabric.Send(0, 3, 2, At(round), bytes);
    }
    ASSERT_EQ(fabric.Held(0, 3), used);
    fabric.the_switch.CheckInvariants();
    fabric.Data(2, At(round));
  }
  EXPECT_EQ(fabric.Count(2, 3, SwitchClassCounter::kCreditDrop), 0u);
  EXPECT_EQ(fabric.Count(2, 3, SwitchClassCounter::kTailDrop), 0u);
}

TEST(Credit, ASenderThatExceedsItsCreditLosesItsOwnFramesAlone) {
  CreditFabric fabric;
  for (int i = 0; i < 10; ++i) fabric.Send(0, 3, 2, At(0));
  EXPECT_EQ(fabric.Count(2, 3, SwitchClassCounter::kCreditDrop), 6u) << "four have 36 credits";
  fabric.Send(1, 3, 2, At(0));
  EXPECT_EQ(fabric.Data(2, At(1)).size(), 5u);
  EXPECT_EQ(fabric.Held(0, 3), 0u);
  fabric.the_switch.CheckInvariants();
}

TEST(Credit, AnOutputHoldsAClassWithoutCreditAndNoOther) {
  CreditFabric fabric;
  fabric.Grant(20);
  for (int i = 0; i < 4; ++i) fabric.Send(0, 3, 3, At(0));
  for (int i = 0; i < 2; ++i) fabric.Send(1, 5, 3, At(0));
  EXPECT_EQ(fabric.Data(3, At(1)).size(), 4u) << "two of each class";
  EXPECT_EQ(fabric.the_switch.port(3).output().without_credit(), 1u << 3);
  EXPECT_GT(fabric.the_switch.port(3).output().deadline(At(1)), At(1000));
  fabric.Free(1u << 3, 9, 2);
  EXPECT_EQ(fabric.Data(3, At(2)).size(), 1u);
  fabric.Free(1u << 3, 27, 3);
  EXPECT_EQ(fabric.Data(3, At(3)).size(), 1u);
  EXPECT_EQ(fabric.Data(3, At(4)).size(), 0u);
  EXPECT_EQ(fabric.Held(0, 3), 0u);
  EXPECT_EQ(fabric.the_switch.port(3).credit()->sender().used(3), 9u);
  fabric.the_switch.port(3).credit()->sender().CheckInvariants();
}

// A frame that waits for it is dropped after a while, so that the credit of inputs is free again.
TEST(Credit, AFrameBehindOneThatWasTooOldWaitsForItsOwnCredit) {
  SwitchParams params = CreditSwitch();
  params.of_class[3].max_wait = std::chrono::microseconds(10);
  CreditFabric fabric(params);
  fabric.Grant(5);
  fabric.Out(3, At(0));             // the link's frames
  fabric.Send(2, 3, 3, At(0), 60);  // 1 credit
  fabric.Send(2, 3, 3, At(15));     // 9 credits
  EXPECT_TRUE(fabric.Data(3, At(20)).empty());
  EXPECT_EQ(fabric.Count(3, 3, SwitchClassCounter::kAgeDrop), 1u);
  EXPECT_EQ(fabric.the_switch.port(3).output().queued_frames(3), 1u);
  fabric.the_switch.port(3).credit()->sender().CheckInvariants();
}

TEST(Credit, ANeighbourThatReturnsNoneStopsNoOtherOutput) {
  CreditFabric fabric;
  const Output& output = fabric.the_switch.port(3).output();
  const auto storms = [&] {
    return fabric.the_switch.port(3).link()->counters().Get(LinkCounter::kCreditStorms);
  };
  fabric.Grant(20);
  for (int i = 0; i < 4; ++i) fabric.Send(0, 3, 3, At(0));
  EXPECT_EQ(fabric.Data(3, At(1)).size(), 2u);
  EXPECT_EQ(output.deadline(At(1)), At(100'001));
  EXPECT_EQ(fabric.Data(3, At(99'000)).size(), 0u);
  EXPECT_EQ(fabric.Held(0, 3), 18u) << "of 40, and other outputs have the rest";
  EXPECT_EQ(storms(), 0u);
  EXPECT_EQ(fabric.Data(3, At(100'001)).size(), 0u);
  EXPECT_EQ(output.stormy(), 1u << 3);
  EXPECT_EQ(storms(), 1u);
  EXPECT_EQ(fabric.Data(3, At(100'002)).size(), 0u);
  EXPECT_EQ(fabric.Held(0, 3), 0u);
  EXPECT_EQ(fabric.Count(3, 3, SwitchClassCounter::kStormDrop), 2u);
  // Later frames of the class are dropped as they come, and other classes go.
  fabric.Send(0, 3, 3, At(200'000));
  fabric.Send(0, 5, 3, At(200'000));
  EXPECT_EQ(fabric.Data(3, At(200'001)).size(), 1u);
  EXPECT_EQ(fabric.Count(3, 3, SwitchClassCounter::kStormDrop), 3u);
  EXPECT_EQ(fabric.Held(0, 3), 0u);
  // The neighbour grants credit again.
  fabric.Free(1u << 3, 18, 2);
  fabric.Data(3, At(200'002));
  EXPECT_EQ(output.stormy(), 0u);
  fabric.Send(0, 3, 3, At(200'003));
  EXPECT_EQ(fabric.Data(3, At(200'004)).size(), 1u);
  EXPECT_EQ(storms(), 1u);
  fabric.the_switch.CheckInvariants();
}

TEST(Credit, TheWatchdogCountsFromTheLastFrameThatLeft) {
  CreditFabric fabric;
  const Output& output = fabric.the_switch.port(3).output();
  fabric.Grant(10);
  for (int i = 0; i < 3; ++i) fabric.Send(0, 3, 3, At(0));
  EXPECT_EQ(fabric.Data(3, At(1)).size(), 1u);
  EXPECT_EQ(output.deadline(At(1)), At(100'001));
  fabric.Free(1u << 3, 9, 2);
  EXPECT_EQ(fabric.Data(3, At(60'000)).size(), 1u);
  // Another class waits later: the first one is due first.
  for (int i = 0; i < 2; ++i) fabric.Send(0, 5, 3, At(70'000));
  EXPECT_EQ(fabric.Data(3, At(70'000)).size(), 1u);
  EXPECT_EQ(output.without_credit(), 1u << 3 | 1u << 5);
  EXPECT_EQ(output.deadline(At(70'000)), At(160'000));
  EXPECT_EQ(fabric.Data(3, At(159'999)).size(), 0u);
  EXPECT_EQ(output.stormy(), 0u);
  fabric.Data(3, At(160'000));
  EXPECT_EQ(output.stormy(), 1u << 3);
  fabric.Data(3, At(160'001));
  EXPECT_EQ(output.deadline(At(160'001)), At(170'000));
  fabric.Data(3, At(170'000));
  EXPECT_EQ(output.stormy(), 1u << 3 | 1u << 5);
  // Without an agreement no frame needs credit, and none is dropped.
  fabric.the_switch.port(3).credit()->sender().Stop();
  fabric.Data(3, At(170'001));
  EXPECT_EQ(output.stormy(), 0u);
  fabric.Send(0, 3, 3, At(170'002));
  EXPECT_EQ(fabric.Data(3, At(170'002)).size(), 1u);
}

TEST(Credit, TheCauseOfAWaitIsKnownWhenCreditComesTooLate) {
  SwitchParams params = CreditSwitch();
  params.of_class[3].max_wait = std::chrono::microseconds(10);
  CreditFabric fabric(params);
  fabric.Grant(9);
  for (int i = 0; i < 2; ++i) fabric.Send(2, 3, 3, At(0));
  EXPECT_EQ(fabric.Data(3, At(1)).size(), 1u);
  fabric.Free(1u << 3, 9, 2);
  EXPECT_TRUE(fabric.Data(3, At(20)).empty());
  EXPECT_EQ(fabric.Count(3, 3, SwitchClassCounter::kAgeDrop), 1u);
  EXPECT_EQ(fabric.the_switch.port(3).output().too_old().cause, WaitCause::kCredit);
}

// Frames that are too old make room for others, which have waited for less.
TEST(Credit, TheWatchdogBeginsAnewWhereNothingWaits) {
  SwitchParams params = CreditSwitch();
  params.of_class[3].max_wait = std::chrono::milliseconds(10);
  CreditFabric fabric(params);
  fabric.Grant(10);
  for (int i = 0; i < 2; ++i) fabric.Send(0, 3, 3, At(0));
  EXPECT_EQ(fabric.Data(3, At(1)).size(), 1u);
  for (int us : {11'000, 20'000}) fabric.Data(3, At(us));
  EXPECT_EQ(fabric.Count(3, 3, SwitchClassCounter::kAgeDrop), 1u);
  EXPECT_EQ(fabric.the_switch.port(3).output().too_old().cause, WaitCause::kCredit);
  fabric.Send(0, 3, 3, At(95'000));
  for (int us : {95'000, 101'000}) fabric.Data(3, At(us));
  EXPECT_EQ(fabric.the_switch.port(3).output().stormy(), 0u);
  EXPECT_EQ(fabric.the_switch.port(3).output().deadline(At(101'000)), At(195'000));
}

TEST(Credit, WithoutATimeForStormsFramesWaitForEver) {
  SwitchParams params = CreditSwitch();
  params.ports[3].pfc.storm = Duration{};
  CreditFabric fabric(params);
  fabric.Grant(10);
  for (int i = 0; i < 2; ++i) fabric.Send(0, 3, 3, At(0));
  EXPECT_EQ(fabric.Data(3, At(1)).size(), 1u);
  EXPECT_EQ(fabric.the_switch.port(3).output().deadline(At(1)), kNever);
  EXPECT_EQ(fabric.Data(3, At(10'000'000)).size(), 0u);
  EXPECT_EQ(fabric.the_switch.port(3).output().stormy(), 0u);
  fabric.Free(1u << 3, 9, 2);
  EXPECT_EQ(fabric.Data(3, At(10'000'001)).size(), 1u);
}

TEST(Credit, PdusWithoutAClassHaveTheLinkVcOfTheirVc) {
  CreditFabric fabric;
  SueFrame sue{.from = 1, .to = 2, .bytes = 1000};
  for (uint8_t vc = 0; vc < 4; ++vc) {
    sue.vc = vc;
    fabric.In(0, sue, At(0));
    EXPECT_EQ(fabric.Held(0, vc), 9u) << int{vc};
  }
  sue.bytes = 0;
  fabric.In(0, sue, At(0));
  EXPECT_EQ(fabric.Held(0, kAckLinkVc), 1u);
  fabric.the_switch.CheckInvariants();
  EXPECT_EQ(fabric.Data(2, At(1)).size(), 5u);
  for (uint32_t vc = 0; vc < kClasses; ++vc) EXPECT_EQ(fabric.Held(0, vc), 0u);
}

TEST(Credit, WithoutAnAgreementNothingIsHeldAndNothingCounted) {
  CreditFabric fabric;
  fabric.the_switch.port(0).credit()->receiver().Stop();
  for (int i = 0; i < 10; ++i) fabric.Send(0, 3, 3, At(0));
  EXPECT_EQ(fabric.Held(0, 3), 0u);
  EXPECT_EQ(fabric.Data(3, At(1)).size(), 10u);
}

TEST(Credit, CopiesOfAFloodedFrameUseNoneOfIt) {
  CreditFabric fabric;
  fabric.Send(0, 3, 9, At(0));
  EXPECT_EQ(fabric.Held(0, 3), 9u);
  EXPECT_EQ(fabric.Data(1, At(1)).size(), 1u);
  EXPECT_EQ(fabric.Data(2, At(1)).size(), 1u);
  EXPECT_EQ(fabric.Held(0, 3), 9u);
  EXPECT_EQ(fabric.Data(3, At(1)).size(), 1u);
  EXPECT_EQ(fabric.Held(0, 3), 0u);
}

TEST(Credit, TheBufferSetsAsideWholeCells) {
  SwitchParams params = CreditSwitch();
  EXPECT_EQ(CreditBytes(params, 0), kCredits * 256) << "a frame of one credit takes a cell";
  params.cbfc.rule = {.shift = 10, .overhead = -16};
  EXPECT_EQ(CreditBytes(params, 0), kCredits * 1280) << "1,040 bytes have one credit";
  const int64_t before = SharedBuffer::SharedBytes(params);
  params.ports[2].cbfc = true;
  EXPECT_EQ(before - SharedBuffer::SharedBytes(params), 8 * kCredits * 1280);
}

TEST(Credit, TheLinkVcOfAFrameIsItsClassByDefault) {
  std::mt19937 dice(5);
  for (size_t encap = 0; encap < kEncapCount; ++encap) {
    const auto id = static_cast<Encap>(encap);
    const Forwarding forwarding = TraitsOf(id).macs == MacKind::kOther ? Forwarding::kAfh2
                                  : id == Encap::kEsun                 ? Forwarding::kEsun
                                                                       : Forwarding::kMac;
    for (const bool pcp_first : {false, true}) {
      SwitchParams params = ParamsOf(2, forwarding);
      params.classes.pcp_first = pcp_first;
      const Switch the_switch(params);
      for (int i = 0; i < 100; ++i) {
        SueFrame sue{.encap = id, .tagged = TraitsOf(id).can_be_tagged && i % 2 == 0};
        sue.traffic_class = {.pcp = static_cast<uint8_t>(dice() % 8),
                             .dscp = static_cast<uint8_t>(dice() % 64)};
        std::vector<uint8_t> bytes = BytesOf(sue);
        // Frames that were changed on their way, too.
        if (i % 5 == 0) bytes[dice() % 24] ^= static_cast<uint8_t>(1u << dice() % 8);
        Frame frame;
        frame.data = bytes.data();
        frame.length = static_cast<uint32_t>(bytes.size());
        const FrameView view =
            ViewFrame(params.forwarding, frame.data, frame.length, params.esun_ether_type);
        EXPECT_EQ(FrameClassOf(ClassRuleOf(params), frame.data, frame.length),
                  the_switch.ClassOf(&frame, view))
            << EncapName(id) << " " << i;
      }
    }
  }
}

}  // namespace
}  // namespace suede::fabric
