// SPDX-License-Identifier: Apache-2.0
// Fields of the network headers: each header's file declares its fields once, by position and
// meaning. Descriptions of frames, frame making, the documentation's tables and the dissector's
// tables derive from the declaration; the data path has its own functions, which a test compares
// with it.
#ifndef SUEDE_WIRE_ENCAP_FIELDS_H_
#define SUEDE_WIRE_ENCAP_FIELDS_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "wire/encap/field_values.h"
#include "wire/encap/header.h"

namespace suede {

// Byte from which a field's position counts.
enum class FieldBase : uint8_t {
  kFrame,  // the first of the frame
  kType,   // the first of the EtherType, behind a tag if there is one
  kInner,  // the first behind the EtherType
};

enum class FieldUse : uint8_t {
  kValue,     // the value of `key`
  kConst,     // always `usual`; a reader that finds another value shows it as `key` and stops
  kRuled,     // the port's value of `key`, sent and required; a reader that finds another value
              // reads `otherwise` and stops
  kNeeded,    // a reader stops if these bits are incomplete; not a field
  kComputed,  // the value of `key`, usually the result of `compute`
  kOptional,  // `key`: whether the field holds the result of `compute`, or 0
  kWritten,   // set by the data path, and derived from the rest of the frame
};

// Computes a field. `inner`: the bytes behind the EtherType, up to the end of the frame.
using ComputeField = uint64_t (*)(const uint8_t* inner);

struct HeaderField {
  std::string_view name{};  // for people; empty: only for the reader, in no table
  FieldBase base = FieldBase::kFrame;
  uint16_t at = 0;    // bits from the base to the most significant one
  uint16_t bits = 0;  // up to 64, or 128 of an address
  FieldUse use = FieldUse::kValue;
  FieldKey key = FieldKey::kNone;
  uint64_t usual = 0;  // the value unless configured otherwise
  uint32_t bias = 0;   // value on the wire minus the value of `key`
  ComputeField compute = nullptr;
  std::span<const HeaderField> otherwise{};
  std::string_view sent{};  // for the tables of docs/encapsulations.md
  std::string_view received{};
};

// Returns the fields in parsing order: a reader that stops has read all fields before. A computed
// field may depend only on computed fields behind it.
std::span<const HeaderField> FieldsOf(Encap encap);
// Returns the fields of the tag, which do not depend on the header.
std::span<const HeaderField> TagFields();
// Returns the RH's fields; their base is its first byte.
std::span<const HeaderField> RhFields();

// Declaration in each header's file.
#define SUEDE_ENCAP_FIELDS(id, ...) std::span<const HeaderField> FieldsOf##id();
SUEDE_ENCAPS(SUEDE_ENCAP_FIELDS)
#undef SUEDE_ENCAP_FIELDS

// Reads the headers as far as the frame holds them and they match the `rules` of a port.
void ReadHeader(const FrameRules& rules, std::span<const uint8_t> frame, FieldValues& values);

// Sets the given values, and the fields computed from them, in a frame that WriteHeader wrote.
void PatchHeader(Encap encap, const FieldValues& values, std::span<uint8_t> frame);

void ReadRh(const uint8_t* rh, FieldValues& values);
void PatchRh(const FieldValues& values, uint8_t* rh);

// Returns the bits of this field in the header, its tag or the RH; 0: no such field.
uint32_t FieldBits(Encap encap, FieldKey key);

// Loads and stores bits of a header as a number, most significant first. More than 64 bits are an
// address.
NetAddress LoadBits(const uint8_t* base, uint32_t at, uint32_t bits);
void StoreBits(uint8_t* base, uint32_t at, uint32_t bits, const NetAddress& value);

// ---- Constructors for the declarations.

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
// Requires the port's value of `key`, without a row in a table.
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
