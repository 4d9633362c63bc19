// SPDX-License-Identifier: Apache-2.0
// Entries of lists that name entries of other lists, and the lists of a mesh that do.
#ifndef SUEDE_CONFIG_CONFIG_REFERENCES_H_
#define SUEDE_CONFIG_CONFIG_REFERENCES_H_

#include <cstdint>
#include <optional>
#include <string>

#include "config/config_reader.h"

namespace suede {

// Ports and lcores that keys `port` and `lcore` name. The functions return false after an error.
class ConfigReferences {
 public:
  // `config`: its ports and lcores have been read. Both arguments outlive this object.
  ConfigReferences(ConfigReader& reader, const Config& config) : reader_(reader), config_(config) {}

  // Sets `index` to that of the port that the entry `item` at `path` names.
  bool FindPort(const ConfigNode& item, const std::string& path, const std::string& name,
                uint32_t& index) const;
  // Sets `index` to that of the lcore on `cpu`; nullopt: the first.
  bool FindLcore(const ConfigNode& item, const std::string& path,
                 const std::optional<uint32_t>& cpu, uint32_t& index) const;

 private:
  ConfigReader& reader_;
  const Config& config_;
};

// Read the lists of a mesh (docs/mesh.md). Return false after an error.
bool ReadDevices(ConfigReader& reader, const ConfigReferences& references, const ConfigNode& root,
                 Config& config);
bool ReadCables(ConfigReader& reader, const ConfigReferences& references, const ConfigNode& root,
                Config& config);

}  // namespace suede

#endif  // SUEDE_CONFIG_CONFIG_REFERENCES_H_
