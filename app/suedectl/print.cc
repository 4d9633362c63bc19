// SPDX-License-Identifier: Apache-2.0
#include "suedectl/print.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
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

using Cells = std::vector<std::vector<std::string>>;

std::vector<size_t> WidthsOf(const Cells& rows, size_t columns) {
  std::vector<size_t> widths(columns);
  for (const auto& row : rows) {
    for (size_t c = 0; c < row.size(); ++c) widths[c] = std::max(widths[c], row[c].size());
  }
  return widths;
}

// Formats rows of cells with aligned columns, numbers to the right.
std::string Aligned(const Cells& rows, const std::vector<bool>& is_number) {
  const std::vector<size_t> widths = WidthsOf(rows, is_number.size());
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

constexpr size_t kShortText = 24;

// Truncates the texts of a column to kShortText characters.
void Shorten(size_t column, Cells* rows) {
  for (auto& row : *rows) {
    std::string& text = row[column];
    if (text.size() > kShortText) text.replace(kShortText - 2, std::string::npos, "..");
  }
}

// Narrows a table to at most `max` characters per line: removes empty columns, truncates long
// texts, then removes columns from the end. Keeps the first column. Returns the names of what is
// hidden.
std::vector<std::string> Narrow(size_t max, Cells* rows, std::vector<bool>* is_number) {
  std::vector<size_t> widths = WidthsOf(*rows, is_number->size());
  size_t total = 2 * (widths.size() - 1);
  for (const size_t width : widths) total += width;
  std::vector<std::string> taken;
  const auto take = [&](size_t c) {
    total -= widths[c] + 2;
    const auto at = static_cast<ptrdiff_t>(c);
    for (auto& row : *rows) row.erase(row.begin() + at);
    is_number->erase(is_number->begin() + at);
    widths.erase(widths.begin() + at);
  };
  for (size_t c = widths.size(); c-- > 1 && total > max;) {
    const bool is_empty =
        std::all_of(rows->begin() + 1, rows->end(), [c](const auto& row) { return row[c] == "-"; });
    if (is_empty) take(c);
  }
  while (total > max) {
    const auto widest = std::max_element(widths.begin(), widths.end());
    const auto c = static_cast<size_t>(widest - widths.begin());
    if (*widest <= kShortText || (*is_number)[c]) break;
    if (taken.empty()) taken.emplace_back("ends of long texts");
    Shorten(c, rows);
    total -= *widest - kShortText;
    *widest = kShortText;
  }
  const auto first_name = static_cast<ptrdiff_t>(taken.size());
  while (widths.size() > 1 && total > max) {
    taken.insert(taken.begin() + first_name, rows->front().back());
    take(widths.size() - 1);
  }
  return taken;
}

// Lists what a table hides, in lines of at most `max` characters.
std::string NotShown(const std::vector<std::string>& names, size_t max) {
  std::string out = "(--wide shows, too:";
  size_t column = out.size();
  for (const std::string& name : names) {
    const std::string word = StrCat(" ", name, &name == &names.back() ? ")" : ",");
    if (column + word.size() > max) {
      out += "\n";
      column = 0;
    }
    out += word;
    column += word.size();
  }
  return out + "\n";
}

std::string Table(const Json& list, size_t max) {
  std::vector<std::string> columns;
  for (const Json& one : list) {
    for (const auto& member : one.items()) {
      if (std::find(columns.begin(), columns.end(), member.key()) == columns.end()) {
        columns.push_back(member.key());
      }
    }
  }
  Cells rows = {columns};
  std::vector<bool> is_number(columns.size(), true);
  for (const Json& one : list) {
    std::vector<std::string>& row = rows.emplace_back();
    for (size_t c = 0; c < columns.size(); ++c) {
      const auto value = one.find(columns[c]);
      row.push_back(value == one.end() ? "-" : Cell(*value));
      if (value != one.end() && !value->is_number() && !value->is_null()) is_number[c] = false;
    }
  }
  const std::vector<std::string> taken = Narrow(max, &rows, &is_number);
  std::string text = Aligned(rows, is_number);
  return taken.empty() ? text : text + NotShown(taken, max);
}

std::string Pairs(const Json& object, size_t columns) {
  const bool is_counts = std::all_of(object.begin(), object.end(),
                                     [](const Json& value) { return value.is_number(); });
  Cells rows;
  Cells zeros;
  for (const auto& member : object.items()) {
    const bool is_zero = is_counts && member.value() == 0;
    (is_zero ? zeros : rows).push_back({member.key(), Cell(member.value())});
  }
  rows.insert(rows.end(), zeros.begin(), zeros.end());
  const size_t name_width = WidthsOf(rows, 2)[0] + 2;
  for (auto& row : rows) {
    const size_t max = columns > name_width + kShortText ? columns - name_width : kShortText;
    if (row[1].size() > max) row[1].replace(max - 2, std::string::npos, "..");
  }
  return Aligned(rows, {false, true});
}

bool HasObjects(const Json& list) {
  return std::any_of(list.begin(), list.end(), [](const Json& one) {
    return std::any_of(one.begin(), one.end(), [](const Json& value) { return value.is_object(); });
  });
}

// Formats a list of objects that contain objects: for each a heading, then its members.
std::string Sections(const Json& list, size_t columns) {
  std::string out;
  for (const Json& one : list) {
    std::string heading, body;
    for (const auto& member : one.items()) {
      if (member.value().is_object())
        body += Pairs(member.value(), columns);
      else
        StrAppend(&heading, heading.empty() ? "" : "  ", member.key(), " ", Cell(member.value()));
    }
    StrAppend(&out, WrapText(heading, 0, 2, columns), heading.empty() ? "" : "\n", body);
  }
  return out;
}

}  // namespace

std::string ToText(const Json& result, size_t columns) {
  std::string out;
  for (const auto& member : result.items()) {
    const Json& value = member.value();
    if (IsListOfObjects(value)) {
      out += HasObjects(value) ? Sections(value, columns) : Table(value, columns);
    } else if (value.is_array() && value.empty()) {
      StrAppend(&out, "no ", member.key(), "\n");
    } else if (value.is_object()) {
      out += Pairs(value, columns);
    } else if (value.is_string() && value.get<std::string>().ends_with("\n")) {
      out += value.get<std::string>();
    } else {
      StrAppend(&out, member.key(), ": ", Cell(value), "\n");
    }
  }
  return out;
}

std::string Fixed(double value, int digits) {
  char text[64];
  std::snprintf(text, sizeof text, "%.*f", digits, value);
  return text;
}

}  // namespace suede::ctl
