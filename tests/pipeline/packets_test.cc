// SPDX-License-Identifier: Apache-2.0
// Management packets through a pipeline: merged into bursts one a turn, and handed up.
#include <algorithm>

#include "bench.h"

namespace suede {
namespace {

using Bytes = std::vector<uint8_t>;

// A frame that is not SUE's, to a host.
Bytes Packet(uint32_t to, uint32_t number, uint32_t bytes = 60) {
  Bytes frame(bytes);
  std::ranges::copy(MacOf(to), frame.begin());
  std::ranges::copy(MacOf(9), frame.begin() + 6);
  frame[12] = 0x88;
  frame[13] = 0xcc;
  for (uint32_t i = 14; i < bytes; ++i) frame[i] = static_cast<uint8_t>(number + i * 7);
  return frame;
}

class PacketsTest : public ByHandTest {
 protected:
  void SetUp() override {
    lane_burst = 256;
    params.transport.max_tries = 20;
  }
  // The frames on the wire, byte for byte.
  static std::vector<Bytes> TakeRaw(SimPort* port) {
    std::vector<Bytes> all;
    Frame* frame;
    while (port->Receive(&frame, 1) == 1) {
      all.emplace_back(frame->data, frame->data + frame->length);
      port->Release(&frame, 1);
    }
    return all;
  }
  static std::vector<Bytes> TakeUp(PacketLane& lane) {
    std::vector<Bytes> all;
    for (; !lane.Received().empty(); lane.PopReceived()) {
      all.emplace_back(lane.Received().begin(), lane.Received().end());
    }
    return all;
  }
};

TEST_F(PacketsTest, GoOutAsTheyAreOneATurn) {
  Start();
  std::vector<Bytes> sent;
  for (uint32_t i = 0; i < 8; ++i) {
    sent.push_back(Packet(1, i, i == 0 ? 14 : i == 1 ? SimPort::kMaxFrameBytes : 14 + i * 100));
    ASSERT_TRUE(host->lane->Send(sent.back(), network.now()));
  }
  for (uint32_t turn = 1; turn <= sent.size(); ++turn) {
    EXPECT_TRUE(host->pipeline->Poll(network.now()));
    EXPECT_EQ(host->Count(Counter::kMgmtTxPackets), turn);
    EXPECT_EQ(host->Count(Counter::kTxFrames), turn);
  }
  EXPECT_FALSE(host->pipeline->Poll(network.now()));
  EXPECT_TRUE(host->pipeline->IsQuiet());
  Run(milliseconds(1));
  EXPECT_EQ(TakeRaw(wire), sent);
  ExpectNoFramesOut();
}

// Two hosts, one of which has more data to send than its port takes.
TEST_F(PacketsTest, DataWaitForOneFrameAtMost) {
  shape.tx_lines = 4096;
  shape.rx_lines = 4096;
  shape.credit_lines = 4096;
  shape.aggregate_lines = 4096;
  Host& left = AddHost(0, 2);
  Host& right = AddHost(1, 2);
  left.port->faults().bits_per_ns = 0.2;
  Client& from = Attach(left);
  Client& to = Attach(right);
  right.lane->SetReceiving(true);
  std::vector<Bytes> sent;
  for (uint32_t i = 0; i < 200; ++i) {
    sent.push_back(Packet(1, i));
    ASSERT_TRUE(left.lane->Send(sent.back(), network.now()));
  }
  uint32_t commands = 0;
  std::vector<uint8_t> got;
  std::vector<uint8_t> want;
  std::vector<Bytes> up;
  uint64_t packets = 0;
  uint64_t full_bursts = 0;
  const bool done = RunUntil([&] {
    const uint64_t now_sent = left.Count(Counter::kMgmtTxPackets);
    EXPECT_LE(now_sent - packets, 1u);
    packets = now_sent;
    full_bursts = left.Count(Counter::kTxPortFull);
    for (; commands < 3000; ++commands) {
      const auto seed = static_cast<uint8_t>(commands);
      if (from.Send(TestCommand(8, 200, seed), 1, 0) != SendResult::kOk) break;
      want.push_back(TestCommand(8, 200, seed).bytes()[8]);
    }
    for (const uint8_t byte : to.Receive()) got.push_back(byte);
    for (Bytes& frame : TakeUp(*right.lane)) up.push_back(std::move(frame));
    return commands == 3000 && got.size() == 3000 && up.size() == sent.size();
  }, milliseconds(500));
  EXPECT_TRUE(done) << commands << " " << got.size() << " " << up.size();
  EXPECT_EQ(got, want);
  EXPECT_EQ(up, sent);
  EXPECT_GT(full_bursts, 0u) << "the port was never full, so this proves little";
}

TEST_F(PacketsTest, WaitForAFrame) {
  Start();
  std::vector<Frame*> all(4096);
  const uint32_t taken = host->port->Allocate(all.data(), 4096);
  ASSERT_TRUE(host->lane->Send(Packet(1, 1), network.now()));
  for (int i = 0; i < 5; ++i) host->pipeline->Poll(network.now());
  EXPECT_EQ(host->Count(Counter::kMgmtTxPackets), 0u);
  host->port->Release(all.data(), taken);
  host->pipeline->Poll(network.now());
  EXPECT_EQ(host->Count(Counter::kMgmtTxPackets), 1u);
}

TEST_F(PacketsTest, ComeUpWhereSomebodyReceives) {
  Start();
  Inject({Packet(0, 1)});
  EXPECT_EQ(host->Count(Counter::kRxNotSue), 1u);
  EXPECT_TRUE(host->lane->Received().empty());
  host->lane->SetReceiving(true);
  const std::vector<Bytes> sent = {Packet(0, 2, 14), Packet(0, 3, SimPort::kMaxFrameBytes),
                                   Packet(0, 4)};
  Inject(sent);
  EXPECT_EQ(TakeUp(*host->lane), sent);
  EXPECT_EQ(host->Count(Counter::kMgmtRxPackets), 3u);
  host->lane->SetReceiving(false);
  Inject({Packet(0, 5)});
  EXPECT_EQ(host->Count(Counter::kRxNotSue), 2u);
}

TEST_F(PacketsTest, SuesOwnFramesDoNotComeUp) {
  Start();
  Meet();
  host->lane->SetReceiving(true);
  Bytes broken = Build(Rh(), Command(1));
  broken.resize(broken.size() - 8);
  Inject({Build(Rh(), Command(1)), broken, Build(Rh(), Command(1), 1, 5)});
  EXPECT_TRUE(host->lane->Received().empty());
  EXPECT_EQ(host->Count(Counter::kMgmtRxPackets), 0u);
  EXPECT_EQ(host->Count(Counter::kRxTruncated), 1u);
  EXPECT_EQ(host->Count(Counter::kRxPdus), 1u);
}

TEST_F(PacketsTest, FloodIsCutAndCounted) {
  lane_burst = 20;
  Start();
  host->lane->SetReceiving(true);
  std::vector<Bytes> sent;
  for (uint32_t i = 0; i < 50; ++i) sent.push_back(Packet(0, i));
  Inject(sent);
  EXPECT_EQ(host->Count(Counter::kMgmtRxPackets), 20u);
  EXPECT_EQ(host->Count(Counter::kMgmtRxRate), 30u);
  EXPECT_EQ(host->Count(Counter::kRxNotSue), 0u);
  sent.resize(20);
  EXPECT_EQ(TakeUp(*host->lane), sent);
  Run(microseconds(300));
  Inject({sent.begin(), sent.begin() + 5});
  EXPECT_EQ(host->Count(Counter::kMgmtRxPackets), 23u);
}

TEST_F(PacketsTest, AReaderThatSleepsLosesPacketsAlone) {
  lane_burst = 1000;
  Start();
  host->lane->SetReceiving(true);
  for (uint32_t i = 0; i < kLanePackets + 44; ++i) Inject({Packet(0, i)});
  EXPECT_EQ(host->Count(Counter::kMgmtRxPackets), kLanePackets);
  EXPECT_EQ(host->Count(Counter::kMgmtRxRingFull), 44u);
  EXPECT_EQ(TakeUp(*host->lane).size(), kLanePackets);
  Inject({Packet(0, 7)});
  EXPECT_EQ(TakeUp(*host->lane), std::vector<Bytes>{Packet(0, 7)});
}

}  // namespace
}  // namespace suede
