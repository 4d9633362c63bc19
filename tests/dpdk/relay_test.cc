// SPDX-License-Identifier: Apache-2.0
// Several lcores on a memif, with one queue pair, through which the others send, or as many.
#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "dpdk/capture.h"
#include "dpdk/dpdk_port.h"
#include "dpdk/lcores.h"
#include "dpdk/relayed_pair.h"
#include "memif_device.h"

namespace suede {
namespace {

absl::StatusOr<std::unique_ptr<DpdkPort>> OpenMemif(const std::string& role, uint16_t lcores,
                                                    const std::string& arguments = "") {
  PortOptions options;
  options.name = role;
  options.device = MemifDevice(role) + arguments;
  options.lcores = options.queue_pairs = lcores;
  options.pool_frames = 2048;
  return DpdkPort::Open(options);
}

void WaitForLinks(DpdkPort& server, DpdkPort& client) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  while (!server.link().up || !client.link().up) {
    ASSERT_LT(std::chrono::steady_clock::now(), deadline) << "no link";
    server.RefreshLink();
    client.RefreshLink();
    SleepNs(1'000'000);
  }
}

class RelayTest : public testing::Test {
 protected:
  // A memif's end is for good, so all tests share them. The server has three lcores.
  static void SetUpTestSuite() {
    server_ = Open("server", 3);
    client_ = Open("client", 1);
    ASSERT_TRUE(server_ != nullptr && client_ != nullptr);
    WaitForLinks(*server_, *client_);
  }
  static void TearDownTestSuite() {
    delete client_;
    delete server_;
  }
  static DpdkPort* Open(const std::string& role, uint16_t lcores) {
    auto port = OpenMemif(role, lcores);
    EXPECT_TRUE(port.ok()) << port.status();
    return port.ok() ? port->release() : nullptr;
  }
  void SetUp() override {
    free_server_ = server_->FreeFrames();
    free_client_ = client_->FreeFrames();
  }
  void TearDown() override {
    EXPECT_EQ(server_->FreeFrames(), free_server_) << "a frame leaked";
    EXPECT_EQ(client_->FreeFrames(), free_client_) << "a frame leaked";
  }

  // Frames with a number each, as the lcore has them in flight.
  static std::vector<Frame*> Make(uint32_t lcore, uint32_t count) {
    std::vector<Frame*> frames(count);
    EXPECT_EQ(server_->pair(lcore).Allocate(frames.data(), count), count);
    for (uint32_t i = 0; i < count; ++i) {
      frames[i]->data = frames[i]->buffer + Frame::kCommandOffset;
      frames[i]->length = 60;
      std::memset(frames[i]->data, 0, 60);
      std::memcpy(frames[i]->data, &i, sizeof i);
      frames[i]->data[59] = static_cast<uint8_t>(lcore);
    }
    return frames;
  }
  // A turn of the server's first lcore.
  static uint32_t Turn() {
    Frame* frames[32];
    const uint32_t got = server_->pair(0).Receive(frames, 32);
    server_->pair(0).Release(frames, got);
    server_->pair(0).Flush();
    return got;
  }
  // Adds the numbers that have come from a lcore of the server's.
  static void Take(std::vector<uint32_t> (*numbers)[3]) {
    Frame* frames[32];
    while (const uint32_t got = client_->pair().Receive(frames, 32)) {
      for (uint32_t i = 0; i < got; ++i) {
        uint32_t number = 0;
        std::memcpy(&number, frames[i]->data, sizeof number);
        (*numbers)[frames[i]->data[59]].push_back(number);
      }
      client_->pair().Release(frames, got);
    }
  }
  static void ExpectInOrder(const std::vector<uint32_t>& numbers, uint32_t count) {
    ASSERT_EQ(numbers.size(), count);
    for (uint32_t i = 0; i < count; ++i) ASSERT_EQ(numbers[i], i);
  }

