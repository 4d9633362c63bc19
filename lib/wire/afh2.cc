// SPDX-License-Identifier: Apache-2.0
// AFH Gen 2, normal and compressed (SUE framework §3.4.2; wire profile §5, afh2 and afh2c): the 12
// bytes of two MAC addresses hold other fields, as IEEE 802c's AAI permits.
#include "base/big_endian.h"
#include "wire/encap.h"
#include "wire/ethernet.h"
#include "wire/rh.h"

namespace suede {
namespace {

// First byte: W, V, two bits 0, Z, Y, X, M.
constexpr uint8_t kNormal = 0x02;      // X
constexpr uint8_t kCompressed = 0x82;  // W, X
constexpr uint8_t kMulticast = 0x01;   // M
constexpr uint8_t kHopCount = 64;
static_assert(Afh2::kHeaderBytes == kEthernetBytes);

// What a compressed header adds: it is 14 bytes long and saves those of the RH.
constexpr uint32_t kCompressedAdds = kEthernetBytes - kRhBytes;
static_assert(Afh2c::kHeaderBytes == kCompressedAdds);

// C of the wire profile §5: the RH less xpuid and reserved bits, 48 bits.
uint64_t Compress(uint64_t rh) {
  return (rh >> 60) << 44 | (rh >> 32 & 0xffff) << 28 | (rh >> 30 & 3) << 26 | (rh & 0x3ffffff);
}
uint64_t Expand(uint64_t c, uint32_t xpuid) {
  return (c >> 44) << 60 | uint64_t{xpuid} << 48 | (c >> 28 & 0xffff) << 32 | (c >> 26 & 3) << 30 |
         (c & 0x3ffffff);
}

// Names what is wrong with a frame that is not plainly one of ours.
[[gnu::cold, gnu::noinline]] FrameError Refuse(const FrameRules& rules, const uint8_t* frame,
                                               uint32_t bytes) {
  if (bytes < kEthernetBytes) return FrameError::kTruncated;
  const bool normal = rules.encap == Encap::kAfh2;
  if (LoadBe16(frame + 12) != EtherTypeOf(rules.encap, rules.ether_type) ||
      ((frame[0] ^ (normal ? kNormal : kCompressed)) & ~kMulticast) != 0) {
    return FrameError::kNotSue;
  }
  if ((frame[0] & kMulticast) != 0) return FrameError::kMulticast;
  if (normal && frame[1] == 0) return FrameError::kHopLimit;
  return FrameError::kTruncated;
}

// Both headers have class and EtherType in the same place. Returns where the header starts.
uint8_t* StartAfh2(HeaderTemplate& header, const HeaderSpec& spec) {
  uint8_t* at = header.bytes + HeaderTemplate::kMaxBytes - kEthernetBytes;
  at[6] = spec.traffic_class.ds_byte();
  StoreBe16(at + 12, EtherTypeOf(header.encap, spec.ether_type));
  header.l2_length = kEthernetBytes;
  return at;
}

}  // namespace

HeaderTemplate Afh2::MakeTemplate(const HeaderSpec& spec) {
  HeaderTemplate header{.encap = Encap::kAfh2, .length = kHeaderBytes};
  uint8_t* at = StartAfh2(header, spec);
  at[0] = kNormal;
  at[1] = kHopCount;
  StoreBe32(at + 2, static_cast<uint32_t>(spec.destination.low));
  at[7] = static_cast<uint8_t>(spec.session);
  StoreBe32(at + 8, static_cast<uint32_t>(spec.source.low));
  return header;
}

uint8_t* Afh2::Write(const HeaderTemplate& header, uint8_t* pdu) {
  header.CopyTo<16>(pdu);
  return pdu - kHeaderBytes;
}

ParsedFrame Afh2::Parse(const FrameRules& rules, const uint8_t* frame, uint32_t bytes) {
  constexpr uint32_t kLeastFrameBytes = kHeaderBytes + kLeastPduBytes;
  if (bytes < kLeastFrameBytes || frame[0] != kNormal || frame[1] == 0 ||
      LoadBe16(frame + 12) != EtherTypeOf(rules.encap, rules.ether_type)) [[unlikely]] {
    return {.error = Refuse(rules, frame, bytes)};
  }
  return {.dscp = static_cast<uint8_t>(frame[6] >> 2),
          .ecn = static_cast<uint8_t>(frame[6] & 3),
          .session = frame[7],
          .source = {.low = LoadBe32(frame + 8)},
          .destination = {.low = LoadBe32(frame + 2)},
          .pdu = frame + kHeaderBytes,
          .pdu_bytes = bytes - kHeaderBytes};
}

HeaderTemplate Afh2c::MakeTemplate(const HeaderSpec& spec) {
  HeaderTemplate header{.encap = Encap::kAfh2c, .length = kCompressedAdds};
  uint8_t* at = StartAfh2(header, spec);
  at[0] = kCompressed;
  StoreBe16(at + 4, static_cast<uint16_t>(spec.destination.low));
  StoreBe16(at + 10, static_cast<uint16_t>(spec.source.low));
  return header;
}

uint8_t* Afh2c::Write(const HeaderTemplate& header, uint8_t* pdu) {
  const uint64_t c = Compress(LoadBe64(pdu));
  const uint8_t* from = header.bytes + HeaderTemplate::kMaxBytes - kEthernetBytes;
  uint8_t* frame = pdu - kCompressedAdds;
  // Two words that share bytes 6 and 7: C[47:24] is in bytes 1 to 3, C[23:0] in 7 to 9.
  StoreBe64(frame, LoadBe64(from) | (c >> 24) << 32);
  StoreBe64(frame + 6, LoadBe64(from + 6) | (c & 0xffffff) << 32);
  return frame;
}

ParsedFrame Afh2c::Parse(const FrameRules& rules, uint8_t* frame, uint32_t bytes) {
  constexpr uint32_t kLeastFrameBytes = kEthernetBytes + kRcrcBytes;
  if (bytes < kLeastFrameBytes || frame[0] != kCompressed ||
      LoadBe16(frame + 12) != EtherTypeOf(rules.encap, rules.ether_type)) [[unlikely]] {
    return {.error = Refuse(rules, frame, bytes)};
  }
  const uint64_t first = LoadBe64(frame);
  const uint64_t last = LoadBe64(frame + 6);
  const uint64_t c = (first >> 32 & 0xffffff) << 24 | (last >> 32 & 0xffffff);
  const auto source = static_cast<uint32_t>(last >> 16 & 0xffff);
  uint8_t* pdu = frame + kCompressedAdds;
  StoreBe64(pdu, Expand(c, source & 0x3ff));
  return {.dscp = static_cast<uint8_t>(last >> 58),
          .ecn = static_cast<uint8_t>(last >> 56 & 3),
          .source = {.low = source},
          .destination = {.low = first >> 16 & 0xffff},
          .pdu = pdu,
          .pdu_bytes = bytes - kCompressedAdds};
}

void Afh2c::Restore(const FrameRules& rules, uint8_t* frame, const ParsedFrame& parsed) {
  const uint64_t c = Compress(LoadBe64(frame + kCompressedAdds));
  StoreBe64(frame + 6, uint64_t{parsed.dscp} << 58 | uint64_t{parsed.ecn} << 56 |
                           (c & 0xffffff) << 32 | (parsed.source.low & 0xffff) << 16 |
                           EtherTypeOf(rules.encap, rules.ether_type));
}

}  // namespace suede
