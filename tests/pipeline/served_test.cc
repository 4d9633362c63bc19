// SPDX-License-Identifier: Apache-2.0
// Memory requests that the lcore executes, from one host's client to a target on another host's
// lcore.
#include "bench.h"
#include "mem/request.h"
#include "mem/response.h"
#include "serve/served_target.h"

namespace suede {
namespace {

using mem::Opcode;

class ServedTest : public PipelineTest {
 protected:
  static constexpr uint32_t kTarget = 77;  // its number as a client
  static constexpr uint8_t kRequests = 1;  // VC 0
  static constexpr uint8_t kResponseVc = 1;

  ServedTest() {
    a = &AddHost(0, 2);
    b = &AddHost(1, 2);
    client = &Attach(*a, 1u << kResponseVc);
    target = std::make_unique<ServedTarget>(shape, kRequests);
  }
  LcoreStatus AttachTarget(uint32_t instance = 0) {
    return Ask(*b, request::AttachTarget{.client = kTarget,
                                         .owner = 1,
                                         .instance = instance,
                                         .vc_mask = 0xf,
                                         .target = target.get()});
  }
  LcoreStatus SetWindow(uint32_t id, ServedWindow::Kind kind, uint32_t of = kTarget) {
    window = {.kind = kind,
              .window = {.base = memory,
                         .bytes = sizeof memory,
                         .partition = kPartition,
                         .rights = mem::Window::kAllRights}};
    return Ask(*b, request::SetWindow{.client = of, .id = id, .window = &window});
  }
  LcoreStatus ClaimRequests() {
    return Ask(*b, request::Claim{.vc_mask = kRequests, .client = kTarget, .instance = 0});
  }
  void Serve() {
    ASSERT_EQ(AttachTarget(), LcoreStatus::kDone);
    ASSERT_EQ(SetWindow(1, ServedWindow::Kind::kLcore), LcoreStatus::kDone);
    ASSERT_EQ(ClaimRequests(), LcoreStatus::kDone);
  }
  // Adds 1 to the first word. False: no credit.
  bool Add(uint32_t number) {
    const mem::Request add{.opcode = Opcode::kFetchAdd,
                           .is_wide = true,
                           .response_vc = kResponseVc,
                           .window = 1,
                           .number = number,
                           .operand = 1};
    uint8_t control[mem::kRequestControlBytes];
    uint8_t data[mem::kOperandBytes];
    mem::EncodeRequest(add, control);
    mem::EncodeOperands(add, data);
    const bool sent =
        client->queues[0].Send({.xpuid = 1, .vc = 0, .control = control, .data = data}) ==
        SendResult::kOk;
    client->queues[0].Flush();
    return sent;
  }
  // Takes the values that have come.
  void TakeValues() {
    ReceivedCommand command;
    while (client->receivers[kResponseVc].Poll(&command, 1) == 1) {
      mem::Response response;
      ASSERT_TRUE(mem::ParseResponse(command.control, command.control_bytes, command.data,
                                     command.data_bytes, &response));
      EXPECT_EQ(response.kind, mem::Response::Kind::kValue);
      EXPECT_EQ(response.value, values) << "in order, and none is missing";
      EXPECT_EQ(response.number, values);
      ++values;
    }
    client->receivers[kResponseVc].Release();
  }
  uint64_t counter() const {
    uint64_t value;
    std::memcpy(&value, memory, sizeof value);
    return value;
  }

