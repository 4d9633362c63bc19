// SPDX-License-Identifier: Apache-2.0
#include "table_file.h"

#include <set>
#include <utility>

#include "base/text.h"
#include "config/config_key.h"
#include "config/config_reader.h"
#include "mesh/table_text.h"

namespace suede {
namespace mesh {
namespace {

struct TableFileRoot {
  uint32_t version = 1;
};
struct TableEntry {
  std::string device;
};

}  // namespace
}  // namespace mesh

namespace {

using config_key::Key;
constexpr ConfigField<mesh::TableFileRoot> kTableFileRoot[] = {
    Key<&mesh::TableFileRoot::version>("version", "", config_key::Between(1, 1),
                                       "Version of the file's format.", config_key::kRequired),
};
constexpr ConfigField<mesh::TableEntry> kTableEntry[] = {
    Key<&mesh::TableEntry::device>("device", "", {.min = 4, .max = 10}, "The device, as in M0D4.",
                                   config_key::kRequired),
};

}  // namespace

SUEDE_CONFIG_SECTION(mesh::TableFileRoot, kTableFileRoot)
SUEDE_CONFIG_SECTION(mesh::TableEntry, kTableEntry)

namespace mesh {
namespace {

class TableReader {
 public:
  TableReader(ConfigDraft& draft, const Topology& topology, Tables& tables)
      : reader_(draft), topology_(topology), tables_(tables) {}

  absl::Status Read(const ConfigNode& root) {
    TableFileRoot file;
    if (!reader_.CheckVersion(root) || !reader_.ReadFields(root, "", {"tables"}, file)) {
      return reader_.status();
    }
    size_t i = 0;
    for (const ConfigNode& item : reader_.Items(root, "", "tables", 1, topology_.device_count())) {
      if (!ReadTable(item, Entry("tables", i++))) break;
    }
    return reader_.status();
  }

 private:
  bool ReadTable(const ConfigNode& node, const std::string& path) {
    TableEntry entry;
    if (!reader_.ReadFields(node, path, {"devices", "meshes"}, entry)) return false;
    const ConfigNode& name = *reader_.Find(node, "device");
    const std::optional<Device> device = ParseDevice(entry.device);
    if (!device || !topology_.Has(*device)) {
      return reader_.Fail(name, path + ".device",
                          StrCat("no device ", Quoted(entry.device), "; write one as in M0D4"));
    }
    if (!seen_.insert(topology_.IndexOf(*device)).second) {
      return reader_.Fail(name, path + ".device",
                          StrCat(entry.device, " has a table already; remove one"));
    }
    RoutingTable& table = tables_[topology_.IndexOf(*device)];
    table.to_devices = PortTable();
    table.to_meshes = PortTable();
    return ReadPorts(node, path, "devices", topology_.DevicesOf(device->mesh), device->device,
                     table.to_devices) &&
           ReadPorts(node, path, "meshes", topology_.mesh_count(), device->mesh, table.to_meshes);
  }

  // Reads a list of `count` entries, where entry `own` is the device or the mesh itself.
  bool ReadPorts(const ConfigNode& node, const std::string& path, std::string_view key,
                 size_t count, size_t own, PortTable& ports) {
    const std::span<const ConfigNode> items = reader_.Items(node, path, key, 1, count);
    const std::string list = ConfigReader::Join(path, key);
    if (!reader_.ok()) return false;
    if (items.size() != count) {
      return reader_.Fail(*reader_.Find(node, key), list,
                          StrCat(items.size(), " entries; write ", count));
    }
    std::vector<std::string> entries;
    for (const ConfigNode& item : items) entries.push_back(item.text);
    const std::optional<EntryProblem> problem =
        ReadEntries(entries, static_cast<uint32_t>(own), ports);
    if (problem) {
      return reader_.Fail(items[problem->entry], Entry(list, problem->entry), problem->text);
    }
    return true;
  }

  ConfigReader reader_;
  const Topology& topology_;
  Tables& tables_;
  std::set<uint32_t> seen_;  // devices that had a table
};

}  // namespace

absl::Status ReadTables(std::string_view text, std::string_view file, const Topology& topology,
                        Tables& tables) {
  ConfigDraft draft;
  const absl::StatusOr<ConfigNode> root = ParseTree(text, file, {}, draft);
  if (!root.ok()) return root.status();
  return TableReader(draft, topology, tables).Read(*root);
}

TableLists ListsOf(const Topology& topology, const RoutingTable& table) {
  const Device& own = table.own;
  return {.devices = EntriesText(table.to_devices, topology.DevicesOf(own.mesh), own.device),
          .meshes = EntriesText(table.to_meshes, topology.mesh_count(), own.mesh)};
}

std::string WriteTables(const Topology& topology, const Tables& tables) {
  std::string text = "version: 1\ntables:\n";
  for (const RoutingTable& table : tables) {
    const TableLists lists = ListsOf(topology, table);
    StrAppend(&text, "  - device: ", NameOf(table.own), "\n    devices: ", lists.devices,
              "\n    meshes: ", lists.meshes, "\n");
  }
  return text;
}

}  // namespace mesh
}  // namespace suede
