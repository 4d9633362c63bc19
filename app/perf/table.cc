// SPDX-License-Identifier: Apache-2.0
#include "perf/table.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace suede::perf {

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

TableLine& TableLine::TimesHead(uint32_t width, size_t percentiles) {
  Text(width, "min").Text(width, "mean");
  for (size_t i = 0; i < percentiles; ++i) Text(width, kPercentiles[i].second);
  return Text(width, "max");
}

TableLine& TableLine::Times(uint32_t width, size_t percentiles, const Histogram& ns) {
  const auto us = [](uint64_t time) { return static_cast<double>(time) / 1e3; };
  Decimal(width, us(ns.min())).Decimal(width, ns.mean() / 1e3);
  for (size_t i = 0; i < percentiles; ++i) Decimal(width, us(ns.Percentile(kPercentiles[i].first)));
  return Decimal(width, us(ns.max()));
}

TableLine& TableLine::Break() {
  absl::StrAppend(&text_, is_head_ ? "\n#" : "\n ", std::string(indent_ - 1, ' '));
  column_ = indent_;
  return *this;
}

std::string TableLine::Take() { return std::exchange(text_, {}) + "\n"; }

}  // namespace suede::perf
