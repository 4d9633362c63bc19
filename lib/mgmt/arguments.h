// SPDX-License-Identifier: Apache-2.0
// The parameters of a method: their declaration, and the values of a request after the check.
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
  int64_t min = 0;  // kInteger, kNumber: of the value; kText: of its bytes
  int64_t max = 0;
  std::string_view choices{};  // kChoice: "total|port"
  bool required = false;
  std::string_view fallback{};  // the default, written out; empty: none
  std::string_view word{};      // kInteger: may stand in place of a number; empty: nothing may

  static constexpr Param Boolean(std::string_view name, std::string_view sentence) {
    return {.name = name, .type = Type::kBoolean, .sentence = sentence, .fallback = "false"};
  }
  static constexpr Param Integer(std::string_view name, std::string_view sentence, int64_t min,
                                 int64_t max, std::string_view fallback = {}) {
    return {.name = name, .type = Type::kInteger, .sentence = sentence, .min = min, .max = max,
            .fallback = fallback};
  }
  // A number that need not be whole, without a default.
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
  constexpr Param Or(std::string_view instead) const {
    Param param = *this;
    param.word = instead;
    return param;
  }
  // "0 to 9", "0 to 9, or none", "true or false", "total, port or lcore".
  std::string Range() const;
};

// An error in the parameters of a request.
struct ArgumentError {
  std::string message;    // "PROBLEM; MEND"
  std::string parameter;  // empty: none in particular
};

class Arguments {
 public:
  // Checks `given` (an object, an array, or null where there was none) against the declaration.
  static std::variant<Arguments, ArgumentError> Check(std::span<const Param> params,
                                                      const ForeignJson& given);

  // Whether the parameter was given, or has a default. The others may then be asked, and for the
  // declared type alone: anything else is a mistake of the program, and ends it.
  bool Has(std::string_view name) const;
  bool Boolean(std::string_view name) const;
  int64_t Integer(std::string_view name) const;
  double Number(std::string_view name) const;
  const std::string& Text(std::string_view name) const;  // and of a choice
  // Whether an integer's word stands in its place; then it is no Integer().
  bool IsWord(std::string_view name) const;

 private:
  using Value = std::variant<std::monostate, bool, int64_t, double, std::string>;
  static const char* Read(const Param& param, const ForeignJson& given, Value& value);
  static Value Default(const Param& param);
  const Value& At(std::string_view name) const;

  std::span<const Param> params_;
  std::vector<Value> values_;  // as params_
};

// A number that fits, where there is one.
std::optional<uint32_t> Given(const Arguments& arguments, std::string_view name);

}  // namespace suede

#endif  // SUEDE_MGMT_ARGUMENTS_H_
