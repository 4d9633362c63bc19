// SPDX-License-Identifier: Apache-2.0
// The map as CMSIS-SVD and SystemRDL. Both have a group of registers for each block, an array where
// the block is indexed; the events as fields of one bit; names for values that have some.
#include <algorithm>
#include <array>
#include <cctype>
#include <string>
#include <string_view>

#include "absl/strings/str_format.h"
#include "base/text.h"
#include "registers/register_events.h"
#include "registers/register_map.h"
#include "registers/register_text.h"

namespace suede {
namespace {

bool IsArray(const RegisterBlock& block) { return block.index != RegisterIndex::kNone; }

bool HasEvents(const RegisterRow& row) {
  return row.source == RegisterRow::Source::kFact &&
         (row.fact == RegisterFact::kEventStatus || row.fact == RegisterFact::kEventMask);
}

// Returns the name of a value as an identifier: "not known" as "not_known".
std::string Identifier(std::string_view name) {
  std::string identifier(name);
  for (char& c : identifier) {
    if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
  }
  return identifier;
}

std::string DescriptionOf(const RegisterRow& row) {
  const bool restart = row.source == RegisterRow::Source::kConfig &&
                       row.access == RegisterAccess::kReadWrite && row.effect == Effect::kRestart;
  return StrCat(row.unit.empty() ? "" : StrCat("In ", row.unit, ". "), row.sentence,
                restart ? " Takes effect after a restart only: writes are refused." : "");
}

// Returns the first address behind the map, which is whole pages of 4 KiB.
uint32_t EndOfMap() {
  uint32_t end = 0;
  for (const RegisterBlock& block : RegisterMap::Get().blocks()) {
    const RegisterRow& last = block.rows.back();
    end = std::max(
        end, block.base + (block.limit - 1) * block.stride + last.offset + last.width_bits / 8);
  }
  return (end + 0xfff) & ~0xfffu;
}

// ---- CMSIS-SVD. The schema prescribes the order of elements.

std::string Escaped(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    if (c == '&') {
      escaped += "&amp;";
    } else if (c == '<') {
      escaped += "&lt;";
    } else {
      escaped += c;
    }
  }
  return escaped;
}

std::string_view SvdAccess(RegisterAccess access) {
  return access == RegisterAccess::kReadOnly ? "read-only" : "read-write";
}

void AppendEvents(std::string& out) {
  for (uint32_t bit = 0; bit < RegisterEventRows().size(); ++bit) {
    const RegisterEventRow& event = RegisterEventRows()[bit];
    absl::StrAppendFormat(&out,
                          "<field><name>%s</name><description>%s.</description>"
                          "<bitRange>[%d:%d]</bitRange></field>\n",
                          std::string(event.name), Escaped(event.sentence), bit, bit);
  }
}

void AppendValues(const RegisterRow& row, std::string& out) {
  absl::StrAppendFormat(&out,
                        "<field><name>value</name><bitRange>[%d:0]</bitRange><enumeratedValues>\n",
                        row.width_bits - 1);
  for (size_t value = 0; value < row.values.size(); ++value) {
    absl::StrAppendFormat(&out,
                          "<enumeratedValue><name>%s</name><value>%d</value></enumeratedValue>\n",
                          Identifier(row.values[value]), value);
  }
  out += "</enumeratedValues></field>\n";
}

void AppendSvdRegister(const RegisterRow& row, std::string& out) {
  absl::StrAppendFormat(&out,
                        "<register><name>%s</name><description>%s</description>"
                        "<addressOffset>0x%x</addressOffset><size>%d</size><access>%s</access>",
                        row.name, Escaped(DescriptionOf(row)), row.offset, row.width_bits,
                        std::string(SvdAccess(row.access)));
  if (!row.reset.empty()) StrAppend(&out, "<resetValue>", row.reset, "</resetValue>");
  if (row.access == RegisterAccess::kWriteOneToClear) {
    out += "<modifiedWriteValues>oneToClear</modifiedWriteValues>";
  }
  if (HasEvents(row) || !row.values.empty()) {
    out += "<fields>\n";
    if (HasEvents(row)) {
      AppendEvents(out);
    } else {
      AppendValues(row, out);
    }
    out += "</fields>";
  }
  out += "</register>\n";
}

// ---- SystemRDL.

std::string RdlText(std::string_view text) {
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') quoted += '\\';
    quoted += c;
  }
  return quoted + "\"";
}

// Returns an identifier, escaped where it is a keyword of SystemRDL.
std::string RdlName(std::string_view name) {
  constexpr std::array<std::string_view, 4> kKeywords = {"level", "mem", "number", "signal"};
  const bool is_keyword = std::find(kKeywords.begin(), kKeywords.end(), name) != kKeywords.end();
  return StrCat(is_keyword ? "\\" : "", name);
}

std::string_view RdlAccess(RegisterAccess access) {
  switch (access) {
    case RegisterAccess::kReadWrite:
      return "sw = rw; hw = r;";
    case RegisterAccess::kWriteOneToClear:
      return "sw = rw; onwrite = woclr; hw = w;";
    case RegisterAccess::kReadOnly:
      break;
  }
  return "sw = r; hw = w;";
}

