// SPDX-License-Identifier: Apache-2.0
#include "memif/channel.h"

#include <gtest/gtest.h>

#include <functional>
#include <random>
#include <string>
#include <vector>

namespace suede::memif {
namespace {

std::span<const uint8_t> SpanOf(const Message& message) {
  return {reinterpret_cast<const uint8_t*>(&message), sizeof message};
}

std::vector<InterfaceRules> OneInterface() { return {{.id = 7, .secret = "open", .rings = 2}}; }

Message Init7(const std::string& secret = "open") {
  Message message{};
  message.type = MessageType::kInit;
  message.init.version = kVersion;
  message.init.id = 7;
  PutText(message.init.secret, secret);
  PutText(message.init.name, "test\n");
  return message;
}

Message RegionMessage(uint16_t index, uint64_t bytes) {
  Message message{};
  message.type = MessageType::kAddRegion;
  message.add_region = {.index = index, .bytes = bytes};
  return message;
}

Message RingMessage(uint16_t flags, uint16_t index, uint32_t offset, uint8_t log2_slots = 8,
                    uint16_t region = 0) {
  Message message{};
  message.type = MessageType::kAddRing;
  message.add_ring = {.flags = flags,
                      .index = index,
                      .region = region,
                      .offset = offset,
                      .log2_slots = log2_slots,
                      .private_header_bytes = 0};
  return message;
}

Message OfType(MessageType type) {
  Message message{};
  message.type = type;
  return message;
}

// A server's channel behind an accepted INIT.
class ServerTest : public testing::Test {
 protected:
  ServerTest() {
    const Step step = Send(Init7());
    EXPECT_EQ(step.action, Action::kClaim);
    EXPECT_EQ(step.interface, 0u);
    EXPECT_EQ(channel_.peer(), "test?");
  }
  Step Send(const Message& message, bool has_descriptor = true) {
    return channel_.OnMessage(SpanOf(message), has_descriptor, interfaces_);
  }
  void ExpectRefusal(const Message& message, Refusal refusal, bool has_descriptor = true) {
    const Step step = Send(message, has_descriptor);
    EXPECT_EQ(step.action, Action::kClose);
    EXPECT_EQ(step.refusal, refusal);
    ASSERT_TRUE(step.reply);
    EXPECT_EQ(step.reply->type, MessageType::kDisconnect);
    EXPECT_EQ(GetText(step.reply->disconnect.reason), TextOf(refusal));
    // Nothing follows.
    EXPECT_FALSE(Send(Init7()).reply);
  }

