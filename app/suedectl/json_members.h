// SPDX-License-Identifier: Apache-2.0
// Reads members of daemons' results, which are untrusted input: a member that is missing, or has
// another type, counts as absent.
#ifndef SUEDE_APP_SUEDECTL_JSON_MEMBERS_H_
#define SUEDE_APP_SUEDECTL_JSON_MEMBERS_H_

#include <cstdint>
#include <optional>
#include <string>

#include "mgmt/json.h"

namespace suede::ctl {

// Returns nullptr if there is no such member.
inline const Json* MemberOf(const Json& object, const char* name) {
  if (!object.is_object()) return nullptr;
  const auto member = object.find(name);
  return member == object.end() ? nullptr : &*member;
}

// Returns a whole number that is not negative.
inline std::optional<uint64_t> NumberOf(const Json& object, const char* name) {
  const Json* const member = MemberOf(object, name);
  if (member == nullptr || !member->is_number_integer()) return std::nullopt;
  if (member->is_number_unsigned()) return member->get<uint64_t>();
  const auto number = member->get<int64_t>();
  return number < 0 ? std::nullopt : std::optional<uint64_t>(number);
}

inline uint64_t NumberOr0(const Json& object, const char* name) {
  return NumberOf(object, name).value_or(0);
}
inline uint32_t SmallOr0(const Json& object, const char* name) {
  return static_cast<uint32_t>(NumberOr0(object, name));
}

// Returns any number.
inline std::optional<double> RealOf(const Json& object, const char* name) {
  const Json* const member = MemberOf(object, name);
  return member != nullptr && member->is_number() ? std::optional(member->get<double>())
                                                  : std::nullopt;
}

inline bool IsTrue(const Json& object, const char* name) {
  const Json* const member = MemberOf(object, name);
  return member != nullptr && member->is_boolean() && member->get<bool>();
}

inline std::string StringOf(const Json& object, const char* name) {
  const Json* const member = MemberOf(object, name);
  return member != nullptr && member->is_string() ? member->get<std::string>() : "";
}

// Returns a list; an empty one if there is none.
inline const Json& ListOf(const Json& object, const char* name) {
  static const Json kEmpty = Json::array();
  const Json* const member = MemberOf(object, name);
  return member != nullptr && member->is_array() ? *member : kEmpty;
}

}  // namespace suede::ctl

#endif  // SUEDE_APP_SUEDECTL_JSON_MEMBERS_H_