  static DpdkPort* server_;
  static DpdkPort* client_;
  uint32_t free_server_ = 0;
  uint32_t free_client_ = 0;
};
DpdkPort* RelayTest::server_ = nullptr;
DpdkPort* RelayTest::client_ = nullptr;

TEST_F(RelayTest, AllSendThroughOneQueuePairInOrder) {
  constexpr uint32_t kCount = 300;
  EXPECT_EQ(server_->queues(), 1U);
  std::vector<Frame*> frames[3];
  for (uint32_t lcore = 0; lcore < 3; ++lcore) frames[lcore] = Make(lcore, kCount);
  uint32_t sent[3] = {};
  std::vector<uint32_t> came[3];
  for (int turn = 0; turn < 1000 && came[0].size() + came[1].size() + came[2].size() < 3 * kCount;
       ++turn) {
    for (uint32_t lcore = 0; lcore < 3; ++lcore) {
      const uint32_t burst = std::min(kCount - sent[lcore], 7 + lcore);
      sent[lcore] += server_->pair(lcore).Transmit(frames[lcore].data() + sent[lcore], burst);
    }
    Turn();
    Take(&came);
  }
  for (uint32_t lcore = 0; lcore < 3; ++lcore) {
    ExpectInOrder(came[lcore], kCount);
    for (Frame* frame : frames[lcore]) EXPECT_FALSE(server_->pair(lcore).IsBusy(frame));
    server_->pair(lcore).Release(frames[lcore].data(), kCount);
  }
}

TEST_F(RelayTest, WhatTheFirstHasNotSentIsBusyAndNoMoreIsTakenThanThereIsRoom) {
  constexpr uint32_t kCount = Relay::kFrames + 200;
  std::vector<Frame*> frames = Make(1, kCount);
  EXPECT_EQ(server_->pair(1).Transmit(frames.data(), kCount), Relay::kFrames);
  EXPECT_EQ(server_->pair(1).Transmit(frames.data() + Relay::kFrames, 1), 0U);
  for (uint32_t i = 0; i < kCount; ++i) {
    EXPECT_EQ(server_->pair(1).IsBusy(frames[i]), i < Relay::kFrames);
  }
  std::vector<uint32_t> came[3];
  Turn();  // takes a burst, which makes room
  EXPECT_EQ(server_->pair(1).Transmit(frames.data() + Relay::kFrames, 200), Relay::kTaken);
  // A frame that its owner gives up on the way is the device's alone.
  server_->pair(1).Release(frames.data(), kCount);
  for (int turn = 0; turn < 100; ++turn) {
    Turn();
    Take(&came);
  }
  ExpectInOrder(came[1], Relay::kFrames + Relay::kTaken);
}

TEST_F(RelayTest, ReceivingSendsNothing) {
  std::vector<Frame*> frames = Make(1, 8);
  ASSERT_EQ(server_->pair(1).Transmit(frames.data(), 8), 8U);
  std::vector<uint32_t> came[3];
  for (int turn = 0; turn < 10; ++turn) {
    Frame* received[32];
    EXPECT_EQ(server_->pair(0).Receive(received, 32), 0U);
    Take(&came);
  }
  EXPECT_EQ(came[1].size(), 0U);
  server_->pair(0).Flush();
  Take(&came);
  ExpectInOrder(came[1], 8);
  server_->pair(1).Release(frames.data(), 8);
}

TEST_F(RelayTest, ACaptureHasTheFramesOfAllLcores) {
  std::string path = "/tmp/suede-relay-capture-XXXXXX";
  const int file = mkstemp(path.data());
  ASSERT_GE(file, 0);
  unlink(path.c_str());
  auto capture = Capture::Start(*server_, file, {});
  ASSERT_TRUE(capture.ok()) << capture.status();
  Frame* frame = nullptr;
  ASSERT_EQ(client_->pair().Allocate(&frame, 1), 1U);
  frame->data = frame->buffer + Frame::kCommandOffset;
  frame->length = 60;
  ASSERT_EQ(client_->pair().Give(&frame, 1), 1U);
  std::vector<Frame*> frames = Make(0, 2);
  EXPECT_EQ(server_->pair(0).Transmit(frames.data(), 2), 2U);
  server_->pair(0).Release(frames.data(), 2);
  frames = Make(1, 3);
  EXPECT_EQ(server_->pair(1).Give(frames.data(), 3), 3U);
  EXPECT_EQ(Turn(), 1U);
  ASSERT_TRUE((*capture)->Drain().ok());
  EXPECT_EQ((*capture)->stats().written, 6U);
  capture->reset();
  std::vector<uint32_t> came[3];
  Take(&came);
  ExpectInOrder(came[0], 2);
  ExpectInOrder(came[1], 3);
}

TEST_F(RelayTest, WhatIsReceivedComesToTheFirst) {
  Frame* frame = nullptr;
  ASSERT_EQ(client_->pair().Allocate(&frame, 1), 1U);
  frame->data = frame->buffer + Frame::kCommandOffset;
  frame->length = 60;
  ASSERT_EQ(client_->pair().Transmit(&frame, 1), 1U);
  client_->pair().Release(&frame, 1);
  EXPECT_EQ(server_->pair(1).Receive(&frame, 1), 0U);
  EXPECT_EQ(Turn(), 1U);
}

TEST(MemifQueuesTest, EachLcoreHasItsOwn) {
  const auto server = OpenMemif("server", 2, ",queues=2");
  const auto client = OpenMemif("client", 2, ",queues=2");
  ASSERT_TRUE(server.ok() && client.ok()) << server.status() << client.status();
  WaitForLinks(**server, **client);
  for (const auto& [from, to] : {std::pair(&**server, &**client), {&**client, &**server}}) {
    EXPECT_EQ(from->queues(), 2u);
    EXPECT_EQ(from->steering(), Steering::kSoftware);
    for (uint16_t lcore = 0; lcore < 2; ++lcore) {
      Frame* frame = nullptr;
      ASSERT_EQ(from->pair(lcore).Allocate(&frame, 1), 1u);
      frame->data = frame->buffer + Frame::kCommandOffset;
      frame->length = 60;
      ASSERT_EQ(from->pair(lcore).Give(&frame, 1), 1u);
      EXPECT_EQ(to->pair(1 - lcore).Receive(&frame, 1), 0u);
      ASSERT_EQ(to->pair(lcore).Receive(&frame, 1), 1u);
      to->pair(lcore).Release(&frame, 1);
    }
  }
}

TEST(MemifQueuesTest, AreAsManyAsLcores) {
  const auto port = OpenMemif("client", 2, ",queues=3");
  EXPECT_NE(port.status().message().find("2 lcores serve it, and the device has 3 pairs of queues: "
                                         "give it queues=2"),
            std::string::npos)
      << port.status();
}

}  // namespace
}  // namespace suede
