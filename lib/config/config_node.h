// SPDX-License-Identifier: Apache-2.0
// A YAML document as a tree with the place of each node, and the application of overrides.
#ifndef SUEDE_CONFIG_CONFIG_NODE_H_
#define SUEDE_CONFIG_CONFIG_NODE_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "config/config.h"

namespace suede {

inline constexpr size_t kMaxConfigBytes = 2u << 20;
inline constexpr uint32_t kMaxConfigDepth = 16;

// Place of a node: in the file (`source` 0), or in the override `source` - 1.
struct ConfigLocation {
  uint32_t source = 0;
  uint32_t line = 1;
  uint32_t column = 1;
};

struct ConfigMember;

struct ConfigNode {
  enum class Kind : uint8_t { kNull, kScalar, kList, kMap };
  Kind kind = Kind::kNull;
  bool quoted = false;
  ConfigLocation place;
  std::string text;                   // of a scalar
  std::vector<ConfigNode> items;      // of a list
  std::vector<ConfigMember> members;  // of a map, in the order of the file, duplicates included
};

struct ConfigMember {
  std::string key;
  ConfigLocation place;
  ConfigNode value;
};

// Sources to which places refer.
struct ConfigSources {
  std::string file;
  std::vector<std::string> overrides;
  // Returns "FILE:LINE:COLUMN", or the override's place.
  std::string Describe(const ConfigLocation& place) const;
};

// Returns the error "PLACE: PATH: PROBLEM; MEND"; `problem` holds the last two.
absl::Status ConfigError(const ConfigSources& sources, const ConfigLocation& place,
                         std::string_view path, std::string_view problem);

// Parses the single document of `text`. The places of its nodes get `source`.
absl::StatusOr<ConfigNode> ParseConfigNode(std::string_view text, const ConfigSources& sources,
                                           uint32_t source);

// Applies override number `source` - 1 to `root`.
absl::Status ApplyOverride(const ConfigOverride& override_, const ConfigSources& sources,
                           uint32_t source, ConfigNode& root);

// Returns a user's text for a message: quoted, escaped, shortened.
std::string Quoted(std::string_view text);

}  // namespace suede

#endif  // SUEDE_CONFIG_CONFIG_NODE_H_
