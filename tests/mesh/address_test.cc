// SPDX-License-Identifier: Apache-2.0
#include "mesh/address.h"

#include <gtest/gtest.h>

namespace suede::mesh {
namespace {

TEST(MeshAddress, HasItsFieldsAtTheirBits) {
  EXPECT_EQ(Encode({.device = {.mesh = 0x155, .device = 0x2aa}, .instance = 0x2a, .plane = 2}),
            0b10'0101010101'101010'1010101010u);
  EXPECT_EQ(Encode({.device = {.mesh = 1023, .device = 1023}, .instance = 63, .plane = 3}),
            0x0fff'ffffu);
}

// Today's default: (instance << 10) | xpuid.
TEST(MeshAddress, IsTheDefaultAddressInMeshAndPlaneZero) {
  EXPECT_EQ(Encode({.device = {.device = 7}, .instance = 5}), 5u << 10 | 7u);
}

TEST(MeshAddress, RefusesFieldsOutOfRange) {
  EXPECT_FALSE(Encode({.device = {.mesh = 1024}}));
  EXPECT_FALSE(Encode({.device = {.device = 1024}}));
  EXPECT_FALSE(Encode({.instance = 64}));
  EXPECT_FALSE(Encode({.plane = 4}));
  for (uint32_t bit = 28; bit < 32; ++bit) EXPECT_FALSE(Decode(1u << bit)) << bit;
}

TEST(MeshAddress, ComesBackFromItsNumber) {
  for (uint32_t bit = 0; bit < 28; ++bit) {
    for (const uint32_t address : {1u << bit, (1u << bit) - 1}) {
      const auto fields = Decode(address);
      ASSERT_TRUE(fields);
      EXPECT_EQ(Encode(*fields), address);
    }
  }
}

TEST(MeshAddress, HasANameForAPlace) {
  const Device device{.mesh = 3, .device = 14};
  EXPECT_EQ(NameOf(device), "M3D14");
  EXPECT_EQ(NameOf(DevicePort{.device = device, .port = 15}), "M3D14P15");
  EXPECT_EQ(ParseDevice("M3D14"), device);
  for (const char* text : {"", "M", "D1", "M1", "M1D", "MD1", "M1024D0", "M0D1024", "M1D2P3",
                           "M-1D2", "M1D2 ", "m1d2"}) {
    EXPECT_FALSE(ParseDevice(text)) << text;
  }
  EXPECT_EQ(ParseDevicePort("M3D14P15"), (DevicePort{.device = device, .port = 15}));
  for (const char* text : {"", "M3D14", "M3D14P", "M3D14P16", "P1", "M3P1", "M3D14P1P2"}) {
    EXPECT_FALSE(ParseDevicePort(text)) << text;
  }
}

}  // namespace
}  // namespace suede::mesh
