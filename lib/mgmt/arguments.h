// SPDX-License-Identifier: Apache-2.0
// Parameters of a method: their declaration, and the validated arguments of a request.
#ifndef SUEDE_MGMT_ARGUMENTS_H_
#define SUEDE_MGMT_ARGUMENTS_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "mgmt/json.h"

namespace suede {

struct Param {
  enum class Type : uint8_t { kBoolean, kInteger, kNumber, kText, kChoice };
  std::string_view name;
  Type type = Type::kBoolean;
  std::string_view sentence;
  int64_t min = 0;  // kInteger, kNumber: of the value; kText: in bytes
  int64_t max = 0;
  std::string_view choices{};  // kChoice: "total|port"
  bool required = false;
  bool positional = false;      // suedectl takes it without its name, as required ones
  std::string_view fallback{};  // the default as text; empty: none
  std::string_view word{};      // kInteger: permitted instead of a number; empty: none

  static constexpr Param Boolean(std::string_view name, std::string_view sentence) {
    return {.name = name, .type = Type::kBoolean, .sentence = sentence, .fallback = "false"};
  }
  static constexpr Param Integer(std::string_view name, std::string_view sentence, int64_t min,
                                 int64_t max, std::string_view fallback = {}) {
    return {.name = name, .type = Type::kInteger, .sentence = sentence, .min = min, .max = max,
            .fallback = fallback};
  }
  // A number that may have a fraction, without a default.
  static constexpr Param Number(std::string_view name, std::string_view sentence, int64_t min,
                                int64_t max) {
    return {.name = name, .type = Type::kNumber, .sentence = sentence, .min = min, .max = max};
  }
  static constexpr Param Text(std::string_view name, std::string_view sentence, int64_t max) {
    return {.name = name, .type = Type::kText, .sentence = sentence, .min = 1, .max = max};
  }
  static constexpr Param Choice(std::string_view name, std::string_view sentence,
                                std::string_view choices, std::string_view fallback = {}) {
    return {.name = name, .type = Type::kChoice, .sentence = sentence, .choices = choices,
            .fallback = fallback};
  }
  constexpr Param Required() const {
    Param param = *this;
    param.required = true;
    param.fallback = {};
    return param;
  }
  constexpr Param Positional() const {
    Param param = *this;
    param.positional = true;
    return param;
  }
  constexpr Param Or(std::string_view instead) const {
    Param param = *this;
    param.word = instead;
    return param;
  }
  // Returns "0 to 9", "0 to 9, or none", "true or false", "total, port or lcore".
  std::string Range() const;
};

// A fault in the parameters of a request.
struct ArgumentError {
  std::string message;    // "PROBLEM; MEND", as for messages
  std::string parameter;  // empty: not a specific one
};

class Arguments {
 public:
  // Checks `given` (an object, an array, or null if absent) against the declaration.
  static std::variant<Arguments, ArgumentError> Check(std::span<const Param> params,
                                                      const ForeignJson& given);

  // Whether the parameter was given or has a default. The accessors below require this and the
  // declared type; otherwise they abort.
  bool Has(std::string_view name) const;
  bool Boolean(std::string_view name) const;
  int64_t Integer(std::string_view name) const;
  double Number(std::string_view name) const;
  const std::string& Text(std::string_view name) const;  // also of a choice
  // Whether an integer's word was given; then Integer() must not be called.
  bool IsWord(std::string_view name) const;

 private:
  using Value = std::variant<std::monostate, bool, int64_t, double, std::string>;
  static const char* Read(const Param& param, const ForeignJson& given, Value& value);
  static Value Default(const Param& param);
  const Value& At(std::string_view name) const;

  std::span<const Param> params_;
  std::vector<Value> values_;  // as params_
};

// Returns the integer argument; nullopt: not given.
std::optional<uint32_t> Given(const Arguments& arguments, std::string_view name);

}  // namespace suede

#endif  // SUEDE_MGMT_ARGUMENTS_H_
