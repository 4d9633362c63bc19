// SPDX-License-Identifier: Apache-2.0
#include "perf/trace.h"

#include <cmath>
#include <fstream>
#include <sstream>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "base/sue.h"
#include "perf/goal.h"

namespace suede::perf {
namespace {

constexpr absl::string_view kHead = "time_us,source,destination,bytes[,vc[,step]]";
constexpr double kMaxUs = 86400e6;  // one day
constexpr uint64_t kMaxBytes = uint64_t{1} << 40;

// Parses a row. Returns the error with its remedy; empty: valid.
std::string ReadRow(absl::string_view line, uint32_t ranks, TraceRow& row) {
  const std::vector<absl::string_view> cells = absl::StrSplit(line, ',');
  if (cells.size() < 4 || cells.size() > 6) return absl::StrCat("write ", kHead);
  double us = 0;
  if (!absl::SimpleAtod(cells[0], &us) || !(us >= 0) || us > kMaxUs) {
    return absl::StrCat("time_us \"", cells[0], "\": give microseconds, 0 to a day");
  }
  row.at = Duration(std::llround(us * 1000));
  for (uint32_t* rank : {&row.source, &row.destination}) {
    const absl::string_view cell = cells[rank == &row.source ? 1 : 2];
    if (!absl::SimpleAtoi(cell, rank) || *rank >= ranks) {
      return absl::StrCat("rank \"", cell, "\": give 0 to ", ranks - 1);
    }
  }
  if (row.source == row.destination) return "a rank sends nothing to itself: remove the row";
  if (!absl::SimpleAtoi(cells[3], &row.bytes) || row.bytes == 0 || row.bytes > kMaxBytes) {
    return absl::StrCat("bytes \"", cells[3], "\": give 1 to 2^40");
  }
  if (cells.size() == 4) return "";
  const bool has_vc = cells.size() == 5 || !cells[4].empty();
  if (has_vc &&
      (!absl::SimpleAtoi(cells[4], &row.vc) || row.vc < 0 || row.vc >= int32_t{kVcCount})) {
    return absl::StrCat("vc \"", cells[4], "\": give 0 to ", kVcCount - 1);
  }
  if (cells.size() == 5) return "";
  if (!absl::SimpleAtoi(cells[5], &row.step) || row.step >= kMaxSteps) {
    return absl::StrCat("step \"", cells[5], "\": give 0 to ", kMaxSteps - 1);
  }
  row.taken = row.step;
  return "";
}

}  // namespace

absl::StatusOr<std::vector<TraceRow>> ParseTrace(absl::string_view text, absl::string_view place,
                                                 uint32_t ranks) {
  if (IsGoal(text)) return ParseGoal(text, place, ranks);
  std::vector<TraceRow> rows;
  uint32_t number = 0;
  for (absl::string_view line : absl::StrSplit(text, '\n')) {
    ++number;
    line = absl::StripAsciiWhitespace(line);
    if (line.empty() || line.front() == '#') continue;
    if (rows.empty() && absl::StartsWith(line, "time_us")) continue;  // header line
    TraceRow row;
    if (const std::string remedy = ReadRow(line, ranks, row); !remedy.empty()) {
      return absl::InvalidArgumentError(absl::StrCat(place, ":", number, ": ", remedy));
    }
    rows.push_back(row);
  }
  if (rows.empty()) {
    return absl::InvalidArgumentError(absl::StrCat(place, ": no rows: write ", kHead));
  }
  return rows;
}

absl::StatusOr<std::vector<TraceRow>> ReadTrace(const std::string& path, uint32_t ranks) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  if (!file)
    return absl::InvalidArgumentError(absl::StrCat(path, ": cannot be read; name another"));
  return ParseTrace(text.str(), path, ranks);
}

}  // namespace suede::perf
