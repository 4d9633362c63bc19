// SPDX-License-Identifier: Apache-2.0
// Packet sockets as net_af_packet opens them, in a program that links drivers/dpdk.
#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <sys/socket.h>
#include <unistd.h>

namespace suede {
namespace {

// The protocol that the kernel has for a socket that was asked for so; -1: it has none of it.
int ProtocolOf(int type, int asked) {
  const int fd = socket(AF_PACKET, type, asked);
  if (fd < 0) return -1;
  sockaddr_ll name{};
  socklen_t length = sizeof name;
  const int error = getsockname(fd, reinterpret_cast<sockaddr*>(&name), &length);
  close(fd);
  return error == 0 ? name.sll_protocol : -1;
}

TEST(PacketSocketsTest, AreOfNoProtocolBeforeTheyAreBound) {
  if (ProtocolOf(SOCK_RAW, 0) != 0) GTEST_SKIP() << "packet sockets take CAP_NET_RAW";
  EXPECT_EQ(ProtocolOf(SOCK_RAW, htons(ETH_P_ALL)), 0);
}

TEST(PacketSocketsTest, OthersAreAsTheyWereAskedFor) {
  if (ProtocolOf(SOCK_RAW, 0) != 0) GTEST_SKIP() << "packet sockets take CAP_NET_RAW";
  EXPECT_EQ(ProtocolOf(SOCK_RAW, htons(ETH_P_IP)), htons(ETH_P_IP));
  EXPECT_EQ(ProtocolOf(SOCK_DGRAM, htons(ETH_P_ALL)), htons(ETH_P_ALL));
}

}  // namespace
}  // namespace suede
