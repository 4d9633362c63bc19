// SPDX-License-Identifier: Apache-2.0
// Since when nothing has left a device: from frames that it takes no more, from one-shot frames and
// from PDUs that it keeps.
#include "link_fixture.h"

namespace suede {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr Duration kMin = microseconds(500);

class HeldTest : public LinkTest {
 protected:
  Time Held(const Pdu* oldest) { return link.HeldSince(oldest, kMin, now); }
};

TEST_F(HeldTest, APortWhoseFramesLeaveIsNotHeld) {
  Pdu* pdu = Data();
  Front();
  Turn();
  now += seconds(1);
  EXPECT_EQ(Held(nullptr), kNever);
  EXPECT_EQ(Held(pdu), kNever);
  EXPECT_FALSE(link.departures().TakeNews());
}

TEST_F(HeldTest, APduThatTheDeviceKeepsSaysSinceWhen) {
  port.keeps = true;
  const Time sent_at = now;
  Pdu* pdu = Data();
  Turn();
  now += kMin / 2;
  EXPECT_EQ(Held(pdu), kNever) << "not long enough";
  now += kMin;
  EXPECT_EQ(Held(pdu), sent_at);
  EXPECT_EQ(Held(nullptr), kNever) << "there is no other sign of it";
  // The frame leaves: the next one is judged by its own time.
  port.busy.clear();
  EXPECT_TRUE(link.departures().TakeNews());
  EXPECT_EQ(Held(pdu), kNever);
  now += milliseconds(1);
  Pdu* next = Data();
  Turn();
  now += milliseconds(1);
  EXPECT_EQ(Held(next), next->sent_at);
  EXPECT_TRUE(link.departures().TakeNews()) << "it is another hold";
}

TEST_F(HeldTest, AOneShotFrameThatTheDeviceKeepsIsASignForAll) {
  port.keeps = true;
  const Time handed_at = now;
  Frame* frame = Front();
  Turn();
  EXPECT_FALSE(Released(frame)) << "the link keeps it to see when it leaves";
  EXPECT_EQ(link.frames_kept(), kBurst - 1);
  now += milliseconds(1);
  EXPECT_EQ(Held(nullptr), handed_at);
  EXPECT_TRUE(link.departures().TakeNews());
  EXPECT_FALSE(link.departures().TakeNews());
  EXPECT_TRUE(link.departures().MayEmit(now));
  EXPECT_FALSE(link.departures().MayEmit(now + milliseconds(99)));
  EXPECT_TRUE(link.departures().MayEmit(now + milliseconds(100)));
  port.busy.clear();
  EXPECT_EQ(link.frames_kept(), kBurst);
  EXPECT_EQ(Held(nullptr), kNever);
  link.frames().Flush();
  EXPECT_TRUE(Released(frame));
  EXPECT_EQ(link.frames_kept(), kBurst - 1);
}

TEST_F(HeldTest, AFullDeviceIsHeldFromTheFirstRefusalOn) {
  Pdu* pdu = Data();
  const Time refused_at = now;
  Turn(0);
  now += milliseconds(1);
  Turn(0);
  EXPECT_EQ(Held(nullptr), refused_at);
  EXPECT_EQ(Held(pdu), refused_at) << "what is staged has not left";
  Turn();
  EXPECT_EQ(Held(pdu), kNever);
}

TEST_F(HeldTest, AHoldIsAsOldAsItsOldestSign) {
  port.keeps = true;
  Pdu* pdu = Data();
  Turn();
  now += milliseconds(1);
  const Time refused_at = now;
  Data();
  Turn(0);
  now += milliseconds(1);
  EXPECT_EQ(Held(nullptr), refused_at);
  EXPECT_EQ(Held(pdu), pdu->sent_at);
  EXPECT_EQ(Held(nullptr), pdu->sent_at) << "it is one hold";
}

TEST_F(HeldTest, ADeviceThatIsGivenNothingRefusesNothing) {
  Pdu* pdu = Data();
  Turn(0);
  Link::Withdraw(pdu);
  link.RemoveWithdrawn();
  now += milliseconds(1);
  EXPECT_EQ(Held(nullptr), kNever);
}

TEST_F(HeldTest, WithoutALinkSilenceIsNoPause) {
  port.keeps = true;
  Pdu* pdu = Data();
  Turn();
  now += milliseconds(1);
  port.up = false;
  EXPECT_EQ(Held(pdu), kNever);
}

// A device that cannot say which frames have left it tells nothing by the frames that it holds,
// only by those that it refuses.
TEST_F(HeldTest, ADeviceThatDoesNotTellIsNotBelieved) {
  port.keeps = true;
  Pdu* acknowledged = Data();
  Pdu* pdu = Data();
  Turn();
  EXPECT_TRUE(link.departures().WantsSample(now));
  link.SampleDeparture(*acknowledged, now);
  EXPECT_FALSE(link.departures().WantsSample(now));
  now += milliseconds(10);
  EXPECT_TRUE(link.departures().WantsSample(now));
  EXPECT_EQ(Held(pdu), kNever);
  port.busy.erase(FrameOf(acknowledged));
  link.SampleDeparture(*acknowledged, now);
  EXPECT_EQ(Held(pdu), pdu->sent_at);
  port.reclaims = false;
  EXPECT_EQ(Held(pdu), kNever);
}

TEST_F(HeldTest, AnAcknowledgementOfAnEarlierPduSaysNothing) {
  Pdu* earlier = Data();
  Turn();
  now += milliseconds(1);
  port.keeps = true;
  Pdu* pdu = Data();
  Turn();
  now += milliseconds(1);
  EXPECT_EQ(Held(pdu), pdu->sent_at);
  EXPECT_TRUE(link.departures().TakeNews());
  link.SampleDeparture(*earlier, now);
  EXPECT_EQ(Held(pdu), pdu->sent_at);
  EXPECT_FALSE(link.departures().TakeNews()) << "it is the same hold";
}

// An acknowledgement of a PDU that was sent later than the held ones ends the hold.
TEST_F(HeldTest, AnAcknowledgementOfALaterPduEndsIt) {
  port.keeps = true;
  Pdu* pdu = Data();
  Turn();
  now += milliseconds(1);
  EXPECT_NE(Held(pdu), kNever);
  EXPECT_TRUE(link.departures().TakeNews());
  Pdu* later = Data();
  Turn();
  port.busy.clear();
  link.SampleDeparture(*later, now);
  port.busy.insert(FrameOf(pdu));
  // The hold begins anew, and is news again.
  EXPECT_NE(Held(pdu), kNever);
  EXPECT_TRUE(link.departures().TakeNews());
}

}  // namespace
}  // namespace suede
