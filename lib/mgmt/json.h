// SPDX-License-Identifier: Apache-2.0
// JSON for the management socket. Nothing here throws: TryParse parses text, Dump serializes, and
// values are read only after a check of their type.
#ifndef SUEDE_MGMT_JSON_H_
#define SUEDE_MGMT_JSON_H_

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

namespace suede {

// For results: members keep the order of insertion.
using Json = nlohmann::ordered_json;
// For input: members are looked up in logarithmic time, so that their number does not matter.
using ForeignJson = nlohmann::json;

template <class AnyJson>
std::optional<AnyJson> TryParse(std::string_view text) {
  AnyJson value = AnyJson::parse(text, nullptr, /*allow_exceptions=*/false);
  if (value.is_discarded()) return std::nullopt;
  return value;
}

// Serializes on one line; invalid UTF-8 becomes U+FFFD.
template <class AnyJson>
std::string Dump(const AnyJson& value) {
  return value.dump(-1, ' ', false, AnyJson::error_handler_t::replace);
}

}  // namespace suede

#endif  // SUEDE_MGMT_JSON_H_
