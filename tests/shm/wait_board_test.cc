// SPDX-License-Identifier: Apache-2.0
// Waits at which the lcore looks.
#include "shm/wait_board.h"

#include <gtest/gtest.h>
#include <poll.h>

#include <atomic>
#include <cstdlib>
#include <memory>
#include <thread>
#include <vector>

#include "client/rx_ring.h"
#include "client/tx_ring.h"
#include "fake_daemon.h"
#include "shm/wait.h"
#include "suede/suede.hpp"

namespace suede {
namespace {

constexpr SegmentShape kShape{.queue_count = 2,
                              .tx_lines = 64,
                              .rx_lines = 64,
                              .completion_count = 64,
                              .credit_lines = 32,
                              .aggregate_lines = 64};

class WaitBoardTest : public ::testing::Test {
 protected:
  struct Client {
    Client() : memory(std::aligned_alloc(4096, SegmentOffsets(kShape).bytes), &std::free) {
      std::memset(memory.get(), 0, offsets.bytes);
      FormatSegment(memory.get(), kShape);
      for (uint32_t q = 0; q < 2; ++q) SetQueueState(memory.get(), q, SUEDE_QUEUE_READY);
    }
    // For all that there is, as it is now.
    protocol::Wait WaitForAll() const {
      protocol::Wait wait;
      wait.credit_queues = wait.completion_queues = 3;
      wait.rx_vcs = 0xf;
      for (uint32_t q = 0; q < 2; ++q) wait.state[q] = SUEDE_QUEUE_READY;
      return wait;
    }
    const SegmentOffsets offsets{kShape};
    const std::unique_ptr<void, decltype(&std::free)> memory;
  };

  WaitBoard::Slot PlaceFor(const Client& client) {
    return board_->TakeSlot(client.memory.get(), client.offsets);
  }
  bool Rings() const {
    pollfd what{.fd = board_->fd(), .events = POLLIN, .revents = 0};
    return poll(&what, 1, 0) == 1;
  }
  // Looks twice; whether the first look rang and the second did not.
  bool RingsOnce() {
    board_->Poll();
    if (!Rings()) return false;
    board_->ClearReady();
    board_->Poll();
    return !Rings();
  }

