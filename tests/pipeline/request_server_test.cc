// SPDX-License-Identifier: Apache-2.0
// The lcore's side of requests, without a pipeline: its answers, and the work that it leaves.
#include "pipeline/request_server.h"

#include <gtest/gtest.h>

#include "../client/segment_memory.h"

namespace suede {
namespace {

class RequestServerTest : public ::testing::Test {
 protected:
  // The remaining work of a request, which is answered then.
  Todo Serve(const LcoreRequest& request) {
    EXPECT_TRUE(mailbox.requests.Push(request));
    EXPECT_TRUE(server.Next(Time{}));
    const Todo todo = server.todo();
    server.Answer();
    EXPECT_FALSE(server.Next(Time{}));
    return todo;
  }
  std::optional<LcoreReply> Reply() {
    LcoreReply reply;
    return mailbox.replies.Pop(reply) ? std::optional(reply) : std::nullopt;
  }

  Mailbox mailbox;
  RequestServer::Instances instances;
  RequestServer::Ports ports;
  ClientTable clients;
  Reporter reporter{instances, clients};
  ServedTargets targets{clients};
  RequestServer server{mailbox, clients, targets, reporter, ports, instances};
};

bool IsNothing(const Todo& todo) { return std::holds_alternative<std::monostate>(todo); }

TEST_F(RequestServerTest, WhatIsNotThereIsRefusedAndLeavesNothingToBeDone) {
  const std::vector<std::pair<LcoreRequest, LcoreReplyKind>> requests = {
      {request::Claim{.vc_mask = 1, .client = 3}, LcoreReplyKind::kClaim},
      {request::Unclaim{.vc_mask = 1, .client = 3}, LcoreReplyKind::kUnclaim},
      {request::ResetQueue{.client = 3}, LcoreReplyKind::kResetQueue},
      {request::Detach{.client = 3}, LcoreReplyKind::kDetach}};
  for (const auto& [request, kind] : requests) {
    EXPECT_TRUE(IsNothing(Serve(request)));
    const std::optional<LcoreReply> reply = Reply();
    ASSERT_TRUE(reply.has_value());
    EXPECT_EQ(reply->kind, kind);
    EXPECT_EQ(reply->status, LcoreStatus::kUnknown);
    EXPECT_EQ(reply->client, 3u);
  }
  EXPECT_TRUE(IsNothing(Serve(request::SetPeerMac{})));
  EXPECT_TRUE(IsNothing(Serve(request::LosePeer{})));
  EXPECT_TRUE(IsNothing(Serve(request::Ping{})));
  EXPECT_FALSE(Reply().has_value());
  EXPECT_EQ(server.done(), 0u);
}

TEST_F(RequestServerTest, AdministrationIsCountedWhateverItNames) {
  EXPECT_TRUE(IsNothing(Serve(request::SetPort{.port = 0, .up = false})));
  EXPECT_TRUE(IsNothing(Serve(request::SetPort{.port = 1, .up = false})));
  EXPECT_TRUE(IsNothing(Serve(request::SetInstance{.instance = 1, .up = true})));
  EXPECT_TRUE(IsNothing(Serve(request::SetPlane{.instance = 1})));
  EXPECT_TRUE(IsNothing(Serve(request::SetWeight{.instance = 1})));
  EXPECT_EQ(server.done(), 5u);
  EXPECT_FALSE(Reply().has_value());
}

TEST_F(RequestServerTest, SettingsAreLeftToTheCaller) {
  auto* const change = reinterpret_cast<SettingsChange*>(&mailbox);  // never looked at
  const Todo todo = Serve(request::ChangeSettings{.settings = change});
  ASSERT_TRUE(std::holds_alternative<request::ChangeSettings>(todo));
  EXPECT_EQ(std::get<request::ChangeSettings>(todo).settings, change);
}

TEST_F(RequestServerTest, ASnapshotIsWrittenAtOnce) {
  QueueSnapshot snapshot;
  snapshot.done = false;
  snapshot.count = 9;
  EXPECT_TRUE(IsNothing(Serve(request::Queues{.snapshot = &snapshot})));
  EXPECT_TRUE(snapshot.done);
  EXPECT_EQ(snapshot.count, 0u);
}

TEST_F(RequestServerTest, AClientThatLeavesIsAnsweredOnceWhenItsQueuesAreServedNoMore) {
  const SegmentShape shape;
  SegmentMemory memory(shape);
  clients.AddInstance();
  const uint32_t instance = 0;
  ASSERT_EQ(
      clients.Attach(
          {.client = 3, .segment = memory.base(), .shape = &shape, .queue_instances = &instance}),
      ClientVerdict::kDone);
  EXPECT_TRUE(std::holds_alternative<todo::ClientLeft>(Serve(request::Detach{.client = 3})));
  EXPECT_FALSE(Reply().has_value());
  server.FinishDetaching();
  const std::optional<LcoreReply> reply = Reply();
  ASSERT_TRUE(reply.has_value());
  EXPECT_EQ(reply->kind, LcoreReplyKind::kDetach);
  EXPECT_EQ(reply->status, LcoreStatus::kDone);
  EXPECT_EQ(reply->client, 3u);
  EXPECT_FALSE(Reply().has_value());
}

TEST_F(RequestServerTest, TheEndIsAnsweredOnceWhenAllIsAcknowledged) {
  EXPECT_TRUE(IsNothing(Serve(request::Drain{})));
  EXPECT_TRUE(clients.draining());
  server.FinishDraining(false);
  EXPECT_FALSE(Reply().has_value());
  server.FinishDraining(true);
  const std::optional<LcoreReply> reply = Reply();
  ASSERT_TRUE(reply.has_value());
  EXPECT_EQ(reply->kind, LcoreReplyKind::kDrain);
  server.FinishDraining(true);
  EXPECT_FALSE(Reply().has_value());
}

}  // namespace
}  // namespace suede
