// SPDX-License-Identifier: Apache-2.0
#include "wire/trimmed.h"

#include "base/big_endian.h"
#include "wire/encap.h"
#include "wire/ethernet.h"
#include "wire/rh.h"

namespace suede {
namespace {

constexpr uint32_t kIpv6Bytes = 40;
constexpr uint32_t kShimBytes = 8;

// Returns the bytes that the frame had before trimming, by the outermost length in its headers,
// which must be complete; 0: switches do not trim this encapsulation. `l2`: bytes in front of the
// header with the length.
uint32_t BytesBefore(Encap encap, const uint8_t* frame, uint32_t l2) {
  const uint8_t* header = frame + l2;
  switch (encap) {
    case Encap::kUdp4:
      return l2 + LoadBe16(header + 2);
    case Encap::kUdp6:
      return l2 + kIpv6Bytes + LoadBe16(header + 4);
    case Encap::kAfh1s:
      return l2 + kShimBytes + LoadBe16(header + 6);
    default:
      return 0;
  }
}

// Parses the headers as if the frame still had its `before` bytes, though `frame` holds only the
// headers and the RH. No byte behind these is read: the UDP checksum counts as verified, and the
// functions below read only the headers. Udp4::Parse is not called, because it reads the port
// behind IPv4 options.
ParsedFrame ParseHeaders(const FrameRules& rules, uint8_t* frame, uint32_t l2, uint32_t before) {
  ParsedFrame parsed{.error = FrameError::kTruncated};
  switch (rules.encap) {
    case Encap::kUdp4:
      if (!udp4::IsHeaderSumGood(frame + l2)) return {.error = FrameError::kIpChecksum};
      udp4::ParseGood(rules, frame, before, /*checksums_good=*/true, parsed);
      return parsed;
    case Encap::kUdp6:
      return Udp6::Parse(rules, frame, before, /*checksums_good=*/true);
    case Encap::kAfh1s:
      return Afh1s::Parse(rules, frame, before, /*checksums_good=*/true);
    default:
      return parsed;
  }
}

}  // namespace

std::optional<ParsedFrame> ParseTrimmed(const FrameRules& rules, uint8_t* frame, uint32_t bytes,
                                        uint8_t trimmed_dscp) {
  const uint32_t l2 = EthernetBytes(frame, bytes);
  if (l2 == 0) return std::nullopt;
  const uint32_t to_rh = TraitsOf(rules.encap).header_bytes + l2 - kEthernetBytes;
  if (bytes < to_rh + kRhBytes) return std::nullopt;
  const uint32_t before = BytesBefore(rules.encap, frame, l2);
  if (before <= bytes) return std::nullopt;
  const ParsedFrame parsed = ParseHeaders(rules, frame, l2, before);
  if (parsed.error != FrameError::kNone || parsed.dscp != trimmed_dscp) return std::nullopt;
  // A datagram may be shorter than the IP length; a frame that holds the whole datagram is not
  // trimmed.
  if (to_rh + parsed.pdu_bytes <= bytes) return std::nullopt;
  return parsed;
}

}  // namespace suede
