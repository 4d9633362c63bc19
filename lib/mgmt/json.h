// SPDX-License-Identifier: Apache-2.0
// JSON as the management socket uses it. Nothing here throws: text is parsed by TryParse, written
// by Dump, and values are read only after their type was looked at.
#ifndef SUEDE_MGMT_JSON_H_
#define SUEDE_MGMT_JSON_H_

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

namespace suede {

// Results: members stay in the order in which they were put in.
using Json = nlohmann::ordered_json;
// Values from outside: members are looked up in logarithmic time, however many there are.
using ForeignJson = nlohmann::json;

template <class AnyJson>
std::optional<AnyJson> TryParse(std::string_view text) {
  AnyJson value = AnyJson::parse(text, nullptr, /*allow_exceptions=*/false);
  if (value.is_discarded()) return std::nullopt;
  return value;
}

// On one line; bytes that are no UTF-8 become U+FFFD.
template <class AnyJson>
std::string Dump(const AnyJson& value) {
  return value.dump(-1, ' ', false, AnyJson::error_handler_t::replace);
}

}  // namespace suede

#endif  // SUEDE_MGMT_JSON_H_
