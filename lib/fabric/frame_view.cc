// SPDX-License-Identifier: Apache-2.0
#include "fabric/frame_view.h"

#include <algorithm>

#include "fabric/random.h"
#include "wire/encap/esun.h"
#include "wire/udp.h"

namespace suede::fabric {
namespace {

constexpr uint16_t kTypeIpv4 = 0x0800;
constexpr uint16_t kTypeIpv6 = 0x86dd;
constexpr uint32_t kIpv4Bytes = 20;
constexpr uint32_t kIpv6Bytes = 40;
constexpr uint32_t kShimBytes = 8;
constexpr uint64_t kLinkLocal = 0x0180c2000000;
constexpr uint64_t kLinkLocalMask = 0xfffffffffff0;

// Offsets in each header.
constexpr uint32_t kIpv4Ds = 1;
constexpr uint32_t kIpv4Ttl = 8;
constexpr uint32_t kIpv4Checksum = 10;
constexpr uint32_t kIpv6HopLimit = 7;
constexpr uint32_t kShimDs = 1;
constexpr uint32_t kShimHopLimit = 2;
constexpr uint32_t kShimEntropy = 4;
constexpr uint32_t kAfh2Entropy = 7;
constexpr uint8_t kIpv4Start = 0x45;  // without options
constexpr uint16_t kIpv4Fragment = 0x3fff;

constexpr uint8_t kAfh2Compressed = 0x80;
constexpr uint8_t kAfh2Fixed = 0x7e;  // bits that identify the header of AFH Gen 2
constexpr uint8_t kAfh2Group = 0x01;

uint64_t Mix(uint64_t word) { return Random(word).Next(); }

uint64_t LoadMac(const uint8_t* at) { return uint64_t{LoadBe16(at)} << 32 | LoadBe32(at + 2); }

// Updates a checksum after a change of a 16-bit word that it covers (RFC 1624).
void UpdateChecksum(uint8_t* checksum, uint16_t before, uint16_t after) {
  uint32_t sum = static_cast<uint16_t>(~LoadBe16(checksum));
  sum += static_cast<uint16_t>(~before);
  sum += after;
  sum = (sum & 0xffff) + (sum >> 16);
  sum = (sum & 0xffff) + (sum >> 16);
  StoreBe16(checksum, static_cast<uint16_t>(~sum));
}

// Finds the network header of an Ethernet frame.
ViewError ViewNetwork(FrameView& view, const uint8_t* frame, uint32_t bytes, uint32_t at) {
  const uint8_t* const header = frame + at;
  view.network_at = static_cast<uint8_t>(at);
  switch (view.ether_type) {
    case kTypeIpv4:
      if (bytes < at + kIpv4Bytes || header[0] >> 4 != 4) return ViewError::kRunt;
      view.network = NetworkHeader::kIpv4;
      view.ip_destination = {.low = LoadBe32(header + 16)};
      return ViewError::kNone;
    case kTypeIpv6:
      if (bytes < at + kIpv6Bytes || header[0] >> 4 != 6) return ViewError::kRunt;
      view.network = NetworkHeader::kIpv6;
      view.ip_destination = {.high = LoadBe64(header + 24), .low = LoadBe64(header + 32)};
      return ViewError::kNone;
    default:
      break;
  }
  if (view.ether_type == TraitsOf(Encap::kAfh1s).ether_type) {
    if (bytes < at + kShimBytes) return ViewError::kRunt;
    view.network = NetworkHeader::kShim;
  }
  return ViewError::kNone;
}

FrameView ViewAfh2(Forwarding forwarding, const uint8_t* frame, uint32_t bytes) {
  FrameView view;
  if (bytes < kEthernetBytes) {
    view.error = ViewError::kRunt;
    return view;
  }
  view.ether_type = LoadBe16(frame + 12);
  if ((frame[0] & kAfh2Fixed) != kAfh2FixedValue ||
      view.ether_type != TraitsOf(Encap::kAfh2).ether_type) {
    const bool link_local = (LoadMac(frame) & kLinkLocalMask) == kLinkLocal;
    view.error = link_local ? ViewError::kLinkLocal : ViewError::kForeign;
    return view;
  }
  view.network = NetworkHeader::kAfh2;
  view.group = (frame[0] & kAfh2Group) != 0;
  const bool compressed = (frame[0] & kAfh2Compressed) != 0;
  if (forwarding == Forwarding::kMesh && (compressed || view.group)) {
    view.error = ViewError::kForeign;
  }
  view.destination = compressed ? LoadBe16(frame + 4) : LoadBe32(frame + kAfh2Destination);
  view.source = compressed ? LoadBe16(frame + 10) : LoadBe32(frame + 8);
  return view;
}

// Finds the ESUN header of a frame, behind `at` bytes.
ViewError ViewEsun(FrameView& view, const uint8_t* frame, uint32_t bytes, uint32_t at) {
  if (bytes < at + esun::kBytes) return ViewError::kRunt;
  view.network_at = static_cast<uint8_t>(at);
  view.network = NetworkHeader::kEsun;
  return esun::RevisionOf(frame + at) == esun::kRevision ? ViewError::kNone : ViewError::kRevision;
}

// Returns a word of the addresses of a flow.
uint64_t AddressWord(const FrameView& view, const uint8_t* frame) {
  const uint8_t* const header = frame + view.network_at;
  uint64_t word = 0;
  switch (view.network) {
    case NetworkHeader::kIpv4:
      return Mix(LoadBe64(header + 12));
    case NetworkHeader::kIpv6:
      for (uint32_t at = 8; at < kIpv6Bytes; at += 8) word = Mix(word ^ LoadBe64(header + at));
      return word;
    default:
      return Mix(Mix(view.destination) ^ view.source);
  }
}

// Returns UDP ports, entropy or a valid flow label; 0 if the frame has none.
uint64_t EntropyOf(const FrameView& view, const uint8_t* frame, uint32_t bytes) {
  const uint8_t* const header = frame + view.network_at;
  const auto ports = [&](uint32_t ip_bytes) {
    return bytes >= view.network_at + ip_bytes + 4 ? LoadBe32(header + ip_bytes) : 0;
  };
  switch (view.network) {
    case NetworkHeader::kIpv4: {
      const bool is_udp = header[0] == kIpv4Start && header[9] == kProtocolUdp &&
                          (LoadBe16(header + 6) & kIpv4Fragment) == 0;
      return is_udp ? ports(kIpv4Bytes) : 0;
    }
    case NetworkHeader::kIpv6:
      return header[6] == kProtocolUdp ? ports(kIpv6Bytes) : 0;
    case NetworkHeader::kShim:
      return LoadBe16(header + kShimEntropy);
    case NetworkHeader::kAfh2:
      return view.has_hop_limit(frame) ? frame[kAfh2Entropy] : 0;
    case NetworkHeader::kEsun:
      return esun::LabelOf(header);
    case NetworkHeader::kNone:
      break;
  }
  return 0;
}

uint32_t HashOf(uint64_t word) { return static_cast<uint32_t>(Mix(word) >> 32); }

uint32_t HopLimitAt(const FrameView& view) {
  switch (view.network) {
    case NetworkHeader::kIpv4:
      return view.network_at + kIpv4Ttl;
    case NetworkHeader::kIpv6:
      return view.network_at + kIpv6HopLimit;
    case NetworkHeader::kShim:
      return view.network_at + kShimHopLimit;
    default:
      return kAfh2HopCount;
  }
}

}  // namespace

FrameView ViewFrame(Forwarding forwarding, const uint8_t* frame, uint32_t bytes,
                    uint16_t esun_ether_type) {
  if (IsByAfh2(forwarding)) return ViewAfh2(forwarding, frame, bytes);
  FrameView view;
  const uint32_t l2 = EthernetBytes(frame, bytes);
  if (l2 == 0) {
    view.error = ViewError::kRunt;
    return view;
  }
  view.destination = LoadMac(frame);
  view.source = LoadMac(frame + 6);
  view.group = (frame[0] & 1) != 0;
  view.ether_type = LoadBe16(frame + l2 - 2);
  if (l2 != kEthernetBytes) {
    view.tagged = true;
    view.pcp = frame[14] >> 5;
    view.vid = LoadBe16(frame + 14) & 0xfff;
  }
  if ((view.destination & kLinkLocalMask) == kLinkLocal) {
    view.error = ViewError::kLinkLocal;
    return view;
  }
  if (forwarding == Forwarding::kEsun) {
    view.error =
        view.ether_type == esun_ether_type ? ViewEsun(view, frame, bytes, l2) : ViewError::kForeign;
    return view;
  }
  view.error = ViewNetwork(view, frame, bytes, l2);
  // An Ethernet switch needs only addresses and tag: a frame without a valid header has no DSCP.
  if (forwarding == Forwarding::kMac) view.error = ViewError::kNone;
  if (forwarding != Forwarding::kAfh1 || view.error != ViewError::kNone) return view;
  if (view.ether_type != TraitsOf(Encap::kAfh1).ether_type &&
      view.ether_type != TraitsOf(Encap::kAfh1s).ether_type) {
    view.error = ViewError::kForeign;
  }
  view.destination &= 0xffff;
  view.source &= 0xffff;
  return view;
}

uint8_t FrameView::ds_byte(const uint8_t* frame) const {
  switch (network) {
    case NetworkHeader::kIpv4:
      return frame[network_at + kIpv4Ds];
    case NetworkHeader::kIpv6:
      return static_cast<uint8_t>(LoadBe16(frame + network_at) >> 4);
    case NetworkHeader::kShim:
      return frame[network_at + kShimDs];
    case NetworkHeader::kAfh2:
      return frame[kAfh2Ds];
    case NetworkHeader::kEsun:
      return esun::DsOf(frame + network_at);
    case NetworkHeader::kNone:
      break;
  }
  return 0;
}

void FrameView::set_ds_byte(uint8_t* frame, uint8_t value) const {
  uint8_t* const header = frame + network_at;
  switch (network) {
    case NetworkHeader::kIpv4: {
      const uint16_t before = LoadBe16(header);
      header[kIpv4Ds] = value;
      UpdateChecksum(header + kIpv4Checksum, before, LoadBe16(header));
      return;
    }
    case NetworkHeader::kIpv6:
      StoreBe16(header, static_cast<uint16_t>((LoadBe16(header) & 0xf00f) | value << 4));
      return;
    case NetworkHeader::kShim:
      header[kShimDs] = value;
      return;
    case NetworkHeader::kAfh2:
      frame[kAfh2Ds] = value;
      return;
    case NetworkHeader::kEsun:
      esun::SetDs(header, value);
      return;
    case NetworkHeader::kNone:
      return;
  }
}

bool FrameView::has_hop_limit(const uint8_t* frame) const {
  if (network == NetworkHeader::kAfh2) return (frame[0] & kAfh2Compressed) == 0;
  return network != NetworkHeader::kNone;
}

uint8_t FrameView::hop_limit(const uint8_t* frame) const {
  if (network == NetworkHeader::kEsun) return esun::TtlOf(frame + network_at);
  return frame[HopLimitAt(*this)];
}

void FrameView::DecrementHopLimit(uint8_t* frame) const {
  if (network == NetworkHeader::kAfh2) [[likely]] {
    --frame[kAfh2HopCount];
  } else {
    set_hop_limit(frame, static_cast<uint8_t>(hop_limit(frame) - 1));
  }
}

void FrameView::set_hop_limit(uint8_t* frame, uint8_t value) const {
  if (network == NetworkHeader::kEsun) {
    return esun::SetTtl(frame + network_at, std::min(value, esun::kMaxTtl));
  }
  uint8_t* const at = frame + HopLimitAt(*this);
  const uint16_t before = LoadBe16(at);
  *at = value;
  if (network != NetworkHeader::kIpv4) return;
  UpdateChecksum(frame + network_at + kIpv4Checksum, before, LoadBe16(at));
}

void FrameView::set_pcp(uint8_t* frame, uint8_t value) const {
  uint8_t& at = frame[kEthernetBytes];
  at = static_cast<uint8_t>((at & 0x1f) | value << 5);
}

uint32_t FrameView::FlowHash(const uint8_t* frame, uint32_t bytes) const {
  return HashOf(AddressWord(*this, frame) ^ EntropyOf(*this, frame, bytes));
}

uint32_t FrameView::AddressHash(const uint8_t* frame) const {
  return HashOf(AddressWord(*this, frame));
}

}  // namespace suede::fabric
