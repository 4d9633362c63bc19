// SPDX-License-Identifier: Apache-2.0
#include "config/config_references.h"

#include <vector>

#include "base/text.h"

namespace suede {

bool ConfigReferences::FindPort(const ConfigNode& item, const std::string& path,
                                const std::string& name, uint32_t& index) const {
  std::vector<std::string_view> names;
  for (const PortConfig& port : config_.ports) {
    if (port.name == name) {
      index = static_cast<uint32_t>(names.size());
      return true;
    }
    names.push_back(port.name);
  }
  return reader_.Fail(
      *ConfigReader::Find(item, "port"), path + ".port",
      StrCat("no port is called ", Quoted(name), "; the ports are ", StrJoin(names, ", ")));
}

bool ConfigReferences::FindLcore(const ConfigNode& item, const std::string& path,
                                 const std::optional<uint32_t>& cpu, uint32_t& index) const {
  index = 0;
  if (!cpu) return true;
  std::vector<uint32_t> cpus;
  for (const LcoreConfig& lcore : config_.lcores) {
    if (lcore.cpu == *cpu) return true;
    cpus.push_back(lcore.cpu);
    ++index;
  }
  return reader_.Fail(
      *ConfigReader::Find(item, "lcore"), path + ".lcore",
      StrCat("no lcore is on CPU ", *cpu, "; the lcores' CPUs are ", StrJoin(cpus, ", ")));
}

}  // namespace suede
