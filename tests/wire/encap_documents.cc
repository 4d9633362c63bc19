// SPDX-License-Identifier: Apache-2.0
#include "encap_documents.h"

#include <algorithm>
#include <bit>
#include <cctype>
#include <cstdio>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text.h"
#include "wire/encap/fields.h"
#include "wire/ethernet.h"

namespace suede {
namespace {

// The place of a field, in a frame without a tag.
struct Place {
  uint32_t at;     // bits
  uint32_t first;  // bytes
  uint32_t bytes;
  uint32_t low;  // bits of those bytes that follow the field
};

Place PlaceOf(const HeaderField& field) {
  const uint32_t base = field.base == FieldBase::kFrame  ? 0
                        : field.base == FieldBase::kType ? kEthernetBytes - 2
                                                         : kEthernetBytes;
  const uint32_t at = base * 8 + field.at;
  const uint32_t first = at / 8;
  const uint32_t bytes = (at + field.bits + 7) / 8 - first;
  return {.at = at, .first = first, .bytes = bytes, .low = (first + bytes) * 8 - at - field.bits};
}

// The fields of a table, in the order of their places.
std::vector<HeaderField> Named(std::span<const HeaderField> fields) {
  std::vector<HeaderField> named;
  for (const HeaderField& field : fields) {
    if (!field.name.empty()) named.push_back(field);
  }
  std::stable_sort(named.begin(), named.end(), [](const HeaderField& a, const HeaderField& b) {
    return PlaceOf(a).at < PlaceOf(b).at;
  });
  return named;
}

// "12–13", or "15 (7:2)" of less than whole bytes.
std::string BytesText(const HeaderField& field) {
  const Place place = PlaceOf(field);
  std::string text = StrCat(place.first);
  if (place.bytes > 1) StrAppend(&text, "–", place.first + place.bytes - 1);
  if (field.bits == place.bytes * 8) return text;
  StrAppend(&text, " (", place.low + field.bits - 1);
  if (field.bits > 1) StrAppend(&text, ":", place.low);
  return text + ")";
}

using Rows = std::vector<std::string>;

Rows RowsOf(std::span<const HeaderField> fields) {
  Rows rows;
  for (const HeaderField& field : Named(fields)) {
    rows.push_back(StrCat("| ", BytesText(field), " | ", field.name, " | ", field.sent, " | ",
                          field.received, " |\n"));
  }
  return rows;
}

// `known`: the table of another header; rows that it has at its beginning are left out.
void AppendTable(const Rows& rows, const Rows& known, std::string_view name, std::string& out) {
  constexpr size_t kWorthIt = 3;
  const auto [end, other] = std::ranges::mismatch(rows, known);
  const size_t same = static_cast<size_t>(end - rows.begin());
  const size_t skipped = same < kWorthIt ? 0 : same;
  if (skipped > 0) StrAppend(&out, "The first ", skipped, " fields are those of `", name, "`.\n\n");
  out += "| byte (bits) | field | sent | received |\n|---|---|---|---|\n";
  for (size_t i = skipped; i < rows.size(); ++i) out += rows[i];
}

std::string_view MacsText(MacKind macs) {
  switch (macs) {
    case MacKind::kAddresses:
      return "MAC addresses";
    case MacKind::kPrefixed:
      return "prefix and forwarding addresses";
    case MacKind::kOther:
      break;
  }
  return "fields of its own";
}

std::string AddressText(const EncapTraits& traits) {
  switch (traits.addresses) {
    case AddressKind::kIpv4:
      return "32 bits, IPv4";
    case AddressKind::kIpv6:
      return "128 bits, IPv6";
    case AddressKind::kForwarding:
      break;
  }
  return StrCat(traits.forwarding_bits, " bits");
}

std::string_view ClassText(const EncapTraits& traits) {
  if (traits.class_bits == 0) return "no: the tag's PCP alone";
  return traits.class_bits == 6 ? "yes" : "CoS: DSCP / 8";
}

std::string Hex(uint64_t value, int digits) {
  char text[20];
  std::snprintf(text, sizeof text, "0x%0*llx", digits, static_cast<unsigned long long>(value));
  return text;
}

// The name of a field as the dissector has it.
std::string LuaName(const HeaderField& field) {
  switch (field.key) {
    case FieldKey::kDstFwd:
      return "dst";
    case FieldKey::kSrcFwd:
      return "src";
    case FieldKey::kHopLimit:
      return "hop_count";
    default:
      break;
  }
  std::string name;
  for (const char c : field.name) {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0) {
      name += static_cast<char>(std::tolower(c));
    } else if (!name.empty() && name.back() != '_') {
      name += '_';
    }
  }
  while (name.back() == '_') name.pop_back();
  return name;
}

void AppendLuaField(const HeaderField& field, std::string& out) {
  const Place place = PlaceOf(field);
  StrAppend(&out, "      { name = \"", LuaName(field), "\", label = \"", field.name,
            "\", at = ", place.first, ", bytes = ", place.bytes);
  if (field.bits != place.bytes * 8) {
    StrAppend(
        &out, ",\n        mask = ",
        Hex(((uint64_t{1} << field.bits) - 1) << place.low, static_cast<int>(place.bytes) * 2),
        ", shift = ", place.low);
  }
  if (field.use == FieldUse::kConst) StrAppend(&out, ", value = ", field.usual);
  out += " },\n";
}

void AppendLuaHeader(Encap encap, std::string& out) {
  const EncapTraits& traits = TraitsOf(encap);
  const bool prefixed = traits.macs == MacKind::kPrefixed;
  const uint32_t bytes = traits.header_bytes + (traits.holds_rh ? 8u : 0u);
  StrAppend(&out, "  ", traits.name, " = { name = \"", traits.name, "\", title = \"", traits.title,
            "\", bytes = ", bytes, ",\n    ethertype = ", Hex(traits.ether_type, 4),
            ", prefixed = ", prefixed ? "true" : "false", ",\n    fields = {\n");
  for (const HeaderField& field : Named(FieldsOf(encap))) AppendLuaField(field, out);
  out += "    } },\n";
}

}  // namespace