void AppendRdlFields(const RegisterRow& row, std::string& out) {
  const std::string access(RdlAccess(row.access));
  const std::string reset = row.reset.empty() ? "" : StrCat(" = ", row.reset);
  if (HasEvents(row)) {
    for (uint32_t bit = 0; bit < RegisterEventRows().size(); ++bit) {
      const RegisterEventRow& event = RegisterEventRows()[bit];
      absl::StrAppendFormat(&out, "      field { desc = %s; %s } %s[%d:%d]%s;\n",
                            RdlText(StrCat(event.sentence, ".")), access, RdlName(event.name), bit,
                            bit, reset);
    }
    return;
  }
  std::string encode;
  if (!row.values.empty()) {
    out += "      enum value_e {";
    for (size_t value = 0; value < row.values.size(); ++value) {
      // An enumerator may not be a keyword, and has no escape in every tool.
      absl::StrAppendFormat(&out, " v_%s = %d;", Identifier(row.values[value]), value);
    }
    out += " };\n";
    encode = " encode = value_e;";
  }
  absl::StrAppendFormat(&out, "      field { %s%s } value[%d:0]%s;\n", access, encode,
                        row.width_bits - 1, reset);
}

void AppendRdlRegister(const RegisterBlock& block, const RegisterRow& row, std::string& out) {
  const std::string name = StrCat(block.name, IsArray(block) ? ".N." : ".", row.name);
  absl::StrAppendFormat(&out, "    reg {\n      name = %s; desc = %s;\n", RdlText(name),
                        RdlText(DescriptionOf(row)));
  if (row.width_bits != 32) {
    absl::StrAppendFormat(&out, "      regwidth = %d; accesswidth = %d;\n", row.width_bits,
                          row.width_bits);
  }
  AppendRdlFields(row, out);
  absl::StrAppendFormat(&out, "    } %s @0x%x;\n", RdlName(row.name), row.offset);
}

}  // namespace

std::string RegistersAsSvd() {
  const RegisterMap& map = RegisterMap::Get();
  std::string out = absl::StrFormat(
      "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n"
      "<!-- SPDX-License-Identifier: Apache-2.0 -->\n"
      "<device schemaVersion=\"1.3\" xmlns:xs=\"http://www.w3.org/2001/XMLSchema-instance\" "
      "xs:noNamespaceSchemaLocation=\"CMSIS-SVD.xsd\">\n"
      "<name>suede</name><version>0x%08x</version>\n"
      "<description>Registers of an endpoint of suede. The version is endpoint.map_hash."
      "</description>\n"
      "<addressUnitBits>8</addressUnitBits><width>64</width><size>32</size>"
      "<access>read-write</access>\n<peripherals><peripheral><name>suede</name>"
      "<baseAddress>0x0</baseAddress>\n<addressBlock><offset>0x0</offset><size>0x%x</size>"
      "<usage>registers</usage></addressBlock>\n<interrupt><name>event</name><description>"
      "event.summary is 1.</description><value>0</value></interrupt>\n<registers>\n",
      map.hash(), EndOfMap());
  for (const RegisterBlock& block : map.blocks()) {
    out += "<cluster>";
    if (IsArray(block)) {
      absl::StrAppendFormat(&out, "<dim>%d</dim><dimIncrement>0x%x</dimIncrement>", block.limit,
                            block.stride);
    }
    absl::StrAppendFormat(
        &out, "<name>%s%s</name><description>%s</description><addressOffset>0x%x</addressOffset>\n",
        std::string(block.name), IsArray(block) ? "[%s]" : "", Escaped(block.sentence), block.base);
    for (const RegisterRow& row : block.rows) AppendSvdRegister(row, out);
    out += "</cluster>\n";
  }
  return out + "</registers></peripheral></peripherals></device>\n";
}

std::string RegistersAsRdl() {
  const RegisterMap& map = RegisterMap::Get();
  std::string out = absl::StrFormat(
      "// SPDX-License-Identifier: Apache-2.0\n"
      "addrmap suede {\n  name = \"suede\";\n"
      "  desc = \"Registers of an endpoint of suede. endpoint.map_hash is 0x%08x.\";\n"
      "  default regwidth = 32;\n  default accesswidth = 32;\n",
      map.hash());
  for (const RegisterBlock& block : map.blocks()) {
    absl::StrAppendFormat(&out, "\n  regfile {\n    name = %s; desc = %s;\n", RdlText(block.name),
                          RdlText(block.sentence));
    for (const RegisterRow& row : block.rows) AppendRdlRegister(block, row, out);
    absl::StrAppendFormat(&out, "  } %s", RdlName(block.name));
    if (IsArray(block)) absl::StrAppendFormat(&out, "[%d]", block.limit);
    absl::StrAppendFormat(&out, " @0x%x", block.base);
    if (IsArray(block)) absl::StrAppendFormat(&out, " += 0x%x", block.stride);
    out += ";\n";
  }
  return out + "};\n";
}

}  // namespace suede
