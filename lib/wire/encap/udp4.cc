// SPDX-License-Identifier: Apache-2.0
// Ethernet II, IPv4 and UDP in front of a PDU (wire profile §5, udp4).
#include "wire/encap/udp4.h"

#include "base/big_endian.h"
#include "wire/encap.h"
#include "wire/encap/udp_fields.h"
#include "wire/ethernet.h"
#include "wire/rh.h"
#include "wire/udp.h"

namespace suede {
namespace {

using udp4::IsHeaderSumGood;
using udp4::kFragmentOffset;
using udp4::kIpBytes;
using udp4::kMinParsedBytes;
using udp4::kMoreFragments;
using udp4::kTypeIpv4;
using udp4::kVersionAndIhl;
using udp4::ParseGood;

constexpr uint16_t kDontFragment = 0x4000;
static_assert(Udp4::kHeaderBytes == kEthernetBytes + kIpBytes + kUdpBytes);
static_assert(kMinParsedBytes == Udp4::kHeaderBytes + kMinPduBytes);

// Bytes that Write copies.
constexpr uint32_t kCopiedBytes = 48;
static_assert(kCopiedBytes >= Udp4::kHeaderBytes + kTagBytes);

// Returns the error in the fields of a frame that ParseGood has not accepted; kNone: only a
// checksum can be wrong. A later fragment has no port, so it is not SUE; a first fragment to our
// port is an error, as SUE does not fragment.
[[gnu::cold, gnu::noinline]] FrameError Refuse(const FrameRules& rules, const uint8_t* frame,
                                               uint32_t bytes) {
  const uint32_t l2 = EthernetBytes(frame, bytes);
  if (l2 == 0) return FrameError::kTruncated;
  if (LoadBe16(frame + l2 - 2) != kTypeIpv4) return FrameError::kNotSue;
  if (bytes < l2 + kIpBytes) return FrameError::kTruncated;
  const uint8_t* ip = frame + l2;
  const uint16_t fragment = LoadBe16(ip + 6);
  if (ip[9] != kProtocolUdp || (fragment & kFragmentOffset) != 0) return FrameError::kNotSue;
  const uint32_t ihl = uint32_t{ip[0]} & 0x0f;
  const uint32_t ip_bytes = ihl < 5 ? kIpBytes : ihl * 4;
  if (bytes < l2 + ip_bytes + 4) return FrameError::kTruncated;
  if (LoadBe16(ip + ip_bytes + 2) != rules.udp_port) return FrameError::kNotSue;
  if (ip[0] != kVersionAndIhl || (fragment & kMoreFragments) != 0) return FrameError::kIpHeader;
  if (bytes < kMinParsedBytes) return FrameError::kTruncated;
  const uint32_t total = LoadBe16(ip + 2);
  const uint32_t udp_bytes = LoadBe16(ip + kIpBytes + 4);
  if (total < kIpBytes + kUdpBytes) return FrameError::kIpHeader;
  const bool fits =
      total <= bytes - l2 && kIpBytes + udp_bytes <= total && udp_bytes >= kUdpBytes + kMinPduBytes;
  return fits ? FrameError::kNone : FrameError::kTruncated;
}

// Returns the error of the checksums of a frame whose fields are good.
[[gnu::noinline]] FrameError RefuseSums(const uint8_t* frame) {
  const uint8_t* ip = frame + EthernetBytes(frame);
  const uint8_t* udp = ip + kIpBytes;
  if (!IsHeaderSumGood(ip)) return FrameError::kIpChecksum;
  const bool good = LoadBe16(udp + 6) == 0 || UdpChecksumGood(ip + 12, 8, udp, LoadBe16(udp + 4));
  return good ? FrameError::kNone : FrameError::kUdpChecksum;
}

// ---- Declaration of the fields.

// Correct checksum of the IPv4 header, and of UDP: 0xffff instead of 0, which means no checksum.
uint64_t HeaderChecksum(const uint8_t* ip) {
  uint8_t header[kIpBytes];
  std::memcpy(header, ip, kIpBytes);
  StoreBe16(header + 10, 0);
  StoreSum(header + 10, ~FoldSum(InternetSum(header, kIpBytes)));
  return LoadBe16(header + 10);
}
uint64_t DatagramChecksum(const uint8_t* ip) {
  const uint8_t* udp = ip + kIpBytes;
  const uint32_t bytes = LoadBe16(udp + 4);
  const uint32_t sum = FoldSum(InternetSum(ip + 12, 8) + SumOf(kProtocolUdp) + SumOf(bytes) +
                               InternetSum(udp, 6) + InternetSum(udp + 8, bytes - kUdpBytes));
  uint8_t checksum[2];
  StoreSum(checksum, sum == 0xffff ? 0xffff : ~sum);
  return LoadBe16(checksum);
}
uint64_t TotalLength(const uint8_t* ip) { return kIpBytes + LoadBe16(ip + kIpBytes + 4); }

constexpr HeaderField kFields[] = {
    DestinationMac(),
    SourceMac(),
    IpEtherType(kTypeIpv4),
    Needed(FieldBase::kInner, kIpBytes),
    ConstField("IP version", FieldBase::kInner, 0, 4, 4, "4", "4"),
    ValueField("DSCP", FieldBase::kInner, 8, 6, FieldKey::kDscp, "of the class", "handed on"),
    ValueField("ECN", FieldBase::kInner, 14, 2, FieldKey::kEcn, "of the class", "handed on"),
    ValueField("identification", FieldBase::kInner, 32, 16, FieldKey::kIpId, "0", "ignored"),
    ValueField("flags", FieldBase::kInner, 48, 3, FieldKey::kIpFlags, "DF", "not MF; DF ignored",
               kDontFragment >> 13),
    ValueField("TTL", FieldBase::kInner, 64, 8, FieldKey::kHopLimit, "`hop_limit`", "ignored",
               kDefaultHopLimit),
    ValueField("source address", FieldBase::kInner, 96, 32, FieldKey::kSip, "own", "handed on"),
    ValueField("destination address", FieldBase::kInner, 128, 32, FieldKey::kDip, "the peer's",
               "handed on"),
    ConstField("header length", FieldBase::kInner, 4, 4, kIpBytes / 4, "5", "5"),
    {.name = "header checksum",
     .base = FieldBase::kInner,
     .at = 80,
     .bits = 16,
     .use = FieldUse::kComputed,
     .key = FieldKey::kIpChecksum,
     .compute = HeaderChecksum,
     .sent = "computed",
     .received = "verified, unless the device has"},
    ConstField("protocol", FieldBase::kInner, 72, 8, kProtocolUdp, "17", "17"),
    ConstField("fragment offset", FieldBase::kInner, 51, 13, 0, "0", "0"),
    Needed(FieldBase::kInner, kIpBytes + kUdpBytes),
    {.name = "total length",
     .base = FieldBase::kInner,
     .at = 16,
     .bits = 16,
     .use = FieldUse::kComputed,
     .key = FieldKey::kIpLength,
     .compute = TotalLength,
     .sent = "28 + PDU",
     .received = "bounds the UDP length; what follows is ignored"},
    UdpSourcePort(kIpBytes),
    UdpDestinationPort(kIpBytes),
    UdpLength(kIpBytes),
    {.name = "UDP checksum",
     .base = FieldBase::kInner,
     .at = (kIpBytes + 6) * 8,
     .bits = 16,
     .use = FieldUse::kOptional,
     .key = FieldKey::kUdpChecksum,
     .compute = DatagramChecksum,
     .sent = "0",
     .received = "0, or right"},
};

}  // namespace

std::span<const HeaderField> FieldsOfUdp4() { return kFields; }

HeaderTemplate Udp4::MakeTemplate(const HeaderSpec& spec) {
  HeaderTemplate header{.encap = Encap::kUdp4, .l3_length = kIpBytes};
  uint8_t* ip = StartTemplate(header, spec, spec.destination_mac, spec.source_mac, kTypeIpv4,
                              kIpBytes + kUdpBytes);
  ip[0] = kVersionAndIhl;
  ip[1] = spec.traffic_class.ds_byte();
  StoreBe16(ip + 6, kDontFragment);
  ip[8] = spec.hop_limit;
  ip[9] = kProtocolUdp;
  StoreBe32(ip + 12, static_cast<Ipv4Address>(spec.source.low));
  StoreBe32(ip + 16, static_cast<Ipv4Address>(spec.destination.low));
  header.checksum = FoldSum(InternetSum(ip, kIpBytes));  // total length and checksum are still 0
  StoreBe16(ip + kIpBytes + 2, spec.udp_port);
  SetSession(header, spec.session);
  return header;
}

void Udp4::SetSession(HeaderTemplate& header, uint16_t session) {
  header.session = session;
  uint8_t* udp = header.bytes + HeaderTemplate::kMaxBytes - kUdpBytes;
  StoreBe16(udp, static_cast<uint16_t>(kFirstSourcePort + session));
}

uint8_t* Udp4::Write(const HeaderTemplate& header, uint8_t* pdu, uint32_t pdu_bytes, bool) {
  header.CopyTo<kCopiedBytes>(pdu);
  uint8_t* udp = pdu - kUdpBytes;
  uint8_t* ip = udp - kIpBytes;
  const uint32_t udp_bytes = kUdpBytes + pdu_bytes;
  const uint32_t total = SumOf(kIpBytes + udp_bytes);
  uint32_t sum = header.checksum + total;  // at most one carry: both have 16 bits
  sum = (sum & 0xffff) + (sum >> 16);
  StoreSum(ip + 2, total);
  StoreSum(ip + 10, ~sum);
  StoreBe16(udp + 4, static_cast<uint16_t>(udp_bytes));
  return pdu - header.length;
}

ParsedFrame Udp4::Parse(const FrameRules& rules, uint8_t* frame, uint32_t bytes,
                        bool checksums_good) {
  ParsedFrame parsed;
  if (ParseGood(rules, frame, bytes, checksums_good, parsed)) return parsed;
  FrameError error = Refuse(rules, frame, bytes);
  if (error == FrameError::kNone && !checksums_good) error = RefuseSums(frame);
  if (error != FrameError::kNone) return {.error = error};
  // The UDP checksum is correct: parse the frame as a verified one.
  ParseGood(rules, frame, bytes, /*checksums_good=*/true, parsed);
  return parsed;
}

}  // namespace suede
