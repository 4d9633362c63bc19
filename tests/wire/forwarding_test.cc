// SPDX-License-Identifier: Apache-2.0
#include "wire/forwarding.h"

#include <gtest/gtest.h>

namespace suede {
namespace {

TEST(Forwarding, DefaultRule) {
  EXPECT_EQ(DefaultForwardingAddress(0, 0), 0u);
  EXPECT_EQ(DefaultForwardingAddress(4, 908), 5004u);  // of vectors.json
  EXPECT_EQ(DefaultForwardingAddress(kMaxInstances - 1, kMaxXpus - 1), 0xffffu);
}

TEST(Forwarding, WhatFits) {
  for (const Encap encap : {Encap::kAfh1, Encap::kAfh1s, Encap::kAfh2c}) {
    EXPECT_TRUE(FitsForwardingAddress(encap, 0xffff));
    EXPECT_FALSE(FitsForwardingAddress(encap, 0x10000));
  }
  EXPECT_TRUE(FitsForwardingAddress(Encap::kAfh2, 0xffffffff));
  EXPECT_FALSE(FitsForwardingAddress(Encap::kAfh2, 0x100000000));
  EXPECT_EQ(ForwardingAddressBits(Encap::kUdp4), 0u);
  EXPECT_EQ(ForwardingAddressBits(Encap::kUdp6), 0u);
}

TEST(Forwarding, OnlyAfh2cNamesTheXpuByItsAddress) {
  EXPECT_TRUE(FitsXpuid(Encap::kAfh2c, DefaultForwardingAddress(5, 7), 7));
  EXPECT_FALSE(FitsXpuid(Encap::kAfh2c, DefaultForwardingAddress(5, 7), 8));
  for (const Encap encap : {Encap::kAfh1, Encap::kAfh1s, Encap::kAfh2}) {
    EXPECT_TRUE(FitsXpuid(encap, DefaultForwardingAddress(5, 7), 8));
  }
}

}  // namespace
}  // namespace suede
