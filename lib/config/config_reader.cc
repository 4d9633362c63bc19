// SPDX-License-Identifier: Apache-2.0
#include "config/config_reader.h"

#include <algorithm>

#include "base/edit_distance.h"
#include "base/text.h"

namespace suede {
namespace {

// Returns "transport.window_pdus" for "window_pdus"; empty: no such key.
std::string_view PathOfKey(std::string_view key) {
  for (const ConfigKey& known : ConfigKeys()) {
    const std::string_view path = known.path;
    const size_t dot = path.rfind('.');
    if (dot != std::string_view::npos && path.substr(dot + 1) == key) return path;
    if (path == key) return path;
  }
  return {};
}

}  // namespace

std::string SuggestKey(std::string_view key, std::string_view section,
                       std::span<const std::string_view> known) {
  constexpr size_t kMaxKey = 64;
  if (key.size() <= kMaxKey) {
    if (const std::string_view path = PathOfKey(key); !path.empty()) {
      return StrCat("this key belongs at ", path);
    }
    const auto nearest = std::min_element(known.begin(), known.end(), [&](auto a, auto b) {
      return EditDistance(key, a) < EditDistance(key, b);
    });
    const size_t distance = nearest == known.end() ? key.size() : EditDistance(key, *nearest);
    if (distance < key.size() && distance <= std::max<size_t>(2, key.size() / 3)) {
      return StrCat("did you mean ", *nearest, "?");
    }
  }
  return StrCat("the keys of ", section.empty() ? "the file" : section, " are ",
                StrJoin(known, ", "));
}

const ConfigNode* ConfigReader::Find(const ConfigNode& map, std::string_view key) {
  for (const ConfigMember& member : map.members) {
    if (member.key == key) return &member.value;
  }
  return nullptr;
}

std::string ConfigReader::Join(std::string_view path, std::string_view key) {
  return path.empty() ? std::string(key) : StrCat(path, ".", key);
}

bool ConfigReader::Fail(const ConfigNode& node, std::string_view path, std::string_view problem) {
  if (status_.ok()) status_ = ConfigError(draft_.sources, node.place, path, problem);
  return false;
}

bool ConfigReader::CheckVersion(const ConfigNode& root) {
  const ConfigNode* version = Find(root, "version");
  if (version == nullptr || version->text == "1") return true;
  return Fail(
      *version, "version",
      StrCat("version ", Quoted(version->text), " of the format is not known; write version: 1"));
}

bool ConfigReader::FailMissing(const ConfigNode& section, const std::string& path,
                               std::string_view key) {
  return Fail(section, Join(path, key),
              StrCat("missing; add ", key, ": to ", path.empty() ? "the file" : path));
}

bool ConfigReader::FailEncapsulation(const ConfigNode& value, const std::string& path,
                                     Encapsulation e, const EncapsulationSet& only,
                                     std::string_view otherwise) {
  return Fail(value, path,
              StrCat("the encapsulation of the port is ", NameOf(e), ", and this is for ",
                     JoinNames(only), "; ", otherwise));
}

bool ConfigReader::CheckKeys(const ConfigNode& node, const std::string& path,
                             std::span<const std::string_view> known) {
  const std::string_view shown = path.empty() ? std::string_view("(file)") : path;
  draft_.places[path] = node.place;
  if (node.kind == ConfigNode::Kind::kNull) return true;  // an empty section
  if (node.kind != ConfigNode::Kind::kMap) {
    return Fail(node, shown,
                StrCat("keys belong here; write \"key: value\" lines with ", StrJoin(known, ", ")));
  }
  for (size_t i = 0; i < node.members.size(); ++i) {
    const ConfigMember& member = node.members[i];
    const ConfigNode at{.place = member.place};
    // Precedes the search for duplicates, which bounds the latter's time in a map with many keys.
    if (std::find(known.begin(), known.end(), member.key) == known.end()) {
      return Fail(at, Join(path, member.key.substr(0, 64)),
                  StrCat("unknown key; ", SuggestKey(member.key, path, known)));
    }
    for (size_t j = 0; j < i; ++j) {
      if (node.members[j].key != member.key) continue;
      return Fail(at, Join(path, member.key),
                  StrCat("duplicate key, first at ", draft_.sources.Describe(node.members[j].place),
                         "; remove one"));
    }
  }
  return true;
}

std::span<const ConfigNode> ConfigReader::Items(const ConfigNode& parent,
                                                std::string_view parent_path, std::string_view key,
                                                size_t min, size_t max) {
  const std::string path = Join(parent_path, key);
  const ConfigNode* list = Find(parent, key);
  if (list == nullptr) {
    if (min > 0) FailMissing(parent, std::string(parent_path), key);
    return {};
  }
  draft_.places[path] = list->place;
  if (list->kind != ConfigNode::Kind::kList && list->kind != ConfigNode::Kind::kNull) {
    Fail(*list, path, "a list belongs here; begin each entry with \"- \"");
    return {};
  }
  if (list->items.size() < min) {
    Fail(*list, path, StrCat("the list is empty; add at least ", min, " of them"));
    return {};
  }
  if (list->items.size() > max) {
    Fail(list->items[max], path, StrCat(list->items.size(), " entries; use at most ", max));
    return {};
  }
  for (size_t i = 0; i < list->items.size(); ++i) {
    draft_.places[StrCat(path, "[", i, "]")] = list->items[i].place;
  }
  return list->items;
}

}  // namespace suede
