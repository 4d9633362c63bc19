// SPDX-License-Identifier: Apache-2.0
#include "perf/table.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace suede::perf {
namespace {

// Formats the value with four digits and the prefix of a power of 1000: 12.34G, 1.234us.
std::string WithPrefix(double value, const char* unit) {
  constexpr const char* kPrefixes[] = {"n", "u", "m", "", "k", "M", "G", "T", "P"};
  constexpr int kNone = 3;
  constexpr int kLast = 8;
  if (value == 0) return absl::StrCat("0", unit);
  int power = 0;
  // The bound rounds up to four digits of the next prefix.
  while (value >= 999.95 && power + kNone < kLast) value /= 1000, ++power;
  while (value < 0.99995 && power > -kNone) value *= 1000, --power;
  const int decimals = value < 9.9995 ? 3 : value < 99.995 ? 2 : 1;
  return absl::StrFormat("%.*f%s%s", decimals, value, kPrefixes[power + kNone], unit);
}

}  // namespace

TableLine& TableLine::Text(uint32_t width, std::string text) {
  if (text.size() > width) text.resize(width);
  if (indent_ == 0) indent_ = width;
  if (column_ > indent_ && column_ + 1 + width > columns_) Break();
  const size_t blanks = width - text.size() + (column_ == 0 ? 0 : 1);
  absl::StrAppend(&text_, std::string(blanks, ' '), text);
  column_ += blanks + text.size();
  return *this;
}

TableLine& TableLine::Count(uint32_t width, uint64_t value) {
  std::string digits = absl::StrCat(value);
  if (digits.size() > width) {
    // "1.2e+09" has six characters in addition to its decimals.
    digits = absl::StrFormat("%.*e", width > 6 ? static_cast<int>(width) - 6 : 0,
                             static_cast<double>(value));
  }
  return Text(width, std::move(digits));
}

TableLine& TableLine::Decimal(uint32_t width, double value) {
  std::string digits;
  for (int decimals = 3; decimals >= 0; --decimals) {
    digits = absl::StrFormat("%.*f", decimals, value);
    if (digits.size() <= width) break;
  }
  if (digits.size() > width) digits = absl::StrFormat("%.1e", value);
  return Text(width, std::move(digits));
}

TableLine& TableLine::Prefixed(uint32_t width, double value) {
  return Text(width, WithPrefix(value, ""));
}

TableLine& TableLine::TimesHead(uint32_t width, size_t percentiles) {
  Text(width, "min").Text(width, "mean").Text(width, "stdev");
  for (size_t i = 0; i < percentiles; ++i) Text(width, kPercentiles[i].second);
  return Text(width, "max");
}

TableLine& TableLine::Times(uint32_t width, size_t percentiles, const Histogram& ns,
                            bool with_units) {
  const auto add = [&](double time_ns) {
    if (with_units)
      Text(width, WithPrefix(time_ns / 1e9, "s"));
    else
      Decimal(width, time_ns / 1e3);
  };
  add(static_cast<double>(ns.min()));
  add(ns.mean());
  add(ns.stdev());
  for (size_t i = 0; i < percentiles; ++i) {
    add(static_cast<double>(ns.Percentile(kPercentiles[i].first)));
  }
  add(static_cast<double>(ns.max()));
  return *this;
}

TableLine& TableLine::Break() {
  absl::StrAppend(&text_, is_head_ ? "\n#" : "\n ", std::string(indent_ - 1, ' '));
  column_ = indent_;
  return *this;
}

std::string TableLine::Take() { return std::exchange(text_, {}) + "\n"; }

}  // namespace suede::perf
