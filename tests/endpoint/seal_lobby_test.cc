// SPDX-License-Identifier: Apache-2.0
#include "endpoint/seal_lobby.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/text.h"

namespace suede {
namespace {

SocketAddress AddressOf(const std::string& text) { return *ParseSocketAddress(text); }
Time At(int seconds) { return TimeFromNs(int64_t{seconds} * 1'000'000'000); }

class SealLobbyTest : public ::testing::Test {
 protected:
  bool Holds(const std::string& address) const {
    return std::any_of(lobby_.guests().begin(), lobby_.guests().end(),
                       [&](const auto& guest) { return guest.address.text() == address; });
  }
  // Adds silent connections of as many sources.
  void AddStrangers(int count) {
    for (int i = 0; i < count; ++i) {
      lobby_.Add(Fd(), AddressOf(StrCat("10.", i >> 8 & 255, ".", i & 255, ".1:1000")), At(1));
    }
  }

  SealLobby lobby_{{"192.0.2.1", "2001:db8::1"}};
};

TEST_F(SealLobbyTest, StrangersTakeNoPlaceOfAPeer) {
  lobby_.Add(Fd(), AddressOf("192.0.2.1:5000"), At(0));
  lobby_.Add(Fd(), AddressOf("[2001:db8::1]:5000"), At(0));
  AddStrangers(10'000);
  EXPECT_TRUE(Holds("192.0.2.1:5000"));
  EXPECT_TRUE(Holds("[2001:db8::1]:5000"));
  EXPECT_EQ(lobby_.guests().size(), SealLobby::kPlaces + 2);
  for (const auto& guest : lobby_.guests()) EXPECT_EQ(guest.is_peer, guest.since == At(0));
}

TEST_F(SealLobbyTest, AnotherHostOfAPeersNetworkIsAStranger) {
  lobby_.Add(Fd(), AddressOf("[2001:db8::2]:5000"), At(0));
  EXPECT_FALSE(lobby_.guests()[0].is_peer);
}

TEST_F(SealLobbyTest, TheOldestOfTheSourceWithTheMostGoes) {
  lobby_.Add(Fd(), AddressOf("10.200.0.1:1"), At(0));
  AddStrangers(static_cast<int>(SealLobby::kPlaces) - 3);
  lobby_.Add(Fd(), AddressOf("10.100.0.1:1"), At(2));
  lobby_.Add(Fd(), AddressOf("10.100.0.1:2"), At(2));
  const auto ended = lobby_.Add(Fd(), AddressOf("10.201.0.1:1"), At(3));
  ASSERT_EQ(ended.size(), 1u);
  EXPECT_EQ(ended[0].address.text(), "10.100.0.1:1");
  // All sources have one now: the oldest of all goes, whatever its address.
  const auto oldest = lobby_.Add(Fd(), AddressOf("10.202.0.1:1"), At(3));
  ASSERT_EQ(oldest.size(), 1u);
  EXPECT_EQ(oldest[0].address.text(), "10.200.0.1:1");
}

TEST_F(SealLobbyTest, ThoseThatSpeakLeaveAsFarAsTheyMay) {
  for (int i = 1; i <= 3; ++i) lobby_.Add(Fd(), AddressOf(StrCat("10.0.0.", i, ":1")), At(i));
  int tokens = 1;
  const auto speaks = [](const SealLobby::Guest& guest) {
    return guest.address.text() != "10.0.0.1:1";
  };
  const auto taken = lobby_.TakeSpeaking(speaks, [&](const auto&) { return tokens-- > 0; });
  ASSERT_EQ(taken.size(), 1u);
  EXPECT_EQ(taken[0].address.text(), "10.0.0.2:1");
  EXPECT_TRUE(Holds("10.0.0.3:1"));
  const auto silent = lobby_.TakeSilent(At(1));
  ASSERT_EQ(silent.size(), 1u);
  EXPECT_EQ(silent[0].address.text(), "10.0.0.1:1");
}

}  // namespace
}  // namespace suede
