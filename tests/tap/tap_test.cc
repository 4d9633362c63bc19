// SPDX-License-Identifier: Apache-2.0
// TAP devices and neighbours with the machine's kernel, in a network namespace of the test's own.
// Without the privilege to have one there is nothing to test.
#include "tap/tap.h"

#include <gtest/gtest.h>
#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <poll.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <map>
#include <vector>

#include "tap/neighbours.h"

namespace suede {
namespace {

using Bytes = std::vector<uint8_t>;
using Mac = Neighbours::Mac;

constexpr Mac kOwn = {2, 0, 0, 0, 0, 1};
constexpr Mac kPeer = {2, 0, 0, 0, 0, 2};
constexpr Mac kMoved = {2, 0, 0, 0, 0, 3};
constexpr LinkAddress kOwnIp = {.low = 0xc6120001};
constexpr LinkAddress kPeerIp = {.low = 0xc6120002};
const LinkAddress kOwnIp6 = {.is_v6 = true, .high = 0x20010db800000000, .low = 1};
const LinkAddress kPeerIp6 = {.is_v6 = true, .high = 0x20010db800000000, .low = 2};

class TapTest : public ::testing::Test {
 protected:
  void SetUp() override {
    // The test's thread alone; it may be in one of its own already, from the test before.
    if (unshare(CLONE_NEWNET) != 0) GTEST_SKIP() << "no network namespace: " << strerror(errno);
    absl::StatusOr<std::unique_ptr<Tap>> opened =
        Tap::Open({.name = "tap-test", .mac = kOwn, .mtu_bytes = 2088});
    if (!opened.ok() && access("/dev/net/tun", R_OK | W_OK) != 0) GTEST_SKIP() << opened.status();
    ASSERT_TRUE(opened.ok()) << opened.status();
    tap = *std::move(opened);
    tap->SetCarrier(true);
  }
  ifreq Ask(unsigned long what) const {
    ifreq request{};
    tap->name().copy(request.ifr_name, sizeof request.ifr_name - 1);
    const int control = socket(AF_INET, SOCK_DGRAM, 0);
    EXPECT_EQ(ioctl(control, what, &request), 0) << strerror(errno);
    close(control);
    return request;
  }
  bool HasCarrier() const {
    ethtool_value value{.cmd = ETHTOOL_GLINK, .data = 0};
    ifreq request{};
    tap->name().copy(request.ifr_name, sizeof request.ifr_name - 1);
    request.ifr_data = reinterpret_cast<char*>(&value);
    const int control = socket(AF_INET, SOCK_DGRAM, 0);
    EXPECT_EQ(ioctl(control, SIOCETHTOOL, &request), 0) << strerror(errno);
    close(control);
    return value.data != 0;
  }
  // The next frame of the kernel's for which `is_it` holds, within `attempts` of 10 ms or frames.
  template <typename IsIt>
  Bytes ReadUntil(IsIt is_it, int attempts = 1000) {
    for (int i = 0; i < attempts; ++i) {
      pollfd what{.fd = tap->fd(), .events = POLLIN, .revents = 0};
      poll(&what, 1, 10);
      Bytes frame(4096);
      frame.resize(tap->Read(frame));
      if (!frame.empty() && is_it(frame)) return frame;
    }
    return {};
  }
  static bool IsArp(const Bytes& frame) {
    return frame.size() >= 42 && frame[12] == 0x08 && frame[13] == 0x06;
  }
  static bool IsSolicitation(const Bytes& frame) {
    return frame.size() >= 78 && frame[12] == 0x86 && frame[13] == 0xdd && frame[20] == 58 &&
           frame[54] == 135 && frame[77] == 2;  // of kPeerIp6
  }
  static Bytes ArpReply(const Mac& from) {
    Bytes frame(42);
    std::ranges::copy(kOwn, frame.begin());
    std::ranges::copy(from, frame.begin() + 6);
    const uint8_t head[] = {8, 6, 0, 1, 8, 0, 6, 4, 0, 2};
    std::ranges::copy(head, frame.begin() + 12);
    std::ranges::copy(from, frame.begin() + 22);
    const uint8_t peer_ip[] = {0xc6, 0x12, 0, 2};
    const uint8_t own_ip[] = {0xc6, 0x12, 0, 1};
    std::ranges::copy(peer_ip, frame.begin() + 28);
    std::ranges::copy(kOwn, frame.begin() + 32);
    std::ranges::copy(own_ip, frame.begin() + 38);
    return frame;
  }
  // The kernel holds on to an answer for a second; not here.
  static void HoldNothing() {
    std::ofstream locktime("/proc/sys/net/ipv4/neigh/tap-test/locktime");
    if (!(locktime << "0\n" << std::flush)) usleep(1'000'000);
    usleep(20'000);
  }
  bool Learns(Neighbours& neighbours, const LinkAddress& address, const Mac& mac) {
    for (int i = 0; i < 1000; ++i) {
      neighbours.Poll([&](const LinkAddress& at, const Mac& is) { learnt[at] = is; });
      if (const auto found = learnt.find(address); found != learnt.end() && found->second == mac) {
        return true;
      }
      usleep(5000);
    }
    return false;
  }

  std::unique_ptr<Tap> tap;
  std::map<LinkAddress, Mac> learnt;
};

TEST_F(TapTest, IsAsAsked) {
  EXPECT_EQ(Ask(SIOCGIFMTU).ifr_mtu, 2088);
  EXPECT_TRUE(std::equal(kOwn.begin(), kOwn.end(),
                         reinterpret_cast<const uint8_t*>(Ask(SIOCGIFHWADDR).ifr_hwaddr.sa_data)));
  EXPECT_NE(Ask(SIOCGIFFLAGS).ifr_flags & IFF_UP, 0);
  EXPECT_EQ(static_cast<uint32_t>(Ask(SIOCGIFINDEX).ifr_ifindex), tap->interface());
  EXPECT_TRUE(HasCarrier());
  tap->SetCarrier(false);
  EXPECT_FALSE(HasCarrier());
  const auto second = Tap::Open({.name = "tap-test", .mac = kOwn});
  ASSERT_FALSE(second.ok());
  EXPECT_NE(second.status().message().find("choose another"), std::string::npos)
      << second.status();
  EXPECT_FALSE(Tap::Open({.name = "a-name-of-16-letters"}).ok());
  tap.reset();
  EXPECT_EQ(if_nametoindex("tap-test"), 0u) << "it goes with its owner";
}

TEST_F(TapTest, AnInterfaceThatIsDownTakesNothing) {
  EXPECT_TRUE(tap->Write(ArpReply(kPeer)));
  ifreq request = Ask(SIOCGIFFLAGS);
  request.ifr_flags = static_cast<short>(request.ifr_flags & ~IFF_UP);
  const int control = socket(AF_INET, SOCK_DGRAM, 0);
  ASSERT_EQ(ioctl(control, SIOCSIFFLAGS, &request), 0);
  close(control);
  EXPECT_FALSE(tap->Write(ArpReply(kPeer)));
}

TEST_F(TapTest, NeighboursAreResolvedLearntAndFollowed) {
  ASSERT_TRUE(AddAddress(tap->interface(), kOwnIp, 24).ok());
  EXPECT_TRUE(AddAddress(tap->interface(), kOwnIp, 24).ok()) << "twice is no error";
  auto neighbours = Neighbours::Open(tap->interface());
  ASSERT_TRUE(neighbours.ok()) << neighbours.status();
  (*neighbours)->Resolve(kPeerIp);
  const Bytes question = ReadUntil(IsArp);
  ASSERT_FALSE(question.empty()) << "the kernel asks";
  EXPECT_EQ(question[41], 2);
  EXPECT_TRUE(std::equal(kOwn.begin(), kOwn.end(), question.begin() + 22));
  ASSERT_TRUE(tap->Write(ArpReply(kPeer)));
  EXPECT_TRUE(Learns(**neighbours, kPeerIp, kPeer));
  // A later look finds it in the table.
  auto late = Neighbours::Open(tap->interface());
  ASSERT_TRUE(late.ok());
  learnt.clear();
  EXPECT_TRUE(Learns(**late, kPeerIp, kPeer));
  // The neighbour has moved, and says so once it is asked again.
  HoldNothing();
  ASSERT_TRUE(tap->Write(ArpReply(kMoved)));
  EXPECT_TRUE(Learns(**neighbours, kPeerIp, kMoved));
}

TEST_F(TapTest, AddressesOfSixAreUsableAtOnce) {
  const absl::Status status = AddAddress(tap->interface(), kOwnIp6, 64);
  if (!status.ok()) GTEST_SKIP() << "no IPv6 here: " << status;
  auto neighbours = Neighbours::Open(tap->interface());
  ASSERT_TRUE(neighbours.ok());
  // The kernel may take a moment to notice that the interface has a carrier, and gives a question
  // up that it cannot ask. The endpoint asks again, too.
  bool is_asked = false;
  for (int i = 0; i < 10 && !is_asked; ++i) {
    (*neighbours)->Resolve(kPeerIp6);
    is_asked = !ReadUntil(IsSolicitation, 200).empty();
  }
  EXPECT_TRUE(is_asked) << "the kernel asks";
}

TEST_F(TapTest, AnAddressThatCannotBeIsRefused) {
  EXPECT_FALSE(AddAddress(tap->interface(), kOwnIp, 33).ok());
  EXPECT_FALSE(AddAddress(999'999, kOwnIp, 24).ok());
}

}  // namespace
}  // namespace suede
