// SPDX-License-Identifier: Apache-2.0
#include "validate.h"

#include <optional>
#include <utility>

#include "base/numbers.h"
#include "base/text.h"
#include "config/config_reader.h"
#include "mesh/discovery.h"
#include "mgmt/json.h"
#include "suedectl/daemon.h"

namespace suede::mesh {
namespace {

constexpr uint32_t kMaxAnnouncedPlane = 15;
constexpr std::string_view kNoEnd = " is no end of a cable; write one as in M0D4P2";

// ---- Discovered cables.

class DiscoveredReader {
 public:
  explicit DiscoveredReader(std::string_view name) { host_.name = std::string(name); }

  absl::StatusOr<HostCables> Read(const Json& result) {
    const Json* const cables = Find(result, "cables");
    if (cables == nullptr || !cables->is_array()) return Fault("cables", "is no list");
    for (size_t i = 0; i < cables->size(); ++i) {
      if (absl::Status s = ReadCable((*cables)[i], Entry("cables", i)); !s.ok()) return s;
    }
    return std::move(host_);
  }

 private:
  static constexpr std::string_view kNoHash = "is no text of 12 hexadecimal digits";

  absl::Status Fault(std::string_view path, std::string_view problem) const {
    return absl::InvalidArgumentError(
        StrCat(host_.name, ": ", path, " ", problem, "; give the result of cables.list"));
  }

  static const Json* Find(const Json& object, const char* key) {
    if (!object.is_object()) return nullptr;
    const auto at = object.find(key);
    return at == object.end() || at->is_null() ? nullptr : &*at;
  }

  static bool ReadSpecification(const Json& object, const char* key, uint64_t& specification) {
    const Json* const value = Find(object, key);
    if (value == nullptr) return true;
    if (!value->is_string()) return false;
    std::string_view digits = value->get_ref<const std::string&>();
    if (digits.starts_with("0x")) digits.remove_prefix(2);
    const auto number = ParseNumber(digits, kMaxSpecification, 16);
    specification = number.value_or(0);
    return number.has_value();
  }
  static bool ReadEnd(const Json& object, const char* key, DevicePort& end) {
    const Json* const value = Find(object, key);
    if (value == nullptr || !value->is_string()) return false;
    const auto parsed = ParseDevicePort(value->get_ref<const std::string&>());
    end = parsed.value_or(DevicePort());
    return parsed.has_value();
  }
  static bool ReadPlane(const Json& object, const char* key, uint32_t max, PlaneIndex& plane) {
    const Json* const value = Find(object, key);
    if (value == nullptr || !value->is_number_unsigned()) return false;
    const auto number = value->get<uint64_t>();
    if (number > max) return false;
    plane = PlaneIndex(static_cast<uint32_t>(number));
    return true;
  }

  absl::Status ReadCable(const Json& cable, const std::string& path) {
    ObservedEnd from;
    DevicePort to;
    if (!ReadEnd(cable, "from", from.end)) return Fault(path + ".from", "is no end of a cable");
    if (!ReadEnd(cable, "to", to)) return Fault(path + ".to", "is no end of a cable");
    if (!ReadPlane(cable, "plane", kMaxPlanes - 1, from.plane)) {
      return Fault(path + ".plane", "is no plane");
    }
    if (!ReadSpecification(cable, "specification", host_.specification)) {
      return Fault(path + ".specification", kNoHash);
    }
    const Json* const state = Find(cable, "state");
    if (state == nullptr || !state->is_string()) return Fault(path + ".state", "is no text");
    from.state = *state;
    if (absl::Status s = ReadNeighbour(cable, path, from); !s.ok()) return s;
    host_.ends.push_back(std::move(from));
    return absl::OkStatus();
  }

  // A neighbour may announce any place; one that no system has is part of the state.
  absl::Status ReadNeighbour(const Json& cable, const std::string& path, ObservedEnd& from) {
    const Json* const name = Find(cable, "neighbour");
    if (name == nullptr) return absl::OkStatus();
    if (!name->is_string()) return Fault(path + ".neighbour", "is no text");
    ObservedEnd::Neighbour read;
    if (!ReadPlane(cable, "neighbour_plane", kMaxAnnouncedPlane, read.plane)) {
      return Fault(path + ".neighbour_plane", "is no plane");
    }
    if (!ReadSpecification(cable, "neighbour_specification", read.specification)) {
      return Fault(path + ".neighbour_specification", kNoHash);
    }
    if (ReadEnd(cable, "neighbour", read.end)) {
      from.neighbour = read;
    } else {
      from.state = StrCat("sees ", name->get_ref<const std::string&>());
    }
    return absl::OkStatus();
  }

  HostCables host_;
};

// ---- Planned cables.

class PlannedReader {
 public:
  PlannedReader(const ConfigSources& sources, std::string_view file) : sources_(sources) {
    host_.name = std::string(file);
  }

  absl::StatusOr<HostCables> Read(const ConfigNode& root) {
    if (const ConfigNode* mesh = ConfigReader::Find(root, "mesh")) {
      if (const ConfigNode* hash = ConfigReader::Find(*mesh, "specification")) {
        if (absl::Status s = ReadSpecification(*hash); !s.ok()) return s;
      }
    }
    if (const ConfigNode* devices = ConfigReader::Find(root, "devices")) {
      for (size_t i = 0; i < devices->items.size(); ++i) {
        const std::string path = Entry("devices", i) + ".device";
        const ConfigNode& name = ValueOf(devices->items[i], "device");
        const std::optional<Device> device = ParseDevice(name.text);
        if (!device) return Fault(name, path, " is no device; write one as in M0D4");
        host_.devices.push_back(*device);
      }
    }
    if (const ConfigNode* cables = ConfigReader::Find(root, "cables")) {
      for (size_t i = 0; i < cables->items.size(); ++i) {
        if (absl::Status s = ReadCable(cables->items[i], Entry("cables", i)); !s.ok()) return s;
      }
    }
    return std::move(host_);
  }

