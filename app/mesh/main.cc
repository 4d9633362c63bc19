// SPDX-License-Identifier: Apache-2.0
// suede-mesh: checks, shows and plans systems of meshes.
#include <gflags/gflags.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/text.h"
#include "commands.h"
#include "daemon/command_line.h"
#include "mesh/discovery.h"
#include "mesh_flags.h"
#include "plan.h"
#include "specification.h"
#include "table_file.h"
#include "validate.h"

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

std::string TextOf(const absl::Status& status) { return std::string(status.message()); }

int Print(const Report& report) {
  std::fputs(report.text.c_str(), stdout);
  return report.good ? kExitDone : kExitNotAccepted;
}

// Returns the values of a flag with several.
std::vector<std::string> ValuesOf(const std::string& flag) {
  std::vector<std::string> values;
  if (flag.empty()) return values;
  for (const std::string_view value : Split(flag, kMeshListSeparator)) values.emplace_back(value);
  return values;
}

// Returns the tables of each plane: generated, but for those of the files of a flag.
absl::StatusOr<std::vector<Tables>> TablesOf(const MeshSystem& system, const std::string& flag) {
  std::vector<Tables> tables = system.GenerateTables();
  uint32_t plane = FLAGS_plane;
  for (const std::string& file : ValuesOf(flag)) {
    if (plane >= system.planes.size()) {
      return absl::InvalidArgumentError(
          StrCat("no plane for ", file, "; give --tables one file for each plane from --plane on"));
    }
    const absl::StatusOr<std::string> text = ReadConfigFile(file);
    if (!text.ok()) return text.status();
    const absl::Status read = ReadTables(*text, file, system.planes[plane].topology, tables[plane]);
    if (!read.ok()) return read;
    ++plane;
  }
  return tables;
}

// Writes the configurations to --out, or prints them.
int Plan(const MeshSystem& system, const std::vector<Tables>& tables, std::string_view source) {
  if (const Report report = CheckTables(system, tables, tables); !report.good) {
    std::fputs(report.text.c_str(), stderr);
    Refuse("cannot plan with these tables");
    return kExitNotAccepted;
  }
  const absl::StatusOr<std::vector<HostPlan>> plans = PlanHosts(system, tables,
                                                                {.source = std::string(source),
                                                                 .device = FLAGS_device,
                                                                 .sockets = FLAGS_sockets,
                                                                 .lcores = FLAGS_lcores});
  if (!plans.ok()) return Refuse(TextOf(plans.status()));
  if (FLAGS_out.empty()) {
    for (const HostPlan& plan : *plans) {
      if (&plan != &plans->front()) std::puts("---");
      std::fputs(plan.text.c_str(), stdout);
    }
    return kExitDone;
  }
  std::error_code error;
  std::filesystem::create_directories(FLAGS_out, error);
  for (const HostPlan& plan : *plans) {
    const std::string path = StrCat(FLAGS_out, "/", plan.host, ".yaml");
    std::ofstream file(path);
    if (file << plan.text << std::flush) continue;
    Refuse(StrCat("cannot write ", path, "; give a directory with --out that you may write to"));
    return kExitFailure;
  }
  return kExitDone;
}

// Returns the cables of files.
absl::StatusOr<std::vector<HostCables>> ReadFiles(
    const std::string& flag,
    absl::StatusOr<HostCables> (*parse)(std::string_view text, std::string_view file)) {
  std::vector<HostCables> hosts;
  for (const std::string& file : ValuesOf(flag)) {
    const absl::StatusOr<std::string> text = ReadConfigFile(file);
    if (!text.ok()) return text.status();
    absl::StatusOr<HostCables> host = parse(*text, file);
    if (!host.ok()) return host.status();
    hosts.push_back(*std::move(host));
  }
  return hosts;
}

int Validate(const MeshSystem& system) {
  absl::StatusOr<std::vector<HostCables>> planned = ReadFiles(FLAGS_planned, ParsePlanned);
  if (!planned.ok()) return Refuse(TextOf(planned.status()));
  absl::StatusOr<std::vector<HostCables>> discovered = ReadFiles(FLAGS_discovered, ParseDiscovered);
  if (!discovered.ok()) return Refuse(TextOf(discovered.status()));
  for (const std::string& endpoint : ValuesOf(FLAGS_endpoint)) {
    absl::StatusOr<HostCables> host = QueryDaemon(endpoint);
    if (!host.ok()) {
      Refuse(TextOf(host.status()));
      return kExitFailure;
    }
    discovered->push_back(*std::move(host));
  }
  if (planned->empty() && discovered->empty()) {
    return Refuse("no cables to validate; give --endpoint, --discovered or --planned");
  }
  const absl::StatusOr<Report> report =
      ValidateHosts(system, SpecificationOf(system),
                    {.planned = *std::move(planned), .discovered = *std::move(discovered)});
  return report.ok() ? Print(*report) : Refuse(TextOf(report.status()));
}

