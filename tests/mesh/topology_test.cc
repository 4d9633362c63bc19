// SPDX-License-Identifier: Apache-2.0
#include "mesh/topology.h"

#include <gtest/gtest.h>

namespace suede::mesh {
namespace {

TEST(Topology, NumbersDevicesOfAllMeshes) {
  Topology topology;
  EXPECT_EQ(*topology.AddMesh(3), 0u);
  EXPECT_EQ(*topology.AddMesh(1), 1u);
  EXPECT_EQ(*topology.AddMesh(2), 2u);
  EXPECT_EQ(topology.device_count(), 6u);
  EXPECT_EQ(topology.DevicesOf(2), 2u);
  EXPECT_EQ(topology.IndexOf({.mesh = 2, .device = 1}), 5u);
  EXPECT_EQ(topology.At(3), (Device{.mesh = 1, .device = 0}));
  EXPECT_TRUE(topology.Has({.mesh = 0, .device = 2}));
  EXPECT_FALSE(topology.Has({.mesh = 1, .device = 1}));
  EXPECT_FALSE(topology.Has({.mesh = 3, .device = 0}));
}

TEST(Topology, HasBothEndsOfACable) {
  Topology topology;
  ASSERT_TRUE(topology.AddMesh(2).ok());
  ASSERT_TRUE(topology.AddMesh(1).ok());
  ASSERT_TRUE(topology.Connect({.a = {{0, 0}, 15}, .b = {{0, 1}, 0}}).ok());
  ASSERT_TRUE(topology.Connect({.a = {{0, 1}, 3}, .b = {{1, 0}, 7}, .lossless = false}).ok());
  const auto& inside = topology.Across(1, 0);
  ASSERT_TRUE(inside);
  EXPECT_EQ(inside->device, 0u);
  EXPECT_EQ(inside->port, 15u);
  EXPECT_FALSE(inside->crosses);
  EXPECT_TRUE(inside->lossless);
  const auto& outside = topology.Across(1, 3);
  ASSERT_TRUE(outside);
  EXPECT_EQ(outside->device, 2u);
  EXPECT_TRUE(outside->crosses);
  EXPECT_FALSE(outside->lossless);
  EXPECT_FALSE(topology.Across(0, 0));
}

TEST(Topology, RefusesCablesThatCannotBe) {
  Topology topology;
  ASSERT_TRUE(topology.AddMesh(3).ok());
  ASSERT_TRUE(topology.Connect({.a = {{0, 0}, 1}, .b = {{0, 1}, 2}}).ok());
  const auto refusal = [&](const DevicePort& a, const DevicePort& b) {
    return std::string(topology.Connect({.a = a, .b = b}).message());
  };
  EXPECT_EQ(refusal({{0, 2}, 1}, {{0, 2}, 1}),
            "cannot connect M0D2P1 with M0D2P1: one port; name two");
  EXPECT_EQ(refusal({{0, 2}, 1}, {{0, 3}, 1}),
            "cannot connect M0D2P1 with M0D3P1: no device M0D3; name one of a mesh");
  EXPECT_EQ(refusal({{0, 2}, 16}, {{0, 1}, 1}),
            "cannot connect M0D2P16 with M0D1P1: ports are 0 to 15");
  EXPECT_EQ(refusal({{0, 2}, 1}, {{0, 1}, 2}),
            "cannot connect M0D2P1 with M0D1P2: the cable of M0D1P2 leads to M0D0P1 already; "
            "remove one");
  EXPECT_EQ(topology.cables().size(), 1u);
}

TEST(Topology, HasAtMost1024Devices) {
  Topology topology;
  EXPECT_FALSE(topology.AddMesh(0).ok());
  ASSERT_TRUE(topology.AddMesh(1000).ok());
  EXPECT_FALSE(topology.AddMesh(25).ok());
  EXPECT_TRUE(topology.AddMesh(24).ok());
}

}  // namespace
}  // namespace suede::mesh
