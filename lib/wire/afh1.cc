// SPDX-License-Identifier: Apache-2.0
// AFH Gen 1, without and with its shim (SUE framework §3.4.3; wire profile §5, afh1 and afh1s):
// Ethernet II whose addresses are a prefix of 32 bits and a forwarding address of 16.
#include "base/big_endian.h"
#include "wire/encap.h"
#include "wire/ethernet.h"
#include "wire/rh.h"

namespace suede {
namespace {

constexpr uint32_t kShimBytes = 8;
constexpr uint8_t kNextHeaderSue = 1;
constexpr uint8_t kHopLimit = 64;
static_assert(Afh1::kHeaderBytes == kEthernetBytes);
static_assert(Afh1s::kHeaderBytes == kEthernetBytes + kShimBytes);

// What Write copies, of either.
constexpr uint32_t kCopiedBytes = 32;
static_assert(kCopiedBytes >= Afh1s::kHeaderBytes + kTagBytes);

MacAddress MacOf(uint32_t prefix, const NetAddress& address) {
  MacAddress mac;
  StoreBe32(mac.data(), prefix);
  StoreBe16(mac.data() + 4, static_cast<uint16_t>(address.low));
  return mac;
}

uint8_t* StartAfh1(HeaderTemplate& header, const HeaderSpec& spec, uint32_t inner_bytes) {
  return StartTemplate(header, spec, MacOf(spec.mac_prefix, spec.destination),
                       MacOf(spec.mac_prefix, spec.source),
                       EtherTypeOf(header.encap, spec.ether_type), inner_bytes);
}

// Has a bit set where an Ethernet header of `l2` bytes is not one of ours.
uint32_t Differs(const FrameRules& rules, const uint8_t* frame, uint32_t l2) {
  return (LoadBe16(frame + l2 - 2) ^ uint32_t{EtherTypeOf(rules.encap, rules.ether_type)}) |
         (LoadBe32(frame) ^ rules.mac_prefix) | (LoadBe32(frame + 6) ^ rules.mac_prefix);
}

// Name what is wrong with a frame that is not plainly one of ours.
[[gnu::cold, gnu::noinline]] FrameError Refuse(const FrameRules& rules, const uint8_t* frame,
                                               uint32_t bytes) {
  const uint32_t l2 = EthernetBytes(frame, bytes);
  if (l2 == 0) return FrameError::kTruncated;
  return Differs(rules, frame, l2) != 0 ? FrameError::kNotSue : FrameError::kTruncated;
}

[[gnu::cold, gnu::noinline]] FrameError RefuseShim(const FrameRules& rules, const uint8_t* frame,
                                                   uint32_t bytes) {
  const FrameError error = Refuse(rules, frame, bytes);
  const uint32_t l2 = EthernetBytes(frame, bytes);
  if (error == FrameError::kNotSue || l2 == 0 || bytes < l2 + kShimBytes) return error;
  const uint8_t* shim = frame + l2;
  if (shim[0] >> 4 != 0) return FrameError::kShimVersion;
  if (shim[3] != kNextHeaderSue) return FrameError::kNextHeader;
  if (shim[2] == 0) return FrameError::kHopLimit;
  return FrameError::kTruncated;
}

}  // namespace

HeaderTemplate Afh1::MakeTemplate(const HeaderSpec& spec) {
  HeaderTemplate header{.encap = Encap::kAfh1};
  StartAfh1(header, spec, 0);
  return header;
}

uint8_t* Afh1::Write(const HeaderTemplate& header, uint8_t* pdu) {
  header.CopyTo<kCopiedBytes>(pdu);
  return pdu - header.length;
}

ParsedFrame Afh1::Parse(const FrameRules& rules, const uint8_t* frame, uint32_t bytes) {
  constexpr uint32_t kLeastFrameBytes = kHeaderBytes + kLeastPduBytes;
  static_assert(kLeastFrameBytes >= kHeaderBytes + kTagBytes);
  if (bytes < kLeastFrameBytes) return {.error = Refuse(rules, frame, bytes)};
  const uint32_t l2 = EthernetBytes(frame);
  if (Differs(rules, frame, l2) != 0 || bytes - l2 < kLeastPduBytes) [[unlikely]] {
    return {.error = Refuse(rules, frame, bytes)};
  }
  return {.source = {.low = LoadBe16(frame + 10)},
          .destination = {.low = LoadBe16(frame + 4)},
          .pdu = frame + l2,
          .pdu_bytes = bytes - l2};
}

HeaderTemplate Afh1s::MakeTemplate(const HeaderSpec& spec) {
  HeaderTemplate header{.encap = Encap::kAfh1s};
  uint8_t* shim = StartAfh1(header, spec, kShimBytes);
  shim[1] = spec.traffic_class.ds_byte();
  shim[2] = kHopLimit;
  shim[3] = kNextHeaderSue;
  StoreBe16(shim + 4, spec.session);
  return header;
}

uint8_t* Afh1s::Write(const HeaderTemplate& header, uint8_t* pdu, uint32_t pdu_bytes) {
  header.CopyTo<kCopiedBytes>(pdu);
  StoreBe16(pdu - 2, static_cast<uint16_t>(pdu_bytes));
  return pdu - header.length;
}

ParsedFrame Afh1s::Parse(const FrameRules& rules, const uint8_t* frame, uint32_t bytes) {
  constexpr uint32_t kLeastFrameBytes = kHeaderBytes + kLeastPduBytes;
  static_assert(kLeastFrameBytes >= kHeaderBytes + kTagBytes);
  if (bytes < kLeastFrameBytes) return {.error = RefuseShim(rules, frame, bytes)};
  const uint32_t l2 = EthernetBytes(frame);
  const uint8_t* shim = frame + l2;
  const uint32_t differs =
      Differs(rules, frame, l2) | uint32_t{shim[0]} >> 4 | (shim[3] ^ kNextHeaderSue);
  const uint32_t pdu_bytes = LoadBe16(shim + 6);
  if (differs != 0 || shim[2] == 0 || pdu_bytes < kLeastPduBytes ||
      pdu_bytes > bytes - l2 - kShimBytes) [[unlikely]] {
    return {.error = RefuseShim(rules, frame, bytes)};
  }
  return {.dscp = static_cast<uint8_t>(shim[1] >> 2),
          .ecn = static_cast<uint8_t>(shim[1] & 3),
          .session = LoadBe16(shim + 4),
          .source = {.low = LoadBe16(frame + 10)},
          .destination = {.low = LoadBe16(frame + 4)},
          .pdu = shim + kShimBytes,
          .pdu_bytes = pdu_bytes};
}

}  // namespace suede
