// SPDX-License-Identifier: Apache-2.0
#include "mgmt/members.h"

#include <cinttypes>
#include <cstdio>
#include <utility>
#include <vector>

#include "base/text.h"
#include "mgmt/row.h"

namespace suede {
namespace {

// Longer lists appear only in the schema.
constexpr size_t kMaxChoicesInText = 8;

std::string_view NameOf(Member::Type type) {
  switch (type) {
    case Member::Type::kBoolean:
      return "boolean";
    case Member::Type::kInteger:
      return "integer";
    case Member::Type::kNumber:
      return "number";
    case Member::Type::kText:
    case Member::Type::kChoice:
      return "string";
    case Member::Type::kObject:
    case Member::Type::kMap:
      return "object";
    case Member::Type::kAny:
    case Member::Type::kGroup:
      break;
  }
  return {};
}

// Returns the part of the schema that depends only on the type.
Json SchemaOf(Member::Type type) {
  Json out = Json::object();
  if (!NameOf(type).empty()) out["type"] = NameOf(type);
  if (type == Member::Type::kInteger) out["minimum"] = 0;
  return out;
}

void AddRemarks(const Member& member, std::vector<std::string>& parts) {
  if (!member.unit.empty()) parts.emplace_back(member.unit);
  // A note that was declared as a sentence of a table loses its period, as more may follow.
  std::string_view note = member.note;
  if (note.ends_with('.')) note.remove_suffix(1);
  if (!note.empty()) parts.emplace_back(note);
  if (!member.null_means.empty()) parts.push_back(StrCat("null: ", member.null_means));
  if (!member.only.empty()) parts.push_back(StrCat("only ", member.only));
}

// Returns the schema of one value, without its list.
Json SchemaOfValue(const Member& member) {
  if (member.type == Member::Type::kObject) return SchemaOf(member.members());
  Json out = SchemaOf(member.type);
  if (member.type == Member::Type::kChoice) out["enum"] = Split(member.choices, '|');
  if (member.type == Member::Type::kMap && member.values != Member::Type::kAny) {
    out["additionalProperties"] = SchemaOf(member.values);
  }
  return out;
}

Json SchemaOf(const Member& member) {
  Json value = SchemaOfValue(member);
  Json out =
      member.is_list ? Json{{"type", "array"}, {"items", std::move(value)}} : std::move(value);
  if (!member.null_means.empty() && out.contains("type")) {
    out["type"] = Json::array({out["type"], "null"});
    if (out.contains("enum")) out["enum"].push_back(nullptr);
  }
  std::vector<std::string> remarks;
  AddRemarks(member, remarks);
  if (!remarks.empty()) out["description"] = StrJoin(remarks, "; ");
  return out;
}

void AddProperties(std::span<const Member> members, Json& properties, Json& required) {
  for (const Member& member : members) {
    if (member.type == Member::Type::kGroup) {
      AddProperties(member.members(), properties, required);
      continue;
    }
    properties[std::string(member.name)] = SchemaOf(member);
    if (member.only.empty()) required.push_back(member.name);
  }
}

// Returns "up, drain or down"; choices with spaces are quoted.
std::string ChoicesIn(const Member& member) {
  const std::vector<std::string_view> all = Split(member.choices, '|');
  if (all.size() > kMaxChoicesInText) return {};
  std::string out;
  for (size_t i = 0; i < all.size(); ++i) {
    const std::string_view quote = all[i].find(' ') != std::string_view::npos ? "\"" : "";
    StrAppend(&out, i == 0 ? "" : i + 1 == all.size() ? " or " : ", ", quote, all[i], quote);
  }
  return out;
}

// Returns "name (remarks)".
std::string Headline(const Member& member) {
  if (member.type == Member::Type::kGroup) return std::string(member.note);
  std::vector<std::string> parts;
  if (member.type == Member::Type::kChoice) parts.push_back(ChoicesIn(member));
  AddRemarks(member, parts);
  std::erase(parts, "");
  return parts.empty() ? std::string(member.name)
                       : StrCat(member.name, " (", StrJoin(parts, "; "), ")");
}

// Returns the text of the members, with inner members in braces.
std::string TextOfInner(std::span<const Member> members) {
  std::vector<std::string> parts;
  for (const Member& member : members) {
    std::string& part = parts.emplace_back(Headline(member));
    if (member.type == Member::Type::kObject) {
      StrAppend(&part, " {", TextOfInner(member.members()), "}");
    }
  }
  return StrJoin(parts, ", ");
}

}  // namespace

Json SchemaOf(std::span<const Member> members) {
  Json properties = Json::object();
  Json required = Json::array();
  AddProperties(members, properties, required);
  return Json{{"type", "object"},
              {"properties", std::move(properties)},
              {"required", std::move(required)},
              {"additionalProperties", false}};
}

std::string TextOf(std::span<const Member> members) {
  std::vector<std::string> parts;
  bool has_inner = false;
  for (const Member& member : members) {
    std::string& part = parts.emplace_back(Headline(member));
    if (member.type != Member::Type::kObject) continue;
    StrAppend(&part, ": ", TextOfInner(member.members()));
    has_inner = true;
  }
  return StrJoin(parts, has_inner ? "; " : ", ");
}

std::string_view row::WordOf(const Member& member, bool value) {
  const size_t bar = member.choices.find('|');
  return value ? member.choices.substr(0, bar) : member.choices.substr(bar + 1);
}

std::string row::HexOf(uint64_t value) {
  char text[24];
  std::snprintf(text, sizeof text, "0x%06" PRIx64, value);
  return text;
}

}  // namespace suede
