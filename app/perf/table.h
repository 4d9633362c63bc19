// SPDX-License-Identifier: Apache-2.0
// Rows of a table for people, in lines of at most 100 columns: those that do not fit go on below,
// indented, heads and values alike.
#ifndef SUEDE_APP_PERF_TABLE_H_
#define SUEDE_APP_PERF_TABLE_H_

#include <cstdint>
#include <string>
#include <vector>

namespace suede::perf {

inline constexpr size_t kTableColumns = 100;

// A cell is never wider than its column: a value that is too long loses digits. JSON has them all.
class TableLine {
 public:
  // Each line of a head begins with '#', its first cell's included.
  explicit TableLine(bool is_head = false, size_t columns = kTableColumns)
      : is_head_(is_head), columns_(columns) {}
  TableLine& Text(uint32_t width, std::string text);
  TableLine& Count(uint32_t width, uint64_t value);
  TableLine& Decimal(uint32_t width, double value);  // three decimals where they fit
  // The next cell begins a line of its own.
  TableLine& Break();
  // With a newline at the end of each line.
  std::string Take();

 private:
  const bool is_head_;
  const size_t columns_;
  std::string text_;
  size_t column_ = 0;  // of the line that is being written
  uint32_t indent_ = 0;  // width of the first cell
};

}  // namespace suede::perf

#endif  // SUEDE_APP_PERF_TABLE_H_