  Host* a;
  Host* b;
  Client* client;
  alignas(8) uint8_t memory[64] = {};
  std::unique_ptr<ServedTarget> target;
  ServedWindow window;
  uint64_t values = 0;
};

TEST_F(ServedTest, RequestsAreExecutedAndAnsweredInOrder) {
  Serve();
  uint32_t sent = 0;
  EXPECT_TRUE(RunUntil(
      [&] {
        while (sent < 5000 && Add(sent)) ++sent;
        TakeValues();
        return values == 5000;
      },
      milliseconds(500)));
  EXPECT_EQ(counter(), 5000u);
  EXPECT_EQ(b->Count(Counter::kMemoryExecuted), 5000u);
  EXPECT_EQ(b->Count(Counter::kMemoryDropped), 0u);
}

TEST_F(ServedTest, WhatIsNotThereIsRefused) {
  EXPECT_EQ(SetWindow(1, ServedWindow::Kind::kLcore), LcoreStatus::kUnknown);
  EXPECT_EQ(AttachTarget(5), LcoreStatus::kUnknown);
  Client& other = Attach(*b, kRequests);
  ASSERT_EQ(AttachTarget(), LcoreStatus::kDone);
  EXPECT_EQ(AttachTarget(), LcoreStatus::kUnknown) << "it is there";
  EXPECT_EQ(ClaimRequests(), LcoreStatus::kClaimed);
  EXPECT_EQ(SetWindow(1, ServedWindow::Kind::kLcore, other.number), LcoreStatus::kUnknown);
  EXPECT_EQ(SetWindow(1, ServedWindow::Kind::kNone), LcoreStatus::kUnknown);
  EXPECT_EQ(SetWindow(1, ServedWindow::Kind::kLcore), LcoreStatus::kDone);
  EXPECT_EQ(SetWindow(1, ServedWindow::Kind::kProgram), LcoreStatus::kUnknown);
}

// Its owner dies in mid burst: once the lcore has answered, nothing touches the memory; what was
// executed has been answered.
TEST_F(ServedTest, ATargetThatGoesIsLetGoOfAndItsResponsesAreSent) {
  Serve();
  uint32_t sent = 0;
  RunUntil([&] {
    while (sent < 300 && Add(sent)) ++sent;
    return counter() >= 100;
  });
  b->pipeline->mailbox().requests.Push(request::Detach{.client = kTarget});
  b->pipeline->Poll(network.now());
  const uint64_t executed = counter();
  EXPECT_LT(executed, 300u);
  LcoreReply reply{.kind = LcoreReplyKind::kDrain};
  EXPECT_TRUE(RunUntil([&] {
    while (sent < 300 && Add(sent)) ++sent;
    return b->pipeline->mailbox().replies.Pop(reply);
  }));
  EXPECT_EQ(reply.kind, LcoreReplyKind::kDetach);
  EXPECT_EQ(reply.client, kTarget);
  target.reset();
  Run(milliseconds(2));
  TakeValues();
  EXPECT_EQ(counter(), executed);
  EXPECT_EQ(values, executed);
  // A successor has the requests that have waited: it is another target, with windows of its own.
  target = std::make_unique<ServedTarget>(shape, kRequests);
  Serve();
  EXPECT_TRUE(RunUntil([&] {
    while (sent < 400 && Add(sent)) ++sent;
    return counter() > executed + 50;
  }));
}

TEST_F(ServedTest, TheEndOfServiceDoesNotWaitForRequests) {
  Serve();
  uint32_t sent = 0;
  RunUntil([&] {
    while (Add(sent)) ++sent;
    return counter() >= 50;
  });
  b->pipeline->mailbox().requests.Push(request::Drain{});
  LcoreReply reply{.kind = LcoreReplyKind::kAttach};
  EXPECT_TRUE(RunUntil([&] { return b->pipeline->mailbox().replies.Pop(reply); }));
  EXPECT_EQ(reply.kind, LcoreReplyKind::kDrain);
}

// An operator takes the instance out of service: responses wait, and go on after that.
TEST_F(ServedTest, ResponsesWaitWhileTheInstanceIsOutOfService) {
  Serve();
  for (uint32_t i = 0; i < 10; ++i) ASSERT_TRUE(Add(i));
  RunUntil([&] { return counter() >= 1; });
  b->pipeline->mailbox().requests.Push(request::SetInstance{.instance = 0, .up = false});
  Run(milliseconds(1));
  b->pipeline->mailbox().requests.Push(request::SetInstance{.instance = 0, .up = true});
  EXPECT_TRUE(RunUntil([&] {
    TakeValues();
    return values == 10;
  }));
}

}  // namespace
}  // namespace suede
