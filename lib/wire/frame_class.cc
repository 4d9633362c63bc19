// SPDX-License-Identifier: Apache-2.0
#include "wire/frame_class.h"

#include <algorithm>

#include "base/big_endian.h"
#include "wire/encap.h"
#include "wire/encap/esun.h"
#include "wire/frame_builder.h"
#include "wire/udp.h"

namespace suede {
namespace {

constexpr uint16_t kTypeIpv4 = 0x0800;
constexpr uint16_t kTypeIpv6 = 0x86dd;
constexpr uint32_t kIpv4Bytes = 20;
constexpr uint32_t kIpv6Bytes = 40;
constexpr uint32_t kShimBytes = 8;
constexpr uint8_t kAfh2Fixed = 0x7e;  // bits that identify an AFH Gen 2 header
constexpr uint8_t kAfh2FixedValue = 0x02;
constexpr uint32_t kNone = 8;  // no class
constexpr uint8_t kIpv4Start = 0x45;  // without options
constexpr uint16_t kIpv4Fragment = 0x3fff;
constexpr uint8_t kShimNextSue = 1;
constexpr uint8_t kAfh2Compressed = 0x80;

// Returns the class that the upper three bits of the DSCP give.
uint32_t ClassOfDs(uint32_t ds_byte) { return ds_byte >> 5; }

// Returns the byte with the DSCP of a frame of AFH Gen 2; 0 for other frames.
uint8_t DsOfAfh2(const uint8_t* frame, uint32_t bytes) {
  if (bytes < kEthernetBytes || (frame[0] & kAfh2Fixed) != kAfh2FixedValue ||
      LoadBe16(frame + 12) != TraitsOf(Encap::kAfh2).ether_type) {
    return 0;
  }
  return frame[kAfh2Ds];
}

bool IsEsun(const FrameClassRule& rule, uint16_t ether_type) {
  return rule.esun_ether_type != 0 && ether_type == rule.esun_ether_type;
}

// Returns the class that the DSCP of the header behind `at` bytes gives; kNone: there is no DSCP.
uint32_t ClassOfNetwork(const uint8_t* frame, uint32_t bytes, uint32_t at) {
  const uint8_t* const header = frame + at;
  const uint16_t ether_type = LoadBe16(header - 2);
  if (ether_type == kTypeIpv4 && bytes >= at + kIpv4Bytes && header[0] >> 4 == 4) {
    return ClassOfDs(header[1]);
  }
  if (ether_type == kTypeIpv6 && bytes >= at + kIpv6Bytes && header[0] >> 4 == 6) {
    return ClassOfDs(LoadBe16(header) >> 4 & 0xffu);
  }
  if (ether_type == TraitsOf(Encap::kAfh1s).ether_type && bytes >= at + kShimBytes) {
    return ClassOfDs(header[1]);
  }
  return kNone;
}

// First fields of the PDU in a frame.
struct PduStart {
  uint8_t ver;
  uint8_t vc;
  const uint8_t* commands;
};

// Reads a header that holds the RH (wire profile §5, afh2c).
PduStart StartOfCompressed(const uint8_t* frame) {
  return {.ver = static_cast<uint8_t>(frame[1] >> 6),
          .vc = static_cast<uint8_t>(frame[3] >> 2 & 3),
          .commands = frame + kEthernetBytes};
}

// Location of the PDU in a frame.
struct PduLocation {
  uint32_t rh = 0;   // bytes in front of the RH; 0: unknown header, no PDU
  uint32_t end = 0;  // bytes up to the R-CRC, as given by the header
};

PduLocation PduBehind(uint32_t rh, uint32_t pdu_bytes) {
  return {.rh = rh, .end = rh + std::max(pdu_bytes, kRcrcBytes) - kRcrcBytes};
}

PduLocation FindPdu(const FrameClassRule& rule, const uint8_t* frame, uint32_t bytes) {
  const uint32_t l2 = EthernetBytes(frame, bytes);
  if (l2 == 0) return {};
  const uint8_t* const header = frame + l2;
  const uint32_t left = bytes - l2;
  const uint16_t ether_type = LoadBe16(header - 2);
  if (IsEsun(rule, ether_type)) {
    return left >= esun::kBytes ? PduBehind(l2 + esun::kBytes, left - esun::kBytes) : PduLocation{};
  }
  if (ether_type == TraitsOf(Encap::kAfh1).ether_type) return PduBehind(l2, left);
  if (rule.afh2) return {};
  constexpr uint32_t kBeforeUdp4 = kIpv4Bytes + kUdpBytes;
  if (ether_type == kTypeIpv4 && left >= kBeforeUdp4 && header[0] == kIpv4Start &&
      header[9] == kProtocolUdp && (LoadBe16(header + 6) & kIpv4Fragment) == 0) {
    return PduBehind(l2 + kBeforeUdp4, LoadBe16(header + kIpv4Bytes + 4) - kUdpBytes);
  }
  constexpr uint32_t kBeforeUdp6 = kIpv6Bytes + kUdpBytes;
  if (ether_type == kTypeIpv6 && left >= kBeforeUdp6 && header[0] >> 4 == 6 &&
      header[6] == kProtocolUdp) {
    return PduBehind(l2 + kBeforeUdp6, LoadBe16(header + kIpv6Bytes + 4) - kUdpBytes);
  }
  if (ether_type == TraitsOf(Encap::kAfh1s).ether_type && left >= kShimBytes &&
      header[3] == kShimNextSue) {
    return PduBehind(l2 + kShimBytes, LoadBe16(header + 6));
  }
  return {};
}

// Returns the link VC of a frame of class 0.
uint8_t LinkVcOfUnclassified(const FrameClassRule& rule, const uint8_t* frame, uint32_t bytes) {
  const PduLocation place = FindPdu(rule, frame, bytes);
  if (place.rh == 0 || bytes < place.rh + kRhBytes) return 0;
  PduStart pdu;
  if (rule.afh2 && (frame[0] & kAfh2Compressed) != 0) {
    pdu = StartOfCompressed(frame);
  } else {
    const RhWord rh(frame + place.rh);
    pdu = {.ver = rh.ver(), .vc = rh.vc(), .commands = frame + place.rh + kRhBytes};
  }
  const bool counts = HasCommands(pdu.ver, pdu.commands, frame + std::min(place.end, bytes));
  return LinkVcOfPdu(kUnclassified, counts, Vc(pdu.vc));
}

}  // namespace

FrameClassRule ClassRuleFor(const FrameRules& rules, bool pcp_first) {
  return {.afh2 = TraitsOf(rules.encap).macs == MacKind::kOther,
          .pcp_first = pcp_first,
          .esun_ether_type = rules.encap == Encap::kEsun ? rules.ether_type : uint16_t{0}};
}

uint8_t FrameClassOf(const FrameClassRule& rule, const uint8_t* frame, uint32_t bytes) {
  if (rule.afh2) return static_cast<uint8_t>(ClassOfDs(DsOfAfh2(frame, bytes)));
  const uint32_t l2 = EthernetBytes(frame, bytes);
  if (l2 == 0) return 0;
  const bool tagged = l2 != kEthernetBytes;
  if (IsEsun(rule, LoadBe16(frame + l2 - 2)) && bytes >= l2 + esun::kBytes) {
    return static_cast<uint8_t>(ClassOfDs(esun::DsOf(frame + l2)));
  }
  if (tagged && rule.pcp_first) return frame[kEthernetBytes] >> 5;
  const uint32_t of_network = ClassOfNetwork(frame, bytes, l2);
  if (of_network != kNone) return static_cast<uint8_t>(of_network);
  return tagged ? frame[kEthernetBytes] >> 5 : 0;
}

uint8_t LinkVcOf(const FrameClassRule& rule, const uint8_t* frame, uint32_t bytes) {
  const uint8_t afh2_ds = rule.afh2 ? DsOfAfh2(frame, bytes) : 0;
  const uint8_t traffic_class =
      rule.afh2 ? static_cast<uint8_t>(ClassOfDs(afh2_ds)) : FrameClassOf(rule, frame, bytes);
  const uint8_t vc =
      traffic_class != kUnclassified ? traffic_class : LinkVcOfUnclassified(rule, frame, bytes);
  if (!rule.levels) return vc;
  return static_cast<uint8_t>(vc * kLevelsOfClass + LevelOfDs(afh2_ds));
}

uint8_t LinkClassOf(const FrameClassRule& rule, const HeaderTemplate& header) {
  uint8_t buffer[HeaderTemplate::kRoomBytes + kRhBytes + kMinFrameBytes] = {};
  uint8_t* const pdu = buffer + HeaderTemplate::kRoomBytes;
  const uint32_t bytes = FinishEmptyPdu(pdu, header.length, {});
  const uint8_t* const frame = WriteHeader(header, pdu, bytes, false);
  const uint32_t frame_bytes = header.length + bytes;
  const uint8_t traffic_class = FrameClassOf(rule, frame, frame_bytes);
  if (traffic_class != kUnclassified) return traffic_class;
  return LinkVcOf(rule, frame, frame_bytes) == kAckLinkVc ? kUnclassified : kPlainLinkClass;
}

}  // namespace suede