  const std::unique_ptr<WaitBoard> board_ = WaitBoard::Create();
};

TEST_F(WaitBoardTest, EachKindOfWaitRingsOnceWhenItIsOver) {
  Client client;
  void* const memory = client.memory.get();
  WaitBoard::Slot place = PlaceFor(client);
  ASSERT_TRUE(place.ok());
  RxRingWriter rx(memory, kShape, 2);
  CompletionWriter completions(memory, kShape, 1);
  CreditWriter credits(memory, kShape, 1);
  ASSERT_EQ(credits.Take(5, 0, 1), 1u);
  ASSERT_TRUE(completions.Push(1, 5, 0, SUEDE_STATUS_OK));
  ASSERT_NE(rx.Reserve(1), nullptr);
  place.PutUp(client.WaitForAll());
  board_->Poll();
  EXPECT_FALSE(Rings()) << "nothing was published";
  EXPECT_TRUE(place.is_up());

  protocol::Wait wait = client.WaitForAll();
  rx.Publish();
  EXPECT_TRUE(RingsOnce());
  EXPECT_FALSE(place.is_up());
  wait.rx[2] = 1;
  place.PutUp(wait);
  board_->Poll();
  EXPECT_FALSE(Rings()) << "the client knows of it";
  completions.Publish();
  EXPECT_TRUE(RingsOnce());
  wait.completion[1] = 1;
  place.PutUp(wait);
  credits.Return(5, 0, 1);
  EXPECT_TRUE(RingsOnce());
  wait.returned[1] = 1;
  place.PutUp(wait);
  SetQueueState(memory, 0, SUEDE_QUEUE_IN_RESET);
  EXPECT_TRUE(RingsOnce());
}

TEST_F(WaitBoardTest, WhatIsNotWaitedForDoesNotRing) {
  Client client;
  WaitBoard::Slot place = PlaceFor(client);
  RxRingWriter rx(client.memory.get(), kShape, 0);
  protocol::Wait wait;
  wait.rx_vcs = 2;
  place.PutUp(wait);
  ASSERT_NE(rx.Reserve(1), nullptr);
  rx.Publish();
  board_->Poll();
  EXPECT_FALSE(Rings());
}

// Whoever was taken down may be unmapped.
TEST_F(WaitBoardTest, WhatWasTakenDownIsNotTouched) {
  auto client = std::make_unique<Client>();
  {
    WaitBoard::Slot place = PlaceFor(*client);
    place.PutUp(client->WaitForAll());
    place.TakeDown();
    EXPECT_FALSE(place.is_up());
    place.PutUp(client->WaitForAll());
  }
  client.reset();
  board_->Poll();
  EXPECT_FALSE(Rings());
}

TEST_F(WaitBoardTest, PlacesAreBoundedAndComeBack) {
  const Client client;
  std::vector<WaitBoard::Slot> places;
  for (uint32_t i = 0; i < WaitBoard::kSlots; ++i) {
    places.push_back(PlaceFor(client));
    ASSERT_TRUE(places.back().ok());
  }
  EXPECT_FALSE(PlaceFor(client).ok());
  places.erase(places.begin() + 7);
  EXPECT_TRUE(PlaceFor(client).ok());
}

// The control thread puts a wait up and takes it down while the lcore looks; for TSan.
TEST_F(WaitBoardTest, ALookMayBeUnderWay) {
  const Client client;
  WaitBoard::Slot place = PlaceFor(client);
  std::atomic<bool> stop = false;
  std::thread lcore([&] {
    while (!stop) board_->Poll();
  });
  protocol::Wait over = client.WaitForAll();
  over.rx[0] = 1;
  for (int i = 0; i < 2000; ++i) {
    place.PutUp(client.WaitForAll());
    place.TakeDown();
    board_->ClearReady();
    place.PutUp(over);
    while (place.is_up()) std::this_thread::yield();
    // The look that took it down rings then.
    pollfd what{.fd = board_->fd(), .events = POLLIN, .revents = 0};
    EXPECT_EQ(poll(&what, 1, 5000), 1);
    board_->ClearReady();
  }
  stop = true;
  lcore.join();
}

// ---- With a server. A control thread that looks at waits by a timer would look 10,000 times a
// second at those of a client that sleeps, on a CPU that an lcore may need.

class WaitingTest : public ::testing::Test {
 protected:
  // How often the control thread looks while a client waits in vain for a second.
  uint64_t Looks(FakeDaemon& daemon) {
    client::Client client;
    EXPECT_EQ(client.Connect(directory_.Socket(), 1), 0) << suede_error_text();
    const uint64_t before = daemon.counters().wait_checks;
    EXPECT_EQ(
        client.Wait({.credit_queues = 1, .completion_queues = 1, .rx_vcs = 0xf}, nullptr, 1000), 0);
    return daemon.counters().wait_checks - before;
  }

  TestDirectory directory_;
};

TEST_F(WaitingTest, ASleepingClientDoesNotWakeTheControlThread) {
  FakeDaemon daemon(TestConfig(directory_.Socket()));
  // Its message comes ten times a second, and the timer twice.
  EXPECT_LE(Looks(daemon), 40u);
}

TEST_F(WaitingTest, WithoutABoardTheTimerWakesClients) {
  FakeDaemon daemon(TestConfig(directory_.Socket()), /*has_board=*/false);
  client::Client client;
  ASSERT_EQ(client.Connect(directory_.Socket(), 1), 0);
  std::thread later([&] {
    usleep(20'000);
    daemon.Ask<int>([](ShmServer& server) {
      SetQueueState(server.segment(server.clients()[0].id)->base(), 0, SUEDE_QUEUE_IN_RESET);
      return 0;
    });
  });
  EXPECT_EQ(client.Wait({.credit_queues = 1, .completion_queues = 0, .rx_vcs = 0}, nullptr, 5000),
            1);
  later.join();
}

}  // namespace
}  // namespace suede
