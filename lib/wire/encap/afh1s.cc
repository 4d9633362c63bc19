// SPDX-License-Identifier: Apache-2.0
// AFH Gen 1 with its shim (wire profile §5, afh1s).
#include "base/big_endian.h"
#include "wire/encap.h"
#include "wire/encap/afh1.h"
#include "wire/rh.h"

namespace suede {
namespace {

constexpr uint32_t kShimBytes = 8;
constexpr uint8_t kNextHeaderSue = 1;
static_assert(Afh1s::kHeaderBytes == kEthernetBytes + kShimBytes);

// Bytes that Write copies.
constexpr uint32_t kCopiedBytes = 32;
static_assert(kCopiedBytes >= Afh1s::kHeaderBytes + kTagBytes);

// Returns the error of a frame that Parse has not accepted.
[[gnu::cold, gnu::noinline]] FrameError Refuse(const FrameRules& rules, const uint8_t* frame,
                                               uint32_t bytes) {
  const FrameError error = afh1::Refuse<Encap::kAfh1s>(rules, frame, bytes);
  const uint32_t l2 = EthernetBytes(frame, bytes);
  if (error == FrameError::kNotSue || l2 == 0 || bytes < l2 + kShimBytes) return error;
  const uint8_t* shim = frame + l2;
  if (shim[0] >> 4 != 0) return FrameError::kShimVersion;
  if (shim[3] != kNextHeaderSue) return FrameError::kNextHeader;
  if (shim[2] == 0) return FrameError::kHopLimit;
  return FrameError::kTruncated;
}

// ---- Declaration of the fields.

constexpr HeaderField kFields[] = {
    afh1::EtherTypeField(),
    afh1::PrefixIsOurs(0),
    afh1::PrefixIsOurs(48),
    afh1::Prefix(0),
    afh1::Prefix(48),
    afh1::DestinationAddress(),
    afh1::SourceAddress(),
    Ruled(FieldBase::kType, 0, 16, FieldKey::kEtherType),
    Needed(FieldBase::kInner, kShimBytes),
    ValueField("reserved", FieldBase::kInner, 4, 4, FieldKey::kShimReserved, "0",
               "ignored, as the RH's reserved bits are"),
    ValueField("DSCP", FieldBase::kInner, 8, 6, FieldKey::kDscp, "of the class", "handed on"),
    ValueField("ECN", FieldBase::kInner, 14, 2, FieldKey::kEcn, "of the class", "handed on"),
    ValueField("hop limit", FieldBase::kInner, 16, 8, FieldKey::kHopLimit, "`hop_limit`", "not 0",
               kDefaultHopLimit),
    ValueField("entropy", FieldBase::kInner, 32, 16, FieldKey::kSession, "session", "handed on"),
    WrittenField("length", FieldBase::kInner, 48, 16, "bytes of the PDU, RH to R-CRC",
                 "at least 12, and inside the frame; what follows is ignored"),
    ConstField("version", FieldBase::kInner, 0, 4, 0, "0", "0"),
    ConstField("next header", FieldBase::kInner, 24, 8, kNextHeaderSue, "1, SUE", "1"),
};

}  // namespace

std::span<const HeaderField> FieldsOfAfh1s() { return kFields; }

HeaderTemplate Afh1s::MakeTemplate(const HeaderSpec& spec) {
  HeaderTemplate header{.encap = Encap::kAfh1s};
  uint8_t* shim = afh1::Start(header, spec, kShimBytes);
  shim[1] = spec.traffic_class.ds_byte();
  shim[2] = spec.hop_limit;
  shim[3] = kNextHeaderSue;
  SetSession(header, spec.session);
  return header;
}

void Afh1s::SetSession(HeaderTemplate& header, uint16_t session) {
  header.session = session;
  uint8_t* shim = header.bytes + HeaderTemplate::kMaxBytes - kShimBytes;
  StoreBe16(shim + 4, session);
}

uint8_t* Afh1s::Write(const HeaderTemplate& header, uint8_t* pdu, uint32_t pdu_bytes, bool) {
  header.CopyTo<kCopiedBytes>(pdu);
  StoreBe16(pdu - 2, static_cast<uint16_t>(pdu_bytes));
  return pdu - header.length;
}

ParsedFrame Afh1s::Parse(const FrameRules& rules, uint8_t* frame, uint32_t bytes, bool) {
  constexpr uint32_t kMinParsedBytes = kHeaderBytes + kMinPduBytes;
  static_assert(kMinParsedBytes >= kHeaderBytes + kTagBytes);
  if (bytes < kMinParsedBytes) return {.error = Refuse(rules, frame, bytes)};
  const uint32_t l2 = EthernetBytes(frame);
  const uint8_t* shim = frame + l2;
  const uint32_t differs = afh1::Differs<Encap::kAfh1s>(rules, frame, l2) | uint32_t{shim[0]} >> 4 |
                           (shim[3] ^ kNextHeaderSue);
  const uint32_t pdu_bytes = LoadBe16(shim + 6);
  if (differs != 0 || shim[2] == 0 || pdu_bytes < kMinPduBytes ||
      pdu_bytes > bytes - l2 - kShimBytes) [[unlikely]] {
    return {.error = Refuse(rules, frame, bytes)};
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
