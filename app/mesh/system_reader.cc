// SPDX-License-Identifier: Apache-2.0
// Reads a tree into a system specification.
#include <algorithm>
#include <utility>

#include "base/numbers.h"
#include "base/text.h"
#include "config/config_reader.h"
#include "system.h"

namespace suede::mesh {
namespace {

constexpr size_t kMaxKinds = 64;  // of chips, of boards
constexpr size_t kMaxCables = 16384;
constexpr std::string_view kSides = "NESW";

class SystemReader {
 public:
  SystemReader(ConfigDraft& draft, SystemSpec& spec) : reader_(draft), spec_(spec) {}

  absl::Status Read(const ConfigNode& root) {
    // Evaluation stops at the first failure.
    reader_.CheckVersion(root) &&
        reader_.ReadFields(root, "", {"chips", "boards", "meshes", "graph", "transit"},
                           spec_.root) &&
        reader_.ReadList(root, "", "chips", 1, kMaxKinds, spec_.chips) &&
        reader_.ReadList(root, "", "boards", 1, kMaxKinds, spec_.boards) && ReadMeshes(root) &&
        ReadGraph(root) && reader_.ReadList(root, "", "transit", 0, kMaxCables, spec_.transit);
    return reader_.status();
  }

 private:
  bool ReadMeshes(const ConfigNode& root) {
    size_t i = 0;
    for (const ConfigNode& item : reader_.Items(root, "", "meshes", 1, kMaxMeshes)) {
      const std::string path = Entry("meshes", i++);
      MeshSpec& mesh = spec_.meshes.emplace_back();
      if (!reader_.ReadFields(item, path, {"hosts"}, mesh)) return false;
      if (!ReadHosts(item, path, mesh.hosts)) return false;
    }
    return reader_.ok();
  }

  bool ReadHosts(const ConfigNode& mesh, const std::string& path,
                 std::vector<std::vector<std::string>>& hosts) {
    for (const ConfigNode& row : reader_.Items(mesh, path, "hosts", 0, kMaxMeshDevices)) {
      if (row.kind != ConfigNode::Kind::kList) {
        return reader_.Fail(row, path + ".hosts",
                            "a row of boards is a list; write it as in [[host0], [host1]]");
      }
      std::vector<std::string>& names = hosts.emplace_back();
      for (const ConfigNode& name : row.items) names.push_back(name.text);
    }
    if (hosts.size() == 1 && hosts[0].empty()) hosts.clear();  // [[ ]]
    return reader_.ok();
  }

  bool ReadGraph(const ConfigNode& root) {
    size_t i = 0;
    for (const ConfigNode& item : reader_.Items(root, "", "graph", 0, kMaxCables)) {
      const std::string path = Entry("graph", i++);
      GraphCable& cable = spec_.graph.emplace_back();
      if (item.kind != ConfigNode::Kind::kList || item.items.size() != 2) {
        return reader_.Fail(item, path, "a cable has two ends; write it as in [{0, S1}, {4, N4}]");
      }
      if (!ReadEnd(item.items[0], path, cable.a) || !ReadEnd(item.items[1], path, cable.b)) {
        return false;
      }
    }
    return reader_.ok();
  }

  // Reads {MESH, SIDE PORT}, which YAML reads as a map of two keys without values.
  bool ReadEnd(const ConfigNode& node, const std::string& path, GraphEnd& end) {
    const bool has_values = std::any_of(
        node.members.begin(), node.members.end(),
        [](const ConfigMember& member) { return member.value.kind != ConfigNode::Kind::kNull; });
    if (node.members.size() == 2 && !has_values) {
      const std::string_view first = node.members[0].key, second = node.members[1].key;
      const auto mesh = ParseNumber<uint32_t>(first, kMaxMeshes - 1);
      const bool has_side = !second.empty() && kSides.find(second[0]) != std::string_view::npos;
      const auto port =
          has_side ? ParseNumber<uint32_t>(second.substr(1)) : std::optional<uint32_t>();
      if (mesh && port) {
        end = {.mesh = *mesh, .side = second[0], .port = *port};
        return true;
      }
    }
    return reader_.Fail(node, path,
                        "an end is a mesh, a side (N, E, S or W) and a port along the side; write "
                        "it as in {4, N12}");
  }

  ConfigReader reader_;
  SystemSpec& spec_;
};

}  // namespace

std::string NameOf(const GraphEnd& end) {
  return StrCat("{", end.mesh, ", ", std::string(1, end.side), end.port, "}");
}

absl::Status ReadSystem(const ConfigNode& root, ConfigDraft& draft, SystemSpec& spec) {
  return SystemReader(draft, spec).Read(root);
}

absl::StatusOr<MeshSystem> ParseSystem(std::string_view text, std::string_view file) {
  ConfigDraft draft;
  const absl::StatusOr<ConfigNode> root = ParseTree(text, file, {}, draft);
  if (!root.ok()) return root.status();
  SystemSpec spec;
  if (absl::Status s = ReadSystem(*root, draft, spec); !s.ok()) return s;
  return BuildSystem(draft, std::move(spec));
}

absl::StatusOr<MeshSystem> LoadSystem(const std::string& path) {
  const absl::StatusOr<std::string> text = ReadConfigFile(path);
  if (!text.ok()) return text.status();
  return ParseSystem(*text, path);
}

}  // namespace suede::mesh
