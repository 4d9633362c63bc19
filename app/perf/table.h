// SPDX-License-Identifier: Apache-2.0
// Rows of a text table, with a maximum line width. Longer rows continue on indented lines, in the
// same way for heads and values.
#ifndef SUEDE_APP_PERF_TABLE_H_
#define SUEDE_APP_PERF_TABLE_H_

#include <cstdint>
#include <string>

#include "base/histogram.h"
#include "perf/names.h"

namespace suede::perf {

inline constexpr size_t kTableColumns = 100;
// Percentiles of times in reports, which show all or the first of them.
inline constexpr Named<double> kPercentiles[] = {
    {50, "p50"}, {90, "p90"}, {99, "p99"}, {99.9, "p99.9"}, {99.99, "p99.99"}};
inline constexpr size_t kMainPercentiles = 3;

// One row. Cells never exceed their column's width: longer values lose digits, which JSON has.
class TableLine {
 public:
  // Each line of a head begins with '#'; the first cell must contain it.
  explicit TableLine(bool is_head = false, size_t columns = kTableColumns)
      : is_head_(is_head), columns_(columns) {}
  TableLine& Text(uint32_t width, std::string text);
  TableLine& Count(uint32_t width, uint64_t value);
  TableLine& Decimal(uint32_t width, double value);  // up to three decimals
  TableLine& Prefixed(uint32_t width, double value);  // as 12.34G
  // Add the columns of times: minimum, mean, standard deviation, percentiles and maximum.
  TableLine& TimesHead(uint32_t width, size_t percentiles);
  // In microseconds, or with units of their own, as 12.34ms.
  TableLine& Times(uint32_t width, size_t percentiles, const Histogram& ns,
                   bool with_units = false);
  // Begins a new line.
  TableLine& Break();
  // Returns the row, with a newline at the end of each line.
  std::string Take();

 private:
  const bool is_head_;
  const size_t columns_;
  std::string text_;
  size_t column_ = 0;    // in the current line
  uint32_t indent_ = 0;  // width of the first cell
};

}  // namespace suede::perf

#endif  // SUEDE_APP_PERF_TABLE_H_
