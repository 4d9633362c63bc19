// SPDX-License-Identifier: Apache-2.0
// AFH Gen 2, normal (wire profile §5, afh2).
#include "wire/encap/afh2.h"

#include "base/big_endian.h"
#include "wire/encap.h"
#include "wire/rh.h"

namespace suede {
namespace {

static_assert(Afh2::kHeaderBytes == kEthernetBytes);

// Returns the error of a frame that Parse has not accepted.
[[gnu::cold, gnu::noinline]] FrameError Refuse(const FrameRules& rules, const uint8_t* frame,
                                               uint32_t bytes) {
  const FrameError error =
      afh2::RefuseStart(frame, bytes, EtherTypeOf(Encap::kAfh2, rules.ether_type), afh2::kNormal);
  if (error != FrameError::kNone) return error;
  return frame[1] == 0 ? FrameError::kHopLimit : FrameError::kTruncated;
}

// ---- Declaration of the fields.

constexpr HeaderField kFields[] = {
    afh2::EtherTypeField(),
    afh2::EtherTypeIsOurs(),
    afh2::W(0),
    afh2::V(),
    afh2::Zero(),
    afh2::Z(),
    afh2::Y(),
    afh2::X(),
    afh2::M(),
    afh2::Dscp(),
    afh2::Ecn(),
    ValueField("hop count", FieldBase::kFrame, 8, 8, FieldKey::kHopLimit, "`hop_limit`", "not 0",
               kDefaultHopLimit),
    afh2::Destination(16, 32),
    ValueField("entropy", FieldBase::kFrame, 56, 8, FieldKey::kSession, "session", "handed on"),
    afh2::Source(64, 32),
};

}  // namespace

std::span<const HeaderField> FieldsOfAfh2() { return kFields; }

HeaderTemplate Afh2::MakeTemplate(const HeaderSpec& spec) {
  HeaderTemplate header{.encap = Encap::kAfh2, .length = kHeaderBytes};
  uint8_t* at = afh2::Start(header, spec);
  at[0] = afh2::kNormal;
  at[1] = spec.hop_limit;
  StoreBe32(at + 2, static_cast<uint32_t>(spec.destination.low));
  StoreBe32(at + 8, static_cast<uint32_t>(spec.source.low));
  SetSession(header, spec.session);
  return header;
}

void Afh2::SetSession(HeaderTemplate& header, uint16_t session) {
  header.session = session;
  uint8_t* at = header.bytes + HeaderTemplate::kMaxBytes - kEthernetBytes;
  at[7] = static_cast<uint8_t>(session);
}

uint8_t* Afh2::Write(const HeaderTemplate& header, uint8_t* pdu, uint32_t, bool) {
  header.CopyTo<16>(pdu);
  return pdu - kHeaderBytes;
}

ParsedFrame Afh2::Parse(const FrameRules& rules, uint8_t* frame, uint32_t bytes, bool) {
  constexpr uint32_t kMinParsedBytes = kHeaderBytes + kMinPduBytes;
  if (bytes < kMinParsedBytes || frame[0] != afh2::kNormal || frame[1] == 0 ||
      LoadBe16(frame + 12) != EtherTypeOf(Encap::kAfh2, rules.ether_type)) [[unlikely]] {
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

}  // namespace suede
