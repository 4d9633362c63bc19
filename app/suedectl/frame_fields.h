// SPDX-License-Identifier: Apache-2.0
// Text form of header fields. lib/wire defines their names and positions.
#ifndef SUEDE_SUEDECTL_FRAME_FIELDS_H_
#define SUEDE_SUEDECTL_FRAME_FIELDS_H_

#include <cstdint>
#include <optional>
#include <string>

#include "wire/encap/field_values.h"

namespace suede::ctl {

using Field = FieldKey;

// Converts the low 48 bits of a value to a MAC address.
MacAddress MacOfWord(uint64_t word);

// Conversion of address fields to and from text.
std::string FormatValue(FieldKind kind, Encap encap, const NetAddress& value);
std::optional<NetAddress> ParseValue(FieldKind kind, Encap encap, const std::string& text);

// Returns the range of a field's values as text.
std::string RangeOf(const FieldRow& row);

}  // namespace suede::ctl

#endif  // SUEDE_SUEDECTL_FRAME_FIELDS_H_
