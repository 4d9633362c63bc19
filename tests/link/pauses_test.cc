// SPDX-License-Identifier: Apache-2.0
// Pauses by class, as the queue pairs of a device share them: who is paused, since when, for how
// long, and what is asked of the neighbour.
#include "link/pauses.h"

#include <gtest/gtest.h>

#include "link_fixture.h"

namespace suede {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;

constexpr uint64_t kRate = 100'000'000'000;
constexpr uint32_t kQuantaOfUs = 195;  // nearly

PfcFrame Pause(uint8_t classes, Duration time) {
  PfcFrame pfc{.classes = classes};
  pfc.quanta.fill(static_cast<uint16_t>(time.count() * kQuantaOfUs / 1000));
  return pfc;
}

class PausesTest : public LinkTest {
 protected:
  PausesTest() {
    link.SetPauses(&port_pauses, true);
    // VC 0 and 1 are of one class.
    link.pauses()->SetClasses({1, 1, 3, 4, 6});
  }
  void Hear(uint8_t classes, Duration time) { link.OnPfc(Pause(classes, time), now); }
  void Pass(Duration time) {
    now += time;
    link.CheckPauses(now);
  }

  PortPauses port_pauses{{.quanta = 1000, .rate_bps = kRate, .storm = milliseconds(1)}};
};

TEST_F(PausesTest, RoomIsByVcAndInFrontByAcknowledgements) {
  EXPECT_EQ(link.room(), kEveryVc);
  Hear(1 << 1, microseconds(100));
  EXPECT_EQ(link.room(), 0b1100);
  EXPECT_FALSE(link.HasRoom(0));
  EXPECT_TRUE(link.HasRoom(2));
  EXPECT_TRUE(link.HasFrontRoom());
  Hear(1 << 6, microseconds(50));
  EXPECT_FALSE(link.HasFrontRoom());
  Pass(microseconds(60));
  EXPECT_TRUE(link.HasFrontRoom());
  EXPECT_EQ(link.room(), 0b1100);
  EXPECT_TRUE(link.pauses()->TakeEnded());
  EXPECT_FALSE(link.pauses()->TakeEnded());
  Pass(microseconds(60));
  EXPECT_EQ(link.room(), kEveryVc);
  EXPECT_TRUE(link.pauses()->TakeEnded());
}

// A port that is set down is down, whatever is paused.
TEST_F(PausesTest, APortThatIsDownHasNoRoom) {
  link.set_down(true);
  Hear(1 << 1, microseconds(100));
  EXPECT_EQ(link.room(), 0);
  EXPECT_FALSE(link.HasFrontRoom());
  link.set_down(false);
  EXPECT_EQ(link.room(), 0b1100);
}

// A staged frame has its PSN, so it leaves.
TEST_F(PausesTest, StagedFramesLeave) {
  Pdu* pdu = Data(0);
  Hear(0xff, microseconds(100));
  EXPECT_EQ(Turn(), std::vector<Frame*>{FrameOf(pdu)});
}

TEST_F(PausesTest, AllQueuePairsObeyAndThatOfTheFrameAtOnce) {
  LinkPauses other(&port_pauses, false);
  other.SetClasses({1, 1, 3, 4, 6});
  Hear(1 << 3, microseconds(100));
  EXPECT_EQ(link.pauses()->paused(), 0b100);
  EXPECT_TRUE(other.Refresh(now));
  EXPECT_EQ(other.paused(), 0b100);
  EXPECT_EQ(other.since(2), now);
  EXPECT_FALSE(other.Refresh(now + microseconds(50))) << "nothing is new";
  EXPECT_TRUE(other.Refresh(now + microseconds(101)));
  EXPECT_EQ(other.paused(), 0);
}

TEST_F(PausesTest, AHeldFlowIsHeldSinceItsPauseBegan) {
  Hear(1 << 3, microseconds(100));
  const Time began = now;
  for (int i = 0; i < 3; ++i, Pass(microseconds(20))) {
    EXPECT_TRUE(link.IsHeld(2));
    EXPECT_EQ(link.HeldFlowSince(2), began);
    for (const uint32_t flow : {0, 1, 3, 4}) EXPECT_EQ(link.HeldFlowSince(flow), kNever);
  }
  Pass(microseconds(50));
  EXPECT_FALSE(link.IsHeld(2));
}

TEST_F(PausesTest, PausedTimeGrowsDuringAPauseAndNotBehindIt) {
  Hear(1 << 3, microseconds(100));
  const Duration whole = PauseOf(Pause(1 << 3, microseconds(100)).quanta[3], kRate);
  EXPECT_EQ(port_pauses.PausedFor(3, now), Duration{});
  EXPECT_EQ(port_pauses.PausedFor(3, now + microseconds(40)), microseconds(40));
  EXPECT_EQ(port_pauses.PausedFor(3, now + milliseconds(5)), whole);
  EXPECT_EQ(port_pauses.PausedFor(4, now + milliseconds(5)), Duration{});
  // Another one, later, and a longer one in it.
  Pass(milliseconds(1));
  Hear(1 << 3, microseconds(100));
  Pass(microseconds(30));
  Hear(1 << 3, microseconds(100));
  EXPECT_EQ(port_pauses.PausedFor(3, now), whole + microseconds(30));
  EXPECT_EQ(port_pauses.PausedFor(3, now + milliseconds(5)), 2 * whole + microseconds(30));
}

// The device's storms are told once, whichever queue pair sees them first.
TEST_F(PausesTest, AStormIsNewsOfOneQueuePair) {
  LinkPauses other(&port_pauses, false);
  other.SetClasses({1, 3, 3, 4, 6});
  Hear(1 << 3, microseconds(200));
  other.Refresh(now);
  link.pauses()->NoteWaiting(0b100, now);
  other.NoteWaiting(0b110, now);
  for (int i = 0; i < 11; ++i) {
    Pass(microseconds(100));
    Hear(1 << 3, microseconds(200));
    other.Refresh(now);
  }
  EXPECT_EQ(link.pauses()->TakeStorms(now), 0b100);
  EXPECT_EQ(other.TakeStorms(now), 0b110);
  EXPECT_EQ(link.pauses()->TakeNewStorms(), 0b100);
  EXPECT_EQ(link.pauses()->TakeNewStorms(), 0);
  EXPECT_EQ(other.TakeNewStorms(), 0b010);
  EXPECT_EQ(port_pauses.stormy(), 0b110);
}

TEST_F(PausesTest, TheSenderShowsTheClassesOfFlows) {
  for (uint32_t flow = 0; flow < kLinkFlows; ++flow) {
    EXPECT_EQ(port_pauses.ClassOf(flow), (std::array<uint32_t, kLinkFlows>{1, 1, 3, 4, 6})[flow]);
  }
  LinkPauses other(&port_pauses, false);
  other.SetClasses({7, 7, 7, 7, 7});
  EXPECT_EQ(port_pauses.ClassOf(2), 3u);
}

TEST_F(PausesTest, AClassThatIsPausedAgainIsPausedSinceTheFirstTime) {
  Hear(1 << 3, microseconds(100));
  const Time began = now;
  Pass(microseconds(90));
  Hear(1 << 3, microseconds(100));
  EXPECT_EQ(link.pauses()->since(2), began);
  Pass(microseconds(90));
  EXPECT_EQ(link.pauses()->paused(), 0b100);
  Hear(1 << 3, Duration{});
  EXPECT_EQ(link.pauses()->paused(), 0);
  EXPECT_NEAR(static_cast<double>(port_pauses.PausedFor(3, now + milliseconds(1)).count()), 180e3,
              2e3);
}

// A storm counts only where PDUs wait, once, and again after the pause has ended.
TEST_F(PausesTest, AStormIsALongWait) {
  const auto keep = [&](Duration time) {
    for (const Time end = now + time; now < end; Pass(microseconds(50))) {
      Hear(1 << 3, microseconds(100));
    }
  };
  keep(milliseconds(2));
  EXPECT_EQ(link.pauses()->TakeStorms(now), 0);
  link.pauses()->NoteWaiting(0b1111, now);
  EXPECT_EQ(link.pauses()->waiting(), 0b100) << "the others are not paused";
  keep(microseconds(900));
  EXPECT_EQ(link.pauses()->TakeStorms(now), 0);
  keep(microseconds(200));
  EXPECT_EQ(link.pauses()->TakeStorms(now), 0b100);
  EXPECT_EQ(link.pauses()->TakeStorms(now), 0);
  EXPECT_EQ(port_pauses.stormy(), 0b100);
  Pass(microseconds(200));
  EXPECT_EQ(port_pauses.stormy(), 0);
  Hear(1 << 3, microseconds(100));
  link.pauses()->NoteWaiting(0b100, now);
  keep(microseconds(1100));
  EXPECT_EQ(link.pauses()->TakeStorms(now), 0b100);
}

// PDUs without commands always wait: acknowledgements are owed.
TEST_F(PausesTest, PausedAcknowledgementsAreAStormByThemselves) {
  for (int us = 0; us < 1000; us += 100) {
    Hear(1 << 6 | 1 << 3, microseconds(200));
    EXPECT_EQ(link.pauses()->waiting(), kAckBit);
    EXPECT_EQ(link.pauses()->TakeStorms(now), 0);
    Pass(microseconds(100));
  }
  EXPECT_EQ(link.pauses()->TakeStorms(now), kAckBit);
}

TEST_F(PausesTest, ChangedClassesAreLookedAtAtOnce) {
  Hear(1 << 3, microseconds(100));
  link.pauses()->Want(2, true);
  EXPECT_EQ(port_pauses.wanted(), 1 << 3);
  link.pauses()->SetClasses({1, 3, 2, 4, 6});
  Pass(microseconds(1));
  EXPECT_EQ(link.pauses()->paused(), 0b10);
  EXPECT_EQ(port_pauses.wanted(), 1 << 2);
  link.pauses()->SetClasses({1, 3, 0, 4, 7});
  EXPECT_EQ(port_pauses.wanted(), 1 << 0);
}

// A class is paused while any queue pair wants it; one of them sends the frames.
TEST_F(PausesTest, WantsOfAllQueuePairsAreAskedForByOne) {
  LinkPauses other(&port_pauses, false);
  other.SetClasses({1, 1, 3, 4, 6});
  const auto sent = [&]() -> std::optional<PfcFrame> {
    port.sent.clear();
    link.SendPfc({2, 0, 0, 0, 0, 1}, counters, now);
    if (port.sent.empty()) return std::nullopt;
    return DecodePfc(port.sent[0]->data, port.sent[0]->length);
  };
  EXPECT_FALSE(sent());
  other.Want(0, true);
  EXPECT_FALSE(other.Poll(0, now));
  std::optional<PfcFrame> frame = sent();
  ASSERT_TRUE(frame);
  EXPECT_EQ(frame->classes, 1 << 1);
  EXPECT_EQ(frame->quanta[1], 1000);
  link.pauses()->Want(1, true);
  EXPECT_FALSE(sent()) << "the class is paused";
  // The pause is renewed at half of its time: 5.12 µs.
  now += microseconds(3);
  EXPECT_TRUE(sent());
  EXPECT_FALSE(sent());
  other.Want(0, false);
  EXPECT_FALSE(sent());
  link.pauses()->Want(1, false);
  frame = sent();
  ASSERT_TRUE(frame);
  EXPECT_EQ(frame->classes, 1 << 1);
  EXPECT_EQ(frame->quanta[1], 0);
  EXPECT_EQ(Count(Counter::kTxPfc), 3u);
  EXPECT_EQ(Count(Counter::kTxFrames), 3u);
  EXPECT_EQ(Count(Counter::kTxFrameBytes), 3 * PfcFrame::kBytes);
  link.frames().Flush();
  EXPECT_EQ(port.released.size(), 3u);
}

TEST_F(PausesTest, APauseIsAskedForOnlyOfAPortThatIsUpAndHasAFrame) {
  link.pauses()->Want(2, true);
  link.set_down(true);
  link.SendPfc({}, counters, now);
  EXPECT_TRUE(port.sent.empty());
  link.set_down(false);
  port.empty = true;
  link.SendPfc({}, counters, now);
  EXPECT_TRUE(port.sent.empty());
  port.empty = false;
  link.SendPfc({2, 0, 0, 0, 0, 1}, counters, now);
  ASSERT_EQ(port.sent.size(), 1u) << "it is due still";
  EXPECT_EQ(port.sent[0]->tx_offload, TxOffload::kNone);
  EXPECT_EQ(port.sent[0]->data[11], 1) << "the source";
  EXPECT_EQ(port.sent[0]->length, PfcFrame::kBytes);
}

// A pause is renewed at half of its time, which the speed of the link gives: 1000 quanta are
// 51.2 us at 10 Gb/s, and 5.12 us at 100 Gb/s.
TEST(LinkPauses, PausesAreRenewedAtTheLinksSpeed) {
  for (const bool is_set : {false, true}) {
    PortPauses port({.quanta = 1000, .rate_bps = is_set ? kRate / 10 : 0});
    LinkPauses pauses(&port, true);
    pauses.SetClasses({1, 1, 3, 4, 6});
    pauses.Want(0, true);
    const auto polls = [&](uint64_t rate, int us) {
      return pauses.Poll(rate, TimeFromNs(us * 1000)).has_value();
    };
    EXPECT_TRUE(polls(kRate, 1000));
    EXPECT_FALSE(polls(kRate, 1002));
    EXPECT_EQ(polls(kRate, 1003), !is_set);
    // The link has another speed from now on, and then names none.
    EXPECT_TRUE(polls(kRate / 10, 1026));
    EXPECT_FALSE(polls(kRate / 10, 1051));
    EXPECT_TRUE(polls(0, 1052));
    EXPECT_FALSE(polls(0, 1077));
    EXPECT_TRUE(polls(0, 1078));
  }
}

// The end of a pause could not be sent, and another class is to be paused.
TEST_F(PausesTest, AnUnsentEndGoesWithThePauseOfAnotherClass) {
  link.pauses()->Want(2, true);
  link.SendPfc({}, counters, now);
  ASSERT_EQ(port.sent.size(), 1u);
  link.pauses()->Want(2, false);
  port.max = 0;
  link.SendPfc({}, counters, now);
  link.pauses()->Want(3, true);
  port.max = ~0u;
  link.SendPfc({}, counters, now);
  ASSERT_EQ(port.sent.size(), 2u);
  const auto frame = DecodePfc(port.sent[1]->data, port.sent[1]->length);
  EXPECT_EQ(frame->classes, 1 << 3 | 1 << 4);
  EXPECT_EQ(frame->quanta[3], 0);
  EXPECT_EQ(frame->quanta[4], 1000);
}

// The newest of what is to be said of a class is said.
TEST_F(PausesTest, AnEndThatMeetsAnUnsentPauseGoesInItsPlace) {
  link.pauses()->Want(2, true);
  link.pauses()->Want(3, true);
  port.max = 0;
  link.SendPfc({}, counters, now);
  link.pauses()->Want(2, false);
  port.max = ~0u;
  link.SendPfc({}, counters, now);
  ASSERT_EQ(port.sent.size(), 1u);
  const auto frame = DecodePfc(port.sent[0]->data, port.sent[0]->length);
  EXPECT_EQ(frame->classes, 1 << 3 | 1 << 4);
  EXPECT_EQ(frame->quanta[3], 0);
  EXPECT_EQ(frame->quanta[4], 1000);
  link.SendPfc({}, counters, now);
  EXPECT_EQ(port.sent.size(), 1u) << "nothing is left";
}

// ---- The watchdog by itself.

TEST(HoldWatch, EachFlowHasATimeOfItsOwn) {
  HoldWatch watch(milliseconds(1));
  const auto storms = [&](int us) { return watch.TakeStorms(TimeFromNs(us * 1000)); };
  watch.NoteWaiting(0b00001, TimeFromNs(0));
  watch.NoteWaiting(0b10111, TimeFromNs(400'000));
  watch.End(0b00010);
  EXPECT_EQ(watch.waiting(), 0b10101);
  EXPECT_EQ(storms(999), 0);
  EXPECT_EQ(storms(1000), 0b00001) << "it has waited from the first time on";
  EXPECT_EQ(watch.stormy(), 0b00001);
  EXPECT_EQ(storms(1399), 0);
  EXPECT_EQ(storms(1400), 0b10100);
  EXPECT_EQ(storms(9000), 0) << "once";
  watch.End(0b00101);
  EXPECT_EQ(watch.waiting(), 0b10000);
  EXPECT_EQ(watch.stormy(), 0b10000);
  watch.NoteWaiting(0b00001, TimeFromNs(9'000'000));
  EXPECT_EQ(storms(9999), 0);
  EXPECT_EQ(storms(10'000), 0b00001);
}

TEST(HoldWatch, WithoutALimitNothingIsAStorm) {
  HoldWatch watch(Duration{});
  watch.NoteWaiting(0b1, TimeFromNs(1));
  EXPECT_EQ(watch.TakeStorms(TimeFromNs(int64_t{1} << 60)), 0);
  EXPECT_EQ(watch.waiting(), 0b1);
  EXPECT_EQ(watch.stormy(), 0);
}

// A virtual device names a speed that is nobody's: a configured rate goes before it.
TEST(PortPauses, AConfiguredRateGoesBeforeThatOfTheLink) {
  const PfcFrame pfc = Pause(1 << 1, microseconds(100));
  PortPauses configured({.quanta = 1000, .rate_bps = kRate / 100, .storm = milliseconds(1)});
  configured.OnFrame(pfc, kRate, Time());
  EXPECT_GT(configured.PausedFor(1, Time() + milliseconds(9)), milliseconds(8));
  PortPauses of_link({.quanta = 1000, .rate_bps = 0, .storm = milliseconds(1)});
  of_link.OnFrame(pfc, kRate, Time());
  EXPECT_LT(of_link.PausedFor(1, Time() + milliseconds(9)), microseconds(101));
}

// A full device takes it later, with what is new by then. No pause holds it up.
TEST_F(PausesTest, AFrameThatTheDeviceDoesNotTakeIsSentLater) {
  Hear(0xff, microseconds(300));
  link.pauses()->Want(2, true);
  port.max = 0;
  link.SendPfc({}, counters, now);
  EXPECT_TRUE(port.sent.empty());
  link.pauses()->Want(3, true);
  port.max = ~0u;
  link.SendPfc({}, counters, now);
  ASSERT_EQ(port.sent.size(), 1u);
  const auto frame = DecodePfc(port.sent[0]->data, port.sent[0]->length);
  EXPECT_EQ(frame->classes, 1 << 3 | 1 << 4);
  EXPECT_EQ(frame->quanta[3], 1000);
  EXPECT_EQ(frame->quanta[4], 1000);
  EXPECT_EQ(Count(Counter::kTxPfc), 1u);
}

}  // namespace
}  // namespace suede
