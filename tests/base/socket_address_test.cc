// SPDX-License-Identifier: Apache-2.0
#include "base/socket_address.h"

#include <gtest/gtest.h>

namespace suede {
namespace {

TEST(SocketAddressTest, ReadsAndWritesBothFamilies) {
  const auto v4 = ParseSocketAddress("198.18.0.1:7420");
  ASSERT_TRUE(v4.has_value());
  EXPECT_EQ(v4->family(), AF_INET);
  EXPECT_EQ(v4->bytes(), sizeof(sockaddr_in));
  EXPECT_EQ(v4->host(), "198.18.0.1");
  EXPECT_EQ(v4->text(), "198.18.0.1:7420");
  const auto v6 = ParseSocketAddress("[2001:db8::1]:65535");
  ASSERT_TRUE(v6.has_value());
  EXPECT_EQ(v6->family(), AF_INET6);
  EXPECT_EQ(v6->bytes(), sizeof(sockaddr_in6));
  EXPECT_EQ(v6->host(), "2001:db8::1");
  EXPECT_EQ(v6->text(), "[2001:db8::1]:65535");
  EXPECT_EQ(ParseSocketAddress("1.2.3.4:1")->text(), "1.2.3.4:1");
}

TEST(SocketAddressTest, RejectsAnythingElse) {
  for (const char* const wrong : {"",
                                  ":",
                                  "198.18.0.1",
                                  "198.18.0.1:",
                                  "198.18.0.1:0",
                                  "198.18.0.1:65536",
                                  "198.18.0.1:1x",
                                  "198.18.0.1:x1",
                                  "198.18.0.1:-1",
                                  "198.18.0:1",
                                  "198.18.0.256:1",
                                  "localhost:1",
                                  ":1",
                                  "[]:1",
                                  "[:1",
                                  "]:1",
                                  "[::1:1",
                                  "2001:db8::1]:1",
                                  "2001:db8::1",
                                  "[198.18.0.1]:1",
                                  "[2001:db8::g]:1"}) {
    EXPECT_FALSE(ParseSocketAddress(wrong).has_value()) << wrong;
  }
  EXPECT_FALSE(ParseSocketAddress(std::string_view("1.2.3.4\0:1", 10)).has_value());
}

TEST(SocketAddressTest, EndsWhereTheTextDoes) {
  const std::string_view text = "198.18.0.1:7420";
  EXPECT_EQ(ParseSocketAddress(text.substr(0, 14))->text(), "198.18.0.1:742");
  EXPECT_FALSE(ParseSocketAddress(text.substr(0, 11)).has_value());
}

TEST(SocketAddressTest, AnyIsEachFamilysOwn) {
  EXPECT_TRUE(ParseSocketAddress("0.0.0.0:1")->is_any());
  EXPECT_FALSE(ParseSocketAddress("0.0.0.1:1")->is_any());
  EXPECT_TRUE(ParseSocketAddress("[::]:1")->is_any());
  EXPECT_FALSE(ParseSocketAddress("[::1]:1")->is_any());
}

TEST(SocketAddressTest, WithoutPortKeepsTheHost) {
  for (const char* const text : {"198.18.0.1:7420", "[2001:db8::1]:7420"}) {
    const SocketAddress address = *ParseSocketAddress(text);
    EXPECT_EQ(address.without_port().host(), address.host());
    EXPECT_EQ(address.without_port().text().substr(address.text().size() - 4), "0") << text;
    EXPECT_EQ(address.text(), text);
  }
}

TEST(SocketAddressTest, NetworkIsTheAddressOrItsFirstHalf) {
  const auto network = [](const char* text) { return ParseSocketAddress(text)->network(); };
  EXPECT_EQ(network("198.18.0.1:1"), htonl(0xc6120001));
  EXPECT_NE(network("198.18.0.1:1"), network("198.18.0.2:1"));
  EXPECT_EQ(network("[2001:db8::1]:1"), network("[2001:db8::ffff:0:0:2]:2"));
  EXPECT_NE(network("[2001:db8::1]:1"), network("[2001:db8:0:1::1]:1"));
}

TEST(SocketAddressTest, TakesWhatTheKernelFillsIn) {
  sockaddr_storage storage{};
  auto* const v4 = reinterpret_cast<sockaddr_in*>(&storage);
  v4->sin_family = AF_INET;
  v4->sin_port = htons(258);
  v4->sin_addr.s_addr = htonl(0x01020304);
  const SocketAddress address(storage);
  EXPECT_EQ(address.text(), "1.2.3.4:258");
  EXPECT_EQ(reinterpret_cast<const sockaddr_in*>(address.get())->sin_port, htons(258));
}

}  // namespace
}  // namespace suede
