// SPDX-License-Identifier: Apache-2.0
// The fields of the network headers: each header's file declares its fields once, by position and
// meaning. Describing and making frames, the documentation's tables and the dissector's tables go
// through the declaration; the data path has functions of its own, which a test holds to it.
#ifndef SUEDE_WIRE_ENCAP_FIELDS_H_
#define SUEDE_WIRE_ENCAP_FIELDS_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "wire/encap/field_values.h"
#include "wire/encap/header.h"

namespace suede {

// The byte that a field's position counts from.
enum class FieldBase : uint8_t {
  kFrame,  // the first of the frame
  kType,   // the first of the EtherType, behind a tag where there is one
  kInner,  // the first behind the EtherType
};

enum class FieldUse : uint8_t {
  kValue,     // the value of `key`
  kConst,     // `usual`; a reader that finds another shows it as `key` and goes no further
  kRuled,     // the port's value of `key`, sent and expected; a reader that finds another reads
              // `otherwise` and goes no further
  kNeeded,    // a reader goes no further where these bits are not whole; not a field
  kComputed,  // the value of `key`, which is usually the one that `compute` gives
  kOptional,  // `key` is whether the value that `compute` gives is there, or 0
  kWritten,   // set by the data path, and derived from the rest of the frame
};

// The first bytes behind the EtherType, with all that follows them.
using ComputeField = uint64_t (*)(const uint8_t* inner);

struct HeaderField {
  std::string_view name{};  // for people; none: only the reader uses the field, no table shows it
  FieldBase base = FieldBase::kFrame;
  uint16_t at = 0;    // bits from the base to the most significant one
  uint16_t bits = 0;  // up to 64, or 128 of an address
  FieldUse use = FieldUse::kValue;
  FieldKey key = FieldKey::kNone;
  uint64_t usual = 0;  // where nothing else is configured
  uint32_t bias = 0;   // the field on the wire holds this much more than the value
  ComputeField compute = nullptr;
  std::span<const HeaderField> otherwise{};
  std::string_view sent{};  // for the tables of docs/encapsulations.md
  std::string_view received{};
};

// The fields in the order of reading: a reader that stops has read what stands before. A computed
// field depends on what stands behind it, if on any computed one.
std::span<const HeaderField> FieldsOf(Encap encap);
// The tag's fields: of tagged frames, whatever their header.
std::span<const HeaderField> TagFields();
// The RH's fields; their base is its first byte.
std::span<const HeaderField> RhFields();

// The declaration of each header's file.
#define SUEDE_ENCAP_FIELDS(id, ...) std::span<const HeaderField> FieldsOf##id();
SUEDE_ENCAPS(SUEDE_ENCAP_FIELDS)
#undef SUEDE_ENCAP_FIELDS

// Reads headers as far as the frame has them and a port with these `rules` takes them.
void ReadHeader(const FrameRules& rules, std::span<const uint8_t> frame, FieldValues& values);

// Sets the given values in a frame that WriteHeader wrote, and what is computed from them.
void PatchHeader(Encap encap, const FieldValues& values, std::span<uint8_t> frame);

void ReadRh(const uint8_t* rh, FieldValues& values);
void PatchRh(const FieldValues& values, uint8_t* rh);

// Bits of the field of this name that the header, its tag or the RH has; 0: it has none.
uint32_t FieldBits(Encap encap, FieldKey key);

// The bits of a header as a number, and the other way round. More than 64 bits are an address.
NetAddress LoadBits(const uint8_t* base, uint32_t at, uint32_t bits);
void StoreBits(uint8_t* base, uint32_t at, uint32_t bits, const NetAddress& value);

// ---- For the declarations.

constexpr HeaderField ConstField(std::string_view name, FieldBase base, uint16_t at, uint16_t bits,
                                 uint64_t usual, std::string_view sent, std::string_view received) {
  return {.name = name,
          .base = base,
          .at = at,
          .bits = bits,
          .use = FieldUse::kConst,
          .usual = usual,
          .sent = sent,
          .received = received};
}
constexpr HeaderField ValueField(std::string_view name, FieldBase base, uint16_t at, uint16_t bits,
                                 FieldKey key, std::string_view sent, std::string_view received,
                                 uint64_t usual = 0, uint32_t bias = 0) {
  return {.name = name,
          .base = base,
          .at = at,
          .bits = bits,
          .use = FieldUse::kValue,
          .key = key,
          .usual = usual,
          .bias = bias,
          .sent = sent,
          .received = received};
}
constexpr HeaderField WrittenField(std::string_view name, FieldBase base, uint16_t at,
                                   uint16_t bits, std::string_view sent,
                                   std::string_view received) {
  return {.name = name,
          .base = base,
          .at = at,
          .bits = bits,
          .use = FieldUse::kWritten,
          .sent = sent,
          .received = received};
}
constexpr HeaderField Needed(FieldBase base, uint16_t bytes) {
  return {.base = base, .bits = static_cast<uint16_t>(bytes * 8), .use = FieldUse::kNeeded};
}
// Requires the port's value of `key` there, without a row in a table.
constexpr HeaderField Ruled(FieldBase base, uint16_t at, uint16_t bits, FieldKey key,
                            std::span<const HeaderField> otherwise = {}) {
  return {.base = base,
          .at = at,
          .bits = bits,
          .use = FieldUse::kRuled,
          .key = key,
          .otherwise = otherwise};
}

}  // namespace suede

#endif  // SUEDE_WIRE_ENCAP_FIELDS_H_
