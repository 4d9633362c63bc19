// SPDX-License-Identifier: Apache-2.0
// libsuede against a server, end to end.
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/wait.h>

#include <cerrno>
#include <chrono>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "fake_daemon.h"
#include "suede/suede.hpp"

namespace suede {
namespace {

using client::Client;
using std::chrono::milliseconds;
using std::chrono::steady_clock;

class ClientTest : public ::testing::Test {
 protected:
  suede_open_params Params(uint32_t queues, uint16_t xpuid) {
    suede_open_params params{};
    params.size = sizeof params;
    params.queue_count = queues;
    params.instance_count = 1;
    params.instances[0].xpuid = xpuid;
    return params;
  }
  // Sends `n` tagged commands of VC 0 to `xpuid`; returns the first error.
  int SendTagged(Client& from, uint32_t queue, uint16_t xpuid, uint64_t n) {
    for (uint64_t i = 0; i < n; ++i) {
      uint8_t control[4] = {0, 0, static_cast<uint8_t>(i)};
      uint8_t data[20] = {static_cast<uint8_t>(i)};
      suede_command command = client::MakeCommand(xpuid, 0, control, data);
      command.flags = SUEDE_RECORD_COMPLETION;
      command.tag = i;
      if (const int error = from.queue(queue).Send(command); error != 0) return error;
    }
    from.queue(queue).Flush();
    return 0;
  }
  // Waits for `n` completions on queue 0.
  std::vector<suede_completion> Completions(Client& of, size_t n) {
    std::vector<suede_completion> all;
    const auto deadline = steady_clock::now() + milliseconds(5000);
    while (all.size() < n && steady_clock::now() < deadline) {
      suede_completion some[64];
      const int count = of.queue(0).PollCompletions(some);
      if (count < 0) break;
      all.insert(all.end(), some, some + count);
      if (count == 0)
        of.Wait({.credit_queues = 0, .completion_queues = 1, .rx_vcs = 0}, nullptr, 50);
    }
    return all;
  }
  template <typename Condition>
  bool Eventually(Condition condition) {
    for (int i = 0; i < 5000; ++i) {
      if (condition()) return true;
      usleep(1000);
    }
    return false;
  }

