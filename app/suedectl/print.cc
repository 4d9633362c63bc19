// SPDX-License-Identifier: Apache-2.0
#include "suedectl/print.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string_view>
#include <vector>

#include "base/text.h"

namespace suede::ctl {
namespace {

bool IsListOfObjects(const Json& value) {
  return value.is_array() && !value.empty() &&
         std::all_of(value.begin(), value.end(), [](const Json& one) { return one.is_object(); });
}

std::string Cell(const Json& value) {
  if (value.is_null()) return "-";
  if (value.is_boolean()) return value.get<bool>() ? "yes" : "no";
  if (value.is_string()) return value.get<std::string>();
  if (value.is_number_float()) {
    char text[32];
    const double number = value.get<double>();
    const bool is_small = number != 0 && std::fabs(number) < 0.1;
    std::snprintf(text, sizeof text, is_small ? "%.3g" : "%.3f", number);
    return text;
  }
  if (!value.is_array()) return Dump(value);
  std::vector<std::string> parts;
  for (const Json& one : value) {
    const bool has_name = one.is_object() && one.contains("name");
    parts.push_back(Cell(has_name ? one["name"] : one));
  }
  return parts.empty() ? "-" : StrJoin(parts, ",");
}

// Rows of cells; numbers are at the right of their column.
std::string Aligned(const std::vector<std::vector<std::string>>& rows,
                    const std::vector<bool>& is_number) {
  std::vector<size_t> widths(is_number.size());
  for (const auto& row : rows) {
    for (size_t c = 0; c < row.size(); ++c) widths[c] = std::max(widths[c], row[c].size());
  }
  std::string out;
  for (const auto& row : rows) {
    std::string line;
    for (size_t c = 0; c < row.size(); ++c) {
      const std::string space(widths[c] - row[c].size(), ' ');
      StrAppend(&line, c == 0 ? "" : "  ", is_number[c] ? space : "", row[c],
                is_number[c] ? "" : space);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    StrAppend(&out, line, "\n");
  }
  return out;
}

std::string Table(const Json& list) {
  std::vector<std::string> columns;
  for (const Json& one : list) {
    for (const auto& member : one.items()) {
      if (std::find(columns.begin(), columns.end(), member.key()) == columns.end()) {
        columns.push_back(member.key());
      }
    }
  }
  std::vector<std::vector<std::string>> rows = {columns};
  std::vector<bool> is_number(columns.size(), true);
  for (const Json& one : list) {
    std::vector<std::string>& row = rows.emplace_back();
    for (size_t c = 0; c < columns.size(); ++c) {
      const auto value = one.find(columns[c]);
      row.push_back(value == one.end() ? "-" : Cell(*value));
      if (value != one.end() && !value->is_number() && !value->is_null()) is_number[c] = false;
    }
  }
  return Aligned(rows, is_number);
}

std::string Pairs(const Json& object) {
  std::vector<std::vector<std::string>> rows;
  for (const auto& member : object.items()) rows.push_back({member.key(), Cell(member.value())});
  return Aligned(rows, {false, true});
}

bool HasObjects(const Json& list) {
  return std::any_of(list.begin(), list.end(), [](const Json& one) {
    return std::any_of(one.begin(), one.end(), [](const Json& value) { return value.is_object(); });
  });
}

// A list of a result whose objects hold objects themselves: a heading for each, then its pairs.
std::string Sections(const Json& list) {
  std::string out;
  for (const Json& one : list) {
    std::string heading, body;
    for (const auto& member : one.items()) {
      if (member.value().is_object()) body += Pairs(member.value());
      else
        StrAppend(&heading, heading.empty() ? "" : "  ", member.key(), " ", Cell(member.value()));
    }
    StrAppend(&out, heading, heading.empty() ? "" : "\n", body);
  }
  return out;
}

}  // namespace

std::string ToText(const Json& result) {
  std::string out;
  for (const auto& member : result.items()) {
    const Json& value = member.value();
    if (IsListOfObjects(value)) {
      out += HasObjects(value) ? Sections(value) : Table(value);
    } else if (value.is_array() && value.empty()) {
      StrAppend(&out, "no ", member.key(), "\n");
    } else if (value.is_object()) {
      out += Pairs(value);
    } else if (value.is_string() && value.get<std::string>().ends_with("\n")) {
      out += value.get<std::string>();
    } else {
      StrAppend(&out, member.key(), ": ", Cell(value), "\n");
    }
  }
  return out;
}

}  // namespace suede::ctl