std::string EncapsAsMarkdown() {
  std::string out =
      "| name | Ethernet header holds | EtherType | then | untagged | tag | addresses | DSCP, ECN "
      "| "
      "sessions |\n"
      "|---|---|---|---|---|---|---|---|---|\n";
  for (const EncapTraits& traits : kEncapTraits) {
    StrAppend(&out, "| `", traits.name, "` | ", MacsText(traits.macs),
              traits.holds_rh ? " and the RH" : "", " | ",
              traits.ether_type != 0 ? Hex(traits.ether_type, 4) : std::string("as configured"),
              " | ", traits.then.empty() ? "–" : traits.then, " | ",
              traits.header_bytes + (traits.holds_rh ? 8 : 0),
              traits.holds_rh ? ", less 8 of RH" : "", " | ", traits.can_be_tagged ? "yes" : "no",
              " | ", AddressText(traits), " | ", ClassText(traits), " | ",
              traits.sessions > 1 ? StrCat(traits.sessions) : std::string("–"), " |\n");
  }
  return out;
}

std::string FieldsAsMarkdown() {
  std::string out = "### The tag\n\n";
  AppendTable(RowsOf(TagFields()), {}, "", out);
  Rows before;
  for (size_t i = 0; i < kEncapCount; ++i) {
    StrAppend(&out, "\n### `", kEncapNames[i], "`: ", kEncapTraits[i].title, "\n\n");
    Rows rows = RowsOf(FieldsOf(static_cast<Encap>(i)));
    AppendTable(rows, before, i == 0 ? "" : kEncapNames[i - 1], out);
    before = std::move(rows);
  }
  return out;
}

std::string HeadersAsLua() {
  std::string out = "local HEADERS = {\n";
  for (size_t i = 0; i < kEncapCount; ++i) {
    // Wireshark's own dissectors read IP and UDP.
    if (kEncapTraits[i].addresses != AddressKind::kForwarding) continue;
    AppendLuaHeader(static_cast<Encap>(i), out);
  }
  return out + "}\n";
}

}  // namespace suede
