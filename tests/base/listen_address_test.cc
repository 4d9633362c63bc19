// SPDX-License-Identifier: Apache-2.0
#include "base/listen_address.h"

#include <gtest/gtest.h>

namespace suede {
namespace {

TEST(ListenAddressTest, IsAPortOrAnAddressAndAPort) {
  const auto port = ParseListenAddress("9464");
  ASSERT_TRUE(port.has_value());
  EXPECT_EQ(port->text(), "127.0.0.1:9464");
  EXPECT_TRUE(port->is_loopback());
  const auto all = ParseListenAddress("0.0.0.0:80");
  ASSERT_TRUE(all.has_value());
  EXPECT_EQ(all->text(), "0.0.0.0:80");
  EXPECT_FALSE(all->is_loopback());
  EXPECT_EQ(ParseListenAddress("192.168.255.1:65535")->ip, 0xc0a8ff01u);
  EXPECT_EQ(ParseListenAddress("192.168.255.1:65535")->text(), "192.168.255.1:65535");
  EXPECT_EQ(ParseListenAddress("127.9.9.9:0")->port, 0);
}

TEST(ListenAddressTest, AnythingElseIsNone) {
  for (const char* const wrong :
       {"", ":", ":80", "a:80", "127.0.0.1", "127.0.0.1:", "127.0.0.1:65536", "::1:80", "[::1]:80",
        "127.0.0.1:80x", "127.0.0.1:-1", "1.2.3:80", "1.2.3.4.5:80", "1.2.3.256:80", "1..3.4:80",
        "127.0.0.1:80,443", "80s", "[]:80", " 80", "80 ", "+80", "0001.2.3.4:80", "65536"}) {
    EXPECT_FALSE(ParseListenAddress(wrong).has_value()) << wrong;
  }
}

}  // namespace
}  // namespace suede
