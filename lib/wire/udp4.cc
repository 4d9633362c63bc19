// Ethernet II, IPv4 and UDP in front of a PDU (wire profile §5, udp4).
#include <cstring>

#include "base/big_endian.h"
#include "wire/encap.h"
#include "wire/rh.h"

namespace suede {
namespace {

constexpr uint32_t kEthernetBytes = 14;
constexpr uint32_t kTagBytes = 4;
constexpr uint32_t kIpBytes = 20;
constexpr uint32_t kUdpBytes = 8;
constexpr uint16_t kTypeTag = 0x8100;
constexpr uint16_t kTypeIpv4 = 0x0800;
constexpr uint8_t kVersionAndIhl = 0x45;
constexpr uint8_t kProtocolUdp = 17;
constexpr uint16_t kDontFragment = 0x4000;
constexpr uint16_t kMoreFragments = 0x2000;
constexpr uint16_t kFragmentOffset = 0x1fff;
constexpr uint16_t kFirstSourcePort = 49152;
// No frame with fewer octets than this holds a PDU.
constexpr uint32_t kLeastPduBytes = kRhBytes + kRcrcBytes;
constexpr uint32_t kLeastFrameBytes = Udp4::kHeaderBytes + kLeastPduBytes;

// What Write copies: three times 16 octets hold the tagged header too, so that nothing depends on
// the tag. The template's header ends where its array ends.
constexpr uint32_t kCopiedBytes = 48;
static_assert(kCopiedBytes >= Udp4::kHeaderBytes + kTagBytes);
static_assert(kCopiedBytes <= HeaderTemplate::kMaxBytes);

constexpr uint32_t Fold(uint64_t sum) {
  sum = (sum & 0xffffffff) + (sum >> 32);
  sum = (sum & 0xffffffff) + (sum >> 32);
  auto half = static_cast<uint32_t>(sum);
  half = (half & 0xffff) + (half >> 16);
  return (half & 0xffff) + (half >> 16);
}

// Ones' complement sum in the host's octet order, which the test against 0xffff does not mind
// (RFC 1071 §2).
uint64_t HostSum(const uint8_t* data, uint32_t bytes) {
  uint64_t sum = 0;
  for (; bytes >= 4; bytes -= 4, data += 4) {
    uint32_t word;
    std::memcpy(&word, data, sizeof word);
    sum += word;
  }
  uint32_t rest = 0;
  std::memcpy(&rest, data, bytes);
  return sum + rest;
}

bool UdpChecksumGood(const uint8_t* ip, uint32_t udp_bytes) {
  const auto tail = static_cast<uint64_t>(__builtin_bswap16(kProtocolUdp)) +
                    __builtin_bswap16(static_cast<uint16_t>(udp_bytes));
  return Fold(HostSum(ip + 12, 8) + tail + HostSum(ip + kIpBytes, udp_bytes)) == 0xffff;
}

// Names what is wrong with a frame that is not plainly one of ours. A later fragment has no port,
// so it is nobody's; a first one with our port is ours, and SUE does not fragment.
[[gnu::cold, gnu::noinline]] FrameError Refuse(const uint8_t* frame, uint32_t bytes,
                                               uint16_t udp_port) {
  if (bytes < kEthernetBytes) return FrameError::kTruncated;
  uint32_t l2 = kEthernetBytes;
  uint16_t type = LoadBe16(frame + 12);
  if (type == kTypeTag) {
    l2 += kTagBytes;
    if (bytes < l2) return FrameError::kTruncated;
    type = LoadBe16(frame + 16);
  }
  if (type != kTypeIpv4) return FrameError::kNotSue;
  if (bytes < l2 + kIpBytes) return FrameError::kTruncated;
  const uint8_t* ip = frame + l2;
  const uint16_t fragment = LoadBe16(ip + 6);
  if (ip[9] != kProtocolUdp || (fragment & kFragmentOffset) != 0) return FrameError::kNotSue;
  const uint32_t ihl = uint32_t{ip[0]} & 0x0f;
  const uint32_t ip_bytes = ihl < 5 ? kIpBytes : ihl * 4;
  if (bytes < l2 + ip_bytes + 4) return FrameError::kTruncated;
  if (LoadBe16(ip + ip_bytes + 2) != udp_port) return FrameError::kNotSue;
  if (ip[0] != kVersionAndIhl || (fragment & kMoreFragments) != 0) return FrameError::kIpHeader;
  return FrameError::kTruncated;
}

ParsedFrame Refused(FrameError error) { return {.error = error}; }

}  // namespace

HeaderTemplate Udp4::MakeTemplate(const HeaderSpec& spec) {
  HeaderTemplate header;
  header.l2_length = static_cast<uint8_t>(kEthernetBytes + (spec.tagged ? kTagBytes : 0));
  header.length = static_cast<uint8_t>(header.l2_length + kIpBytes + kUdpBytes);
  uint8_t* at = header.bytes + HeaderTemplate::kMaxBytes - header.length;
  std::memcpy(at, spec.destination_mac.data(), 6);
  std::memcpy(at + 6, spec.source_mac.data(), 6);
  const TrafficClass& tc = spec.traffic_class;
  if (spec.tagged) {
    StoreBe16(at + 12, kTypeTag);
    StoreBe16(at + 14, static_cast<uint16_t>((tc.pcp & 7) << 13 | (spec.vid & 0xfff)));
  }
  uint8_t* ip = at + header.l2_length;
  StoreBe16(ip - 2, kTypeIpv4);
  ip[0] = kVersionAndIhl;
  ip[1] = static_cast<uint8_t>((tc.dscp & 0x3f) << 2 | (tc.ecn & 3));
  StoreBe16(ip + 6, kDontFragment);
  ip[8] = 64;
  ip[9] = kProtocolUdp;
  StoreBe32(ip + 12, spec.source_ip);
  StoreBe32(ip + 16, spec.destination_ip);
  uint64_t sum = 0;  // total length and checksum are still 0
  for (uint32_t i = 0; i < kIpBytes; i += 2) sum += LoadBe16(ip + i);
  header.checksum = Fold(sum);
  uint8_t* udp = ip + kIpBytes;
  StoreBe16(udp, static_cast<uint16_t>(kFirstSourcePort + spec.session));
  StoreBe16(udp + 2, spec.udp_port);
  return header;
}

uint8_t* Udp4::Write(const HeaderTemplate& header, uint8_t* pdu, uint32_t pdu_bytes, bool offload) {
  const uint8_t* from = header.bytes + HeaderTemplate::kMaxBytes - kCopiedBytes;
  std::memcpy(pdu - kCopiedBytes, from, kCopiedBytes);
  uint8_t* udp = pdu - kUdpBytes;
  uint8_t* ip = udp - kIpBytes;
  const uint32_t total = kIpBytes + kUdpBytes + pdu_bytes;
  uint32_t sum = header.checksum + total;  // at most one carry: both have 16 bits
  sum = (sum & 0xffff) + (sum >> 16);
  StoreBe16(ip + 2, static_cast<uint16_t>(total));
  StoreBe16(ip + 10, static_cast<uint16_t>(offload ? 0 : ~sum));
  StoreBe16(udp + 4, static_cast<uint16_t>(kUdpBytes + pdu_bytes));
  return pdu - header.length;
}

ParsedFrame Udp4::Parse(const uint8_t* frame, uint32_t bytes, uint16_t udp_port,
                        bool checksums_good) {
  if (bytes < kLeastFrameBytes) return Refused(Refuse(frame, bytes, udp_port));
  // From here on every header is inside the frame, tagged or not.
  static_assert(kLeastFrameBytes >= Udp4::kHeaderBytes + kTagBytes);
  const uint32_t l2 = kEthernetBytes + (LoadBe16(frame + 12) == kTypeTag ? kTagBytes : 0);
  const uint8_t* ip = frame + l2;
  const uint8_t* udp = ip + kIpBytes;
  // One branch for the five fields: a bit remains where any of them differs.
  const uint32_t differs = (LoadBe16(ip - 2) ^ kTypeIpv4) | (ip[0] ^ kVersionAndIhl) |
                           (LoadBe16(ip + 6) & (kMoreFragments | kFragmentOffset)) |
                           (ip[9] ^ kProtocolUdp) | (LoadBe16(udp + 2) ^ udp_port);
  if (differs != 0) [[unlikely]]
    return Refused(Refuse(frame, bytes, udp_port));
  const uint32_t total = LoadBe16(ip + 2);
  const uint32_t udp_bytes = LoadBe16(udp + 4);
  if (total < kIpBytes + kUdpBytes) [[unlikely]]
    return Refused(FrameError::kIpHeader);
  if (total > bytes - l2 || kIpBytes + udp_bytes > total || udp_bytes < kUdpBytes + kLeastPduBytes)
      [[unlikely]] {
    return Refused(FrameError::kTruncated);
  }
  if (!checksums_good) {
    if (Fold(HostSum(ip, kIpBytes)) != 0xffff) [[unlikely]] {
      return Refused(FrameError::kIpChecksum);
    }
    if (LoadBe16(udp + 6) != 0 && !UdpChecksumGood(ip, udp_bytes)) [[unlikely]] {
      return Refused(FrameError::kUdpChecksum);
    }
  }
  return {.source_ip = LoadBe32(ip + 12),
          .destination_ip = LoadBe32(ip + 16),
          .session = static_cast<uint16_t>(LoadBe16(udp) - kFirstSourcePort),
          .dscp = static_cast<uint8_t>(ip[1] >> 2),
          .ecn = static_cast<uint8_t>(ip[1] & 3),
          .pdu = udp + kUdpBytes,
          .pdu_bytes = udp_bytes - kUdpBytes};
}

}  // namespace suede
