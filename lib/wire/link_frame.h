// SPDX-License-Identifier: Apache-2.0
// The bytes that two ends of a cable exchange about the cable itself (docs/link.md): the shim of a
// frame that link-level retry has numbered, and link frames.
#ifndef SUEDE_WIRE_LINK_FRAME_H_
#define SUEDE_WIRE_LINK_FRAME_H_

#include <array>
#include <cstdint>
#include <cstring>
#include <optional>

#include "base/big_endian.h"

namespace suede {

inline constexpr uint16_t kDefaultLinkEtherType = 0xfe50;
inline constexpr uint32_t kLinkTypeAt = 12;    // of the EtherType
inline constexpr uint32_t kLinkShimBytes = 8;  // EtherType, word, sequence, acknowledged
inline constexpr uint32_t kLinkBodyAt = 20;    // of a link frame; of a shim: the rest of the frame
inline constexpr uint32_t kMinLinkFrameBytes = 60;
inline constexpr uint32_t kMaxLinkFrameBytes = 192;  // of a link frame that we make
inline constexpr uint32_t kLinkVcs = 32;
// The destination of link frames, a group that no bridge forwards.
inline constexpr std::array<uint8_t, 6> kLinkGroup{0x01, 0x80, 0xc2, 0x00, 0x00, 0x0e};

enum class LinkKind : uint8_t {
  kData = 1,
  kHello = 2,
  kAck = 3,
  kNack = 4,
  kCfUpdate = 5,
  kCcUpdate = 6,
};

// The fields that shim and link frames have in common.
struct LinkWord {
  LinkKind kind{};   // as received: any of four bits
  uint16_t tag = 0;  // 12 bits
  uint16_t sequence = 0;
  uint16_t acknowledged = 0;
};

inline bool HasLinkType(const uint8_t* frame, uint32_t bytes, uint16_t ether_type) {
  return bytes >= kLinkTypeAt + 2 && LoadBe16(frame + kLinkTypeAt) == ether_type;
}
// The frame has kLinkBodyAt bytes.
inline LinkWord LoadLinkWord(const uint8_t* frame) {
  const uint16_t word = LoadBe16(frame + 14);
  return {.kind = static_cast<LinkKind>(word >> 12),
          .tag = static_cast<uint16_t>(word & 0xfff),
          .sequence = LoadBe16(frame + 16),
          .acknowledged = LoadBe16(frame + 18)};
}
// Stores EtherType and word at their places.
inline void StoreLinkWord(uint8_t* frame, uint16_t ether_type, const LinkWord& word) {
  StoreBe16(frame + kLinkTypeAt, ether_type);
  StoreBe16(frame + 14,
            static_cast<uint16_t>(static_cast<uint16_t>(word.kind) << 12 | (word.tag & 0xfff)));
  StoreBe16(frame + 16, word.sequence);
  StoreBe16(frame + 18, word.acknowledged);
}

// Moves the first 12 bytes to make room for the shim, or over it. Return where the frame begins.
inline uint8_t* InsertShim(uint8_t* frame) {
  std::memmove(frame - kLinkShimBytes, frame, kLinkTypeAt);
  return frame - kLinkShimBytes;
}
inline uint8_t* RemoveShim(uint8_t* frame) {
  std::memmove(frame + kLinkShimBytes, frame, kLinkTypeAt);
  return frame + kLinkShimBytes;
}

// Starts a link frame: writes addresses, word, and zeros up to kMinLinkFrameBytes.
void BeginLinkFrame(uint16_t ether_type, const std::array<uint8_t, 6>& source, const LinkWord& word,
                    uint8_t* frame);
// Whether the destination is the one of link frames.
bool IsToNeighbour(const uint8_t* frame);

// The retry and the flow control that an end of a link offers.
struct LinkOffer {
  bool llr = false;
  bool cbfc = false;
  uint16_t window_frames = 0;
  uint32_t window_octets = 0;
  uint16_t credit_octets = 0;
  int16_t credit_overhead = 0;
  std::array<uint32_t, kLinkVcs> credits{};
  friend bool operator==(const LinkOffer&, const LinkOffer&) = default;
};

struct LinkHelloBody {
  static constexpr uint32_t kBytes = 180;  // of the frame
  uint64_t nonce = 0;
  uint64_t echo = 0;
  bool hears = false;  // the sender accepts frames of the session
  LinkOffer offer;
  friend bool operator==(const LinkHelloBody&, const LinkHelloBody&) = default;
};
static_assert(LinkHelloBody::kBytes <= kMaxLinkFrameBytes);

// Writes LinkHelloBody::kBytes bytes.
void EncodeLinkHello(uint16_t ether_type, const std::array<uint8_t, 6>& source,
                     const LinkHelloBody& hello, uint8_t* frame);
// Decodes a frame whose kind is kHello. Empty: it is malformed.
std::optional<LinkHelloBody> DecodeLinkHello(const uint8_t* frame, uint32_t bytes);

}  // namespace suede

#endif  // SUEDE_WIRE_LINK_FRAME_H_
