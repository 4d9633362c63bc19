// SPDX-License-Identifier: Apache-2.0
// The text of the fields of a frame's headers, of which lib/wire has the names and positions.
#ifndef SUEDE_SUEDECTL_FRAME_FIELDS_H_
#define SUEDE_SUEDECTL_FRAME_FIELDS_H_

#include <cstdint>
#include <optional>
#include <string>

#include "wire/encap/field_values.h"

namespace suede::ctl {

using Field = FieldKey;

// MAC addresses as the 48 bits of a value.
MacAddress MacOfWord(uint64_t word);

// The text of the kinds that are text.
std::string FormatValue(FieldKind kind, Encap encap, const NetAddress& value);
std::optional<NetAddress> ParseValue(FieldKind kind, Encap encap, const std::string& text);

// The values that a field may have, for people.
std::string RangeOf(const FieldRow& row);

}  // namespace suede::ctl

#endif  // SUEDE_SUEDECTL_FRAME_FIELDS_H_
