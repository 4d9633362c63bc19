// SPDX-License-Identifier: Apache-2.0
#ifndef SUEDE_TESTS_LINK_LINK_FIXTURE_H_
#define SUEDE_TESTS_LINK_LINK_FIXTURE_H_

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "fake_port.h"
#include "link/link.h"

namespace suede {

// A link over a port that the test plays.
class LinkTest : public ::testing::Test {
 protected:
  Frame* Front() {
    EXPECT_TRUE(link.frames().Has(1));
    Frame* frame = link.frames().New();
    frame->length = 60;
    link.StageFront(frame, TxNote::kNoCredit);
    return frame;
  }
  Pdu* Data(uint8_t vc = 0) {
    EXPECT_TRUE(link.frames().Has(1));
    Pdu* pdu = link.frames().NewPdu();
    pdu->vc = vc;
    pdu->sent_at = now;
    FrameOf(pdu)->length = 100;
    link.Stage(pdu, vc);
    return pdu;
  }
  // The frames that the port took in this turn.
  std::vector<Frame*> Turn(uint32_t max = ~0u) {
    port.max = max;
    port.sent.clear();
    link.Transmit(counters, now);
    link.frames().Flush();
    return port.sent;
  }
  bool Released(const Frame* frame) const { return std::ranges::count(port.released, frame) == 1; }
  uint64_t Count(Counter counter) const { return counters.Get(counter); }

  FakePort port;
  PacketLane lane{FrameRules{}, 1518, 64};
  Link link{&port, {}, &lane};
  CounterBlock counters;
  Time now = TimeFromNs(1'000'000'000);
};

}  // namespace suede

#endif  // SUEDE_TESTS_LINK_LINK_FIXTURE_H_
