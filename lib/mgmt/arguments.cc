// SPDX-License-Identifier: Apache-2.0
#include "mgmt/arguments.h"

#include <algorithm>
#include <cstdlib>
#include <optional>

#include "absl/strings/numbers.h"
#include "base/text.h"

namespace suede {
namespace {

std::string NamesOf(std::span<const Param> params) {
  std::vector<std::string_view> names;
  for (const Param& param : params) names.push_back(param.name);
  return StrJoin(names, ", ");
}

bool IsChoice(const Param& param, std::string_view text) {
  const std::vector<std::string_view> choices = Split(param.choices, '|');
  return std::find(choices.begin(), choices.end(), text) != choices.end();
}

std::optional<int64_t> ToInteger(const ForeignJson& given) {
  if (given.is_number_unsigned()) {
    const auto value = given.get<uint64_t>();
    return value <= INT64_MAX ? std::optional<int64_t>(static_cast<int64_t>(value)) : std::nullopt;
  }
  return given.is_number_integer() ? std::optional<int64_t>(given.get<int64_t>()) : std::nullopt;
}

std::optional<ArgumentError> CheckNames(std::span<const Param> params, const ForeignJson& given) {
  if (!given.is_null() && !given.is_object() && !given.is_array()) {
    return ArgumentError{"params is neither an object nor an array; leave it out or make it one",
                         {}};
  }
  if (given.is_array() && given.size() > params.size()) {
    return ArgumentError{StrCat("more parameters than the ", params.size(), " that there are (",
                                NamesOf(params), ")"),
                         {}};
  }
  if (!given.is_object()) return std::nullopt;
  for (const auto& member : given.items()) {
    const std::string& name = member.key();
    const bool known = std::any_of(params.begin(), params.end(),
                                   [&name](const Param& param) { return param.name == name; });
    if (known) continue;
    return ArgumentError{params.empty() ? "no such parameter; there are none"
                                        : StrCat("no such parameter; use ", NamesOf(params)),
                         name.substr(0, 64)};
  }
  return std::nullopt;
}

const ForeignJson* Find(const ForeignJson& given, size_t position, std::string_view name) {
  if (given.is_array()) return position < given.size() ? &given[position] : nullptr;
  if (!given.is_object()) return nullptr;
  const auto found = given.find(name);
  return found != given.end() ? &*found : nullptr;
}

}  // namespace

std::string Param::Range() const {
  switch (type) {
    case Type::kBoolean:
      return "true or false";
    case Type::kInteger:
      return StrCat(min, " to ", max, word.empty() ? "" : ", or ", word);
    case Type::kNumber:
      return StrCat(min, " to ", max, ", with a fraction or without");
    case Type::kText:
      return StrCat("text of ", min, " to ", max, " bytes");
    case Type::kChoice:
      break;
  }
  std::vector<std::string_view> all = Split(choices, '|');
  const std::string_view last = all.back();
  all.pop_back();
  return all.empty() ? std::string(last) : StrCat(StrJoin(all, ", "), " or ", last);
}

// Reads a value; returns its fault, or nullptr.
const char* Arguments::Read(const Param& param, const ForeignJson& given, Value& value) {
  switch (param.type) {
    case Param::Type::kBoolean:
      if (!given.is_boolean()) return "is no boolean";
      value = given.get<bool>();
      return nullptr;
    case Param::Type::kInteger: {
      if (!param.word.empty() && given.is_string() &&
          given.get_ref<const std::string&>() == param.word) {
        value = std::string(param.word);
        return nullptr;
      }
      const std::optional<int64_t> number = ToInteger(given);
      if (!number) return "is no integer";
      if (*number < param.min || *number > param.max) return "is out of range";
      value = *number;
      return nullptr;
    }
    case Param::Type::kNumber: {
      if (!given.is_number()) return "is no number";
      const auto number = given.get<double>();
      const bool fits =
          number >= static_cast<double>(param.min) && number <= static_cast<double>(param.max);
      if (!fits) return "is out of range";
      value = number;
      return nullptr;
    }
    case Param::Type::kText:
    case Param::Type::kChoice:
      break;
  }
  if (!given.is_string()) return "is no text";
  const auto& text = given.get_ref<const std::string&>();
  const auto bytes = static_cast<int64_t>(text.size());
  if (param.type == Param::Type::kChoice) {
    if (!IsChoice(param, text)) return "is none of the choices";
  } else if (bytes < param.min || bytes > param.max) {
    return "is too short or too long";
  }
  value = text;
  return nullptr;
}

Arguments::Value Arguments::Default(const Param& param) {
  int64_t number = 0;
  if (param.fallback.empty()) return std::monostate();
  if (param.type == Param::Type::kBoolean) return param.fallback == "true";
  if (param.type != Param::Type::kInteger) return std::string(param.fallback);
  return absl::SimpleAtoi(TextPart(param.fallback), &number) ? Value(number) : Value();
}

std::variant<Arguments, ArgumentError> Arguments::Check(std::span<const Param> params,
                                                        const ForeignJson& given) {
  if (std::optional<ArgumentError> error = CheckNames(params, given)) return *std::move(error);
  Arguments result;
  result.params_ = params;
  for (size_t i = 0; i < params.size(); ++i) {
    const Param& param = params[i];
    result.values_.push_back(Default(param));
    const ForeignJson* at = Find(given, i, param.name);
    const char* wrong = nullptr;
    if (at != nullptr)
      wrong = Read(param, *at, result.values_[i]);
    else if (param.required)
      wrong = "is missing";
    if (wrong != nullptr) {
      return ArgumentError{StrCat(wrong, "; use ", param.Range()), std::string(param.name)};
    }
  }
  return result;
}

const Arguments::Value& Arguments::At(std::string_view name) const {
  for (size_t i = 0; i < params_.size(); ++i) {
    if (params_[i].name == name) return values_[i];
  }
  std::abort();
}

bool Arguments::Has(std::string_view name) const {
  return !std::holds_alternative<std::monostate>(At(name));
}

bool Arguments::Boolean(std::string_view name) const {
  const bool* value = std::get_if<bool>(&At(name));
  return value != nullptr ? *value : (std::abort(), false);
}

int64_t Arguments::Integer(std::string_view name) const {
  const int64_t* value = std::get_if<int64_t>(&At(name));
  return value != nullptr ? *value : (std::abort(), 0);
}

double Arguments::Number(std::string_view name) const {
  const double* value = std::get_if<double>(&At(name));
  return value != nullptr ? *value : (std::abort(), 0);
}

bool Arguments::IsWord(std::string_view name) const {
  return std::holds_alternative<std::string>(At(name));
}

const std::string& Arguments::Text(std::string_view name) const {
  const auto* value = std::get_if<std::string>(&At(name));
  if (value == nullptr) std::abort();
  return *value;
}

std::optional<uint32_t> Given(const Arguments& arguments, std::string_view name) {
  if (!arguments.Has(name)) return std::nullopt;
  return static_cast<uint32_t>(arguments.Integer(name));
}

}  // namespace suede
