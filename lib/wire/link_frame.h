// SPDX-License-Identifier: Apache-2.0
// Frames by which two ends of a cable manage the cable itself (docs/link.md): the shim of a frame
// that link-level retry has numbered, and link frames.
#ifndef SUEDE_WIRE_LINK_FRAME_H_
#define SUEDE_WIRE_LINK_FRAME_H_

#include <array>
#include <cstdint>
#include <cstring>
#include <optional>

#include "base/big_endian.h"

namespace suede {

inline constexpr uint16_t kDefaultLinkEtherType = 0xfe50;
inline constexpr uint32_t kLinkTypeAt = 12;    // offset of the EtherType
inline constexpr uint32_t kLinkShimBytes = 8;  // EtherType, word, sequence, acknowledged
inline constexpr uint32_t kLinkBodyAt = 20;    // offset of a link frame's body; end of a shim
inline constexpr uint32_t kMinLinkFrameBytes = 60;
inline constexpr uint32_t kMaxLinkFrameBytes = 192;  // of a link frame that suede sends
inline constexpr uint32_t kLinkVcs = 32;
// Destination of link frames, a group address that no bridge forwards.
inline constexpr std::array<uint8_t, 6> kLinkGroup{0x01, 0x80, 0xc2, 0x00, 0x00, 0x0e};

enum class LinkKind : uint8_t {
  kData = 1,
  kHello = 2,
  kAck = 3,
  kNack = 4,
  kCfUpdate = 5,
  kCcUpdate = 6,
};

// Fields that the shim and link frames share.
struct LinkWord {
  LinkKind kind{};   // as received: any 4-bit value
  uint16_t tag = 0;  // 12 bits
  uint16_t sequence = 0;
  uint16_t acknowledged = 0;
};

inline bool HasLinkType(const uint8_t* frame, uint32_t bytes, uint16_t ether_type) {
  return bytes >= kLinkTypeAt + 2 && LoadBe16(frame + kLinkTypeAt) == ether_type;
}
// Loads the word. The frame must have at least kLinkBodyAt bytes.
inline LinkWord LoadLinkWord(const uint8_t* frame) {
  const uint16_t word = LoadBe16(frame + 14);
  return {.kind = static_cast<LinkKind>(word >> 12),
          .tag = static_cast<uint16_t>(word & 0xfff),
          .sequence = LoadBe16(frame + 16),
          .acknowledged = LoadBe16(frame + 18)};
}
// Stores EtherType and word at their positions.
inline void StoreLinkWord(uint8_t* frame, uint16_t ether_type, const LinkWord& word) {
  StoreBe16(frame + kLinkTypeAt, ether_type);
  StoreBe16(frame + 14,
            static_cast<uint16_t>(static_cast<uint16_t>(word.kind) << 12 | (word.tag & 0xfff)));
  StoreBe16(frame + 16, word.sequence);
  StoreBe16(frame + 18, word.acknowledged);
}

// Move the first 12 bytes to make room for the shim, or over the shim. Return the new start of the
// frame.
inline uint8_t* InsertShim(uint8_t* frame) {
  std::memmove(frame - kLinkShimBytes, frame, kLinkTypeAt);
  return frame - kLinkShimBytes;
}
inline uint8_t* RemoveShim(uint8_t* frame) {
  std::memmove(frame + kLinkShimBytes, frame, kLinkTypeAt);
  return frame + kLinkShimBytes;
}

// Starts a link frame: writes addresses, EtherType, word, and zeros up to kMinLinkFrameBytes.
void BeginLinkFrame(uint16_t ether_type, const std::array<uint8_t, 6>& source, const LinkWord& word,
                    uint8_t* frame);
// Whether the destination is kLinkGroup.
bool IsToNeighbour(const uint8_t* frame);

// Retry and flow control parameters that an end of a link offers.
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

// The end of a cable: a port of a device of a mesh (docs/mesh.md, "Discovery").
struct LinkPlace {
  uint16_t mesh = 0;
  uint16_t device = 0;
  uint8_t port = 0;
  uint8_t plane = 0;           // 4 bits
  uint64_t specification = 0;  // 48 bits of the system specification's hash; 0: none
  friend bool operator==(const LinkPlace&, const LinkPlace&) = default;
};

struct LinkHelloBody {
  static constexpr uint32_t kBytes = 180;        // of the frame
  static constexpr uint32_t kPlacedBytes = 192;  // with a place
  uint64_t nonce = 0;
  uint64_t echo = 0;
  bool hears = false;  // the sender accepts frames of the session
  LinkOffer offer;
  std::optional<LinkPlace> place;  // the sender's
  friend bool operator==(const LinkHelloBody&, const LinkHelloBody&) = default;
};
static_assert(LinkHelloBody::kPlacedBytes <= kMaxLinkFrameBytes);

// Returns the number of bytes written: kBytes, or kPlacedBytes with a place.
uint32_t EncodeLinkHello(uint16_t ether_type, const std::array<uint8_t, 6>& source,
                         const LinkHelloBody& hello, uint8_t* frame);
// Decodes a frame whose kind is kHello. Returns nullopt if it is malformed.
std::optional<LinkHelloBody> DecodeLinkHello(const uint8_t* frame, uint32_t bytes);

}  // namespace suede

#endif  // SUEDE_WIRE_LINK_FRAME_H_
