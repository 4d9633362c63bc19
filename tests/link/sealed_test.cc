// SPDX-License-Identifier: Apache-2.0
// PDUs that leave sealed: the sealed frame goes in the place of the PDU's own, and back to the port
// as soon as nothing needs it any more.
#include "link_fixture.h"

namespace suede {
namespace {

using Frames = std::vector<Frame*>;

class SealedTest : public LinkTest {
 protected:
  SealedTest() { link.ExpectSealed(); }
  Pdu* Sealed() {
    EXPECT_TRUE(link.frames().Has(2));
    Pdu* const pdu = link.frames().NewPdu();
    pdu->sent_at = now;
    FrameOf(pdu)->length = 100;
    Frame* const sealed = link.frames().New();
    sealed->length = 120;
    link.frames().SetSealed(pdu, sealed);
    link.Stage(pdu, 0);
    return pdu;
  }
};

TEST_F(SealedTest, TheSealedFrameLeavesAndGoesBackWhileThePduIsKept) {
  Frame* const front = Front();
  Pdu* const plain = Data();
  Pdu* const pdu = Sealed();
  Frame* const sealed = FrameOf(pdu)->sealed;
  EXPECT_EQ(Turn(), (Frames{front, FrameOf(plain), sealed}));
  EXPECT_EQ(Count(Counter::kTxFrameBytes), 60u + 100u + 120u);
  EXPECT_FALSE(pdu->note.staged());
  EXPECT_FALSE(pdu->sealed);
  EXPECT_EQ(FrameOf(pdu)->sealed, nullptr);
  EXPECT_EQ(port.released, Frames{sealed}) << "neither PDU has ended";
}

TEST_F(SealedTest, ASealedFrameThatTheDeviceReadsIsKeptUntilThePduEnds) {
  port.keeps = true;
  Pdu* const pdu = Sealed();
  Frame* const sealed = FrameOf(pdu)->sealed;
  EXPECT_EQ(Turn(), Frames{sealed});
  EXPECT_TRUE(pdu->sealed);
  EXPECT_EQ(FrameOf(pdu)->sealed, sealed);
  EXPECT_TRUE(link.IsBusy(FrameOf(pdu)));
  EXPECT_TRUE(port.released.empty());
  port.busy.clear();
  EXPECT_FALSE(link.IsBusy(FrameOf(pdu)));
  link.frames().ReleasePdu(pdu);
  link.frames().Flush();
  EXPECT_EQ(port.released, (Frames{sealed, FrameOf(pdu)}));
}

TEST_F(SealedTest, APduThatThePortDidNotTakeStaysSealed) {
  Pdu* const first = Sealed();
  Pdu* const second = Sealed();
  Frame* const of_first = FrameOf(first)->sealed;
  Frame* const of_second = FrameOf(second)->sealed;
  EXPECT_EQ(Turn(0), Frames{});
  EXPECT_TRUE(first->sealed && second->sealed);
  EXPECT_TRUE(port.released.empty());
  EXPECT_EQ(Turn(1), Frames{of_first});
  EXPECT_EQ(port.released, Frames{of_first});
  EXPECT_TRUE(second->note.staged());
  EXPECT_EQ(FrameOf(second)->sealed, of_second);
  EXPECT_EQ(Turn(), Frames{of_second});
  EXPECT_EQ(port.released, (Frames{of_first, of_second}));
}

TEST_F(SealedTest, APduThatEndsWhileStagedLeavesSealedAndBothFramesGoBackOnce) {
  Front();  // the first is kept to see when it leaves
  Turn();
  Pdu* const pdu = Sealed();
  Frame* const sealed = FrameOf(pdu)->sealed;
  link.frames().ReleasePdu(pdu);
  EXPECT_EQ(Turn(0), Frames{});
  EXPECT_TRUE(port.released.empty());
  EXPECT_EQ(Turn(), Frames{sealed});
  EXPECT_EQ(port.released, (Frames{sealed, FrameOf(pdu)}));
}

}  // namespace
}  // namespace suede
