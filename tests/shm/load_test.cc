// SPDX-License-Identifier: Apache-2.0
// Instances' load as libsuede tells it, and its balancer, against a server.
#include <gtest/gtest.h>

#include <thread>

#include "fake_daemon.h"
#include "suede/suede.hpp"

extern "C" uint32_t LoadInC(const suede_queue* queue);

namespace suede {
namespace {

using client::Balancer;
using client::Client;
using client::Queue;

// The server has instances 0 and 1 of XPU 2.
class LoadTest : public ::testing::Test {
 protected:
  void Connect(Client& client, uint8_t instance, uint32_t queues = 1) {
    suede_open_params params{};
    params.size = sizeof params;
    params.queue_count = queues;
    params.instance_count = 1;
    params.instances[0] = {.xpuid = 2, .instance = instance, .reserved = 0};
    ASSERT_EQ(client.Connect(path_, params), 0) << suede_error_text();
  }
  // A client of each instance, and a balancer above them.
  void Balance(uint32_t policy) {
    Connect(first_, 0);
    Connect(second_, 1);
    const Queue queues[] = {first_.queue(0), second_.queue(0)};
    ASSERT_EQ(balancer_.Create(queues, policy), 0) << suede_error_text();
  }
  int Send(uint16_t xpuid, uint8_t flags = 0) {
    uint8_t control[4] = {};
    suede_command command = client::MakeCommand(xpuid, 0, control);
    command.flags = flags;
    return balancer_.Send(command);
  }
  // The queues that took the commands, "0" or "1" each, or "-" where none did.
  std::string SendAll(uint32_t count, uint16_t xpuid) {
    std::string taken;
    for (uint32_t i = 0; i < count; ++i) {
      const int result = Send(xpuid);
      EXPECT_TRUE(result >= 0 || result == -EAGAIN) << result;
      taken += result >= 0 ? std::to_string(result) : "-";
    }
    return taken;
  }
  static suede_destination Destination(Queue queue, uint16_t xpuid) {
    suede_destination destination{};
    for (int i = 0; i < 5000 && queue.GetDestination(xpuid, &destination) == -EAGAIN; ++i) {
      usleep(1000);
    }
    return destination;
  }

