// SPDX-License-Identifier: Apache-2.0
// Operations of send sockets: pushed, complete, too late, failed.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "message/sockets.h"
#include "socket_pairs.h"

namespace suede::message {
namespace {

TEST_F(Connected, AnOperationIsPushedBeforeItIsComplete) {
  const Octets octets = Pattern(700);
  suede_socket_result results[2] = {};
  uint64_t numbers[2] = {};
  for (int i = 0; i < 2; ++i) {
    ASSERT_EQ(
        nodes[0]->senders().Send(sender, octets.data(), 700, kNever, &results[i], &numbers[i]),
        Started::kOk);
    EXPECT_FALSE(nodes[0]->senders().operations(sender)->IsPushed(numbers[i]));
    EXPECT_EQ(results[i].pushed_bytes, 0u);
  }
  nodes[0]->Pump(wires[0]);
  for (int i = 0; i < 2; ++i) {
    EXPECT_TRUE(nodes[0]->senders().operations(sender)->IsPushed(numbers[i]));
    EXPECT_EQ(results[i].status, SUEDE_SOCKET_PENDING);
    EXPECT_EQ(results[i].pushed_bytes, 700u);
  }
  EXPECT_FALSE(nodes[0]->senders().operations(sender)->is_empty());
  PumpAll();
  for (int i = 0; i < 2; ++i) {
    EXPECT_TRUE(nodes[0]->senders().operations(sender)->IsPushed(numbers[i]));
    EXPECT_EQ(results[i].status, SUEDE_SOCKET_OK);
    EXPECT_EQ(results[i].pushed_bytes, 700u);
  }
  EXPECT_TRUE(nodes[0]->senders().operations(sender)->is_empty());
}

TEST_F(Pairs, AResultThatIsForgottenIsNotWritten) {
  const uint32_t sender = OpenSender(0, {1, 2});
  OpenReceiver(1, 0);
  const uint32_t second = OpenReceiver(2, 0);
  PumpAll();
  const Octets octets = Pattern(20'000);
  uint64_t number = 0;
  ASSERT_EQ(nodes[0]->senders().Send(sender, octets.data(), 9, kNever, &result, &number),
            Started::kOk);
  EXPECT_EQ(nodes[0]->senders().operations(sender)->ForgetResult(number), Status::kOk);
  PumpAll();
  EXPECT_TRUE(nodes[0]->senders().operations(sender)->is_empty());
  EXPECT_EQ(result.status, SUEDE_SOCKET_PENDING);
  EXPECT_EQ(result.pushed_bytes, 0u);
  EXPECT_EQ(nodes[0]->senders().operations(sender)->ForgetResult(number), Status::kOk)
      << "it is complete";
  // The other target is still waited for.
  ASSERT_EQ(nodes[0]->senders().Send(sender, octets.data(), 20'000, kNever, &result, &number),
            Started::kOk);
  nodes[2]->Release(second);
  PumpAll();
  EXPECT_EQ(nodes[0]->senders().operations(sender)->ForgetResult(number), Status::kClosed)
      << "how a target has failed";
}

TEST_F(Connected, AReleasedSocketWritesNoResult) {
  ASSERT_EQ(Send(0, sender, Pattern(20'000), 100), Started::kOk);
  PumpAll();
  nodes[0]->Release(sender);
  Advance(100);
  PumpAll();
  EXPECT_EQ(result.status, SUEDE_SOCKET_PENDING);
}

TEST_F(Pairs, EachFailureOfATargetIsReportedWithOneOperation) {
  const uint32_t sender = OpenSender(0, {1, 2, 3});
  OpenReceiver(1, 0);
  const uint32_t second = OpenReceiver(2, 0);
  const uint32_t third = OpenReceiver(3, 0);
  PumpAll();
  const auto send = [&] {
    EXPECT_EQ(Send(0, sender, Pattern(5)), Started::kOk);
    PumpAll();
    EXPECT_EQ(result.pushed_bytes, 5u);
    return result.status;
  };
  EXPECT_EQ(send(), SUEDE_SOCKET_OK);
  nodes[2]->Release(second);
  PumpAll();
  EXPECT_EQ(send(), SUEDE_SOCKET_CLOSED) << "between operations";
  EXPECT_EQ(send(), SUEDE_SOCKET_OK);
  EXPECT_EQ(nodes[0]->senders().operations(sender)->TakeFailure(), Status::kClosed);
  ASSERT_EQ(Send(0, sender, Pattern(5)), Started::kOk);
  nodes[3]->Release(third);
  PumpAll();
  EXPECT_EQ(result.status, SUEDE_SOCKET_CLOSED) << "during an operation";
  EXPECT_EQ(send(), SUEDE_SOCKET_OK);
  EXPECT_EQ(nodes[0]->senders().operations(sender)->TakeFailure(), Status::kClosed);
  EXPECT_EQ(nodes[0]->senders().operations(sender)->TakeFailure(), Status::kOk);
}

TEST_F(Connected, ProgressChangesWhereverSomebodyMayWait) {
  const auto changes = [&](uint16_t xpuid, const auto& does) {
    const uint64_t before = nodes[xpuid]->progress();
    does();
    return nodes[xpuid]->progress() != before;
  };
  ASSERT_EQ(Send(0, sender, Pattern(5), 100), Started::kOk);
  EXPECT_FALSE(changes(0, [&] { Advance(1); }));
  EXPECT_TRUE(changes(0, [&] { nodes[0]->Pump(wires[0]); })) << "it is pushed";
  EXPECT_TRUE(changes(0, [&] { Advance(100); })) << "it is complete";
  for (const uint16_t xpuid : {uint16_t{0}, uint16_t{1}}) {
    EXPECT_TRUE(changes(xpuid, [&] { nodes[xpuid]->OnPlaneLost(0); })) << "its sockets fail";
    EXPECT_FALSE(changes(xpuid, [&] { nodes[xpuid]->OnPlaneLost(0); }));
  }
}

// ---- Operations without octets, and lengths at the ends of commands.

TEST_F(Connected, AStreamSendsNothingForNoOctets) {
  ASSERT_EQ(Send(0, sender, {}), Started::kOk);
  nodes[0]->Pump(wires[0]);
  EXPECT_EQ(result.status, SUEDE_SOCKET_OK);
  EXPECT_TRUE(wires[0].sent.empty());
  suede_socket_result results[3] = {};
  for (const size_t bytes : {0u, 1u, 2u}) {
    ASSERT_EQ(Send(0, sender, Pattern(bytes), &results[bytes]), Started::kOk);
  }
  PumpAll();
  for (const suede_socket_result& each : results) EXPECT_EQ(each.status, SUEDE_SOCKET_OK);
  EXPECT_EQ(Take(1, receiver), (Octets{1, 1, 8}));
}

TEST_F(Pairs, CompletionsAndCreditAreAskedForNowAndThen) {
  struct Case {
    uint32_t ring_bytes;
    std::vector<size_t> operations;  // lengths
    std::vector<size_t> completes;   // commands that ask for a completion
    std::vector<size_t> wants_credit;
  };
  const Case cases[] = {
      {65536, {1}, {0}, {0}},
      {65536, {256}, {0}, {0}},
      {65536, {257}, {1}, {1}},
      {65536, {512, 512}, {3}, {1, 3}},
      {65536, {40 * 256}, {15, 31, 39}, {39}},
      {4096, {20'000}, {}, {14}},  // the last one that has credit
  };
  for (const Case& each : cases) {
    const std::string name = testing::PrintToString(each.operations);
    const uint32_t sender = OpenSender(0, {1});
    const uint32_t receiver = Open(1, {.ring_bytes = each.ring_bytes}, {0});
    PumpAll();
    for (const size_t bytes : each.operations) {
      ASSERT_EQ(Send(0, sender, Pattern(bytes)), Started::kOk);
    }
    nodes[0]->Pump(wires[0]);
    std::vector<size_t> completes;
    std::vector<size_t> wants_credit;
    for (size_t i = 0; i < wires[0].sent.size(); ++i) {
      if (wires[0].sent[i].wants_completion) completes.push_back(i);
      if ((wires[0].sent[i].Read().flags & kWantsCredit) != 0) wants_credit.push_back(i);
    }
    EXPECT_EQ(completes, each.completes) << name;
    EXPECT_EQ(wants_credit, each.wants_credit) << name;
    PumpAll();
    nodes[0]->Release(sender);
    nodes[1]->Release(receiver);
    PumpAll();
  }
}

// ---- Deadlines.

TEST_F(Pairs, ADatagramThatIsTooLateBehindAnotherIsNotSent) {
  const SocketParams datagrams{.is_datagram = true};
  const uint32_t sender = OpenSender(0, {1}, datagrams);
  const uint32_t receiver = OpenReceiver(1, 0, datagrams);
  PumpAll();
  for (uint8_t i = 0; i < 3; ++i) {
    ASSERT_EQ(Send(0, sender, Pattern(1900, i), nullptr), Started::kOk);
  }
  ASSERT_EQ(Send(0, sender, Pattern(700), 50), Started::kOk);
  ASSERT_EQ(Send(0, sender, Pattern(9), nullptr), Started::kOk);
  PumpAll();
  Advance(50);
  EXPECT_EQ(result.status, SUEDE_SOCKET_TIMED_OUT);
  EXPECT_EQ(result.pushed_bytes, 0u);
  for (uint8_t i = 0; i < 3; ++i) {
    EXPECT_EQ(Take(1, receiver), Pattern(1900, i));
    PumpAll();
  }
  EXPECT_EQ(Take(1, receiver), Pattern(9));
  Take(1, receiver, Got::kNothing);
  EXPECT_TRUE(nodes[0]->senders().operations(sender)->is_empty());
}

// The credit for the operation before comes while the channel has not passed the one that is over.
TEST_F(Pairs, AnOperationThatIsTooLateIsPassedOverWhenItsTurnComes) {
  const uint32_t sender = OpenSender(0, {1});
  const uint32_t receiver = Open(1, {.ring_bytes = 65536}, {0});
  PumpAll();
  const Octets octets = Pattern(64 * 256);  // as much as a channel sends in a row
  suede_socket_result results[2] = {};
  ASSERT_EQ(Send(0, sender, octets, &results[0]), Started::kOk);
  ASSERT_EQ(Send(0, sender, Pattern(700), 50), Started::kOk);
  ASSERT_EQ(Send(0, sender, Pattern(9), &results[1]), Started::kOk);
  Advance(50);
  EXPECT_EQ(result.status, SUEDE_SOCKET_TIMED_OUT);
  PumpOne(0);
  PumpOne(1);
  EXPECT_EQ(results[0].status, SUEDE_SOCKET_OK);
  EXPECT_EQ(results[1].status, SUEDE_SOCKET_PENDING);
  PumpAll();
  EXPECT_EQ(results[1].status, SUEDE_SOCKET_OK);
  Octets got = Take(1, receiver);
  const Octets rest = Take(1, receiver);
  got.insert(got.end(), rest.begin(), rest.end());
  Octets expected = octets;
  const Octets last = Pattern(9);
  expected.insert(expected.end(), last.begin(), last.end());
  EXPECT_EQ(got, expected);
}

TEST_F(Connected, AnEmptyOperationBehindOneThatIsTooLateNeedsNoCredit) {
  suede_socket_result empty = {};
  ASSERT_EQ(Send(0, sender, Pattern(20'000), 100), Started::kOk);
  ASSERT_EQ(Send(0, sender, {}, &empty), Started::kOk);
  PumpAll();
  EXPECT_EQ(empty.status, SUEDE_SOCKET_PENDING);
  Advance(100);
  EXPECT_EQ(result.status, SUEDE_SOCKET_TIMED_OUT);
  PumpAll();
  EXPECT_EQ(empty.status, SUEDE_SOCKET_OK);
}

// ---- The end.

TEST_F(Pairs, AnEndTearsTheDatagramThatHasBegun) {
  const SocketParams datagrams{.is_datagram = true};
  const uint32_t sender = OpenSender(0, {1}, datagrams);
  const uint32_t receiver = OpenReceiver(1, 0, datagrams);
  PumpAll();
  ASSERT_EQ(Send(0, sender, Pattern(9)), Started::kOk);
  ASSERT_EQ(Send(0, sender, Pattern(1900), 50), Started::kOk);
  wires[0].room = 3;
  PumpAll();
  nodes[0]->Close(sender);
  wires[0].room = UINT32_MAX;
  Advance(50);
  PumpAll();
  EXPECT_EQ(Take(1, receiver), Pattern(9));
  Take(1, receiver, Got::kEnd);
  EXPECT_EQ(nodes[1]->counters().torn, 1u);
  EXPECT_EQ(result.status, SUEDE_SOCKET_TIMED_OUT);
  EXPECT_TRUE(nodes[0]->IsClosed(sender));
}

TEST_F(Connected, CreditCountsUntilTheEndIsKnown) {
  ASSERT_EQ(Send(0, sender, Pattern(100)), Started::kOk);
  nodes[0]->Close(sender);
  PumpOne(0, 1);  // the data, and not END
  PumpOne(1);
  EXPECT_EQ(result.status, SUEDE_SOCKET_OK);
  EXPECT_FALSE(nodes[0]->IsClosed(sender));
  PumpAll();
  EXPECT_TRUE(nodes[0]->IsClosed(sender));
}

TEST_F(Connected, AnEndIsAnsweredByClosedAlone) {
  ASSERT_EQ(Send(0, sender, Pattern(100)), Started::kOk);
  nodes[0]->Close(sender);
  PumpOne(0);
  const std::vector<Command> answers = Lose(1);
  ASSERT_EQ(answers.size(), 1u);
  EXPECT_EQ(answers[0].kind, Kind::kClosed);
}

TEST_F(Pairs, AnEndThatWasNotDeliveredFailsItsSender) {
  struct Case {
    unsigned status;
    Status expected;
  };
  for (const auto& [status, expected] : {Case{SUEDE_STATUS_UNREACHABLE, Status::kUnreachable},
                                         Case{SUEDE_STATUS_UNKNOWN_XPU, Status::kUnreachable},
                                         Case{SUEDE_STATUS_PEER_RESET, Status::kInDoubt},
                                         Case{SUEDE_STATUS_IN_DOUBT, Status::kInDoubt}}) {
    const uint32_t sender = OpenSender(0, {1});
    OpenReceiver(1, 0);
    PumpAll();
    nodes[0]->Close(sender);
    nodes[0]->Pump(wires[0]);
    ASSERT_EQ(wires[0].sent.size(), 1u);
    ASSERT_TRUE(wires[0].sent[0].wants_completion);
    nodes[0]->senders().OnCompletion(wires[0].sent[0].tag, static_cast<uint8_t>(status));
    EXPECT_EQ(nodes[0]->StatusOf(sender), expected);
    EXPECT_EQ(nodes[0]->OutcomeOf(sender), expected);
    EXPECT_TRUE(nodes[0]->IsClosed(sender));
    wires[0].sent.clear();
    nodes[0]->Release(sender);
    Begin(1);
  }
}

}  // namespace
}  // namespace suede::message
