// SPDX-License-Identifier: Apache-2.0
// Makes a row of the declaration from a pointer to the member that holds the value. For
// config_fields*.cc and the other files with such rows.
#ifndef SUEDE_CONFIG_CONFIG_KEY_H_
#define SUEDE_CONFIG_CONFIG_KEY_H_

#include <chrono>
#include <concepts>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "base/text.h"
#include "config/config_fields.h"

namespace suede::config_key {

template <class T>
struct Unwrap {
  using Type = T;
};
template <class T>
struct Unwrap<std::optional<T>> {
  using Type = T;
};

// Returns the range of a value of type T for the documentation's table.
template <class T>
std::string RangeOf(const ValueLimits& limits) {
  if constexpr (std::is_enum_v<T>) {
    return JoinNames(NamesOf(T{}));
  } else if constexpr (std::is_unsigned_v<T> || std::is_same_v<T, Duration>) {
    return StrCat(*WriteNumber(limits.min, limits), " to ", *WriteNumber(limits.max, limits),
                  limits.power_of_two ? ", a power of two" : "");
  } else if constexpr (std::is_same_v<T, MacAddress>) {
    return "unicast MAC address";
  } else if constexpr (std::is_same_v<T, ConfigMacPrefix>) {
    return "first four bytes of unicast MAC addresses";
  } else if constexpr (std::is_same_v<T, IpText>) {
    return "unicast IPv4 or IPv6 address";
  } else if constexpr (std::is_same_v<T, XpuRange>) {
    return StrCat("FIRST-LAST, 0 to ", limits.max);
  } else if constexpr (std::is_same_v<T, std::vector<std::string>>) {
    return "list of texts";
  } else if constexpr (std::is_same_v<T, Decimal>) {
    return StrCat(limits.min, " to ", limits.max, ", also fractions");
  } else if constexpr (std::is_same_v<T, std::vector<uint32_t>>) {
    return StrCat("list of ", limits.min, " to ", limits.max);
  } else if constexpr (std::is_same_v<T, std::vector<ClientRule>>) {
    return "list of UID:XPU, UID:FIRST-LAST, each also with :VC,VC";
  } else {
    switch (limits.rule) {
      case TextRule::kName:
        return StrCat("1 to ", limits.max, " letters, digits, _, -, .");
      case TextRule::kAbsolutePath:
        return StrCat("absolute path of up to ", limits.max, " characters");
      case TextRule::kListenAddress:
        return "ADDRESS:PORT or PORT";
      case TextRule::kSocketAddress:
        return "ADDRESS:PORT";
      case TextRule::kPrintable:
        break;
    }
    return StrCat("text of up to ", limits.max, " characters");
  }
}

template <class M>
struct MemberOf;
template <class S, class T>
struct MemberOf<T S::*> {
  using Section = S;
  using Value = T;
};

template <auto kMember>
using Section = typename MemberOf<decltype(kMember)>::Section;

struct Extra {
  bool required = false;
  std::string_view shown_default{};
  EncapsulationSet only = kAnyEncapsulation;
  std::string_view otherwise{};
  Effect effect = Effect::kRestart;
};

inline constexpr Extra kRequired{.required = true};
inline constexpr Extra kAtOnce{.effect = Effect::kAtOnce};
inline constexpr Extra kAtOnceUpToStart{.effect = Effect::kAtOnceUpToStart};
inline constexpr Extra kNoDefault{.shown_default = "none"};

template <class T>
struct ValueNumber {
  static std::optional<uint64_t> Of(const T& value) {
    if constexpr (std::is_unsigned_v<T>) return value;
    if constexpr (std::is_enum_v<T>) return static_cast<uint64_t>(value);
    if constexpr (std::is_same_v<T, Duration>) {
      return static_cast<uint64_t>(
          std::chrono::duration_cast<std::chrono::microseconds>(value).count());
    }
    return std::nullopt;
  }
  static Written Text(uint64_t number, const ValueLimits& limits) {
    if constexpr (std::is_enum_v<T>) {
      const auto names = NamesOf(T{});
      return number < names.size() ? Written(names[number]) : std::nullopt;
    }
    if constexpr (std::is_unsigned_v<T> || std::is_same_v<T, Duration>) {
      return WriteNumber(number, limits);
    }
    return std::nullopt;
  }
};
template <class T>
struct ValueNumber<std::optional<T>> {
  static std::optional<uint64_t> Of(const std::optional<T>& value) {
    return value ? ValueNumber<T>::Of(*value) : std::nullopt;
  }
  static Written Text(uint64_t number, const ValueLimits& limits) {
    return ValueNumber<T>::Text(number, limits);
  }
};

// The row of a key, for the section that has the member, or inherits it.
template <auto kMember>
struct KeyRow {
  std::string_view key;
  std::string_view unit;
  ValueLimits limits;
  std::string_view sentence;
  Extra extra;

  template <std::derived_from<Section<kMember>> S>
  constexpr operator ConfigField<S>() const {
    using Value = typename MemberOf<decltype(kMember)>::Value;
    return {.key = key,
            .unit = unit,
            .limits = limits,
            .sentence = sentence,
            .required = extra.required,
            .shown_default = extra.shown_default,
            .only = extra.only,
            .otherwise = extra.otherwise,
            .effect = extra.effect,
            .read = [](const ConfigNode& node, const ValueLimits& l, S& s) -> Problem {
              return ReadValue(node, l, s.*kMember);
            },
            .write = [](const S& s, const ValueLimits& l) -> Written {
              return WriteValue(s.*kMember, l);
            },
            .range = RangeOf<typename Unwrap<Value>::Type>,
            .copy = [](const S& from, S& to) { to.*kMember = from.*kMember; },
            .number = [](const S& s) { return ValueNumber<Value>::Of(s.*kMember); },
            .text = ValueNumber<Value>::Text};
  }
};

template <auto kMember>
constexpr KeyRow<kMember> Key(std::string_view key, std::string_view unit, ValueLimits limits,
                              std::string_view sentence, Extra extra = {}) {
  return {key, unit, limits, sentence, extra};
}

constexpr ValueLimits Between(uint64_t min, uint64_t max) { return {.min = min, .max = max}; }
constexpr ValueLimits Microseconds(uint64_t min, uint64_t max) { return Between(min, max); }
constexpr ValueLimits Name(uint64_t max) { return {.min = 1, .max = max, .rule = TextRule::kName}; }
constexpr ValueLimits PowerOfTwo(uint64_t min, uint64_t max) {
  return {.min = min, .max = max, .power_of_two = true};
}
constexpr ValueLimits Hex(uint64_t min, uint64_t max) {
  return {.min = min, .max = max, .hex = true};
}

}  // namespace suede::config_key

// Defines FieldsOf for a section, within the namespace suede.
#define SUEDE_CONFIG_SECTION(S, rows)          \
  template <>                                  \
  std::span<const ConfigField<S>> FieldsOf() { \
    return rows;                               \
  }

#endif  // SUEDE_CONFIG_CONFIG_KEY_H_