  TestDirectory directory_;
  const std::string path_ = directory_.Socket();
  FakeDaemon daemon_{TestConfig(path_)};
};

TEST_F(ClientTest, IsToldVersionAndLimits) {
  ASSERT_TRUE(daemon_.status.ok()) << daemon_.status;
  Client client;
  ASSERT_EQ(client.Connect(path_, 2), 0) << suede_error_text();
  const suede_limits limits = client.Limits();
  EXPECT_STREQ(limits.daemon_version, "0.1-test");
  EXPECT_EQ(limits.max_queues, 4u);
  EXPECT_EQ(limits.queue_count, 2u);
  EXPECT_EQ(limits.credit_lines, 64u);
  EXPECT_EQ(limits.pack_limit, 2048u);
  EXPECT_EQ(limits.instance_count, 3u);
  suede_instance instance{};
  EXPECT_EQ(suede_get_instance(client.get(), 2, &instance), 0);
  EXPECT_EQ(instance.xpuid, 2);
  EXPECT_EQ(instance.instance, 1);
  EXPECT_EQ(suede_get_instance(client.get(), 3, &instance), -EINVAL);
  EXPECT_EQ(suede_get_queue(client.get(), 2), nullptr);
  EXPECT_EQ(suede_abi_version(), SUEDE_ABI_VERSION);
  EXPECT_EQ(client.Status(), 0);
}

TEST_F(ClientTest, CommandsArriveAndComplete) {
  Client sender;
  Client receiver;
  ASSERT_EQ(sender.Connect(path_, Params(1, 1)), 0);
  ASSERT_EQ(receiver.Connect(path_, Params(1, 2)), 0);
  ASSERT_EQ(receiver.Claim(2, 0, 0xf), 0) << suede_error_text();
  ASSERT_EQ(SendTagged(sender, 0, 2, 30), 0);
  suede_wait_set ready{};
  ASSERT_EQ(
      receiver.Wait({.credit_queues = 0, .completion_queues = 0, .rx_vcs = 0xf}, &ready, 5000), 1);
  EXPECT_EQ(ready.rx_vcs, 1u);
  const auto completions = Completions(sender, 30);
  ASSERT_EQ(completions.size(), 30u);
  EXPECT_EQ(completions[29].tag, 29u);
  EXPECT_EQ(completions[29].status, SUEDE_STATUS_OK);
  suede_received commands[64];
  ASSERT_EQ(receiver.Receive(0, commands), 30);
  EXPECT_EQ(commands[29].source_xpuid, 1);
  EXPECT_EQ(commands[29].own_xpuid, 2);
  EXPECT_EQ(commands[29].control_bytes, 4);
  EXPECT_EQ(commands[29].data_bytes, 20);
  EXPECT_EQ(commands[29].control[2], 29);
  EXPECT_EQ(commands[29].data[0], 29);
  receiver.Release(0);
}

TEST_F(ClientTest, ErrorsOfSend) {
  Client client;
  ASSERT_EQ(client.Connect(path_, Params(1, 1)), 0);
  uint8_t control[4] = {};
  suede_command command = client::MakeCommand(1024, 0, control);
  EXPECT_EQ(client.queue(0).Send(command), -EINVAL);
  command.xpuid = 1;
  command.vc = 4;
  EXPECT_EQ(client.queue(0).Send(command), -EINVAL);
  command = client::MakeCommand(1, 0, std::span(control, 3));
  EXPECT_EQ(client.queue(0).Send(command), -EINVAL);
  command = client::MakeCommand(1, 0, control);
  command.flags = SUEDE_RECORD_ERROR | SUEDE_RECORD_COMPLETION;
  EXPECT_EQ(client.queue(0).Send(command), 0);
  client.queue(0).Flush();
  const auto completions = Completions(client, 1);
  ASSERT_EQ(completions.size(), 1u);
  EXPECT_EQ(completions[0].status, SUEDE_STATUS_ERROR_MARK);
}

TEST_F(ClientTest, WaitForCreditWakes) {
  Client client;
  ASSERT_EQ(client.Connect(path_, Params(1, 1)), 0);
  daemon_.Pause();
  EXPECT_EQ(SendTagged(client, 0, 2, 100), -EAGAIN);
  const suede_wait_set want{.credit_queues = 1, .completion_queues = 0, .rx_vcs = 0};
  const auto start = steady_clock::now();
  EXPECT_EQ(client.Wait(want, nullptr, 30), 0);
  EXPECT_GE(steady_clock::now() - start, milliseconds(29));
  std::thread resume([this] {
    usleep(50'000);
    daemon_.Resume();
  });
  EXPECT_EQ(client.Wait(want, nullptr, 5000), 1);
  resume.join();
  EXPECT_TRUE(Eventually([&] { return client.queue(0).Credit(2, 0) == 64; }));
}

TEST_F(ClientTest, SeveralThreadsWait) {
  Client client;
  ASSERT_EQ(client.Connect(path_, Params(4, 1)), 0);
  std::vector<std::thread> threads;
  std::atomic<int> good{0};
  for (uint32_t q = 0; q < 4; ++q) {
    threads.emplace_back([&, q] {
      client::Queue queue = client.queue(q);
      for (int i = 0; i < 300; ++i) {
        uint8_t control[2] = {};
        suede_command command = client::MakeCommand(9, 1, control);
        command.flags = SUEDE_RECORD_COMPLETION;
        if (queue.Send(command) != 0) return;
        queue.Flush();
        suede_completion completion[1];
        int n;
        while ((n = queue.PollCompletions(completion)) == 0) {
          client.Wait({.credit_queues = 0, .completion_queues = 1u << q, .rx_vcs = 0}, nullptr,
                      1000);
        }
        if (n != 1 || completion[0].status != SUEDE_STATUS_UNREACHABLE) return;
      }
      ++good;
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(good, 4);
}

TEST_F(ClientTest, ArmedDescriptorBecomesReadable) {
  Client client;
  ASSERT_EQ(client.Connect(path_, Params(1, 1)), 0);
  const suede_wait_set want{.credit_queues = 0, .completion_queues = 1, .rx_vcs = 0};
  ASSERT_EQ(suede_arm(client.get(), &want), 0);
  pollfd what{.fd = suede_eventfd(client.get()), .events = POLLIN, .revents = 0};
  EXPECT_EQ(poll(&what, 1, 20), 0);
  ASSERT_EQ(SendTagged(client, 0, 2, 1), 0);
  EXPECT_EQ(poll(&what, 1, 5000), 1);
  EXPECT_EQ(suede_arm(client.get(), &want), 1);
  const suede_wait_set none{};
  EXPECT_EQ(suede_arm(client.get(), &none), -EINVAL);
  const suede_wait_set foreign{.credit_queues = 2, .completion_queues = 0, .rx_vcs = 0};
  EXPECT_EQ(client.Wait(foreign, nullptr, 0), -EINVAL);
}

TEST_F(ClientTest, ClaimsAreExclusive) {
  Client first;
  Client second;
  ASSERT_EQ(first.Connect(path_, Params(1, 1)), 0);
  ASSERT_EQ(second.Connect(path_, Params(1, 1)), 0);
  EXPECT_EQ(first.Claim(2, 0, 3), 0);
  EXPECT_EQ(second.Claim(2, 0, 2), -EBUSY);
  EXPECT_STREQ(suede_error_text(), "claimed by another client");
  EXPECT_EQ(second.Claim(2, 0, 4), 0);
  EXPECT_EQ(second.Claim(7, 0, 4), -ENOENT);
  EXPECT_EQ(second.Claim(2, 0, 0), -EINVAL);
  EXPECT_EQ(second.Claim(2, 0, 16), -EINVAL);
  EXPECT_EQ(first.Unclaim(2, 0, 2), 0);
  EXPECT_EQ(second.Claim(2, 0, 2), 0);
}

TEST_F(ClientTest, RegistersAndTheirErrors) {
  Client client;
  uint64_t value = 0;
  EXPECT_EQ(client.ReadRegister(8, 32, &value), -EINVAL);  // not connected
  ASSERT_EQ(client.Connect(path_), 0);
  ASSERT_EQ(client.ReadRegister(8, 32, &value), 0) << suede_error_text();
  EXPECT_EQ(value, 7u);
  ASSERT_EQ(client.WriteRegister(8, 32, 0x1'2345'6789), 0);
  ASSERT_EQ(client.ReadRegister(8, 32, &value), 0);
  EXPECT_EQ(value, 0x1'2345'6789u);
  EXPECT_EQ(client.ReadRegister(8, 64, &value), -EINVAL);
  EXPECT_STREQ(suede_error_text(), "has 32 bits");
  EXPECT_EQ(client.ReadRegister(8, 16, &value), -EINVAL);
  EXPECT_EQ(client.ReadRegister(8, 32, nullptr), -EINVAL);
  EXPECT_EQ(client.ReadRegister(9, 32, &value), -ENOENT);
  EXPECT_EQ(client.WriteRegister(12, 32, 1), -EACCES);
  EXPECT_EQ(client.WriteRegister(16, 32, 1), -ENOTSUP);
  EXPECT_EQ(client.WriteRegister(20, 32, 1), -EBUSY);
  EXPECT_EQ(value, 0x1'2345'6789u);  // untouched by errors
}

TEST_F(ClientTest, OpenIsRefusedWithItsReason) {
  Client client;
  EXPECT_EQ(client.Connect(path_, Params(5, 1)), -EINVAL);
  EXPECT_EQ(client.Connect(path_, Params(17, 1)), -EINVAL);
  EXPECT_EQ(client.Connect(path_, Params(1, 77)), -ENOTSUP);
  daemon_.refuse_open = true;
  EXPECT_EQ(client.Connect(path_, Params(1, 1)), -EUSERS);
  EXPECT_STREQ(suede_error_text(), "refused by the test");
  daemon_.refuse_open = false;
  EXPECT_EQ(client.Connect(path_, Params(1, 1)), 0);
  EXPECT_EQ(client.Connect(directory_.Socket() + "x", 1), -ENOENT);
}

TEST_F(ClientTest, TooManyClientsAreRefused) {
  Client clients[4];
  for (Client& client : clients) ASSERT_EQ(client.Connect(path_, Params(1, 1)), 0);
  Client another;
  EXPECT_EQ(another.Connect(path_, Params(1, 1)), -EUSERS) << suede_error_text();
  clients[0] = Client();
  EXPECT_TRUE(Eventually([&] { return daemon_.client_count() == 3; }));
  EXPECT_EQ(another.Connect(path_, Params(1, 1)), 0);
}

TEST_F(ClientTest, ResetGivesFullCreditAndCompletesWhatWasDiscarded) {
  Client client;
  ASSERT_EQ(client.Connect(path_, Params(1, 1)), 0);
  daemon_.Pause();
  ASSERT_EQ(SendTagged(client, 0, 2, 40), 0);
  EXPECT_EQ(client.queue(0).Credit(2, 0), 24);
  ASSERT_EQ(client.queue(0).Reset(), 0) << suede_error_text();
  EXPECT_EQ(client.queue(0).Credit(2, 0), 64);
  const auto completions = Completions(client, 40);
  ASSERT_EQ(completions.size(), 40u);
  for (const suede_completion& c : completions) EXPECT_EQ(c.status, SUEDE_STATUS_RESET);
  daemon_.Resume();
  ASSERT_EQ(SendTagged(client, 0, 2, 40), 0);
  EXPECT_EQ(Completions(client, 40).size(), 40u);
}

TEST_F(ClientTest, ResetByTheDaemonIsSeenAndWaitedFor) {
  Client client;
  ASSERT_EQ(client.Connect(path_, Params(1, 1)), 0);
  daemon_.SetState(0, SUEDE_QUEUE_IN_RESET);
  EXPECT_EQ(SendTagged(client, 0, 2, 1), -EBUSY);
  const suede_wait_set want{.credit_queues = 1, .completion_queues = 0, .rx_vcs = 0};
  EXPECT_EQ(client.Wait(want, nullptr, 10), 0);
  daemon_.SetState(0, SUEDE_QUEUE_READY);
  EXPECT_EQ(client.Wait(want, nullptr, 5000), 1);
  EXPECT_EQ(SendTagged(client, 0, 2, 1), 0);
  daemon_.SetState(0, SUEDE_QUEUE_BROKEN);
  EXPECT_EQ(SendTagged(client, 0, 2, 1), -EIO);
  EXPECT_EQ(client.queue(0).Reset(), 0);
  EXPECT_EQ(SendTagged(client, 0, 2, 1), 0);
}

TEST_F(ClientTest, StatesAreToldAndAChangeEndsOneWait) {
  Client client;
  ASSERT_EQ(client.Connect(path_, Params(1, 1)), 0);
  suede_queue* const queue = suede_get_queue(client.get(), 0);
  EXPECT_EQ(suede_queue_state(queue), static_cast<int>(SUEDE_QUEUE_READY));
  EXPECT_EQ(client.ReceiveState(3), static_cast<int>(SUEDE_QUEUE_READY));
  EXPECT_EQ(client.ReceiveState(4), -EINVAL);
  const suede_wait_set want{.credit_queues = 0, .completion_queues = 0, .rx_vcs = 8};
  for (const uint32_t state : {SUEDE_QUEUE_IN_RESET, SUEDE_QUEUE_READY}) {
    std::thread later([&] {
      usleep(20'000);
      daemon_.SetReceiveState(3, state);
    });
    EXPECT_EQ(client.Wait(want, nullptr, 5000), 1);
    later.join();
    EXPECT_EQ(client.ReceiveState(3), static_cast<int>(state));
    EXPECT_EQ(client.Wait(want, nullptr, 50), 0) << "of which it knows";
  }
  daemon_.SetState(0, SUEDE_QUEUE_IN_RESET);
  EXPECT_EQ(suede_queue_state(queue), static_cast<int>(SUEDE_QUEUE_IN_RESET));
  daemon_.Stop();
  EXPECT_TRUE(Eventually([&] { return suede_queue_state(queue) == -ECONNRESET; }));
  EXPECT_EQ(client.ReceiveState(3), -ECONNRESET);
}

TEST_F(ClientTest, AnInterruptOfTheRegistersEndsAWait) {
  const auto set = [this](bool to) {
    daemon_.Ask<int>([to](ShmServer& server) {
      server.waits().SetEventSummary(to);
      return 0;
    });
  };
  Client client;
  ASSERT_EQ(client.Connect(path_, Params(1, 1)), 0);
  const suede_wait_set want{
      .credit_queues = 0, .completion_queues = 0, .rx_vcs = SUEDE_WAIT_EVENTS | 1};
  EXPECT_EQ(client.Wait(want, nullptr, 20), 0);
  std::thread later([&] {
    usleep(20'000);
    set(true);
  });
  suede_wait_set ready{};
  EXPECT_EQ(client.Wait(want, &ready, 5000), 1);
  later.join();
  EXPECT_EQ(ready.rx_vcs, SUEDE_WAIT_EVENTS);
  Client another;
  ASSERT_EQ(another.Connect(path_, Params(1, 1)), 0);
  EXPECT_EQ(another.Wait(want, nullptr, 5000), 1) << "one that comes meanwhile sees it";
  set(false);
  EXPECT_EQ(client.Wait(want, nullptr, 20), 0);
}

TEST_F(ClientTest, DaemonDeathIsNoticedEverywhereAndReconnectWorks) {
  Client client;
  ASSERT_EQ(client.Connect(path_, Params(1, 1)), 0);
  ASSERT_EQ(client.Claim(2, 0, 0xf), 0);
  std::thread stop([this] {
    usleep(30'000);
    daemon_.Stop();
  });
  EXPECT_EQ(client.Wait({.credit_queues = 0, .completion_queues = 0, .rx_vcs = 1}, nullptr, 5000),
            -ECONNRESET);
  stop.join();
  EXPECT_EQ(client.Status(), -ECONNRESET);
  EXPECT_TRUE(Eventually([&] { return SendTagged(client, 0, 2, 1) == -ECONNRESET; }));
  suede_received commands[1];
  EXPECT_EQ(client.Receive(0, commands), -ECONNRESET);
  EXPECT_EQ(client.Claim(1, 0, 1), -ECONNRESET);
  EXPECT_EQ(client.Reconnect(), -ENOENT);
  EXPECT_EQ(SendTagged(client, 0, 2, 1), -ECONNRESET) << "unconnected, and harmless";
  EXPECT_EQ(client.Claim(1, 0, 1), -ECONNRESET);

  FakeDaemon again{TestConfig(path_)};
  ASSERT_TRUE(again.status.ok()) << again.status;
  ASSERT_EQ(client.Reconnect(), 0) << suede_error_text();
  ASSERT_EQ(SendTagged(client, 0, 2, 1), 0);
  const auto completions = Completions(client, 1);
  ASSERT_EQ(completions.size(), 1u);
  EXPECT_EQ(completions[0].status, SUEDE_STATUS_OK) << "the claim was repeated";
}

// Calls that are made seldom, as by a program with other things to do: each finds out within a
// second, in which `kCallsPerSecond` are made.
constexpr int kCallsPerSecond = 20;
template <typename Call>
bool FailsWithinASecond(Call call) {
  for (int i = 0; i < kCallsPerSecond; ++i) {
    if (call() == -ECONNRESET) return true;
    usleep(1'000'000 / kCallsPerSecond);
  }
  return false;
}

TEST_F(ClientTest, DaemonDeathIsNoticedBySeldomCalls) {
  Client sends, polls, receives;
  for (Client* client : {&sends, &polls, &receives}) {
    ASSERT_EQ(client->Connect(path_, Params(1, 1)), 0);
  }
  ASSERT_EQ(SendTagged(sends, 0, 2, 1), 0);
  suede_completion completions[4];
  for (int i = 0; i < 3; ++i) suede_poll_completions(suede_get_queue(polls.get(), 0), completions, 4);
  daemon_.Stop();
  // The credit suffices for many more.
  EXPECT_TRUE(FailsWithinASecond([&] { return SendTagged(sends, 0, 2, 2); }));
  EXPECT_TRUE(
      FailsWithinASecond([&] { return suede_poll_completions(suede_get_queue(polls.get(), 0), completions, 4); }));
  suede_received commands[1];
  EXPECT_TRUE(FailsWithinASecond([&] { return receives.Receive(0, commands); }));
}

TEST_F(ClientTest, WhatADeadDaemonLeftIsStillTaken) {
  Client client;
  ASSERT_EQ(client.Connect(path_, Params(1, 1)), 0);
  ASSERT_EQ(client.Claim(2, 0, 0xf), 0);
  ASSERT_EQ(SendTagged(client, 0, 2, 8), 0);
  const suede_wait_set want{.credit_queues = 0, .completion_queues = 1, .rx_vcs = 0};
  ASSERT_EQ(client.Wait(want, nullptr, 5000), 1);
  suede_completion completion;
  uint32_t taken = 0;
  while (taken < 4) {
    taken += static_cast<uint32_t>(suede_poll_completions(suede_get_queue(client.get(), 0), &completion, 1));
  }
  daemon_.Stop();
  while (client.Status() == 0) usleep(1000);
  while (suede_poll_completions(suede_get_queue(client.get(), 0), &completion, 1) == 1) ++taken;
  EXPECT_EQ(taken, 8u);
  EXPECT_EQ(suede_poll_completions(suede_get_queue(client.get(), 0), &completion, 1), -ECONNRESET);
  suede_received commands[8];
  EXPECT_EQ(client.Receive(0, commands), 8);
}

TEST_F(ClientTest, KilledClientLeavesNothingBehind) {
  const pid_t child = fork();
  if (child == 0) {
    Client client;
    if (client.Connect(path_, Params(2, 1)) != 0 || client.Claim(2, 0, 0xf) != 0) _exit(1);
    SendTagged(client, 0, 2, 20);
    raise(SIGKILL);
  }
  int status;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFSIGNALED(status));
  EXPECT_TRUE(Eventually([&] { return daemon_.client_count() == 0; }));
  EXPECT_EQ(daemon_.gone, 1);
  Client client;
  ASSERT_EQ(client.Connect(path_, Params(1, 1)), 0);
  EXPECT_EQ(client.Claim(2, 0, 0xf), 0) << "its claims are free";
}

// Returns the sentence of the last error; fails unless `result` is -EINVAL.
std::string Invalid(int result) {
  EXPECT_EQ(result, -EINVAL);
  return suede_error_text();
}

TEST_F(ClientTest, NullHandlesAndPointersAreErrors) {
  suede_client* raw = nullptr;
  const suede_open_params wanted = Params(1, 1);
  ASSERT_EQ(suede_connect(path_.c_str(), &wanted, &raw), 0);
  suede_queue* const queue = suede_get_queue(raw, 0);
  suede_queue* const none = nullptr;
  const suede_command command{};
  suede_completion completion;
  suede_received received;
  suede_received_span received_span;
  suede_batch batch{};
  suede_shape shape{};
  suede_span span;
  suede_wait_set set{};
  uint64_t value = 0;
  EXPECT_NE(Invalid(suede_send(none, &command)).find("queue is NULL"), std::string::npos);
  EXPECT_NE(Invalid(suede_send(queue, nullptr)).find("command is NULL"), std::string::npos);
  EXPECT_NE(Invalid(suede_send(queue, &command)).find("control is NULL"), std::string::npos);
  for (const int result : {suede_send_batch(none, &batch, 1),
                           suede_send_batch(queue, nullptr, 1),
                           suede_reserve(none, &shape, 1, &span),
                           suede_reserve(queue, nullptr, 1, &span),
                           suede_reserve(queue, &shape, 1, nullptr),
                           suede_commit(none, 1),
                           suede_credit(none, 1, 0),
                           suede_poll_completions(none, &completion, 1),
                           suede_poll_completions(queue, nullptr, 1),
                           suede_reset_queue(none),
                           suede_queue_state(none),
                           suede_connect(nullptr, nullptr, &raw),
                           suede_connect("name", nullptr, nullptr),
                           suede_reconnect(nullptr),
                           suede_status(nullptr),
                           suede_get_limits(nullptr, nullptr),
                           suede_get_limits(raw, nullptr),
                           suede_get_instance(nullptr, 0, nullptr),
                           suede_get_instance(raw, 0, nullptr),
                           suede_set_lengths(nullptr, 2, 0),
                           suede_claim(nullptr, 1, 0, 1),
                           suede_unclaim(nullptr, 1, 0, 1),
                           suede_receive(nullptr, 0, &received, 1),
                           suede_receive(raw, 0, nullptr, 1),
                           suede_receive_span(nullptr, 0, &received_span, 1),
                           suede_receive_span(raw, 0, nullptr, 1),
                           suede_receive_state(nullptr, 0),
                           suede_wait(nullptr, &set, nullptr, 0),
                           suede_wait(raw, nullptr, nullptr, 0),
                           suede_arm(nullptr, &set),
                           suede_arm(raw, nullptr),
                           suede_register_read(nullptr, 8, 32, &value),
                           suede_register_read(raw, 8, 32, nullptr),
                           suede_register_write(nullptr, 8, 32, 0),
                           suede_serve(nullptr, 1, 0, 1),
                           suede_add_window(nullptr, nullptr),
                           suede_add_window(raw, nullptr),
                           suede_remove_window(nullptr, 1),
                           suede_get_load(none, nullptr),
                           suede_get_load(queue, nullptr),
                           suede_watch_destination(none, 1),
                           suede_unwatch_destination(none, 1),
                           suede_get_destination(none, 1, nullptr),
                           suede_get_destination(queue, 1, nullptr),
                           suede_balancer_create(nullptr, 1, 1, nullptr),
                           suede_balancer_create(&queue, 1, 1, nullptr),
                           suede_balancer_choose(nullptr, 1),
                           suede_balancer_send(nullptr, &command),
                           suede_packets_open(nullptr, nullptr, nullptr),
                           suede_packets_get_info(nullptr, nullptr),
                           suede_packets_send(nullptr, nullptr, 60),
                           suede_packets_receive(nullptr, nullptr, 0)}) {
    EXPECT_EQ(result, -EINVAL);
  }
  suede_flush(nullptr);
  suede_release(nullptr, 0);
  suede_balancer_flush(nullptr);
  suede_balancer_destroy(nullptr);
  suede_close(nullptr);
  EXPECT_EQ(suede_get_queue(nullptr, 0), nullptr);
  EXPECT_EQ(suede_eventfd(nullptr), -1);
  suede_close(raw);
}

TEST_F(ClientTest, EachMistakeInACommandHasItsOwnSentence) {
  Client client;
  ASSERT_EQ(client.Connect(path_, Params(1, 1)), 0);
  uint8_t control[2] = {1, 0};
  uint8_t no_length[2] = {0, 0};
  uint8_t with_data[2] = {0x11, 0};
  const suede_command good{.xpuid = 1, .vc = 0, .flags = 0, .control = control, .data = nullptr};
  std::vector<suede_command> commands(5, good);
  commands[0].xpuid = 1024;
  commands[1].vc = 4;
  commands[2].flags = 8;
  commands[3].control = no_length;
  commands[4].control = with_data;
  const char* const names[] = {"xpuid is 1024", "vc is 4", "flags are 0x8", "control's", "data"};
  for (size_t i = 0; i < commands.size(); ++i) {
    const std::string text = Invalid(client.queue(0).Send(commands[i]));
    EXPECT_NE(text.find(names[i]), std::string::npos) << text;
    EXPECT_TRUE(text.starts_with("cannot send: ")) << text;
    EXPECT_NE(text.find("; "), std::string::npos) << "says what to do: " << text;
  }
}

TEST(StatusTextTest, EachStatusHasItsOwn) {
  std::set<std::string> texts;
  for (uint32_t status = SUEDE_STATUS_OK; status <= SUEDE_STATUS_IN_DOUBT + 1; ++status) {
    texts.insert(client::StatusText(status));
  }
  EXPECT_EQ(texts.size(), SUEDE_STATUS_IN_DOUBT + 2);
}

}  // namespace
}  // namespace suede