 private:
  absl::Status Fault(const ConfigNode& node, const std::string& path,
                     std::string_view problem) const {
    return ConfigError(sources_, node.place, path, StrCat(Quoted(node.text), problem));
  }

  // Returns the value of a key, or the section.
  static const ConfigNode& ValueOf(const ConfigNode& section, std::string_view key) {
    const ConfigNode* const value = ConfigReader::Find(section, key);
    return value == nullptr ? section : *value;
  }

  absl::Status ReadSpecification(const ConfigNode& node) {
    std::string_view digits = node.text;
    const bool is_hex = digits.starts_with("0x");
    if (is_hex) digits.remove_prefix(2);
    const auto number = ParseNumber(digits, kMaxSpecification, is_hex ? 16 : 10);
    if (!number) {
      return Fault(node, "mesh.specification", " is no hash; write one as suede-mesh check does");
    }
    host_.specification = *number;
    return absl::OkStatus();
  }

  absl::Status ReadCable(const ConfigNode& cable, const std::string& path) {
    const ConfigNode &from = ValueOf(cable, "from"), &to = ValueOf(cable, "to");
    const std::optional<DevicePort> near = ParseDevicePort(from.text);
    const std::optional<DevicePort> far = ParseDevicePort(to.text);
    if (!near) return Fault(from, path + ".from", kNoEnd);
    if (!far) return Fault(to, path + ".to", kNoEnd);
    uint32_t plane = 0;
    if (const ConfigNode* node = ConfigReader::Find(cable, "plane")) {
      const auto number = ParseNumber<uint32_t>(node->text, kMaxPlanes - 1);
      if (!number) return Fault(*node, path + ".plane", " is no plane; write 0 to 3");
      plane = *number;
    }
    AddEnd(*near, *far, PlaneIndex(plane));
    if (ConfigReader::Find(cable, "port") == nullptr) AddEnd(*far, *near, PlaneIndex(plane));
    return absl::OkStatus();
  }

  void AddEnd(const DevicePort& end, const DevicePort& far, PlaneIndex plane) {
    host_.ends.push_back({.end = end,
                          .plane = plane,
                          .state = "",
                          .neighbour = ObservedEnd::Neighbour{.end = far, .plane = plane}});
  }

  const ConfigSources& sources_;
  HostCables host_;
};

std::vector<DeclaredCable> DeclaredOf(const MeshSystem& system) {
  std::vector<DeclaredCable> declared;
  for (uint32_t plane = 0; plane < system.planes.size(); ++plane) {
    for (const Cable& cable : system.planes[plane].topology.cables()) {
      declared.push_back({.a = cable.a, .b = cable.b, .plane = PlaneIndex(plane)});
    }
  }
  return declared;
}

}  // namespace

absl::StatusOr<HostCables> QueryDaemon(const std::string& endpoint) {
  const bool is_path = endpoint.find('/') != std::string::npos;
  absl::StatusOr<ctl::Daemon> daemon =
      ctl::Daemon::Connect(is_path ? std::vector{endpoint} : ctl::Daemon::PathsOf(endpoint), 10,
                           "start it, or name another with --endpoint");
  const absl::StatusOr<Json> result =
      daemon.ok() ? daemon->Call("cables.list", ForeignJson::object()) : daemon.status();
  if (result.ok()) return DiscoveredReader(endpoint).Read(*result);
  return absl::Status(result.status().code(), StrCat("cannot list the cables of ", endpoint, ": ",
                                                     result.status().message()));
}

absl::StatusOr<HostCables> ParseDiscovered(std::string_view text, std::string_view file) {
  const std::optional<Json> result = TryParse<Json>(text);
  if (!result) {
    return absl::InvalidArgumentError(
        StrCat(file, ": no JSON; give a file with the result of cables.list"));
  }
  return DiscoveredReader(file).Read(*result);
}

absl::StatusOr<HostCables> ParsePlanned(std::string_view text, std::string_view file) {
  ConfigDraft draft;
  const absl::StatusOr<ConfigNode> root = ParseTree(text, file, {}, draft);
  if (!root.ok()) return root.status();
  return PlannedReader(draft.sources, file).Read(*root);
}

absl::StatusOr<Report> ValidateHosts(const MeshSystem& system, uint64_t specification,
                                     const Hosts& hosts) {
  const std::vector<DeclaredCable> declared = DeclaredOf(system);
  Report report;
  for (const auto& [list, prefix] :
       {std::pair(&hosts.planned, "planned: "), std::pair(&hosts.discovered, "")}) {
    if (list->empty()) continue;
    const absl::StatusOr<Validation> result = ValidateCables(declared, specification, *list);
    if (!result.ok()) return result.status();
    for (const CableDefect& defect : result->defects) {
      StrAppend(&report.text, prefix, defect.text, "\n");
      report.good = false;
    }
    StrAppend(&report.text, prefix, result->good, " of ", declared.size(), " cables are good");
    if (result->unobserved > 0) {
      StrAppend(&report.text, ", ", result->unobserved, " are of other hosts");
    }
    report.text += "\n";
  }
  return report;
}

}  // namespace suede::mesh
