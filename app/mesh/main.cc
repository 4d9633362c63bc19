// SPDX-License-Identifier: Apache-2.0
// suede-mesh: checks and shows systems of meshes.
#include <gflags/gflags.h>

#include <algorithm>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include "base/text.h"
#include "commands.h"
#include "daemon/command_line.h"
#include "mesh_flags.h"
#include "table_file.h"

#define SUEDE_DEFINE_FLAG(type, name, fallback, value, sentence) \
  DEFINE_##type(name, fallback, sentence);
SUEDE_MESH_FLAGS(SUEDE_DEFINE_FLAG)
#undef SUEDE_DEFINE_FLAG

namespace suede::mesh {
namespace {

int Refuse(std::string_view reason) {
  std::fprintf(stderr, "suede-mesh: %s\n", std::string(reason).c_str());
  return kExitUsage;
}

int Print(const Report& report) {
  std::fputs(report.text.c_str(), stdout);
  return report.good ? kExitDone : kExitNotAccepted;
}

// Returns the tables of each plane: generated, but for those of --tables.
absl::StatusOr<std::vector<Tables>> TablesOf(const MeshSystem& system) {
  std::vector<Tables> tables;
  for (uint32_t plane = 0; plane < system.planes.size(); ++plane) {
    tables.push_back(system.GenerateTables(PlaneIndex(plane)));
  }
  if (FLAGS_tables.empty()) return tables;
  const absl::StatusOr<std::string> text = ReadConfigFile(FLAGS_tables);
  if (!text.ok()) return text.status();
  const absl::Status read =
      ReadTables(*text, FLAGS_tables, system.planes[FLAGS_plane].topology, tables[FLAGS_plane]);
  if (!read.ok()) return read;
  return tables;
}

// `ends`: the devices of trace.
int Execute(std::string_view command, const MeshSystem& system,
            const std::vector<std::string_view>& ends) {
  if (FLAGS_plane >= system.planes.size()) {
    return Refuse(
        StrCat("no plane ", FLAGS_plane, "; give --plane 0 to ", system.planes.size() - 1));
  }
  const absl::StatusOr<std::vector<Tables>> tables = TablesOf(system);
  if (!tables.ok()) return Refuse(std::string(tables.status().message()));
  const Tables& of_plane = (*tables)[FLAGS_plane];
  if (command == "check") return Print(CheckTables(system, *tables));
  if (command == "show") return Print({.text = ShowSystem(system)});
  const Topology& topology = system.planes[FLAGS_plane].topology;
  if (command == "cables") return Print({.text = ListCables(topology)});
  if (command == "tables") return Print({.text = WriteTables(topology, of_plane)});
  std::vector<Device> devices;
  for (const std::string_view end : ends) {
    const std::optional<Device> device = ParseDevice(end);
    if (!device || !topology.Has(*device)) {
      return Refuse(StrCat("no device ", end, "; write one as in M0D4"));
    }
    devices.push_back(*device);
  }
  return Print(TraceRoute(system, of_plane, devices[0], devices[1]));
}

int Run(const std::vector<std::string_view>& words) {
  const std::string_view command = words.empty() ? "" : words[0];
  const bool is_trace = command == "trace";
  constexpr std::string_view kOfFile[] = {"check", "show", "cables", "tables"};
  const bool is_known =
      is_trace || std::find(std::begin(kOfFile), std::end(kOfFile), command) != std::end(kOfFile);
  if (!is_known || words.size() != (is_trace ? 4 : 2)) {
    return Refuse(StrCat("cannot read the command; write ", kMeshProgram.synopsis));
  }
  const absl::StatusOr<MeshSystem> system = LoadSystem(std::string(words[1]));
  if (!system.ok()) return Refuse(std::string(system.status().message()));
  return Execute(command, *system, {words.begin() + 2, words.end()});
}

}  // namespace
}  // namespace suede::mesh

int main(int argc, char** argv) {
  // The words of the command come before the flags, which gflags reads.
  char** const flags =
      std::find_if(argv + 1, argv + argc, [](const char* word) { return word[0] == '-'; });
  const std::vector<std::string_view> words(argv + 1, flags);
  std::vector<char*> others = {argv[0]};
  others.insert(others.end(), flags, argv + argc);
  const auto count = static_cast<int>(others.size());
  others.push_back(nullptr);
  const suede::CommandLine line =
      suede::ParseCommandLine(suede::kMeshProgram, count, others.data());
  if (line.exit_code >= 0) return line.exit_code;
  return suede::mesh::Run(words);
}
