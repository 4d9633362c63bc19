// SPDX-License-Identifier: Apache-2.0
// Reads the lists of a mesh: devices with their routing tables, and cables.
#include <vector>

#include "base/text.h"
#include "config/config_references.h"
#include "mesh/table_text.h"

namespace suede {
namespace {

constexpr size_t kMaxDevices = 1024;
constexpr size_t kMaxCables = kMaxDevices * mesh::kMaxPorts;

class DeviceReader {
 public:
  DeviceReader(ConfigReader& reader, const ConfigReferences& references)
      : reader_(reader), references_(references) {}

  bool Read(const ConfigNode& item, const std::string& path, DeviceConfig& device) {
    DeviceEntry entry;
    if (!reader_.ReadFields(item, path, {"tables"}, entry) ||
        !references_.FindLcore(item, path, entry.lcore, device.lcore)) {
      return false;
    }
    const std::optional<mesh::Device> named = mesh::ParseDevice(entry.device);
    if (!named) {
      return reader_.Fail(*ConfigReader::Find(item, "device"), path + ".device",
                          StrCat(Quoted(entry.device), " is no device; write one as in M0D4"));
    }
    device.device = *named;
    size_t plane = 0;
    for (const ConfigNode& table : reader_.Items(item, path, "tables", 1, mesh::kMaxPlanes)) {
      const std::string table_path = Entry(path + ".tables", plane);
      DeviceTable& to = device.tables.emplace_back();
      to.routes.own = *named;
      to.routes.plane = PlaneIndex(plane++);
      if (!ReadTable(table, table_path, to)) return false;
    }
    return reader_.ok();
  }

 private:
  bool ReadTable(const ConfigNode& node, const std::string& path, DeviceTable& table) {
    TableEntry entry;
    if (!reader_.ReadFields(node, path, {}, entry)) return false;
    const mesh::Device own = table.routes.own;
    table.devices = static_cast<uint32_t>(entry.devices.size());
    table.meshes = static_cast<uint32_t>(entry.meshes.size());
    return ReadPart(node, path, "devices", entry.devices, own.device, table.routes.to_devices) &&
           ReadPart(node, path, "meshes", entry.meshes, own.mesh, table.routes.to_meshes);
  }

  bool ReadPart(const ConfigNode& node, const std::string& path, std::string_view key,
                const std::vector<std::string>& entries, uint32_t own, mesh::PortTable& ports) {
    const std::string list = ConfigReader::Join(path, key);
    const ConfigNode& items = *ConfigReader::Find(node, key);
    if (own >= entries.size()) {
      return reader_.Fail(items, list,
                          StrCat(entries.size(), " entries; the own one, D, is number ", own));
    }
    const std::optional<mesh::EntryProblem> problem = mesh::ReadEntries(entries, own, ports);
    return !problem || reader_.Fail(items, Entry(list, problem->entry), problem->text);
  }

  ConfigReader& reader_;
  const ConfigReferences& references_;
};

}  // namespace

bool ReadDevices(ConfigReader& reader, const ConfigReferences& references, const ConfigNode& root,
                 Config& config) {
  DeviceReader devices(reader, references);
  for (const ConfigNode& item : reader.Items(root, "", "devices", 0, kMaxDevices)) {
    const std::string path = Entry("devices", config.devices.size());
    if (!devices.Read(item, path, config.devices.emplace_back())) return false;
  }
  return reader.ok();
}

bool ReadCables(ConfigReader& reader, const ConfigReferences& references, const ConfigNode& root,
                Config& config) {
  for (const ConfigNode& item : reader.Items(root, "", "cables", 0, kMaxCables)) {
    const std::string path = Entry("cables", config.cables.size());
    CableConfig& cable = config.cables.emplace_back();
    CableEntry entry;
    if (!reader.ReadFields(item, path, {}, entry)) return false;
    const auto read_end = [&](std::string_view key, const std::string& text,
                              mesh::DevicePort& end) {
      const std::optional<mesh::DevicePort> named = mesh::ParseDevicePort(text);
      if (named) end = *named;
      return named ||
             reader.Fail(*ConfigReader::Find(item, key), ConfigReader::Join(path, key),
                         StrCat(Quoted(text), " is no port of a device; write one as in M0D4P2"));
    };
    if (!read_end("from", entry.from, cable.from) || !read_end("to", entry.to, cable.to)) {
      return false;
    }
    cable.plane = PlaneIndex(entry.plane);
    if (!entry.port) continue;
    if (!references.FindPort(item, path, *entry.port, cable.port.emplace())) return false;
  }
  return reader.ok();
}

}  // namespace suede
