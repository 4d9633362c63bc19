// SPDX-License-Identifier: Apache-2.0
// Rows of results: structs whose fields, members and JSON are declared together.
//
//   #define SUEDE_CAPTURE_ROW(X)
//     X(std::string, port)
//     X(uint64_t, written, .Note("frames in the file"))
//   SUEDE_ROW_STRUCT(CaptureView, SUEDE_CAPTURE_ROW);
#ifndef SUEDE_MGMT_ROW_H_
#define SUEDE_MGMT_ROW_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "mgmt/json.h"
#include "mgmt/members.h"

namespace suede {
namespace row {

template <typename T>
concept Row = requires {
  T::kMembers;
};
template <typename T>
inline constexpr bool kIsOptional = false;
template <typename T>
inline constexpr bool kIsOptional<std::optional<T>> = true;
template <typename T>
inline constexpr bool kIsVector = false;
template <typename T>
inline constexpr bool kIsVector<std::vector<T>> = true;

// Returns the member that shows a field of type T.
template <typename T>
constexpr Member MemberOf(std::string_view name) {
  if constexpr (kIsOptional<T>) {
    return MemberOf<typename T::value_type>(name);
  } else if constexpr (kIsVector<T>) {
    return MemberOf<typename T::value_type>(name).List();
  } else if constexpr (Row<T>) {
    return Member::Object(name, T::kMembers);
  } else if constexpr (std::is_same_v<T, bool>) {
    return Member::Boolean(name);
  } else if constexpr (std::is_integral_v<T>) {
    return Member::Integer(name);
  } else if constexpr (std::is_floating_point_v<T>) {
    return Member::Number(name);
  } else {
    return Member::Text(name);
  }
}

std::string_view WordOf(const Member& member, bool value);
std::string HexOf(uint64_t value);

// Returns a field's JSON. Zero and the empty text are null where the member may be null, unless the
// field is optional.
template <typename T>
Json JsonOf(const Member& member, const T& value, bool has_null) {
  if constexpr (kIsOptional<T>) {
    return value ? JsonOf(member, *value, false) : Json();
  } else if constexpr (kIsVector<T>) {
    Json list = Json::array();
    for (const auto& one : value) list.push_back(JsonOf(member, one, false));
    return list;
  } else if constexpr (Row<T>) {
    return value.ToJson();
  } else if constexpr (std::is_enum_v<T>) {
    return NameOf(value);
  } else if constexpr (std::is_same_v<T, bool>) {
    return member.type == Member::Type::kChoice ? Json(WordOf(member, value)) : Json(value);
  } else if constexpr (std::is_integral_v<T>) {
    if (has_null && value == 0) return {};
    if (member.ns_per_unit != 0) return static_cast<double>(value) / member.ns_per_unit;
    return member.type == Member::Type::kText ? Json(HexOf(value)) : Json(value);
  } else {
    if constexpr (requires { value.empty(); }) {
      if (has_null && value.empty()) return {};
    }
    return value;
  }
}

template <typename T>
void Append(std::span<const Member> members, const T& value, Json& out) {
  auto& object = out.get_ref<Json::object_t&>();
  const Member& member = members[object.size()];
  // Bypasses operator[], which would compare each name with all previous ones.
  object.push_back({std::string(member.name), JsonOf(member, value, !member.null_means.empty())});
}

}  // namespace row

// Declares the fields of a row, and `kMembers` and ToJson() with a member for each, in their order.
// ROWS(X) is X(type, field) or X(type, field, .Modifier()…) for each field, with modifiers of
// Member.
#define SUEDE_ROW(ROWS)                                          \
  ROWS(SUEDE_ROW_FIELD)                                          \
  static constexpr Member kMembers[] = {ROWS(SUEDE_ROW_MEMBER)}; \
  Json ToJson() const {                                          \
    Json out = Json::object();                                   \
    ROWS(SUEDE_ROW_JSON)                                         \
    return out;                                                  \
  }
#define SUEDE_ROW_STRUCT(Name, ROWS) \
  struct Name {                      \
    SUEDE_ROW(ROWS)                  \
  }
#define SUEDE_ROW_FIELD(type, field, ...) type field{};
#define SUEDE_ROW_MEMBER(type, field, ...) row::MemberOf<type>(#field) __VA_ARGS__,
#define SUEDE_ROW_JSON(type, field, ...) row::Append(kMembers, field, out);

}  // namespace suede

#endif  // SUEDE_MGMT_ROW_H_
