// SPDX-License-Identifier: Apache-2.0
// Parses the headers of udp4 inline in the usual form. Udp4::Parse handles all other frames.
#ifndef SUEDE_WIRE_ENCAP_UDP4_H_
#define SUEDE_WIRE_ENCAP_UDP4_H_

#include <cstdint>

#include "base/big_endian.h"
#include "wire/ethernet.h"
#include "wire/rh.h"
#include "wire/udp.h"

namespace suede::udp4 {

inline constexpr uint32_t kIpBytes = 20;
inline constexpr uint16_t kTypeIpv4 = 0x0800;
inline constexpr uint8_t kVersionAndIhl = 0x45;
inline constexpr uint16_t kMoreFragments = 0x2000;
inline constexpr uint16_t kFragmentOffset = 0x1fff;
// Minimum bytes of a frame that holds a PDU.
inline constexpr uint32_t kMinParsedBytes = kEthernetBytes + kIpBytes + kUdpBytes + kMinPduBytes;

// Whether the checksum of a header without options is correct.
inline bool IsHeaderSumGood(const uint8_t* ip) {
  uint64_t sum = 0;
  for (uint32_t i = 0; i < kIpBytes; i += 4) sum += internal::LoadWord<uint32_t>(ip + i);
  const auto high = static_cast<uint32_t>(sum >> 32);
  uint32_t half = static_cast<uint32_t>(sum) + high;
  // A carry out of the addition leaves less than 4, which is not the sum of a correct header even
  // if the carry were added. The upper 16 bits are now the sum of both halves, with the carry of
  // that.
  half += half << 16 | half >> 16;
  return half >= 0xffff0000u;
}

// Returns 0 if all five fields have the values of SUE frames: EtherType, version and header length,
// fragment, protocol, destination port. The words are in host order as loaded.
inline uint32_t Differences(const uint8_t* ip, const uint8_t* udp, uint16_t udp_port) {
  constexpr uint32_t kTypeAndVersion = uint32_t{kVersionAndIhl} << 16 | kTypeIpv4 >> 8;
  constexpr uint32_t kFragment = __builtin_bswap16(kMoreFragments | kFragmentOffset);
  const auto type = internal::LoadWord<uint32_t>(ip - 2) & 0xffffff;
  const auto fragment = internal::LoadWord<uint32_t>(ip + 6) & (uint32_t{0xff} << 24 | kFragment);
  const auto port = internal::LoadWord<uint16_t>(udp + 2);
  return (type ^ kTypeAndVersion) | (fragment ^ uint32_t{kProtocolUdp} << 24) |
         (port ^ __builtin_bswap16(udp_port));
}
static_assert((kTypeIpv4 & 0xff) == 0);

// Fills `parsed` if the frame has no error, and its UDP checksum is 0 or was verified. Otherwise
// returns false, and Udp4::Parse must handle the frame.
[[gnu::always_inline]] inline bool ParseGood(const FrameRules& rules, uint8_t* frame,
                                             uint32_t bytes, bool checksums_good,
                                             ParsedFrame& parsed) {
  if (bytes < kMinParsedBytes) [[unlikely]]
    return false;
  // From here on all headers are inside the frame, tagged or not.
  static_assert(kMinPduBytes >= kTagBytes);
  const uint32_t l2 = EthernetBytes(frame);
  uint8_t* ip = frame + l2;
  uint8_t* udp = ip + kIpBytes;
  const uint32_t total = LoadBe16(ip + 2);
  const uint32_t udp_bytes = LoadBe16(udp + 4);
  if (Differences(ip, udp, rules.udp_port) != 0 || total > bytes - l2 ||
      kIpBytes + udp_bytes > total || udp_bytes < kUdpBytes + kMinPduBytes) [[unlikely]] {
    return false;
  }
  if (!checksums_good && !(IsHeaderSumGood(ip) && LoadBe16(udp + 6) == 0)) [[unlikely]] {
    return false;
  }
  parsed.error = FrameError::kNone;
  parsed.dscp = static_cast<uint8_t>(ip[1] >> 2);
  parsed.ecn = static_cast<uint8_t>(ip[1] & 3);
  parsed.session = static_cast<uint16_t>(LoadBe16(udp) - kFirstSourcePort);
  parsed.source = {.low = LoadBe32(ip + 12)};
  parsed.destination = {.low = LoadBe32(ip + 16)};
  parsed.pdu = udp + kUdpBytes;
  parsed.pdu_bytes = udp_bytes - kUdpBytes;
  return true;
}

// Headers of a frame that ParseGood has read. A frame of the same length with identical header
// bytes has the same result and needs no parsing, as frames arrive in runs.
class Headers {
 public:
  // `parsed`: result of ParseGood for `frame`, whose headers must not change while Headers is used.
  void Keep(const uint8_t* frame, uint32_t bytes, bool checksums_good, const ParsedFrame& parsed) {
    frame_ = frame;
    bytes_ = bytes;
    checksums_good_ = checksums_good;
    pdu_at_ = static_cast<uint32_t>(parsed.pdu - frame);
    pdu_bytes_ = parsed.pdu_bytes;
  }
  [[gnu::always_inline]] bool AreOf(const uint8_t* frame, uint32_t bytes,
                                    bool checksums_good) const {
    if (bytes != bytes_ || checksums_good != checksums_good_) return false;
    const uint8_t* const end = frame + pdu_at_;
    const uint8_t* const same = frame_ + pdu_at_;
    // Addresses and ports first: they differ most often.
    return Differ(end - kBytes / 2, same - kBytes / 2) == 0 &&
           (Differ(end - kBytes, same - kBytes) |
            (internal::LoadWord<uint32_t>(frame + kTypeAt) ^
             internal::LoadWord<uint32_t>(frame_ + kTypeAt))) == 0;
  }
  uint32_t pdu_at() const { return pdu_at_; }
  uint32_t pdu_bytes() const { return pdu_bytes_; }

 private:
  static constexpr uint32_t kTypeAt =
      kEthernetBytes - 2;  // offset of the EtherType, or of the TPID of an 802.1Q tag
  static constexpr uint32_t kBytes =
      4 + kIpBytes + kUdpBytes;  // IP and UDP headers, and 4 bytes with their EtherType
  // Returns the bits in which 16 bytes differ; 0: equal.
  static uint64_t Differ(const uint8_t* a, const uint8_t* b) {
    return (internal::LoadWord<uint64_t>(a) ^ internal::LoadWord<uint64_t>(b)) |
           (internal::LoadWord<uint64_t>(a + 8) ^ internal::LoadWord<uint64_t>(b + 8));
  }
  static_assert(kBytes == 32);
  static constexpr uint8_t kNoFrame[2 * kBytes] = {};

  const uint8_t* frame_ = kNoFrame + kBytes;
  uint32_t bytes_ = ~uint32_t{0};  // matches no frame
  bool checksums_good_ = false;
  uint32_t pdu_at_ = 0;
  uint32_t pdu_bytes_ = 0;
};

}  // namespace suede::udp4

#endif  // SUEDE_WIRE_ENCAP_UDP4_H_
