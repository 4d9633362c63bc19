// SPDX-License-Identifier: Apache-2.0
#include "config/config_node.h"

#include <algorithm>
#include <utility>

#include "absl/strings/escaping.h"
#include "base/numbers.h"
#include "base/text.h"

namespace suede {
namespace {

// A step of an override's path: a key, or an index into a list.
struct Step {
  std::string_view key;
  size_t index = 0;
  bool is_index = false;
};

// Takes the first step from `path`. Returns false if the path is malformed.
bool TakeStep(std::string_view& path, Step& step) {
  if (path.front() == '[') {
    const size_t end = path.find(']');
    if (end == std::string_view::npos) return false;
    const auto index = ParseNumber<size_t>(path.substr(1, end - 1));
    if (!index) return false;
    step.index = *index;
    step.is_index = true;
    path.remove_prefix(end + 1);
  } else {
    const size_t end = std::min(path.find_first_of(".["), path.size());
    step.key = path.substr(0, end);
    step.is_index = false;
    path.remove_prefix(end);
    if (step.key.empty()) return false;
  }
  if (!path.empty() && path.front() == '.') {
    path.remove_prefix(1);
    return !path.empty() && path.front() != '[';
  }
  return path.empty() || path.front() == '[';
}

// Returns the value of `key` in `map`, which is added if missing. For a duplicate key returns the
// first value, as the file is rejected anyway.
ConfigNode& MemberOf(ConfigNode& map, std::string_view key, const ConfigLocation& place) {
  for (ConfigMember& member : map.members) {
    if (member.key == key) return member.value;
  }
  map.members.push_back({.key = std::string(key), .place = place, .value = {.place = place}});
  return map.members.back().value;
}

}  // namespace

std::string ConfigSources::Describe(const ConfigLocation& place) const {
  if (place.source > 0) return overrides[place.source - 1];
  return StrCat(file, ":", place.line, ":", place.column);
}

absl::Status ConfigError(const ConfigSources& sources, const ConfigLocation& place,
                         std::string_view path, std::string_view problem) {
  return absl::InvalidArgumentError(StrCat(sources.Describe(place), ": ", path, ": ", problem));
}

std::string Quoted(std::string_view text) {
  constexpr size_t kMaxShown = 60;
  if (text.size() <= kMaxShown) return StrCat("\"", absl::CEscape(TextPart(text)), "\"");
  return StrCat("\"", absl::CEscape(TextPart(text.substr(0, kMaxShown))), "…\"");
}

absl::Status ApplyOverride(const ConfigOverride& override_, const ConfigSources& sources,
                           uint32_t source, ConfigNode& root) {
  const ConfigLocation place{.source = source};
  const std::string& path = override_.path;
  absl::StatusOr<ConfigNode> value = ParseConfigNode(override_.value, sources, source);
  if (!value.ok()) return value.status();

  ConfigNode* at = &root;
  std::string_view rest = path;
  if (rest.empty()) {
    return ConfigError(sources, place, "(no key)", "a key is missing; write key.path=value");
  }
  while (!rest.empty()) {
    Step step;
    if (!TakeStep(rest, step)) {
      return ConfigError(sources, place, Quoted(path),
                         "not the path of a key; write it as in transport.window_pdus or "
                         "ports[0].mac");
    }
    if (step.is_index) {
      if (at->kind != ConfigNode::Kind::kList || step.index >= at->items.size()) {
        const size_t count = at->kind == ConfigNode::Kind::kList ? at->items.size() : 0;
        return ConfigError(sources, place, path,
                           StrCat("no such entry: there are ", count,
                                  " of them; count from 0, and add entries in the file"));
      }
      at = &at->items[step.index];
    } else {
      if (at->kind == ConfigNode::Kind::kNull) at->kind = ConfigNode::Kind::kMap;
      if (at->kind != ConfigNode::Kind::kMap) {
        return ConfigError(sources, place, path,
                           StrCat("there are no keys at this place, so no ", Quoted(step.key),
                                  "; an entry of a list is written [0]"));
      }
      at = &MemberOf(*at, step.key, place);
    }
  }
  *at = *std::move(value);
  return absl::OkStatus();
}

}  // namespace suede
