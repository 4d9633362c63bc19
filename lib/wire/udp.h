// SPDX-License-Identifier: Apache-2.0
// UDP and the Internet checksum, shared by udp4 and udp6 (RFC 768, RFC 1071, RFC 8200 §8.1).
#ifndef SUEDE_WIRE_UDP_H_
#define SUEDE_WIRE_UDP_H_

#include <cstdint>
#include <cstring>

namespace suede {

inline constexpr uint32_t kUdpBytes = 8;
inline constexpr uint8_t kProtocolUdp = 17;
inline constexpr uint16_t kFirstSourcePort = 49152;  // source port of session 0

// Folds a ones' complement sum to 16 bits. Sums are in host byte order, and correct when stored in
// it (RFC 1071 §2).
constexpr uint32_t FoldSum(uint64_t sum) {
  sum = (sum & 0xffffffff) + (sum >> 32);
  sum = (sum & 0xffffffff) + (sum >> 32);
  auto half = static_cast<uint32_t>(sum);
  half = (half & 0xffff) + (half >> 16);
  return (half & 0xffff) + (half >> 16);
}

// Returns the contribution of big-endian `value` to such a sum.
constexpr uint32_t SumOf(uint32_t value) {
  return __builtin_bswap16(static_cast<uint16_t>(value));
}

// Stores the low 16 bits of such a sum.
inline void StoreSum(uint8_t* out, uint32_t sum) {
  const auto half = static_cast<uint16_t>(sum);
  std::memcpy(out, &half, sizeof half);
}

namespace internal {
template <typename Word>
Word LoadWord(const uint8_t* data) {
  Word word;
  std::memcpy(&word, data, sizeof word);
  return word;
}
}  // namespace internal

// Returns the unfolded sum of the 16-bit words of `bytes` bytes; an odd last byte is padded with 0.
inline uint64_t InternetSum(const uint8_t* data, uint32_t bytes) {
  uint64_t low = 0;  // the halves of each word are summed separately, so that no carry is lost
  uint64_t high = 0;
  const uint32_t words = bytes / 8;
  for (uint32_t i = 0; i < words; ++i) {
    const auto word = internal::LoadWord<uint64_t>(data + i * 8);
    low += word & 0xffffffff;
    high += word >> 32;
  }
  data += words * 8;
  if ((bytes & 4) != 0) {
    low += internal::LoadWord<uint32_t>(data);
    data += 4;
  }
  if ((bytes & 2) != 0) {
    low += internal::LoadWord<uint16_t>(data);
    data += 2;
  }
  if ((bytes & 1) != 0) low += *data;
  return low + high;
}

// Whether a datagram's checksum is correct. `addresses`: both IP addresses.
inline bool UdpChecksumGood(const uint8_t* addresses, uint32_t address_bytes, const uint8_t* udp,
                            uint32_t udp_bytes) {
  return FoldSum(InternetSum(addresses, address_bytes) + SumOf(kProtocolUdp) + SumOf(udp_bytes) +
                 InternetSum(udp, udp_bytes)) == 0xffff;
}

// Completes the checksum of a datagram whose checksum field holds the pseudo-header's sum, as a
// device would. A checksum of 0 means no checksum, so it is sent as 0xffff (RFC 8200 §8.1).
inline void FinishUdpChecksum(uint8_t* udp) {
  const uint32_t bytes = __builtin_bswap16(internal::LoadWord<uint16_t>(udp + 4));
  const uint32_t sum = FoldSum(InternetSum(udp, bytes));
  StoreSum(udp + 6, sum == 0xffff ? 0xffff : ~sum);
}

}  // namespace suede

#endif  // SUEDE_WIRE_UDP_H_
