// SPDX-License-Identifier: Apache-2.0
// Layers between a link and its port: stacked as templates, called directly, once a burst.
#include "link/link_layer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <type_traits>
#include <vector>

#include "fake_port.h"
#include "link/link.h"

namespace suede {
namespace {

// Counts frames that pass, by VC on the way out. Looks at each frame, and makes no virtual call.
template <LinkLayer Below>
class Counting : public LayerOver<Below> {
 public:
  using LayerOver<Below>::LayerOver;

  uint32_t Receive(Frame** frames, uint32_t max, Time now) {
    const uint32_t count = LayerOver<Below>::Receive(frames, max, now);
    for (uint32_t i = 0; i < count; ++i) received_bytes += frames[i]->length;
    received += count;
    return count;
  }
  uint32_t Transmit(Frame* const* frames, uint32_t count, Time now) {
    const uint32_t taken = LayerOver<Below>::Transmit(frames, count, now);
    for (uint32_t i = 0; i < taken; ++i) {
      const TxNote note = NoteOf(frames[i]);
      if (note.vc == TxNote::kNoVc) {
        ++without_vc;
      } else {
        ++sent[note.vc];
      }
    }
    return taken;
  }

  std::array<uint32_t, kVcCount> sent{};
  uint32_t without_vc = 0;
  uint32_t received = 0;
  uint64_t received_bytes = 0;
};

// The needs of flow control by VC: VCs that are closed, frames that the layer has taken and holds
// back, and received frames that are its own. Frames that it holds back must stay their owner's
// until they have left.
template <LinkLayer Below>
class Gate : public LayerOver<Below> {
 public:
  using LayerOver<Below>::LayerOver;

  VcMask room() const { return static_cast<VcMask>(LayerOver<Below>::room() & ~closed); }
  uint32_t Transmit(Frame* const* frames, uint32_t count, Time now) {
    uint32_t taken = 0;
    for (; taken < count; ++taken) {
      Frame* frame = frames[taken];
      const uint8_t vc = NoteOf(frame).vc;
      if (vc < kVcCount && (closed >> vc & 1) != 0) {
        waiting.push_back(frame);
      } else if (LayerOver<Below>::Transmit(&frame, 1, now) == 0) {
        break;
      }
    }
    return taken;
  }
  bool IsBusy(const Frame* frame) const {
    return std::ranges::count(waiting, frame) != 0 || LayerOver<Below>::IsBusy(frame);
  }
  void Flush(Time now) {
    LayerOver<Below>::Flush(now);
    if (closed != 0 || waiting.empty()) return;
    LayerOver<Below>::Transmit(waiting.data(), static_cast<uint32_t>(waiting.size()), now);
    waiting.clear();
  }
  // A frame of one byte closes the VCs that it names.
  uint32_t Receive(Frame** frames, uint32_t max, Time now) {
    uint32_t passed = 0;
    const uint32_t count = LayerOver<Below>::Receive(frames, max, now);
    for (uint32_t i = 0; i < count; ++i) {
      if (frames[i]->length == 1) {
        closed = frames[i]->data[0];
        this->below().Release(&frames[i], 1);
      } else {
        frames[passed++] = frames[i];
      }
    }
    return passed;
  }

  VcMask closed = 0;
  std::vector<Frame*> waiting;
};

using Upper = Counting<Gate<Counting<PortLayer>>>;
static_assert(LinkLayer<Upper>);
static_assert(!std::is_polymorphic_v<Upper> && !std::is_polymorphic_v<PortLayer>);
static_assert(!std::is_polymorphic_v<BasicLink<Upper>>);

class LinkLayerTest : public ::testing::Test {
 protected:
  template <typename AnyLink>
  Pdu* Stage(AnyLink& link, uint8_t vc) {
    EXPECT_TRUE(link.HasFrames(1) && link.HasRoom(vc));
    Pdu* pdu = link.NewPdu();
    pdu->vc = vc;
    FrameOf(pdu)->length = 100;
    link.Stage(pdu);
    return pdu;
  }
  FakePort port;
  CounterBlock counters;
  const Time now = TimeFromNs(1'000'000'000);
};

TEST_F(LinkLayerTest, ACountingLinkCountsWhatThePortTook) {
  BasicLink<Counting<PortLayer>> link{Counting<PortLayer>(PortLayer(&port))};
  for (const uint8_t vc : std::initializer_list<uint8_t>{0, 1, 1, 3, 3, 3}) Stage(link, vc);
  ASSERT_TRUE(link.HasFrontRoom() && link.HasFrames(1));
  link.StageFront(link.NewFrame());
  port.max = 5;
  link.Transmit(counters, now);
  EXPECT_EQ(link.layer().without_vc, 1u);
  EXPECT_EQ(link.layer().sent, (std::array<uint32_t, kVcCount>{1, 2, 0, 1}));
  port.max = ~0u;
  link.Transmit(counters, now);
  EXPECT_EQ(link.layer().sent, (std::array<uint32_t, kVcCount>{1, 2, 0, 3}));
  // One virtual call a burst, however many frames.
  EXPECT_EQ(port.bursts, 2u);
  EXPECT_EQ(counters.Get(Counter::kTxFrames), 7u);
  port.arrived = {port.MakeFrame(), port.MakeFrame()};
  Frame* frames[2 * kBurst];
  EXPECT_EQ(link.Receive(frames, now), 2u);
  EXPECT_EQ(link.layer().received, 2u);
  EXPECT_EQ(link.layer().received_bytes, 120u);
}

TEST_F(LinkLayerTest, ALayerClosesVcsHoldsFramesBackAndHearsReceivedOnes) {
  BasicLink<Gate<PortLayer>> link{Gate<PortLayer>(PortLayer(&port))};
  Pdu* waits = Stage(link, 1);
  Pdu* goes = Stage(link, 0);
  Frame* pause = port.MakeFrame();
  pause->length = 1;
  pause->data[0] = 1u << 1;
  port.arrived = {pause, port.MakeFrame()};
  Frame* frames[2 * kBurst];
  EXPECT_EQ(link.Receive(frames, now), 1u) << "the other is the layer's";
  EXPECT_EQ(link.room(), kEveryVc & ~(1u << 1));
  EXPECT_FALSE(link.HasRoom(1));
  link.Transmit(counters, now);
  EXPECT_EQ(port.sent, std::vector<Frame*>{FrameOf(goes)}) << "a closed VC holds no other up";
  EXPECT_TRUE(link.IsBusy(FrameOf(waits)));
  EXPECT_TRUE(link.empty());
  // Its PDU is unanswered, and the link says since when.
  waits->sent_at = now;
  port.reclaims = true;
  const Time later = now + std::chrono::milliseconds(1);
  EXPECT_EQ(link.HeldSince(waits, std::chrono::microseconds(10), later), now);
  link.layer().closed = 0;
  link.Transmit(counters, later);
  EXPECT_EQ(port.sent, (std::vector<Frame*>{FrameOf(goes), FrameOf(waits)}));
  EXPECT_FALSE(link.IsBusy(FrameOf(waits)));
}

TEST_F(LinkLayerTest, LayersStack) {
  BasicLink<Upper> link{Upper(Gate<Counting<PortLayer>>(Counting<PortLayer>(PortLayer(&port))))};
  Stage(link, 2);
  link.Transmit(counters, now);
  EXPECT_EQ(link.layer().sent[2], 1u);
  EXPECT_EQ(port.sent.size(), 1u);
}

}  // namespace
}  // namespace suede
