// SPDX-License-Identifier: Apache-2.0
// Members of a method's result: their declaration, and its description as JSON Schema and as text.
#ifndef SUEDE_MGMT_MEMBERS_H_
#define SUEDE_MGMT_MEMBERS_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "mgmt/json.h"

namespace suede {

inline constexpr std::string_view kUpOrDown = "up|down";

struct Member {
  enum class Type : uint8_t {
    kBoolean,
    kInteger,  // 0 or more
    kNumber,
    kText,
    kChoice,
    kObject,  // with declared members
    kMap,     // with any names, and values of one type
    kAny,
    kGroup,  // no member itself: inserts members into the surrounding object
  };
  std::string_view name;
  Type type = Type::kAny;
  std::string_view note{};        // for facts that the name does not convey
  std::string_view choices{};     // kChoice: "up|down"
  const Member* first = nullptr;  // kObject, kGroup
  size_t count = 0;               // number of members at `first`
  Type values = Type::kAny;       // kMap: type of the values
  std::string_view unit{};
  std::string_view null_means{};  // meaning of null; empty: never null
  std::string_view only{};        // condition for its presence; empty: always present
  bool is_list = false;           // a list of such values
  double ns_per_unit = 0;         // of a time; 0: none

  static constexpr Member Boolean(std::string_view name, std::string_view note = {}) {
    return {.name = name, .type = Type::kBoolean, .note = note};
  }
  static constexpr Member Integer(std::string_view name, std::string_view note = {}) {
    return {.name = name, .type = Type::kInteger, .note = note};
  }
  static constexpr Member Number(std::string_view name, std::string_view note = {}) {
    return {.name = name, .type = Type::kNumber, .note = note};
  }
  static constexpr Member Text(std::string_view name, std::string_view note = {}) {
    return {.name = name, .type = Type::kText, .note = note};
  }
  static constexpr Member Choice(std::string_view name, std::string_view choices,
                                 std::string_view note = {}) {
    return {.name = name, .type = Type::kChoice, .note = note, .choices = choices};
  }
  static constexpr Member Any(std::string_view name, std::string_view note) {
    return {.name = name, .type = Type::kAny, .note = note};
  }
  static constexpr Member Map(std::string_view name, Type values, std::string_view note) {
    return {.name = name, .type = Type::kMap, .note = note, .values = values};
  }
  template <size_t N>
  static constexpr Member Object(std::string_view name, const Member (&members)[N],
                                 std::string_view note = {}) {
    return {.name = name, .type = Type::kObject, .note = note, .first = members, .count = N};
  }
  template <size_t N>
  static constexpr Member Rows(std::string_view name, const Member (&members)[N],
                               std::string_view note = {}) {
    return Object(name, members, note).List();
  }
  // Additional members of the surrounding object; the text form replaces them by `note`.
  template <size_t N>
  static constexpr Member Group(const Member (&members)[N], std::string_view note) {
    return {.name = {}, .type = Type::kGroup, .note = note, .first = members, .count = N};
  }

  constexpr Member List() const { return With(&Member::is_list, true); }
  constexpr Member Unit(std::string_view of) const { return With(&Member::unit, of); }
  constexpr Member OrNull(std::string_view means) const { return With(&Member::null_means, means); }
  constexpr Member Only(std::string_view when) const { return With(&Member::only, when); }
  // For fields of a row (mgmt/row.h).
  constexpr Member Named(std::string_view as) const { return With(&Member::name, as); }
  constexpr Member Note(std::string_view text) const { return With(&Member::note, text); }
  // A text, an enumeration, or a boolean: true is the first word, false the second.
  constexpr Member OneOf(std::string_view words) const {
    return With(&Member::type, Type::kChoice).With(&Member::choices, words);
  }
  // Nanoseconds, shown in a longer unit with a fraction.
  constexpr Member Us() const { return Time(1e3).Unit("µs"); }
  constexpr Member Seconds() const { return Time(1e9).Unit("s"); }
  // An integer, shown as hexadecimal text.
  constexpr Member Hex() const { return With(&Member::type, Type::kText); }
  std::span<const Member> members() const { return {first, count}; }

 private:
  // Not a template: Clang 14 instantiates none for the members of a struct within the struct.
#define SUEDE_MEMBER_WITH(Value)                                   \
  constexpr Member With(Value Member::*field, Value value) const { \
    Member member = *this;                                         \
    member.*field = value;                                         \
    return member;                                                 \
  }
  SUEDE_MEMBER_WITH(std::string_view)
  SUEDE_MEMBER_WITH(Type)
  SUEDE_MEMBER_WITH(bool)
  SUEDE_MEMBER_WITH(double)
#undef SUEDE_MEMBER_WITH
  constexpr Member Time(double ns) const {
    return With(&Member::type, Type::kNumber).With(&Member::ns_per_unit, ns);
  }
};

// Returns the JSON Schema 2020-12 of an object with exactly these members.
Json SchemaOf(std::span<const Member> members);
// Returns "ports: name, mtu_bytes (bytes), admin (up or down), speed_bps (bit/s; null: not known);
// more".
std::string TextOf(std::span<const Member> members);

}  // namespace suede

#endif  // SUEDE_MGMT_MEMBERS_H_
