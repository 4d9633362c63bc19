// SPDX-License-Identifier: Apache-2.0
// AFH Gen 2, compressed (wire profile §5, afh2c): the header holds the RH.
#include "base/big_endian.h"
#include "wire/encap.h"
#include "wire/encap/afh2.h"
#include "wire/rh.h"

namespace suede {
namespace {

// Bytes that a compressed header adds: its 14 bytes less those of the RH that it holds.
constexpr uint32_t kCompressedAdds = kEthernetBytes - kRhBytes;
static_assert(Afh2c::kHeaderBytes == kCompressedAdds);

// C of wire profile §5: the RH without xpuid and reserved bits, 48 bits.
uint64_t Compress(uint64_t rh) {
  return (rh >> 60) << 44 | (rh >> 32 & 0xffff) << 28 | (rh >> 30 & 3) << 26 | (rh & 0x3ffffff);
}
uint64_t Expand(uint64_t c, uint32_t xpuid) {
  return (c >> 44) << 60 | uint64_t{xpuid} << 48 | (c >> 28 & 0xffff) << 32 | (c >> 26 & 3) << 30 |
         (c & 0x3ffffff);
}

// Returns the error of a frame that Parse has not accepted.
[[gnu::cold, gnu::noinline]] FrameError Refuse(const FrameRules& rules, const uint8_t* frame,
                                               uint32_t bytes) {
  const FrameError error = afh2::RefuseStart(
      frame, bytes, EtherTypeOf(Encap::kAfh2c, rules.ether_type), afh2::kCompressed);
  return error != FrameError::kNone ? error : FrameError::kTruncated;
}

// ---- Declaration of the fields.

constexpr HeaderField kFields[] = {
    afh2::EtherTypeField(),
    afh2::EtherTypeIsOurs(),
    afh2::W(1),
    afh2::V(),
    afh2::Zero(),
    afh2::Z(),
    afh2::Y(),
    afh2::X(),
    afh2::M(),
    afh2::Dscp(),
    afh2::Ecn(),
    afh2::Destination(32, 16),
    afh2::Source(80, 16),
    WrittenField("C[47:24]", FieldBase::kFrame, 8, 24, "of the RH", "of the RH"),
    WrittenField("C[23:0]", FieldBase::kFrame, 56, 24, "of the RH", "of the RH"),
};

}  // namespace

std::span<const HeaderField> FieldsOfAfh2c() { return kFields; }

HeaderTemplate Afh2c::MakeTemplate(const HeaderSpec& spec) {
  HeaderTemplate header{.encap = Encap::kAfh2c, .length = kCompressedAdds};
  uint8_t* at = afh2::Start(header, spec);
  at[0] = afh2::kCompressed;
  StoreBe16(at + 4, static_cast<uint16_t>(spec.destination.low));
  StoreBe16(at + 10, static_cast<uint16_t>(spec.source.low));
  return header;
}

uint8_t* Afh2c::Write(const HeaderTemplate& header, uint8_t* pdu, uint32_t, bool) {
  const uint64_t c = Compress(LoadBe64(pdu));
  const uint8_t* from = header.bytes + HeaderTemplate::kMaxBytes - kEthernetBytes;
  uint8_t* frame = pdu - kCompressedAdds;
  // Stores two words that share bytes 6 and 7: C[47:24] is in bytes 1 to 3, C[23:0] in 7 to 9.
  StoreBe64(frame, LoadBe64(from) | (c >> 24) << 32);
  StoreBe64(frame + 6, LoadBe64(from + 6) | (c & 0xffffff) << 32);
  return frame;
}

ParsedFrame Afh2c::Parse(const FrameRules& rules, uint8_t* frame, uint32_t bytes, bool) {
  constexpr uint32_t kMinParsedBytes = kEthernetBytes + kRcrcBytes;
  if (bytes < kMinParsedBytes || frame[0] != afh2::kCompressed ||
      LoadBe16(frame + 12) != EtherTypeOf(Encap::kAfh2c, rules.ether_type)) [[unlikely]] {
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
                           EtherTypeOf(Encap::kAfh2c, rules.ether_type));
}

}  // namespace suede
