// SPDX-License-Identifier: Apache-2.0
// The fields that a switch reads of a frame: where its headers end, addresses and classes of each
// kind, and changes that leave the rest of the frame as it was.
#include "fabric/frame_view.h"

#include <gtest/gtest.h>

#include <random>

#include "fabric_fixture.h"
#include "wire/ethernet.h"

namespace suede::fabric {
namespace {

using Bytes = std::vector<uint8_t>;

Forwarding ForwardingOf(Encap encap) {
  return encap == Encap::kAfh2 || encap == Encap::kAfh2c ? Forwarding::kAfh2 : Forwarding::kIp;
}
FrameView ViewOf(Forwarding forwarding, const Bytes& frame) {
  return ViewFrame(forwarding, frame.data(), static_cast<uint32_t>(frame.size()));
}
// Whether the checksum of the IPv4 header at `header` is right (RFC 791).
bool IsChecked(const uint8_t* header) {
  uint32_t sum = 0;
  for (uint32_t at = 0; at < 20; at += 2) sum += LoadBe16(header + at);
  while (sum >> 16 != 0) sum = (sum & 0xffff) + (sum >> 16);
  return sum == 0xffff;
}

TEST(FrameView, AFrameThatEndsInItsHeaderIsARuntWhereTheHeaderCounts) {
  constexpr std::pair<Encap, uint32_t> kHeaders[] = {
      {Encap::kUdp4, 20}, {Encap::kUdp6, 40}, {Encap::kAfh1s, 8}};
  for (const auto& [encap, header] : kHeaders) {
    for (const bool tagged : {false, true}) {
      Bytes frame = BytesOf({.encap = encap, .tagged = tagged});
      frame.resize(kEthernetBytes + (tagged ? kTagBytes : 0) + header);
      for (const Forwarding forwarding : {Forwarding::kIp, Forwarding::kMac}) {
        const FrameView whole = ViewOf(forwarding, frame);
        EXPECT_EQ(whole.error, ViewError::kNone);
        EXPECT_NE(whole.network, NetworkHeader::kNone);
        Bytes cut = frame;
        cut.pop_back();
        const FrameView runt = ViewOf(forwarding, cut);
        EXPECT_EQ(runt.error, forwarding == Forwarding::kIp ? ViewError::kRunt : ViewError::kNone);
        EXPECT_EQ(runt.network, NetworkHeader::kNone);
        // A frame that ends in its Ethernet header is of no use to any switch.
        cut.resize(kEthernetBytes + (tagged ? kTagBytes : 0) - 1);
        EXPECT_EQ(ViewOf(forwarding, cut).error, ViewError::kRunt);
      }
    }
  }
  Bytes gen2 = BytesOf({.encap = Encap::kAfh2});
  gen2.resize(kEthernetBytes);
  EXPECT_EQ(ViewOf(Forwarding::kAfh2, gen2).error, ViewError::kNone);
  gen2.pop_back();
  EXPECT_EQ(ViewOf(Forwarding::kAfh2, gen2).error, ViewError::kRunt);
}

TEST(FrameView, AddressesAndTagAreAsTheyStand) {
  for (const Encap encap : {Encap::kUdp4, Encap::kUdp6}) {
    Bytes frame = BytesOf({.encap = encap,
                           .from = 0x0304,
                           .to = 0x0102,
                           .traffic_class = {.pcp = 5},
                           .tagged = true,
                           .vid = 0xabc});
    for (uint8_t i = 0; i < 16; ++i) frame[18 + 24 + i] = i;  // the destination of IPv6
    const FrameView view = ViewOf(Forwarding::kIp, frame);
    EXPECT_EQ(view.destination, MacNumber(0x0102));
    EXPECT_EQ(view.source, MacNumber(0x0304));
    EXPECT_FALSE(view.group);
    EXPECT_TRUE(view.tagged);
    EXPECT_EQ(view.pcp, 5);
    EXPECT_EQ(view.vid, 0xabc);
    EXPECT_EQ(view.network_at, 18);
    if (encap == Encap::kUdp4) {
      EXPECT_EQ(view.ether_type, 0x0800);
      EXPECT_EQ(view.ip_destination, (NetAddress{.low = 0x0a000102}));
    } else {
      EXPECT_EQ(view.ether_type, 0x86dd);
      EXPECT_EQ(view.ip_destination,
                (NetAddress{.high = 0x0001020304050607, .low = 0x08090a0b0c0d0e0f}));
    }
    frame[0] |= 1;
    EXPECT_TRUE(ViewOf(Forwarding::kMac, frame).group);
  }
  const FrameView untagged = ViewOf(Forwarding::kMac, BytesOf({.traffic_class = {.pcp = 5}}));
  EXPECT_FALSE(untagged.tagged);
  EXPECT_EQ(untagged.pcp, 0);
  EXPECT_EQ(untagged.vid, 0);
  EXPECT_EQ(untagged.network_at, 14);
}

// An address of AFH Gen 1 is the last 16 bits of a MAC address; the other bits are anything.
TEST(FrameView, AddressesOfGen1AreTheirLast16Bits) {
  Bytes frame = BytesOf({.encap = Encap::kAfh1, .from = 0x0304, .to = 0x0102});
  for (const uint32_t at : {2, 3, 8, 9}) frame[at] = 0x77;
  const FrameView view = ViewOf(Forwarding::kAfh1, frame);
  EXPECT_EQ(view.error, ViewError::kNone);
  EXPECT_EQ(view.destination, 0x0102u);
  EXPECT_EQ(view.source, 0x0304u);
  EXPECT_EQ(ViewOf(Forwarding::kMac, frame).source, 0x025377770304u);
}

TEST(FrameView, Gen2IsKnownByItsFixedBits) {
  Bytes frame = BytesOf({.encap = Encap::kAfh2});
  for (uint8_t i = 1; i < 12; ++i) frame[i] = static_cast<uint8_t>(0x10 + i);
  for (uint32_t first = 0; first < 256; ++first) {
    frame[0] = static_cast<uint8_t>(first);
    const FrameView view = ViewOf(Forwarding::kAfh2, frame);
    if ((first & 0x7e) != 0x02) {
      EXPECT_EQ(view.error, ViewError::kForeign) << first;
      continue;
    }
    const bool compressed = first >= 0x80;
    EXPECT_EQ(view.error, ViewError::kNone) << first;
    EXPECT_EQ(view.group, first % 2 == 1) << first;
    EXPECT_EQ(view.destination, compressed ? 0x1415u : 0x12131415u) << first;
    EXPECT_EQ(view.source, compressed ? 0x1a1bu : 0x18191a1bu) << first;
    EXPECT_EQ(view.has_hop_limit(frame.data()), !compressed) << first;
  }
  frame[0] = 0x02;
  ++frame[13];
  EXPECT_EQ(ViewOf(Forwarding::kAfh2, frame).error, ViewError::kForeign) << "another EtherType";
}

TEST(FrameView, SixteenGroupsAreOfTheLinkAlone) {
  for (const Forwarding forwarding : {Forwarding::kMac, Forwarding::kIp, Forwarding::kAfh2}) {
    for (uint8_t last = 0; last < 32; ++last) {
      const Bytes frame = {1, 0x80, 0xc2, 0, 0, last, 2, 0, 0, 0, 0, 1, 0x88, 0xcc};
      const ViewError other =
          forwarding == Forwarding::kAfh2 ? ViewError::kForeign : ViewError::kNone;
      EXPECT_EQ(ViewOf(forwarding, frame).error, last < 16 ? ViewError::kLinkLocal : other);
    }
  }
}

TEST(FrameView, ClassFieldsAndHopLimitChangeAlone) {
  std::mt19937 dice(1);
  for (const Encap encap : {Encap::kUdp4, Encap::kUdp6, Encap::kAfh1s, Encap::kAfh2}) {
    for (const bool tagged : {false, true}) {
      if (tagged && !TraitsOf(encap).can_be_tagged) continue;
      for (int i = 0; i < 200; ++i) {
        const auto ds = static_cast<uint8_t>(dice());
        Bytes frame = BytesOf({.encap = encap,
                               .traffic_class = {.dscp = static_cast<uint8_t>(ds >> 2),
                                                 .ecn = static_cast<uint8_t>(ds & 3)},
                               .tagged = tagged,
                               .hop_limit = static_cast<uint8_t>(i + 1)});
        const Bytes sent = frame;
        const FrameView view = ViewOf(ForwardingOf(encap), frame);
        ASSERT_EQ(view.ds_byte(frame.data()), ds);
        const auto other = static_cast<uint8_t>(dice());
        view.set_ds_byte(frame.data(), other);
        EXPECT_EQ(view.ds_byte(frame.data()), other);
        ASSERT_TRUE(view.has_hop_limit(frame.data()));
        EXPECT_EQ(view.hop_limit(frame.data()), i + 1);
        view.DecrementHopLimit(frame.data());
        EXPECT_EQ(view.hop_limit(frame.data()), i);
        if (encap == Encap::kUdp4) {
          EXPECT_TRUE(IsChecked(frame.data() + view.network_at));
        }
        // With the former class field, the hop limit alone has changed.
        view.set_ds_byte(frame.data(), ds);
        Bytes expected = sent;
        view.DecrementHopLimit(expected.data());
        EXPECT_EQ(frame, expected) << EncapName(encap);
      }
    }
  }
  Bytes none = BytesOf({.encap = Encap::kAfh1});
  EXPECT_FALSE(ViewOf(Forwarding::kAfh1, none).has_hop_limit(none.data()));
}

TEST(FrameView, AChangedIpv4HeaderHasTheRightChecksum) {
  std::mt19937 dice(2);
  Bytes frame = BytesOf({});
  uint8_t* const header = frame.data() + kEthernetBytes;
  const FrameView view = ViewOf(Forwarding::kIp, frame);
  for (int i = 0; i < 300'000; ++i) {
    // The old checksum is any, so the header is made right by another word.
    for (uint32_t at = 0; at < 20; ++at) header[at] = static_cast<uint8_t>(dice());
    StoreBe16(header + 4, 0);
    uint32_t sum = 0;
    for (uint32_t at = 0; at < 20; at += 2) sum += LoadBe16(header + at);
    while (sum >> 16 != 0) sum = (sum & 0xffff) + (sum >> 16);
    StoreBe16(header + 4, static_cast<uint16_t>(~sum));
    view.set_ds_byte(frame.data(), static_cast<uint8_t>(dice()));
    ASSERT_TRUE(IsChecked(header)) << i;
    if (view.hop_limit(frame.data()) == 0) continue;
    view.DecrementHopLimit(frame.data());
    ASSERT_TRUE(IsChecked(header)) << i;
  }
}

}  // namespace
}  // namespace suede::fabric