  std::vector<InterfaceRules> interfaces_ = OneInterface();
  ServerChannel channel_;
};

TEST(MemifFormatTest, TheGreetingHasTheBytesOfTheProtocol) {
  const Message hello = ServerChannel::Greeting();
  const auto bytes = SpanOf(hello);
  EXPECT_EQ(bytes[0], 2);
  EXPECT_EQ(bytes[1], 0);
  EXPECT_EQ(std::string(reinterpret_cast<const char*>(&bytes[2])), "suede");
  EXPECT_EQ(bytes[34] | bytes[35] << 8, 0x200);
  EXPECT_EQ(bytes[36] | bytes[37] << 8, 0x200);
  EXPECT_EQ(bytes[38] | bytes[39] << 8, kMaxRegions - 1);
  EXPECT_EQ(bytes[40] | bytes[41] << 8, kMaxRings - 1);
  EXPECT_EQ(bytes[42] | bytes[43] << 8, kMaxRings - 1);
  EXPECT_EQ(bytes[44], kMaxLog2Ring);
}

TEST_F(ServerTest, ConnectsWithTwoRingsEachWay) {
  EXPECT_EQ(Send(RegionMessage(0, 1 << 20)).action, Action::kAddRegion);
  EXPECT_EQ(Send(RegionMessage(1, 4096)).reply->type, MessageType::kAck);
  for (uint16_t i = 0; i < 2; ++i) {
    EXPECT_EQ(Send(RingMessage(AddRing::kC2s, i, 8192u * i)).reply->type, MessageType::kAck);
    EXPECT_EQ(Send(RingMessage(0, i, 8192u * (i + 2))).action, Action::kAddEvent);
  }
  EXPECT_EQ(Send(OfType(MessageType::kConnect), false).action, Action::kConnect);
  EXPECT_EQ(channel_.plan().regions, (std::vector<uint64_t>{1 << 20, 4096}));
  ASSERT_EQ(channel_.plan().s2c.size(), 2u);
  EXPECT_EQ(channel_.plan().s2c[1].offset, 24576u);
  EXPECT_EQ(GetText(channel_.Accept("p0").connect.interface), "p0");
  EXPECT_EQ(Send(OfType(MessageType::kDisconnect), false).action, Action::kClose);
}

TEST_F(ServerTest, RefusesBadRegions) {
  EXPECT_EQ(Send(RegionMessage(0, 4096)).action, Action::kAddRegion);
  const ServerChannel good = channel_;
  const std::vector<std::pair<Message, Refusal>> bad = {
      {RegionMessage(0, 4096), Refusal::kRegion},             // twice
      {RegionMessage(2, 4096), Refusal::kRegion},             // skips one
      {RegionMessage(1, 0), Refusal::kRegion},                // empty
      {RegionMessage(1, kMaxSharedBytes), Refusal::kRegion},  // too much with the first
      {RegionMessage(1, UINT64_MAX), Refusal::kRegion}};
  for (const auto& [message, refusal] : bad) {
    channel_ = good;
    ExpectRefusal(message, refusal);
  }
  channel_ = good;
  ExpectRefusal(RegionMessage(1, 4096), Refusal::kNoDescriptor, false);
}

TEST_F(ServerTest, RefusesBadRings) {
  EXPECT_EQ(Send(RegionMessage(0, RingBytes(8) + 64)).action, Action::kAddRegion);
  const ServerChannel good = channel_;
  EXPECT_EQ(Send(RingMessage(1, 0, 64)).action, Action::kNone);
  const std::vector<Message> bad = {RingMessage(1, 1, 0),   // skips ring 0
                                    RingMessage(1, 0, 80),  // ends behind the region
                                    RingMessage(1, 0, 8),   // misaligned
                                    RingMessage(1, 0, UINT32_MAX & ~15u),
                                    RingMessage(1, 0, 0, 0),   // one slot
                                    RingMessage(1, 0, 0, 15),  // too many slots
                                    RingMessage(1, 0, 0, 255),
                                    RingMessage(1, 0, 0, 8, 1)};  // no such region
  for (const Message& message : bad) {
    channel_ = good;
    ExpectRefusal(message, Refusal::kRing);
  }
  channel_ = good;
  ExpectRefusal(RingMessage(1, 0, 0), Refusal::kNoDescriptor, false);
  channel_ = good;
  ExpectRefusal(OfType(MessageType::kConnect), Refusal::kRings);
}

TEST_F(ServerTest, RefusesMoreRingsThanTheInterfaceHas) {
  EXPECT_EQ(Send(RegionMessage(0, 1 << 20)).action, Action::kAddRegion);
  EXPECT_EQ(Send(RingMessage(1, 0, 0)).action, Action::kNone);
  EXPECT_EQ(Send(RingMessage(1, 1, 0)).action, Action::kNone);
  ExpectRefusal(RingMessage(1, 2, 0), Refusal::kRing);
}

TEST_F(ServerTest, RefusesMessagesOutOfOrder) {
  const ServerChannel good = channel_;
  for (const MessageType type :
       {MessageType::kNone, MessageType::kAck, MessageType::kHello, MessageType::kInit,
        MessageType::kConnected, static_cast<MessageType>(9), static_cast<MessageType>(0xffff)}) {
    channel_ = good;
    ExpectRefusal(OfType(type), Refusal::kUnexpected);
  }
}

TEST(MemifServerTest, RefusesStrangers) {
  const auto refusal_of = [](const Message& init, const std::vector<InterfaceRules>& interfaces) {
    ServerChannel channel;
    return channel.OnMessage(SpanOf(init), false, interfaces).refusal;
  };
  EXPECT_EQ(refusal_of(Init7(), {}), Refusal::kUnknownId);
  EXPECT_EQ(refusal_of(Init7("opem"), OneInterface()), Refusal::kSecret);
  EXPECT_EQ(refusal_of(Init7("opens"), OneInterface()), Refusal::kSecret);
  EXPECT_EQ(refusal_of(Init7(""), OneInterface()), Refusal::kSecret);
  EXPECT_EQ(refusal_of(OfType(MessageType::kConnect), OneInterface()), Refusal::kUnexpected);
  Message init = Init7();
  init.init.version = kVersion + 1;
  EXPECT_EQ(refusal_of(init, OneInterface()), Refusal::kVersion);
  init = Init7();
  init.init.mode = 1;
  EXPECT_EQ(refusal_of(init, OneInterface()), Refusal::kMode);
  auto interfaces = OneInterface();
  interfaces[0].taken = true;
  EXPECT_EQ(refusal_of(Init7(), interfaces), Refusal::kTaken);
  interfaces[0].secret = "";
  interfaces[0].taken = false;
  EXPECT_EQ(refusal_of(Init7("any"), interfaces), Refusal::kNone);
  interfaces[0].down = true;
  EXPECT_EQ(refusal_of(Init7("any"), interfaces), Refusal::kDown);
}

TEST(MemifServerTest, RefusesMessagesOfOtherSizes) {
  const Message init = Init7();
  for (const size_t bytes : {0, 1, 127}) {
    ServerChannel channel;
    EXPECT_EQ(channel.OnMessage(SpanOf(init).first(bytes), false, OneInterface()).refusal,
              Refusal::kMessageSize);
  }
}

// Connects both channels; returns the messages of each kind that the client sent.
void Handshake(ClientChannel& client, ServerChannel& server,
               const std::vector<InterfaceRules>& interfaces, int* memories, int* events) {
  Message to_client = ServerChannel::Greeting();
  for (int round = 0; round < 300; ++round) {
    Step step = client.OnMessage(SpanOf(to_client));
    if (step.action == Action::kConnected) return;
    if (step.action == Action::kMakeMemory) step.reply = client.Start(client.plan().regions[0]);
    ASSERT_TRUE(step.reply);
    ASSERT_NE(step.action, Action::kClose);
    *memories += client.sends_memory() ? 1 : 0;
    *events += client.sent_ring().has_value() ? 1 : 0;
    Step answer = server.OnMessage(
        SpanOf(*step.reply), client.sends_memory() || client.sent_ring().has_value(), interfaces);
    if (answer.action == Action::kConnect) answer.reply = server.Accept("server");
    ASSERT_TRUE(answer.reply);
    to_client = *answer.reply;
  }
  FAIL() << "no end";
}

TEST(MemifClientTest, ConnectsToAServer) {
  const std::vector<InterfaceRules> interfaces = {{.id = 3, .secret = "s", .rings = 4}};
  ClientChannel client({.id = 3,
                        .secret = "s",
                        .interface = "c",
                        .rings = 4,
                        .log2_slots = 9,
                        .buffer_bytes = 2112});
  ServerChannel server;
  int memories = 0;
  int events = 0;
  Handshake(client, server, interfaces, &memories, &events);
  EXPECT_EQ(memories, 1);
  EXPECT_EQ(events, 8);
  ASSERT_EQ(server.plan().c2s.size(), 4u);
  ASSERT_EQ(server.plan().s2c.size(), 4u);
  EXPECT_EQ(server.plan().c2s[3].offset, client.plan().c2s[3].offset);
  EXPECT_EQ(client.buffers_offset(), 8 * RingBytes(9));
  EXPECT_EQ(client.plan().regions[0], 8 * RingBytes(9) + 8 * 512 * 2112u);
  EXPECT_EQ(server.peer(), "suede");
}

TEST(MemifClientTest, TakesNoMoreThanTheServerOffers) {
  Message hello = ServerChannel::Greeting();
  hello.hello.max_c2s_ring = 0;
  hello.hello.max_s2c_ring = 1;
  hello.hello.max_log2_ring = 5;
  ClientChannel client({.rings = 4, .log2_slots = 9});
  EXPECT_EQ(client.OnMessage(SpanOf(hello)).action, Action::kMakeMemory);
  EXPECT_EQ(client.plan().c2s.size(), 1u);
  EXPECT_EQ(client.plan().s2c.size(), 2u);
  EXPECT_EQ(client.plan().c2s[0].log2_slots, 5);
  hello.hello.max_log2_ring = 0;
  EXPECT_EQ(ClientChannel({}).OnMessage(SpanOf(hello)).refusal, Refusal::kRing);
  hello = ServerChannel::Greeting();
  hello.hello.min_version = kVersion + 1;
  EXPECT_EQ(ClientChannel({}).OnMessage(SpanOf(hello)).refusal, Refusal::kVersion);
  EXPECT_EQ(ClientChannel({}).OnMessage(SpanOf(OfType(MessageType::kAck))).refusal,
            Refusal::kUnexpected);
  EXPECT_EQ(ClientChannel({}).OnMessage(SpanOf(OfType(MessageType::kDisconnect))).action,
            Action::kClose);
}

// Changes bytes of valid conversations at random: the channel answers or closes, and the plan that
// it accepts fits its regions.
TEST(MemifServerTest, SurvivesChangedMessages) {
  std::mt19937 random(1);
  const std::vector<Message> conversation = {Init7(), RegionMessage(0, 1 << 16),
                                             RingMessage(1, 0, 0), RingMessage(0, 0, 8192),
                                             OfType(MessageType::kConnect)};
  int connected = 0;
  for (int run = 0; run < 20'000; ++run) {
    ServerChannel channel;
    bool open = true;
    for (Message message : conversation) {
      if (random() % 2 == 0) {
        reinterpret_cast<uint8_t*>(&message)[random() % 24] ^=
            static_cast<uint8_t>(1 << random() % 8);
      }
      const Step step = channel.OnMessage(SpanOf(message), random() % 16 != 0, OneInterface());
      open = open && step.action != Action::kClose;
      if (step.action != Action::kConnect) continue;
      EXPECT_TRUE(open);
      ++connected;
      for (const auto* rings : {&channel.plan().c2s, &channel.plan().s2c}) {
        for (const RingPlan& ring : *rings) {
          ASSERT_LT(ring.region, channel.plan().regions.size());
          EXPECT_LE(ring.offset + RingBytes(ring.log2_slots), channel.plan().regions[ring.region]);
        }
      }
    }
  }
  EXPECT_GT(connected, 100);
}

}  // namespace
}  // namespace suede::memif
