// SPDX-License-Identifier: Apache-2.0
#include "base/text.h"
#include "suedectl/json_members.h"
#include "suedectl/print.h"
#include "suedectl/why.h"

namespace suede::ctl {
namespace {

// Returns a time with three significant digits or so.
std::string TimeText(const Json& row, const char* name) {
  const std::optional<double> us = RealOf(row, name);
  if (!us) return "-";
  if (*us < 1000) return Fixed(*us, 0) + " us";
  if (*us < 1e6) return Fixed(*us / 1e3, 1) + " ms";
  return Fixed(*us / 1e6, 1) + " s";
}

std::string CausesText(const Json& row) {
  std::string text;
  for (const Json& cause : ListOf(row, "causes")) {
    StrAppend(&text, text.empty() ? "" : ", ", StringOf(cause, "cause"), " ",
              NumberOr0(cause, "percent"), "%");
  }
  return text;
}

Json FlowRow(const Json& row, const XpuNames& names) {
  return Json{{"from", StrCat(NumberOr0(row, "xpu"), ".", NumberOr0(row, "instance"))},
              {"to", NamedXpu(NumberOr0(row, "peer"), names)},
              {"vc", NumberOr0(row, "vc")},
              {"pdus", NumberOr0(row, "tx_pdus")},
              {"queued_bytes", NumberOr0(row, "queued_bytes")},
              {"first_for", TimeText(row, "queued_us")},
              {"in_flight", NumberOr0(row, "inflight_pdus")},
              {"oldest", TimeText(row, "inflight_us")},
              {"since", TimeText(row, "since_us")},
              {"causes", CausesText(row)}};
}

// Adds a table of the rows, if there are any.
void AddTable(const char* name, const Json& rows, size_t columns, std::string* text) {
  if (rows.empty()) return;
  StrAppend(text, "\n", ToText(Json{{name, rows}}, columns));
}

}  // namespace

std::string WhyText(const Json& why, size_t columns, const XpuNames& names) {
  std::string text;
  for (const Json& row : ListOf(why, "conclusions")) {
    StrAppend(&text, StringOf(row, "of"), ": ", StringOf(row, "finding"),
              "\n  remedy: ", StringOf(row, "remedy"), "\n");
  }
  Json flows = Json::array();
  for (const Json& row : ListOf(why, "waits")) flows.push_back(FlowRow(row, names));
  AddTable("waits", flows, columns, &text);
  AddTable("readers", ListOf(why, "readers"), columns, &text);
  AddTable("far_readers", ListOf(why, "far_readers"), columns, &text);
  AddTable("queues", ListOf(why, "queues"), columns, &text);
  StrAppend(&text, "\n", NumberOr0(why, "samples"), " samples in ",
            Fixed(RealOf(why, "seconds").value_or(0), 1),
            " s; bytes, PDUs and lines: averages, times: the longest\n");
  return text;
}

}  // namespace suede::ctl
