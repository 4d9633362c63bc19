// SPDX-License-Identifier: Apache-2.0
#include "wire/link_frame.h"

namespace suede {
namespace {

constexpr uint8_t kVersion = 1;
constexpr uint8_t kLlrBit = 1u << 0;
constexpr uint8_t kCbfcBit = 1u << 1;
constexpr uint8_t kHearsBit = 1u << 7;
constexpr uint32_t kVersionAt = 20;
constexpr uint32_t kFlagsAt = 21;
constexpr uint32_t kNonceAt = 24;
constexpr uint32_t kEchoAt = 32;
constexpr uint32_t kWindowFramesAt = 40;
constexpr uint32_t kWindowOctetsAt = 44;
constexpr uint32_t kCreditOctetsAt = 48;
constexpr uint32_t kOverheadAt = 50;
constexpr uint32_t kCreditsAt = 52;
constexpr uint32_t kPlaceAt = 180;
static_assert(kCreditsAt + 4 * kLinkVcs == LinkHelloBody::kBytes);
static_assert(kPlaceAt == LinkHelloBody::kBytes);
// Offsets from kPlaceAt.
constexpr uint32_t kMeshAt = 0;
constexpr uint32_t kDeviceAt = 2;
constexpr uint32_t kPortAt = 4;
constexpr uint32_t kPlaneAt = 5;
constexpr uint32_t kSpecificationAt = 6;
static_assert(kPlaceAt + kSpecificationAt + 6 == LinkHelloBody::kPlacedBytes);
constexpr uint8_t kPlaceBit = 1u << 7;  // of the plane's octet
constexpr uint8_t kPlaneMask = 0xf;

void EncodePlace(const LinkPlace& place, uint8_t* at) {
  StoreBe16(at + kMeshAt, place.mesh);
  StoreBe16(at + kDeviceAt, place.device);
  at[kPortAt] = place.port;
  at[kPlaneAt] = static_cast<uint8_t>(kPlaceBit | (place.plane & kPlaneMask));
  StoreBe16(at + kSpecificationAt, static_cast<uint16_t>(place.specification >> 32));
  StoreBe32(at + kSpecificationAt + 2, static_cast<uint32_t>(place.specification));
}

std::optional<LinkPlace> DecodePlace(const uint8_t* at) {
  if ((at[kPlaneAt] & kPlaceBit) == 0) return std::nullopt;
  return LinkPlace{.mesh = LoadBe16(at + kMeshAt),
                   .device = LoadBe16(at + kDeviceAt),
                   .port = at[kPortAt],
                   .plane = static_cast<uint8_t>(at[kPlaneAt] & kPlaneMask),
                   .specification = uint64_t{LoadBe16(at + kSpecificationAt)} << 32 |
                                    LoadBe32(at + kSpecificationAt + 2)};
}

}  // namespace

void BeginLinkFrame(uint16_t ether_type, const std::array<uint8_t, 6>& source, const LinkWord& word,
                    uint8_t* frame) {
  std::memset(frame, 0, kMinLinkFrameBytes);
  std::memcpy(frame, kLinkGroup.data(), kLinkGroup.size());
  std::memcpy(frame + kLinkGroup.size(), source.data(), source.size());
  StoreLinkWord(frame, ether_type, word);
}

bool IsToNeighbour(const uint8_t* frame) {
  return std::memcmp(frame, kLinkGroup.data(), kLinkGroup.size()) == 0;
}

uint32_t EncodeLinkHello(uint16_t ether_type, const std::array<uint8_t, 6>& source,
                         const LinkHelloBody& hello, uint8_t* frame) {
  BeginLinkFrame(ether_type, source, {.kind = LinkKind::kHello}, frame);
  const LinkOffer& offer = hello.offer;
  frame[kVersionAt] = kVersion;
  frame[kFlagsAt] = static_cast<uint8_t>((offer.llr ? kLlrBit : 0) | (offer.cbfc ? kCbfcBit : 0) |
                                         (hello.hears ? kHearsBit : 0));
  StoreBe64(frame + kNonceAt, hello.nonce);
  StoreBe64(frame + kEchoAt, hello.echo);
  StoreBe16(frame + kWindowFramesAt, offer.window_frames);
  StoreBe32(frame + kWindowOctetsAt, offer.window_octets);
  StoreBe16(frame + kCreditOctetsAt, offer.credit_octets);
  StoreBe16(frame + kOverheadAt, static_cast<uint16_t>(offer.credit_overhead));
  for (uint32_t vc = 0; vc < kLinkVcs; ++vc) {
    StoreBe32(frame + kCreditsAt + 4 * vc, offer.credits[vc]);
  }
  if (!hello.place) return LinkHelloBody::kBytes;
  EncodePlace(*hello.place, frame + kPlaceAt);
  return LinkHelloBody::kPlacedBytes;
}

std::optional<LinkHelloBody> DecodeLinkHello(const uint8_t* frame, uint32_t bytes) {
  const bool has_place = bytes >= LinkHelloBody::kPlacedBytes;
  if (!has_place && bytes != LinkHelloBody::kBytes) return std::nullopt;
  if (frame[kVersionAt] != kVersion) return std::nullopt;
  LinkHelloBody hello{.nonce = LoadBe64(frame + kNonceAt), .echo = LoadBe64(frame + kEchoAt)};
  if (hello.nonce == 0) return std::nullopt;
  hello.hears = (frame[kFlagsAt] & kHearsBit) != 0;
  hello.offer.llr = (frame[kFlagsAt] & kLlrBit) != 0;
  hello.offer.cbfc = (frame[kFlagsAt] & kCbfcBit) != 0;
  hello.offer.window_frames = LoadBe16(frame + kWindowFramesAt);
  hello.offer.window_octets = LoadBe32(frame + kWindowOctetsAt);
  hello.offer.credit_octets = LoadBe16(frame + kCreditOctetsAt);
  hello.offer.credit_overhead = static_cast<int16_t>(LoadBe16(frame + kOverheadAt));
  for (uint32_t vc = 0; vc < kLinkVcs; ++vc) {
    hello.offer.credits[vc] = LoadBe32(frame + kCreditsAt + 4 * vc);
  }
  if (has_place) hello.place = DecodePlace(frame + kPlaceAt);
  return hello;
}

}  // namespace suede