  TestDirectory directory_;
  const std::string path_ = directory_.Socket();
  FakeDaemon daemon_{TestConfig(path_)};
  Client first_;
  Client second_;
  Balancer balancer_;
};

TEST_F(LoadTest, IsThatOfTheQueuesInstance) {
  Connect(first_, 0);
  Connect(second_, 1);
  daemon_.ShowLoad({2, 0}, {.flags = SUEDE_LOAD_DOWN,
                            .load = 1,
                            .queued_pdus = 2,
                            .inflight_pdus = 3,
                            .inflight_bytes = 4,
                            .credit_lines = 5,
                            .paused = 6,
                            .unreachable = 7});
  daemon_.ShowLoad({2, 1}, {.load = 11});
  daemon_.ShowLoad({2, 1}, {.load = 12});
  suede_load load{};
  ASSERT_EQ(first_.queue(0).GetLoad(&load), 0) << suede_error_text();
  EXPECT_EQ(load.updates, 1u);
  EXPECT_EQ(load.is_down, 1u);
  EXPECT_EQ(load.load, 1u);
  EXPECT_EQ(load.queued_pdus, 2u);
  EXPECT_EQ(load.inflight_pdus, 3u);
  EXPECT_EQ(load.inflight_bytes, 4u);
  EXPECT_EQ(load.credit_lines, 5u);
  EXPECT_EQ(load.paused_destinations, 6u);
  EXPECT_EQ(load.unreachable_destinations, 7u);
  ASSERT_EQ(second_.queue(0).GetLoad(&load), 0);
  EXPECT_EQ(load.updates, 2u);
  EXPECT_EQ(load.is_down, 0u);
  EXPECT_EQ(load.load, 12u);
  EXPECT_EQ(LoadInC(second_.queue(0).get()), 12u);
}

TEST_F(LoadTest, Errors) {
  Connect(first_, 0);
  suede_load load{};
  EXPECT_EQ(suede_get_load(first_.queue(0).get(), &load), -EINVAL) << "no size";
  EXPECT_EQ(suede_get_load(nullptr, &load), -EINVAL);
  EXPECT_EQ(first_.queue(0).Watch(1024), -EINVAL);
  suede_destination destination{};
  EXPECT_EQ(suede_get_destination(first_.queue(0).get(), 1, &destination), -EINVAL) << "no size";
  EXPECT_EQ(first_.queue(0).GetDestination(1, &destination), -ENOENT);
  EXPECT_EQ(first_.queue(0).Unwatch(1), -ENOENT);
  daemon_.Stop();
  EXPECT_EQ(first_.Reconnect(), -ENOENT);
  EXPECT_EQ(first_.queue(0).GetLoad(&load), -ECONNRESET);
  EXPECT_EQ(first_.queue(0).Watch(1), -ECONNRESET);
}

TEST_F(LoadTest, WatchedDestinationsAreTold) {
  Connect(first_, 0, 2);
  for (uint16_t xpuid = 0; xpuid < 16; ++xpuid) EXPECT_EQ(first_.queue(1).Watch(xpuid), 0);
  EXPECT_EQ(first_.queue(1).Watch(15), 0) << "it is watched";
  EXPECT_EQ(first_.queue(1).Watch(16), -ENOSPC);
  EXPECT_EQ(Destination(first_.queue(1), 15).inflight_pdus, 150u);
  EXPECT_EQ(Destination(first_.queue(1), 0).is_known, 1u);
  EXPECT_EQ(first_.queue(1).Unwatch(3), 0);
  EXPECT_EQ(first_.queue(1).Watch(1023), 0);
  EXPECT_EQ(Destination(first_.queue(1), 1023).inflight_pdus, 10230u);
  suede_destination destination{};
  EXPECT_EQ(first_.queue(1).GetDestination(3, &destination), -ENOENT);
  EXPECT_EQ(first_.queue(0).GetDestination(15, &destination), -ENOENT) << "of the other queue";
  // The watch is remembered.
  ASSERT_EQ(first_.Reconnect(), 0) << suede_error_text();
  EXPECT_EQ(Destination(first_.queue(1), 1023).inflight_pdus, 10230u);
}

TEST_F(LoadTest, AnOlderDaemonShowsNone) {
  daemon_.is_old = true;
  Balance(SUEDE_BALANCE_LEAST_LOADED);
  suede_load load{};
  EXPECT_EQ(first_.queue(0).GetLoad(&load), -ENOTSUP);
  EXPECT_EQ(first_.queue(0).Watch(1), -ENOTSUP);
  daemon_.Pause();
  EXPECT_EQ(SendAll(6, 1), "010101");
}

TEST_F(LoadTest, RoundRobin) {
  Balance(SUEDE_BALANCE_ROUND_ROBIN);
  daemon_.Pause();
  daemon_.ShowLoad({2, 0}, {.load = 1000});
  EXPECT_EQ(SendAll(6, 1), "010101");
  EXPECT_EQ(balancer_.Choose(1), 0);
  EXPECT_EQ(balancer_.Choose(1), 1);
}

TEST_F(LoadTest, LeastLoaded) {
  Balance(SUEDE_BALANCE_LEAST_LOADED);
  daemon_.Pause();
  daemon_.ShowLoad({2, 0}, {.load = 10});
  EXPECT_EQ(SendAll(14, 1), "11111111110101");
  DestinationMap nine;
  nine.Set(9, true);
  daemon_.ShowLoad({2, 1}, {.load = 0}, nine);
  EXPECT_EQ(SendAll(20, 9), std::string(20, '0'));
}

TEST_F(LoadTest, HashStaysWhereItIs) {
  Balance(SUEDE_BALANCE_HASH);
  daemon_.Pause();
  std::string all;
  for (uint16_t xpuid = 0; xpuid < 8; ++xpuid) {
    const std::string taken = SendAll(4, xpuid);
    EXPECT_EQ(taken, std::string(4, taken[0]));
    EXPECT_EQ(balancer_.Choose(xpuid), taken[0] - '0');
    all += taken;
  }
  EXPECT_NE(all.find('0'), std::string::npos);
  EXPECT_NE(all.find('1'), std::string::npos);
}

// Credit of {destination, VC} is 64 lines.
TEST_F(LoadTest, WhatAQueueDoesNotTakeGoesToAnotherUnlessItIsHashed) {
  Balance(SUEDE_BALANCE_ROUND_ROBIN);
  daemon_.Pause();
  daemon_.SetState(0, SUEDE_QUEUE_READY);
  uint8_t control[4] = {};
  const suede_command command = client::MakeCommand(1, 0, control);
  for (int i = 0; i < 64; ++i) ASSERT_EQ(first_.queue(0).Send(command), 0);
  EXPECT_EQ(SendAll(66, 1), std::string(64, '1') + "--");
  Balancer hashed;
  const Queue queues[] = {first_.queue(0), second_.queue(0)};
  ASSERT_EQ(hashed.Create(queues, SUEDE_BALANCE_HASH), 0);
  uint16_t of_first = 5;
  while (hashed.Choose(of_first) != 0) ++of_first;
  const suede_command other = client::MakeCommand(of_first, 0, control);
  for (int i = 0; i < 64; ++i) ASSERT_EQ(hashed.Send(other), 0);
  EXPECT_EQ(hashed.Send(other), -EAGAIN);
}

TEST_F(LoadTest, ErrorsOfTheBalancer) {
  Balance(SUEDE_BALANCE_LEAST_LOADED);
  EXPECT_EQ(balancer_.Choose(1024), -EINVAL);
  EXPECT_EQ(Send(1024), -EINVAL);
  EXPECT_EQ(Send(1, 0x80), -EINVAL);
  daemon_.SetState(0, SUEDE_QUEUE_BROKEN);
  EXPECT_EQ(Send(1), -EIO);
  daemon_.SetState(0, SUEDE_QUEUE_READY);
  EXPECT_GE(Send(1), 0);
  const Queue queues[] = {first_.queue(0), first_.queue(7)};
  Balancer other;
  EXPECT_EQ(other.Create(queues, SUEDE_BALANCE_HASH), -EINVAL) << "there is no queue 7";
  EXPECT_EQ(other.Create({}, SUEDE_BALANCE_HASH), -EINVAL);
  EXPECT_EQ(other.Create({queues, 1}, 0), -EINVAL);
  EXPECT_EQ(other.Create({queues, 1}, 4), -EINVAL);
  suede_balancer_destroy(nullptr);
  // With one of the connections gone, commands take the other.
  daemon_.refuse_open = true;
  EXPECT_EQ(first_.Reconnect(), -EUSERS);
  EXPECT_EQ(SendAll(4, 1), "1111");
}

TEST_F(LoadTest, WhatIsBalancedArrives) {
  Client receiver;
  ASSERT_EQ(receiver.Connect(path_), 0);
  ASSERT_EQ(receiver.Claim(1, 0, 0xf), 0) << suede_error_text();
  Balance(SUEDE_BALANCE_ROUND_ROBIN);
  for (int i = 0; i < 10; ++i) ASSERT_EQ(Send(1, SUEDE_RECORD_COMPLETION), i % 2);
  balancer_.Flush();
  for (Client* client : {&first_, &second_}) {
    suede_completion completions[8];
    int count = 0;
    for (int i = 0; i < 5000 && count < 5; ++i) {
      count += client->queue(0).PollCompletions({completions + count, 8u - count});
      if (count < 5) usleep(1000);
    }
    EXPECT_EQ(count, 5);
  }
  suede_received commands[16];
  EXPECT_EQ(receiver.Receive(0, commands), 10);
}

}  // namespace
}  // namespace suede
