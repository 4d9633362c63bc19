// SPDX-License-Identifier: Apache-2.0
// docs/encapsulations.md, docs/control-pdus.md and the dissector have the tables that the
// declarations of headers and control PDUs give. With SUEDE_UPDATE_DOCS=1 the tables are written
// instead of compared.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "base/text.h"
#include "encap_documents.h"
#include "page_tables.h"
#include "wire/control_fields.h"

namespace suede {
namespace {

TEST(EncapDocumentation, PageHasTheTableOfHeaders) {
  ExpectTable("docs/encapsulations.md", "headers", EncapsAsMarkdown());
}

TEST(EncapDocumentation, PageHasTheFields) {
  ExpectTable("docs/encapsulations.md", "fields", FieldsAsMarkdown());
}

TEST(EncapDocumentation, DissectorHasTheHeaders) {
  ExpectBetween("tools/wireshark/suede.lua", "-- headers: begin\n", "-- headers: end",
                HeadersAsLua());
}

struct ControlRow {
  std::string name;
  std::string label;
  ControlPlace place;
  uint32_t bytes;  // of each value
  uint32_t count;
};

struct ControlTable {
  std::string name;
  int type;
  uint32_t bytes;
  std::vector<ControlRow> rows;  // by their place, the head's flags first
};

template <class Message>
ControlTable TableOf(const char* name) {
  ControlTable table{name, static_cast<int>(Message::kType), ControlBodyBytes<Message>(true), {}};
  const Message message;
  VisitControlFields(
      message, [&]<class V>(auto field, auto label, const ControlPlace& at, const V&) {
        table.rows.push_back({field, label, at, ControlValue<V>::kBytes, ControlValue<V>::kCount});
      });
  std::ranges::stable_sort(table.rows, {}, [](const ControlRow& row) {
    return std::pair(row.place.at, row.place.shift);
  });
  return table;
}

const ControlTable kControlTables[] = {
    TableOf<Hello>("HELLO"),           TableOf<NotReady>("NOT_READY"),
    TableOf<Ready>("READY"),           TableOf<PlaneHello>("PLANE"),
    TableOf<Fence>("FENCE"),           TableOf<Fenced>("FENCED"),
    TableOf<Credit>("CREDIT"),         TableOf<Congestion>("CONGESTION"),
    TableOf<SessionNumber>("SESSION"), TableOf<Path>("PATH"),
    TableOf<Repair>("REPAIR"),
};
static_assert(std::size(kControlTables) == std::variant_size_v<ControlMessage>);

std::string LuaRow(const ControlRow& row) {
  const ControlPlace& place = row.place;
  const bool is_flag = place.bits == 1;
  std::string name = row.name;
  if (name == "answer") name = "is_answer";
  if (name == "echo" && is_flag) name = "has_echo";
  if (name == "psns") name = "session_psn";
  if (name == "more") name = "more_psn";
  const uint32_t skipped = place.bits == 24 ? 1 : 0;  // reserved bytes of the number
  std::string out = StrCat("{ \"", name, "\", \"", row.label, "\", ",
                           place.at + static_cast<int>(skipped), ", ", row.bytes - skipped);
  if (is_flag) {
    StrAppend(&out, ", flag = ", 1u << place.shift);
  } else if (place.bits != 0 && skipped == 0) {
    StrAppend(&out, ", mask = ", place.mask() << place.shift, ", shift = ", uint32_t{place.shift});
  }
  if (row.count != 1) StrAppend(&out, ", count = ", row.count);
  return out + " },";
}

TEST(ControlDocumentation, DissectorHasTheFields) {
  std::string lua = "local CONTROL = {\n";
  for (const ControlTable& table : kControlTables) {
    StrAppend(&lua, "  [", table.type, "] = { name = \"", table.name, "\", bytes = ", table.bytes,
              ",");
    size_t column = 101;  // a line holds as many rows as fit
    for (const ControlRow& row : table.rows) {
      const std::string text = LuaRow(row);
      const bool fits = column + 1 + text.size() <= 100;
      StrAppend(&lua, fits ? " " : "\n    ", text);
      column = (fits ? column + 1 : 4) + text.size();
    }
    lua += "\n  },\n";
  }
  ExpectBetween("tools/wireshark/suede.lua", "-- control: begin\n", "-- control: end", lua + "}\n");
}

TEST(ControlDocumentation, PageHasThePlaces) {
  const std::string page = ReadSource("docs/control-pdus.md");
  for (const ControlTable& table : kControlTables) {
    // The page describes the bodies of these by those of NOT_READY and FENCE.
    if (table.name == "READY" || table.name == "FENCED") continue;
    const size_t from = page.find(StrCat("\n## Type ", table.type, ": ", table.name, "\n"));
    ASSERT_NE(from, std::string::npos) << table.name;
    const std::string section = page.substr(from, page.find("\n## ", from + 1) - from);
    for (const ControlRow& row : table.rows) {
      const int at = row.place.at, last = at + static_cast<int>(row.bytes * row.count) - 1;
      const std::string place = row.place.bits == 1 ? StrCat("bit ", +row.place.shift)
                                : row.name == "more" || row.name == "marks" ? StrCat(at, " …")
                                : at == last                                ? StrCat(at)
                                             : StrCat(at, "–", last);
      EXPECT_NE(section.find(StrCat("\n| ", place, " | ")), std::string::npos)
          << table.name << ": " << row.name << " at " << place;
    }
  }
}

}  // namespace
}  // namespace suede
