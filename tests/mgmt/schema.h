// SPDX-License-Identifier: Apache-2.0
// Holds a document against a JSON Schema of the keywords that ours have.
#ifndef SUEDE_TESTS_MGMT_SCHEMA_H_
#define SUEDE_TESTS_MGMT_SCHEMA_H_

#include <algorithm>
#include <string>

#include "mgmt/json.h"

namespace suede {

inline bool HasType(const Json& value, const std::string& type) {
  if (type == "null") return value.is_null();
  if (type == "boolean") return value.is_boolean();
  if (type == "integer") return value.is_number_integer();
  if (type == "number") return value.is_number();
  if (type == "string") return value.is_string();
  if (type == "array") return value.is_array();
  return type == "object" && value.is_object();
}

inline bool IsIn(const Json& list, const Json& value) {
  return std::find(list.begin(), list.end(), value) != list.end();
}

// The first error of a document; empty: none.
inline std::string Violation(const Json& schema, const Json& value, const std::string& at = "$");

inline std::string ViolationOfObject(const Json& schema, const Json& value, const std::string& at) {
  for (const Json& name : schema.value("required", Json::array())) {
    if (!value.contains(name.get<std::string>())) return at + " lacks " + name.get<std::string>();
  }
  const Json properties = schema.value("properties", Json::object());
  const Json others = schema.value("additionalProperties", Json(true));
  for (const auto& member : value.items()) {
    const std::string inner = at + "." + member.key();
    const auto declared = properties.find(member.key());
    if (declared == properties.end() && others == false) return inner + " is not declared";
    const Json& rule = declared != properties.end() ? *declared : others;
    if (!rule.is_object()) continue;
    if (std::string wrong = Violation(rule, member.value(), inner); !wrong.empty()) return wrong;
  }
  return {};
}

inline std::string Violation(const Json& schema, const Json& value, const std::string& at) {
  for (const auto& keyword : schema.items()) {
    const Json known = {"type",  "description", "enum",     "minimum",
                        "items", "properties",  "required", "additionalProperties"};
    if (!IsIn(known, keyword.key())) return at + ": who knows what " + keyword.key() + " means";
  }
  const Json type = schema.value("type", Json::array());
  const Json types = type.is_array() ? type : Json::array({type});
  const auto fits = [&](const Json& one) { return HasType(value, one.get<std::string>()); };
  if (!types.empty() && std::none_of(types.begin(), types.end(), fits)) {
    return at + " is no " + Dump(type) + ": " + Dump(value);
  }
  if (schema.contains("enum") && !IsIn(schema["enum"], value)) {
    return at + " is none of the choices: " + Dump(value);
  }
  // As doubles: the library compares values above INT64_MAX as if they were negative.
  if (schema.contains("minimum") && value.is_number() &&
      value.get<double>() < schema["minimum"].get<double>()) {
    return at + " is too small: " + Dump(value);
  }
  if (value.is_object()) return ViolationOfObject(schema, value, at);
  if (!value.is_array() || !schema.contains("items")) return {};
  for (size_t i = 0; i < value.size(); ++i) {
    std::string wrong = Violation(schema["items"], value[i], at + "[" + std::to_string(i) + "]");
    if (!wrong.empty()) return wrong;
  }
  return {};
}

}  // namespace suede

#endif  // SUEDE_TESTS_MGMT_SCHEMA_H_
