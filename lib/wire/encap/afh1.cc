// SPDX-License-Identifier: Apache-2.0
// AFH Gen 1 without a shim (wire profile §5, afh1).
#include "wire/encap/afh1.h"

#include "base/big_endian.h"
#include "wire/encap.h"
#include "wire/rh.h"

namespace suede {
namespace {

static_assert(Afh1::kHeaderBytes == kEthernetBytes);

// Bytes that Write copies.
constexpr uint32_t kCopiedBytes = 32;
static_assert(kCopiedBytes >= Afh1::kHeaderBytes + kTagBytes);

// ---- Declaration of the fields.

constexpr HeaderField kFields[] = {
    afh1::EtherTypeField(), afh1::PrefixIsOurs(0),      afh1::PrefixIsOurs(48), afh1::Prefix(0),
    afh1::Prefix(48),       afh1::DestinationAddress(), afh1::SourceAddress(),
};

}  // namespace

std::span<const HeaderField> FieldsOfAfh1() { return kFields; }

HeaderTemplate Afh1::MakeTemplate(const HeaderSpec& spec) {
  HeaderTemplate header{.encap = Encap::kAfh1};
  afh1::Start(header, spec, 0);
  return header;
}

uint8_t* Afh1::Write(const HeaderTemplate& header, uint8_t* pdu, uint32_t, bool) {
  header.CopyTo<kCopiedBytes>(pdu);
  return pdu - header.length;
}

ParsedFrame Afh1::Parse(const FrameRules& rules, uint8_t* frame, uint32_t bytes, bool) {
  constexpr uint32_t kMinParsedBytes = kHeaderBytes + kMinPduBytes;
  static_assert(kMinParsedBytes >= kHeaderBytes + kTagBytes);
  if (bytes < kMinParsedBytes) return {.error = afh1::Refuse<Encap::kAfh1>(rules, frame, bytes)};
  const uint32_t l2 = EthernetBytes(frame);
  if (afh1::Differs<Encap::kAfh1>(rules, frame, l2) != 0 || bytes - l2 < kMinPduBytes)
      [[unlikely]] {
    return {.error = afh1::Refuse<Encap::kAfh1>(rules, frame, bytes)};
  }
  return {.source = {.low = LoadBe16(frame + 10)},
          .destination = {.low = LoadBe16(frame + 4)},
          .pdu = frame + l2,
          .pdu_bytes = bytes - l2};
}

}  // namespace suede
