// SPDX-License-Identifier: Apache-2.0
#include "fabric/pfc.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string_view>

#include "../port/drop_recorder.h"
#include "fabric_fixture.h"

namespace suede::fabric {
namespace {

constexpr uint64_t kPfcRate = 10'000'000'000;  // a quantum of 51.2 ns

// Class 3, of PCP 3, is lossless; two inputs, output 2.
SwitchParams PfcSwitch() {
  SwitchParams params = ParamsOf(3);
  params.classes.pcp_first = true;
  params.learns = false;
  params.buffer_bytes = 256 * 1024;
  params.of_class[3].lossless = true;
  params.of_class[3].headroom_bytes = 16384;
  for (PortParams& port : params.ports) {
    port.rate_bps = kPfcRate;
    port.pfc.on = true;
  }
  return params;
}

struct PfcFabric : Fabric {
  explicit PfcFabric(const SwitchParams& params = PfcSwitch()) : Fabric(params) {
    the_switch.table().AddStatic(ForwardingTable::MacKey(MacNumber(2), 0), 2);
  }
  void Send(uint32_t port, uint8_t pcp, Time now, uint32_t bytes = 1000) {
    In(port,
       SueFrame{.from = 1, .to = 2, .bytes = bytes, .traffic_class = {.pcp = pcp}, .tagged = true},
       now);
  }
};

TEST(Pfc, FramesAreTheStandards) {
  const auto frame = FrameOfPfc(0x88, 0x1234);
  const uint8_t expected[18] = {0x01, 0x80, 0xc2, 0,    0,    1,    2,    0,    0,
                                0,    0,    9,    0x88, 0x08, 0x01, 0x01, 0x00, 0x88};
  EXPECT_EQ(std::memcmp(frame.data(), expected, sizeof expected), 0);
  EXPECT_EQ(LoadBe16(frame.data() + 18 + 6), 0x1234);
  EXPECT_EQ(LoadBe16(frame.data() + 18 + 14), 0x1234);
  const auto decoded = DecodePfc(frame.data(), PfcFrame::kBytes);
  ASSERT_TRUE(decoded.has_value());
  EXPECT_EQ(decoded->classes, 0x88);
  EXPECT_EQ(decoded->quanta[3], 0x1234);
  EXPECT_FALSE(DecodePfc(frame.data(), 33).has_value());
}

TEST(Pfc, ReceivedPausesHoldTheirClassesAndEnd) {
  PfcFabric fabric;
  fabric.In(2, FrameOfPfc(1 << 3, 1000), At(0));  // for 51.2 us
  fabric.Send(0, 3, At(0));
  fabric.Send(0, 5, At(0));
  EXPECT_EQ(fabric.Out(2, At(10)).size(), 1u);
  EXPECT_EQ(fabric.Count(2, 5, SwitchClassCounter::kFrames), 1u);
  EXPECT_EQ(fabric.the_switch.deadline(At(10)), TimeFromNs(51'200));
  EXPECT_EQ(fabric.Out(2, At(51)).size(), 0u);
  EXPECT_EQ(fabric.Out(2, At(52)).size(), 1u);
  EXPECT_EQ(fabric.the_switch.port(2).output().pauses().paused_for(3, At(100)).count(), 51'200);
  // A pause of no quanta ends one.
  fabric.In(2, FrameOfPfc(1 << 3, 1000), At(100));
  fabric.Send(0, 3, At(100));
  EXPECT_EQ(fabric.Out(2, At(110)).size(), 0u);
  fabric.In(2, FrameOfPfc(1 << 3, 0), At(120));
  EXPECT_EQ(fabric.Out(2, At(120)).size(), 1u);
  EXPECT_EQ(fabric.Count(2, SwitchPortCounter::kRxPfc), 3u);
}

// MAC control frames are Ethernet frames in a network of AFH Gen 2, too.
TEST(Pfc, IsObeyedByASwitchThatForwardsByAfh2) {
  SwitchParams params = ParamsOf(2, Forwarding::kAfh2);
  params.ports[1].pfc.on = true;
  Fabric fabric(params);
  fabric.the_switch.table().AddStatic(ForwardingTable::ForwardingKey(2), 1);
  fabric.In(1, FrameOfPfc(1 << 3, 1000), At(0));
  fabric.In(0, {.encap = Encap::kAfh2, .to = 2, .traffic_class = {.dscp = 24}}, At(0));
  EXPECT_EQ(fabric.Count(1, SwitchPortCounter::kRxPfc), 1u);
  EXPECT_EQ(fabric.Out(1, At(5)).size(), 0u);
  EXPECT_EQ(fabric.Out(1, At(6)).size(), 1u);
  // A port without PFC drops them as frames of the link.
  fabric.In(0, FrameOfPfc(1 << 3, 1000), At(0));
  EXPECT_EQ(fabric.Count(0, SwitchPortCounter::kRxLinkLocal), 1u);
}

// A port that loses the PFC frames which it receives goes on sending, and still sends its own.
TEST(Pfc, AReceivedPauseMayBeLost) {
  SwitchParams params = ParamsOf(2);
  params.learns = false;
  params.ports[1].pfc.on = true;
  Fabric fabric(params);
  fabric.the_switch.table().AddStatic(ForwardingTable::MacKey(MacNumber(2), 0), 1);
  fabric.the_switch.port(1).in().Set({.hole_destinations = {0x0180c2000001}});
  fabric.In(1, FrameOfPfc(1 << 3, 1000), At(0));
  fabric.In(0, {.to = 2, .traffic_class = {.dscp = 24}}, At(0));
  EXPECT_EQ(fabric.Out(1, At(0)).size(), 1u);
  EXPECT_EQ(fabric.Count(1, SwitchPortCounter::kRxPfc), 0u);
  EXPECT_EQ(fabric.Count(1, SwitchPortCounter::kImpairHole), 1u);
}

// The output is slow: its inputs are paused in turn, and nothing is lost.
TEST(Pfc, AFullOutputPausesItsInputsWithoutLoss) {
  PfcFabric fabric;
  uint32_t sent = 0;
  uint32_t got = 0;
  ClassMask paused[2] = {};
  uint32_t pauses = 0;
  for (int us = 0; us < 20000; ++us) {
    const Time now = At(us);
    for (uint32_t port = 0; port < 2; ++port) {
      for (const auto& frame : fabric.Out(port, now)) {
        const auto pfc = DecodePfc(frame.data(), static_cast<uint32_t>(frame.size()));
        ASSERT_TRUE(pfc.has_value());
        EXPECT_EQ(pfc->classes, 1 << 3);
        paused[port] = pfc->quanta[3] != 0 ? pfc->classes : 0;
        pauses += pfc->quanta[3] != 0 ? 1 : 0;
      }
      if (us < 10000 && (paused[port] & 1 << 3) == 0) fabric.Send(port, 3, now), ++sent;
    }
    got += static_cast<uint32_t>(fabric.Out(2, now).size());
  }
  EXPECT_GT(pauses, 2u);
  EXPECT_EQ(got, sent);
  EXPECT_GT(sent, 10000u);  // the output was kept busy: 0.86 us a frame
  EXPECT_EQ(fabric.Count(2, 3, SwitchClassCounter::kHeadroomDrop), 0u);
}

// An input that does not obey loses its own frames and no others.
TEST(Pfc, WhoIgnoresPausesHarmsOnlyItself) {
  PfcFabric fabric;
  uint32_t good = 0;
  uint32_t got = 0;
  for (int us = 0; us < 5000; ++us) {
    const Time now = At(us);
    for (int i = 0; i < 4; ++i) fabric.Send(0, 3, now);
    fabric.Out(0, now);
    if (us % 8 == 0) {
      bool paused = false;
      for (const auto& frame : fabric.Out(1, now)) {
        paused |= DecodePfc(frame.data(), PfcFrame::kBytes)->quanta[3] != 0;
      }
      EXPECT_FALSE(paused);
      fabric.In(
          1,
          SueFrame{.from = 9, .to = 2, .bytes = 500, .traffic_class = {.pcp = 3}, .tagged = true},
          now);
      ++good;
    }
    for (const auto& frame : fabric.Out(2, now)) got += frame[11] == 9 ? 1 : 0;
  }
  for (int us = 5000; us < 6000; ++us) {
    for (const auto& frame : fabric.Out(2, At(us))) got += frame[11] == 9 ? 1 : 0;
  }
  EXPECT_GT(fabric.Count(2, 3, SwitchClassCounter::kHeadroomDrop), 1000u);
  EXPECT_EQ(got, good);
}

TEST(Pfc, ASentPauseIsAskedForAgain) {
  PfcSender sender({.on = true, .quanta = 1000}, kPfcRate);
  ASSERT_TRUE(sender.Poll(1 << 3, At(0)).has_value());
  EXPECT_FALSE(sender.Poll(1 << 3, At(25)).has_value());
  EXPECT_EQ(sender.deadline(), TimeFromNs(25'600));
  EXPECT_TRUE(sender.Poll(1 << 3, At(26)).has_value());
  const auto end = sender.Poll(0, At(27));
  ASSERT_TRUE(end.has_value());
  EXPECT_EQ(end->classes, 1 << 3);
  EXPECT_EQ(end->quanta[3], 0);
  EXPECT_EQ(sender.deadline(), kNever);
  EXPECT_EQ(sender.pauses(), 1u);
}

// The pauses of a peer by themselves, at 10 Gb/s: 1000 quanta are 51.2 us.
TEST(Pfc, APeersPausesAreKnownByClassAndTime) {
  PfcReceiver receiver({.on = true}, kPfcRate);
  EXPECT_EQ(receiver.deadline(), kNever);
  PfcFrame pfc{.classes = 0x88};
  pfc.quanta.fill(1000);
  receiver.OnFrame(pfc, At(0));
  EXPECT_EQ(receiver.asked(At(51)), 0x88);
  EXPECT_EQ(receiver.asked(At(52)), 0);
  EXPECT_EQ(receiver.Paused(0, At(10)), 0x88);
  EXPECT_EQ(receiver.deadline(), TimeFromNs(51'200));
  EXPECT_EQ(receiver.paused_for(3, At(10)), std::chrono::microseconds(10));
  EXPECT_EQ(receiver.paused_for(3, At(90)), Duration(51'200)) << "it has ended by itself";
  EXPECT_EQ(receiver.paused_for(0, At(10)), Duration{});
  // One of them is longer, the other one ends.
  pfc.quanta[3] = 0;
  pfc.quanta[7] = 2000;
  receiver.OnFrame(pfc, At(20));
  EXPECT_EQ(receiver.asked(At(20)), 0x80);
  EXPECT_EQ(receiver.deadline(), At(20)) << "something may have changed";
  EXPECT_EQ(receiver.Paused(0, At(20)), 0x80);
  EXPECT_EQ(receiver.deadline(), TimeFromNs(20'000 + 102'400));
  EXPECT_EQ(receiver.Paused(0, At(123)), 0);
  EXPECT_EQ(receiver.deadline(), kNever);
  EXPECT_EQ(receiver.paused_for(3, At(200)), std::chrono::microseconds(20));
  EXPECT_EQ(receiver.paused_for(7, At(200)), Duration(20'000 + 102'400));
  EXPECT_EQ(receiver.storms(), 0u);
  // A second pause counts on.
  pfc.classes = 0x80;
  receiver.OnFrame(pfc, At(1000));
  EXPECT_EQ(receiver.paused_for(7, At(1010)), Duration(20'000 + 102'400 + 10'000));
}

TEST(Pfc, AStormIsAPauseForAsLongAsFramesWait) {
  using std::chrono::microseconds;
  PfcReceiver receiver({.on = true, .storm = microseconds(100), .calm = microseconds(300)},
                       kPfcRate);
  PfcFrame pfc{.classes = 1 << 3};
  pfc.quanta.fill(0xffff);  // 3.4 ms
  receiver.OnFrame(pfc, At(0));
  EXPECT_EQ(receiver.Paused(0, At(50)), 1 << 3);
  EXPECT_EQ(receiver.Paused(1 << 3, At(60)), 1 << 3);
  EXPECT_EQ(receiver.deadline(), At(160)) << "a storm is due";
  EXPECT_EQ(receiver.Paused(0, At(159)), 1 << 3) << "nothing waits any more";
  EXPECT_EQ(receiver.Paused(1 << 3, At(200)), 1 << 3);
  EXPECT_EQ(receiver.Paused(1 << 3, At(299)), 1 << 3);
  EXPECT_EQ(receiver.stormy(), 0);
  EXPECT_EQ(receiver.Paused(1 << 3, At(300)), 0) << "its frames are dropped";
  EXPECT_EQ(receiver.stormy(), 1 << 3);
  EXPECT_EQ(receiver.storms(), 1u);
  EXPECT_EQ(receiver.asked(At(300)), 1 << 3);
  pfc.quanta.fill(0);
  receiver.OnFrame(pfc, At(1000));
  EXPECT_EQ(receiver.Paused(0, At(1000)), 0);
  EXPECT_EQ(receiver.stormy(), 0) << "the last pause was asked for at 0";
  // It is calm only after as long as it was asked for none.
  pfc.quanta.fill(0xffff);
  receiver.OnFrame(pfc, At(2000));
  receiver.Paused(1 << 3, At(2000));
  receiver.Paused(1 << 3, At(2100));
  EXPECT_EQ(receiver.storms(), 2u);
  receiver.OnFrame(pfc, At(2200));
  pfc.quanta.fill(0);
  receiver.OnFrame(pfc, At(2300));
  EXPECT_EQ(receiver.Paused(0, At(2300)), 0);
  EXPECT_EQ(receiver.stormy(), 1 << 3);
  EXPECT_EQ(receiver.deadline(), At(2500));
  receiver.Paused(0, At(2499));
  EXPECT_EQ(receiver.stormy(), 1 << 3);
  receiver.Paused(0, At(2500));
  EXPECT_EQ(receiver.stormy(), 0);
  EXPECT_EQ(receiver.deadline(), kNever);
}

TEST(Pfc, WithoutATimeThereIsNoStorm) {
  PfcReceiver receiver({.on = true, .storm = Duration{}}, kPfcRate);
  PfcFrame pfc{.classes = 1};
  pfc.quanta.fill(0xffff);
  receiver.OnFrame(pfc, At(0));
  EXPECT_EQ(receiver.asked(At(3000)), 1);
  for (int us = 0; us < 3000; us += 100) EXPECT_EQ(receiver.Paused(1, At(us)), 1);
  EXPECT_EQ(receiver.deadline(), TimeFromNs(int64_t{0xffff} * 512 / 10));
  EXPECT_EQ(receiver.storms(), 0u);
}

// A switch whose spare frames the test gives. Frames of class 3 have come to port 0 until it asks
// for a pause.
struct PausingSwitch {
  PausingSwitch() {
    the_switch.table().AddStatic(ForwardingTable::MacKey(MacNumber(2), 0), 2);
    const auto bytes =
        BytesOf({.from = 1, .to = 2, .bytes = 1000, .traffic_class = {.pcp = 3}, .tagged = true});
    while (the_switch.buffer().paused(0) == 0) {
      Frame* frame = Make();
      frame->length = static_cast<uint32_t>(bytes.size());
      std::copy(bytes.begin(), bytes.end(), frame->data);
      the_switch.Receive(0, &frame, 1, At(0));
    }
  }
  Frame* Make() {
    frames.push_back(std::make_unique<Frame>());
    memory.push_back(std::make_unique<uint8_t[]>(2048));
    Frame* const frame = frames.back().get();
    frame->buffer = frame->data = memory.back().get();
    frame->capacity = 2048;
    return frame;
  }
  uint64_t Count(uint32_t port, SwitchPortCounter id) {
    return the_switch.port(port).counters().Get(id);
  }

  std::vector<std::unique_ptr<Frame>> frames;
  std::vector<std::unique_ptr<uint8_t[]>> memory;
  Switch the_switch{PfcSwitch()};
};

TEST(Pfc, APauseThatHasNoFrameGoesLater) {
  PausingSwitch pausing;
  Frame* frame = nullptr;
  EXPECT_EQ(pausing.the_switch.Transmit(1, &frame, 1, At(0)), 0u);
  EXPECT_EQ(pausing.Count(1, SwitchPortCounter::kTxPfcNoFrame), 0u) << "no pause is due";
  EXPECT_EQ(pausing.the_switch.Transmit(0, &frame, 1, At(0)), 0u);
  EXPECT_EQ(pausing.Count(0, SwitchPortCounter::kTxPfcNoFrame), 1u);
  EXPECT_EQ(pausing.Count(0, SwitchPortCounter::kTxPfc), 0u);
  pausing.the_switch.GiveSpare(pausing.Make());
  ASSERT_EQ(pausing.the_switch.Transmit(0, &frame, 1, At(1)), 1u);
  EXPECT_TRUE(DecodePfc(frame->data, frame->length).has_value());
  EXPECT_EQ(pausing.Count(0, SwitchPortCounter::kTxPfc), 1u);
  EXPECT_EQ(pausing.Count(0, SwitchPortCounter::kTxFrameBytes), PfcFrame::kBytes);
}

TEST(Pfc, ACallerThatTakesNoFrameLosesNoPause) {
  PausingSwitch pausing;
  pausing.the_switch.GiveSpare(pausing.Make());
  EXPECT_EQ(pausing.the_switch.Transmit(0, nullptr, 0, At(0)), 0u);
  Frame* frame = nullptr;
  ASSERT_EQ(pausing.the_switch.Transmit(0, &frame, 1, At(0)), 1u);
  EXPECT_TRUE(DecodePfc(frame->data, frame->length).has_value());
  EXPECT_EQ(pausing.the_switch.Transmit(0, &frame, 1, At(0)), 0u);
}

// A peer that pauses for ever costs its own frames, and the buffer is there for the others.
TEST(Pfc, AStormIsEndedByTheWatchdog) {
  SwitchParams params = PfcSwitch();
  for (PortParams& port : params.ports)
    port.pfc.storm = port.pfc.calm = std::chrono::milliseconds(1);
  PfcFabric fabric(params);
  DropRecorder tap;
  fabric.the_switch.port(2).drop_tap().Set(&tap);
  for (int us = 0; us < 3000; us += 10) {
    fabric.In(2, FrameOfPfc(1 << 3, 0xffff), At(us));
    fabric.Send(0, 3, At(us));
    EXPECT_EQ(fabric.Out(2, At(us)).size(), 0u);
  }
  for (const auto counter : {SwitchClassCounter::kStormDrop, SwitchClassCounter::kHeadroomDrop}) {
    const std::string_view name = SwitchClassRows()[static_cast<size_t>(counter)].name;
    EXPECT_EQ(std::ranges::count(tap.dropped, name, &DropRecorder::Dropped::counter),
              fabric.Count(2, 3, counter))
        << name;
  }
  EXPECT_EQ(fabric.the_switch.port(2).output().pauses().storms(), 1u);
  EXPECT_GT(fabric.Count(2, 3, SwitchClassCounter::kStormDrop), 150u);
  EXPECT_EQ(fabric.the_switch.buffer().used(), 0u);
  // It ends the pause, and is forgiven after a while of calm.
  fabric.In(2, FrameOfPfc(1 << 3, 0), At(3000));
  fabric.Send(0, 3, At(3500));
  EXPECT_EQ(fabric.Out(2, At(3500)).size(), 0u);
  fabric.Send(0, 3, At(4100));
  EXPECT_EQ(fabric.Out(2, At(4100)).size(), 1u);
}

}  // namespace
}  // namespace suede::fabric
