// SPDX-License-Identifier: Apache-2.0
// Ethernet II, IPv6 and UDP in front of a PDU (wire profile §5, udp6).
#include "base/big_endian.h"
#include "wire/encap.h"
#include "wire/encap/udp_fields.h"
#include "wire/ethernet.h"
#include "wire/rh.h"
#include "wire/udp.h"

namespace suede {
namespace {

constexpr uint32_t kIpBytes = 40;
constexpr uint32_t kAddressBytes = 16;
constexpr uint16_t kTypeIpv6 = 0x86dd;
constexpr uint32_t kVersion = 6;
// Minimum bytes of a frame that holds a PDU.
constexpr uint32_t kMinParsedBytes = Udp6::kHeaderBytes + kMinPduBytes;
static_assert(Udp6::kHeaderBytes == kEthernetBytes + kIpBytes + kUdpBytes);

// Bytes that Write copies.
constexpr uint32_t kCopiedBytes = 80;
static_assert(kCopiedBytes >= Udp6::kHeaderBytes + kTagBytes);

// Returns the error of a frame that Parse has not accepted. SUE sends no extension headers, so a
// datagram behind one is not SUE, whatever its port.
[[gnu::cold, gnu::noinline]] FrameError Refuse(const FrameRules& rules, const uint8_t* frame,
                                               uint32_t bytes) {
  const uint32_t l2 = EthernetBytes(frame, bytes);
  if (l2 == 0) return FrameError::kTruncated;
  if (LoadBe16(frame + l2 - 2) != kTypeIpv6) return FrameError::kNotSue;
  if (bytes < l2 + kIpBytes) return FrameError::kTruncated;
  const uint8_t* ip = frame + l2;
  if (ip[6] != kProtocolUdp) return FrameError::kNotSue;
  if (bytes < l2 + kIpBytes + 4) return FrameError::kTruncated;
  if (LoadBe16(ip + kIpBytes + 2) != rules.udp_port) return FrameError::kNotSue;
  if (uint32_t{ip[0]} >> 4 != kVersion) return FrameError::kIpHeader;
  return FrameError::kTruncated;
}

void StoreAddress(const NetAddress& address, uint8_t* out) {
  StoreBe64(out, address.high);
  StoreBe64(out + 8, address.low);
}

NetAddress LoadAddress(const uint8_t* in) {
  return {.high = LoadBe64(in), .low = LoadBe64(in + 8)};
}

// ---- Declaration of the fields.

uint64_t PayloadLength(const uint8_t* ip) { return LoadBe16(ip + kIpBytes + 4); }

constexpr HeaderField kFields[] = {
    DestinationMac(),
    SourceMac(),
    IpEtherType(kTypeIpv6),
    Needed(FieldBase::kInner, kIpBytes),
    ConstField("IP version", FieldBase::kInner, 0, 4, kVersion, "6", "6"),
    ValueField("DSCP", FieldBase::kInner, 4, 6, FieldKey::kDscp, "of the class", "handed on"),
    ValueField("ECN", FieldBase::kInner, 10, 2, FieldKey::kEcn, "of the class", "handed on"),
    ValueField("flow label", FieldBase::kInner, 12, 20, FieldKey::kFlowLabel, "0", "ignored"),
    ValueField("hop limit", FieldBase::kInner, 56, 8, FieldKey::kHopLimit, "`hop_limit`", "ignored",
               kDefaultHopLimit),
    ValueField("source address", FieldBase::kInner, 64, 128, FieldKey::kSip, "own", "handed on"),
    ValueField("destination address", FieldBase::kInner, 192, 128, FieldKey::kDip, "the peer's",
               "handed on"),
    ConstField("next header", FieldBase::kInner, 48, 8, kProtocolUdp, "17",
               "17: behind an extension header nothing is ours"),
    Needed(FieldBase::kInner, kIpBytes + kUdpBytes),
    {.name = "payload length",
     .base = FieldBase::kInner,
     .at = 32,
     .bits = 16,
     .use = FieldUse::kComputed,
     .key = FieldKey::kIpLength,
     .compute = PayloadLength,
     .sent = "8 + PDU",
     .received = "bounds the UDP length; what follows is ignored"},
    UdpSourcePort(kIpBytes),
    UdpDestinationPort(kIpBytes),
    UdpLength(kIpBytes),
    WrittenField("UDP checksum", FieldBase::kInner, (kIpBytes + 6) * 8, 16,
                 "over pseudo-header and datagram; a sum that comes out as 0 goes as 0xFFFF",
                 "right, and never 0"),
};

}  // namespace

std::span<const HeaderField> FieldsOfUdp6() { return kFields; }

HeaderTemplate Udp6::MakeTemplate(const HeaderSpec& spec) {
  HeaderTemplate header{.encap = Encap::kUdp6, .l3_length = kIpBytes};
  uint8_t* ip = StartTemplate(header, spec, spec.destination_mac, spec.source_mac, kTypeIpv6,
                              kIpBytes + kUdpBytes);
  StoreBe32(ip, kVersion << 28 | uint32_t{spec.traffic_class.ds_byte()} << 20);
  ip[6] = kProtocolUdp;
  ip[7] = spec.hop_limit;
  StoreAddress(spec.source, ip + 8);
  StoreAddress(spec.destination, ip + 8 + kAddressBytes);
  StoreBe16(ip + kIpBytes + 2, spec.udp_port);
  header.pseudo_checksum =
      FoldSum(InternetSum(ip + 8, 2 * kAddressBytes) + SumOf(kProtocolUdp));
  SetSession(header, spec.session);
  return header;
}

void Udp6::SetSession(HeaderTemplate& header, uint16_t session) {
  header.session = session;
  uint8_t* udp = header.bytes + HeaderTemplate::kMaxBytes - kUdpBytes;
  StoreBe16(udp, static_cast<uint16_t>(kFirstSourcePort + session));
  // Both lengths and the checksum are still 0 in the template.
  header.checksum = FoldSum(header.pseudo_checksum + InternetSum(udp, kUdpBytes));
}

uint8_t* Udp6::Write(const HeaderTemplate& header, uint8_t* pdu, uint32_t pdu_bytes, bool offload) {
  header.CopyTo<kCopiedBytes>(pdu);
  uint8_t* udp = pdu - kUdpBytes;
  uint8_t* ip = udp - kIpBytes;
  const uint32_t length = SumOf(kUdpBytes + pdu_bytes);
  StoreSum(ip + 4, length);
  StoreSum(udp + 4, length);
  if (offload) {
    StoreSum(udp + 6, FoldSum(uint64_t{header.pseudo_checksum} + length));
  } else {
    // The length is part of the pseudo-header and of the UDP header.
    const uint32_t sum =
        FoldSum(uint64_t{header.checksum} + 2 * length + InternetSum(pdu, pdu_bytes));
    // A checksum of 0 means no checksum, so it is sent as 0xffff (RFC 8200 §8.1).
    StoreSum(udp + 6, sum == 0xffff ? 0xffff : ~sum);
  }
  return pdu - header.length;
}

ParsedFrame Udp6::Parse(const FrameRules& rules, uint8_t* frame, uint32_t bytes,
                        bool checksums_good) {
  if (bytes < kMinParsedBytes) return {.error = Refuse(rules, frame, bytes)};
  // From here on all headers are inside the frame, tagged or not.
  static_assert(kMinParsedBytes >= Udp6::kHeaderBytes + kTagBytes);
  const uint32_t l2 = EthernetBytes(frame);
  const uint8_t* ip = frame + l2;
  const uint8_t* udp = ip + kIpBytes;
  // One branch for four fields: `differs` is 0 if all match.
  const uint32_t differs = (LoadBe16(ip - 2) ^ kTypeIpv6) | (uint32_t{ip[0]} >> 4 ^ kVersion) |
                           (ip[6] ^ kProtocolUdp) | (LoadBe16(udp + 2) ^ rules.udp_port);
  if (differs != 0) [[unlikely]]
    return {.error = Refuse(rules, frame, bytes)};
  const uint32_t payload = LoadBe16(ip + 4);
  const uint32_t udp_bytes = LoadBe16(udp + 4);
  if (payload < kUdpBytes) [[unlikely]]
    return {.error = FrameError::kIpHeader};
  if (payload > bytes - l2 - kIpBytes || udp_bytes > payload ||
      udp_bytes < kUdpBytes + kMinPduBytes) [[unlikely]] {
    return {.error = FrameError::kTruncated};
  }
  // A missing checksum is an error over IPv6, whatever the device reported (RFC 8200 §8.1).
  if (LoadBe16(udp + 6) == 0 ||
      (!checksums_good && !UdpChecksumGood(ip + 8, 2 * kAddressBytes, udp, udp_bytes)))
      [[unlikely]] {
    return {.error = FrameError::kUdpChecksum};
  }
  const uint32_t ds = LoadBe16(ip) >> 4;
  return {.dscp = static_cast<uint8_t>(ds >> 2 & 0x3f),
          .ecn = static_cast<uint8_t>(ds & 3),
          .session = static_cast<uint16_t>(LoadBe16(udp) - kFirstSourcePort),
          .source = LoadAddress(ip + 8),
          .destination = LoadAddress(ip + 8 + kAddressBytes),
          .pdu = udp + kUdpBytes,
          .pdu_bytes = udp_bytes - kUdpBytes};
}

}  // namespace suede
