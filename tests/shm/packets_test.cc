// SPDX-License-Identifier: Apache-2.0
// Management packets through libsuede, against a server that gives them back.
#include <gtest/gtest.h>
#include <poll.h>

#include <cerrno>
#include <vector>

#include "fake_daemon.h"
#include "suede/suede.hpp"

namespace suede {
namespace {

using client::Packets;

std::vector<uint8_t> PacketOf(uint32_t number, uint32_t bytes) {
  std::vector<uint8_t> packet(bytes);
  for (uint32_t i = 0; i < bytes; ++i) packet[i] = static_cast<uint8_t>(number * 13 + i);
  return packet;
}

class PacketsTest : public ::testing::Test {
 protected:
  // The next packet, waited for.
  static std::vector<uint8_t> Receive(Packets& from) {
    std::vector<uint8_t> room(9618);
    pollfd what{.fd = from.fd(), .events = POLLIN, .revents = 0};
    poll(&what, 1, 5000);
    const int n = from.Receive(room);
    room.resize(n < 0 ? 0 : static_cast<size_t>(n));
    return room;
  }
  template <typename Condition>
  static bool Eventually(Condition condition) {
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

TEST_F(PacketsTest, TellsOfThePort) {
  Packets packets;
  ASSERT_EQ(packets.Open(path_, "p1", false), 0) << suede_error_text();
  const suede_packets_info info = packets.Info();
  EXPECT_EQ(info.port_index, 1u);
  EXPECT_STREQ(info.port, "p1");
  EXPECT_EQ(info.max_bytes, 1518u);
  EXPECT_EQ(info.mtu_bytes, 1500u);
  EXPECT_EQ(info.mac[5], 1);
  ASSERT_EQ(packets.Open(path_, "", true), 0);
  EXPECT_STREQ(packets.Info().port, "p0");
}

TEST_F(PacketsTest, EachReceiverOfThePortGetsACopy) {
  Packets sender, first, second, other;
  ASSERT_EQ(sender.Open(path_, "p0", false), 0);
  ASSERT_EQ(first.Open(path_, "p0", true), 0);
  ASSERT_EQ(second.Open(path_, "p0", true), 0);
  ASSERT_EQ(other.Open(path_, "p1", true), 0);
  EXPECT_TRUE(Eventually([&] { return daemon_.receivers[0] == 2 && daemon_.receivers[1] == 1; }));
  for (const uint32_t bytes : {14u, 60u, 1518u}) {
    const std::vector<uint8_t> packet = PacketOf(bytes, bytes);
    ASSERT_EQ(sender.Send(packet), 0) << suede_error_text();
    EXPECT_EQ(Receive(first), packet);
    EXPECT_EQ(Receive(second), packet);
  }
  std::vector<uint8_t> room(2000);
  EXPECT_EQ(other.Receive(room), -EAGAIN);
  EXPECT_EQ(sender.Receive(room), -EAGAIN);
  first = Packets();
  EXPECT_TRUE(Eventually([&] { return daemon_.receivers[0] == 1; }));
}

TEST_F(PacketsTest, LengthsAreHeldAgainstThePort) {
  Packets packets;
  ASSERT_EQ(packets.Open(path_, "p0", true), 0);
  EXPECT_EQ(packets.Send(PacketOf(0, 13)), -EINVAL);
  EXPECT_EQ(packets.Send(PacketOf(0, 1519)), -EINVAL);
  ASSERT_EQ(packets.Send(PacketOf(1, 100)), 0);
  ASSERT_EQ(packets.Send(PacketOf(2, 50)), 0);
  EXPECT_TRUE(Eventually([&] { return daemon_.packets == 2; }));
  std::vector<uint8_t> room(60);
  EXPECT_EQ(packets.Receive(room), -EMSGSIZE);
  EXPECT_EQ(packets.Receive(room), 50);
}

TEST_F(PacketsTest, LostOnesAreTold) {
  Packets reader, sender;
  ASSERT_EQ(reader.Open(path_, "p0", true), 0);
  ASSERT_EQ(sender.Open(path_, "p0", false), 0);
  for (uint32_t i = 0; i < 20'000 && daemon_.copies_lost < 10; ++i) {
    while (sender.Send(PacketOf(i, 1500)) == -EAGAIN) usleep(100);
  }
  EXPECT_GE(daemon_.copies_lost, 10u);
  std::vector<uint8_t> room(2000);
  EXPECT_TRUE(Eventually([&] {
    while (reader.Receive(room) > 0) {
    }
    sender.Send(PacketOf(0, 60));
    return reader.lost() >= 10;
  }));
}

TEST_F(PacketsTest, Errors) {
  Packets packets;
  EXPECT_EQ(packets.Open(path_, "p9", true), -ENODEV);
  EXPECT_EQ(packets.Open(path_ + "x", "p0", true), -ENOENT);
  EXPECT_EQ(packets.Open(path_, std::string(33, 'p'), true), -EINVAL);
  suede_packets* raw = nullptr;
  suede_packets_params params{};
  EXPECT_EQ(suede_packets_open(path_.c_str(), &params, &raw), -EINVAL);
  EXPECT_EQ(suede_packets_open(path_.c_str(), nullptr, &raw), -EINVAL);
  params.size = sizeof params;
  params.port_index = 2;
  EXPECT_EQ(suede_packets_open(path_.c_str(), &params, &raw), -ENODEV);
  EXPECT_EQ(raw, nullptr);
  EXPECT_EQ(suede_packets_send(nullptr, &params, 60), -EINVAL);
  EXPECT_EQ(suede_packets_fd(nullptr), -1);
  suede_packets_close(nullptr);
  ASSERT_EQ(packets.Open(path_, "p0", true), 0);
  daemon_.Stop();
  std::vector<uint8_t> room(100);
  EXPECT_EQ(packets.Receive(room), -ECONNRESET);
  EXPECT_EQ(packets.Send(room), -ECONNRESET);
}

}  // namespace
}  // namespace suede
