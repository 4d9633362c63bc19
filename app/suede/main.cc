// SPDX-License-Identifier: Apache-2.0
// suede: the daemon. Serves XPU clients of one configuration until SIGTERM or SIGINT.
#include <gflags/gflags.h>

#include <cstdio>
#include <filesystem>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "base/secrets.h"
#include "daemon.h"
#include "daemon/command_line.h"
#include "dpdk/eal.h"
#include "endpoint/daemon_flags.h"
#include "endpoint/management.h"
#include "endpoint/port_probe.h"
#include "endpoint/preflight.h"

#define SUEDE_DEFINE_FLAG(type, name, fallback, value, sentence) \
  DEFINE_##type(name, fallback, sentence);
SUEDE_FLAGS(SUEDE_DEFINE_FLAG)
#undef SUEDE_DEFINE_FLAG

namespace suede {
namespace {

// Returns the configuration given by flags and environment.
absl::StatusOr<Config> ReadConfig(std::vector<std::string>* warnings, ConfigOrigin* origin) {
  absl::StatusOr<std::vector<ConfigOverride>> overrides =
      ReadOverrides(FLAGS_config, FLAGS_set, ConfigKeys());
  if (!overrides.ok()) return overrides.status();
  std::error_code error;
  origin->file = std::filesystem::absolute(FLAGS_config, error).string();
  origin->overrides = *overrides;
  return LoadConfig(FLAGS_config, MachineFacts::Here(), *overrides, warnings);
}

std::string Text(const absl::Status& status) { return std::string(status.message()); }

// Prints the capabilities of the ports' devices. Returns the number of errors.
size_t CheckPorts(const Config& config) {
  const auto probed = ProbePorts(config);
  if (!probed.ok()) {
    std::printf("%s: error ports: %s\n", FLAGS_config.c_str(), Text(probed.status()).c_str());
    return 1;
  }
  for (const ProbedPort& port : *probed) {
    for (const std::string& warning : port.warnings) {
      std::printf("%s: warning ports: %s\n", FLAGS_config.c_str(), warning.c_str());
    }
    for (const DeviceCapability& one : port.capabilities) {
      std::printf("%s: port %s (%s): %s: %s; %s\n", FLAGS_config.c_str(), port.name.c_str(),
                  port.driver.c_str(), std::string(one.name).c_str(), one.value.c_str(),
                  one.consequence.c_str());
    }
  }
  return 0;
}

// Prints the findings of the preflight and, without errors, the capabilities of devices.
int Check(const Config& config) {
  size_t errors = 0;
  const std::vector<Finding> findings = PreflightOf(config);
  for (const Finding& finding : findings) {
    std::printf("%s: %s\n", FLAGS_config.c_str(), FormatFinding(finding).c_str());
    if (finding.severity == Finding::Severity::kError) ++errors;
  }
  if (errors == 0) errors = CheckPorts(config);
  if (errors == 0) {
    std::printf("%s: good\n", FLAGS_config.c_str());
    return kExitDone;
  }
  std::printf("%s: %zu error%s\n", FLAGS_config.c_str(), errors, errors == 1 ? "" : "s");
  return kExitPreflight;
}

int Run(const std::vector<std::string>& eal_arguments) {
  if (FLAGS_list_names) {
    std::fputs(EndpointNames().c_str(), stdout);
    return kExitDone;
  }
  std::vector<std::string> warnings;
  ConfigOrigin origin{.file = {}, .overrides = {}, .eal_arguments = eal_arguments.size()};
  absl::StatusOr<Config> config = ReadConfig(&warnings, &origin);
  if (!config.ok()) {
    std::fprintf(stderr, "suede: %s\n", Text(config.status()).c_str());
    return kExitUsage;
  }
  // Prints the warnings, which a running daemon logs instead, so that it never waits for a reader.
  if (FLAGS_dump_config || FLAGS_check || FLAGS_check_config) {
    for (const std::string& text : warnings) std::fprintf(stderr, "suede: %s\n", text.c_str());
  }
  if (FLAGS_dump_config) {
    std::fputs(HideSecrets(DumpConfig(*config)).c_str(), stdout);
    return kExitDone;
  }
  config->eal.args.insert(config->eal.args.end(), eal_arguments.begin(), eal_arguments.end());
  if (FLAGS_check) return Check(*config);
  if (FLAGS_check_config) {
    std::printf("%s: good\n", FLAGS_config.c_str());
    return kExitDone;
  }
  return RunDaemon(*config, {.origin = std::move(origin),
                             .warnings = std::move(warnings),
                             .drain_seconds = FLAGS_drain_seconds});
}

}  // namespace
}  // namespace suede

int main(int argc, char** argv) {
  const suede::CommandLine line =
      suede::ParseCommandLine(suede::kSuedeProgram, argc, argv, suede::DpdkVersion());
  if (line.exit_code >= 0) return line.exit_code;
  return suede::Run(line.eal_arguments);
}