// `arguments`: of the command: the specification's file, then the devices of trace.
int Execute(std::string_view command, const MeshSystem& system,
            const std::vector<std::string_view>& arguments) {
  if (FLAGS_plane >= system.planes.size()) {
    return Refuse(
        StrCat("no plane ", FLAGS_plane, "; give --plane 0 to ", system.planes.size() - 1));
  }
  const absl::StatusOr<std::vector<Tables>> tables = TablesOf(system, FLAGS_tables);
  if (!tables.ok()) return Refuse(TextOf(tables.status()));
  const Tables& of_plane = (*tables)[FLAGS_plane];
  if (command == "plan") return Plan(system, *tables, arguments[0]);
  if (command == "validate") return Validate(system);
  if (command == "check" || command == "show") {
    std::printf("specification: %s\n", SpecificationText(SpecificationOf(system)).c_str());
  }
  if (command == "check") {
    const absl::StatusOr<std::vector<Tables>> running = TablesOf(system, FLAGS_running);
    if (!running.ok()) return Refuse(TextOf(running.status()));
    return Print(CheckTables(system, *tables, *running));
  }
  if (command == "show") return Print({.text = ShowSystem(system)});
  const Topology& topology = system.planes[FLAGS_plane].topology;
  if (command == "cables") return Print({.text = ListCables(topology)});
  if (command == "tables") return Print({.text = WriteTables(topology, of_plane)});
  std::vector<Device> devices;
  for (size_t i = 1; i < arguments.size(); ++i) {
    const std::optional<Device> device = ParseDevice(arguments[i]);
    if (!device || !topology.Has(*device)) {
      return Refuse(StrCat("no device ", arguments[i], "; write one as in M0D4"));
    }
    devices.push_back(*device);
  }
  return Print(TraceRoute(system, of_plane, devices[0], devices[1]));
}

int Run(const std::vector<std::string_view>& words) {
  const std::string_view command = words.empty() ? "" : words[0];
  const bool is_trace = command == "trace";
  constexpr std::string_view kOfFile[] = {"check", "show", "cables", "tables", "plan", "validate"};
  const bool is_known =
      is_trace || std::find(std::begin(kOfFile), std::end(kOfFile), command) != std::end(kOfFile);
  if (!is_known || words.size() != (is_trace ? 4 : 2)) {
    return Refuse(StrCat("cannot read the command; write ", kMeshProgram.synopsis));
  }
  const absl::StatusOr<MeshSystem> system = LoadSystem(std::string(words[1]));
  if (!system.ok()) return Refuse(TextOf(system.status()));
  return Execute(command, *system, {words.begin() + 1, words.end()});
}

// Joins the values of each flag that has several. nullopt: a flag has none.
std::optional<std::vector<std::string>> JoinLists(const std::vector<std::string>& flags) {
  std::vector<std::string> joined;
  std::map<std::string, std::vector<std::string>> lists;
  for (size_t i = 0; i < flags.size(); ++i) {
    const size_t equals = flags[i].find('=');
    const std::string name = flags[i].substr(0, equals);
    if (std::find(std::begin(kMeshListFlags), std::end(kMeshListFlags), name) ==
        std::end(kMeshListFlags)) {
      joined.push_back(flags[i]);
      continue;
    }
    std::vector<std::string>& values = lists[name];
    if (equals != std::string::npos) values.push_back(flags[i].substr(equals + 1));
    while (i + 1 < flags.size() && !flags[i + 1].starts_with('-')) values.push_back(flags[++i]);
    if (values.empty()) {
      Refuse(StrCat("no value for ", name, "; write one behind it"));
      return std::nullopt;
    }
  }
  for (const auto& [name, values] : lists) {
    joined.push_back(StrCat(name, "=", StrJoin(values, std::string(1, kMeshListSeparator))));
  }
  return joined;
}

}  // namespace
}  // namespace suede::mesh

int main(int argc, char** argv) {
  // The words of the command come before the flags, which gflags reads.
  char** const flags =
      std::find_if(argv + 1, argv + argc, [](const char* word) { return word[0] == '-'; });
  const std::vector<std::string_view> words(argv + 1, flags);
  std::optional<std::vector<std::string>> joined = suede::mesh::JoinLists({flags, argv + argc});
  if (!joined) return suede::kExitUsage;
  std::vector<char*> others = {argv[0]};
  for (std::string& flag : *joined) others.push_back(flag.data());
  const auto count = static_cast<int>(others.size());
  others.push_back(nullptr);
  const suede::CommandLine line =
      suede::ParseCommandLine(suede::kMeshProgram, count, others.data());
  if (line.exit_code >= 0) return line.exit_code;
  return suede::mesh::Run(words);
}
