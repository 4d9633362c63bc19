// SPDX-License-Identifier: Apache-2.0
// ESUN's header behind Ethernet addresses of AFH Gen 1 (wire profile §5, esun).
#include "wire/encap/esun.h"

#include "base/big_endian.h"
#include "wire/encap.h"
#include "wire/encap/afh1.h"
#include "wire/rh.h"

namespace suede {
namespace {

static_assert(Esun::kHeaderBytes == kEthernetBytes + esun::kBytes);

// Bytes that Write copies.
constexpr uint32_t kCopiedBytes = 32;
static_assert(kCopiedBytes >= Esun::kHeaderBytes + kTagBytes);

// Returns the error of a frame that Parse has not accepted.
[[gnu::cold, gnu::noinline]] FrameError Refuse(const FrameRules& rules, const uint8_t* frame,
                                               uint32_t bytes) {
  const FrameError error = afh1::Refuse<Encap::kEsun>(rules, frame, bytes);
  const uint32_t l2 = EthernetBytes(frame, bytes);
  if (error == FrameError::kNotSue || l2 == 0 || bytes < l2 + esun::kBytes) return error;
  const uint8_t* const header = frame + l2;
  if (esun::RevisionOf(header) != esun::kRevision) return FrameError::kRevision;
  return esun::TtlOf(header) == 0 ? FrameError::kHopLimit : FrameError::kTruncated;
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
    Needed(FieldBase::kInner, esun::kBytes),
    ConstField("revision", FieldBase::kInner, 0, 2, esun::kRevision, "0", "0"),
    ValueField("F", FieldBase::kInner, 2, 1, FieldKey::kLabelValid, "1: the flow label is valid",
               "with 0 the session is 0", /*usual=*/1),
    ValueField("CoS", FieldBase::kInner, 3, 3, FieldKey::kCos, "DSCP of the class / 8",
               "handed on as DSCP, times 8"),
    ValueField("ECN", FieldBase::kInner, 6, 2, FieldKey::kEcn, "of the class", "handed on"),
    ValueField("flow label", FieldBase::kInner, 8, 16, FieldKey::kSession, "session", "handed on"),
    ValueField("TTL", FieldBase::kInner, 24, 4, FieldKey::kHopLimit, "`hop_limit`", "not 0",
               HopLimitIn(Encap::kEsun, kDefaultHopLimit)),
    ValueField("user-defined", FieldBase::kInner, 28, 2, FieldKey::kUserDefined, "0", "ignored"),
    ValueField("reserved", FieldBase::kInner, 30, 2, FieldKey::kEsunReserved, "0", "ignored"),
};

}  // namespace

std::span<const HeaderField> FieldsOfEsun() { return kFields; }

HeaderTemplate Esun::MakeTemplate(const HeaderSpec& spec) {
  HeaderTemplate header{.encap = Encap::kEsun};
  uint8_t* const inner = afh1::Start(header, spec, esun::kBytes);
  inner[0] = esun::kRevision << 6 | esun::kHasLabel;
  esun::SetDs(inner, spec.traffic_class.ds_byte());
  esun::SetTtl(inner, HopLimitIn(Encap::kEsun, spec.hop_limit));
  SetSession(header, spec.session);
  return header;
}

void Esun::SetSession(HeaderTemplate& header, uint16_t session) {
  header.session = session;
  StoreBe16(header.bytes + HeaderTemplate::kMaxBytes - esun::kBytes + 1, session);
}

uint8_t* Esun::Write(const HeaderTemplate& header, uint8_t* pdu, uint32_t, bool) {
  header.CopyTo<kCopiedBytes>(pdu);
  return pdu - header.length;
}

ParsedFrame Esun::Parse(const FrameRules& rules, uint8_t* frame, uint32_t bytes, bool) {
  constexpr uint32_t kMinParsedBytes = kHeaderBytes + kMinPduBytes;
  static_assert(kMinParsedBytes >= kHeaderBytes + kTagBytes);
  if (bytes < kMinParsedBytes) return {.error = Refuse(rules, frame, bytes)};
  const uint32_t l2 = EthernetBytes(frame);
  const uint8_t* const header = frame + l2;
  const uint32_t differs =
      afh1::Differs<Encap::kEsun>(rules, frame, l2) | (esun::RevisionOf(header) ^ esun::kRevision);
  const uint32_t before_pdu = l2 + esun::kBytes;
  if (differs != 0 || esun::TtlOf(header) == 0 || bytes - before_pdu < kMinPduBytes) [[unlikely]] {
    return {.error = Refuse(rules, frame, bytes)};
  }
  const uint8_t ds_byte = esun::DsOf(header);
  return {.dscp = static_cast<uint8_t>(ds_byte >> 2),
          .ecn = static_cast<uint8_t>(ds_byte & 3),
          .session = esun::LabelOf(header),
          .source = {.low = LoadBe16(frame + 10)},
          .destination = {.low = LoadBe16(frame + 4)},
          .pdu = frame + before_pdu,
          .pdu_bytes = bytes - before_pdu};
}

}  // namespace suede
