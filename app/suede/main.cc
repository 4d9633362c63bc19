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

// Prints the findings of the preflight.
int Check(const Config& config) {
  size_t errors = 0;
  const std::vector<Finding> findings = PreflightOf(config);
  for (const Finding& finding : findings) {
    std::printf("%s: %s\n", FLAGS_config.c_str(), FormatFinding(finding).c_str());
    if (finding.severity == Finding::Severity::kError) ++errors;
  }
  if (errors == 0) {
    std::printf("%s: good\n", FLAGS_config.c_str());
    return kExitDone;
  }
  std::printf("%s: %zu errors\n", FLAGS_config.c_str(), errors);
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
  if (FLAGS_check) return Check(*config);
  if (FLAGS_check_config) {
    std::printf("%s: good\n", FLAGS_config.c_str());
    return kExitDone;
  }
  config->eal.args.insert(config->eal.args.end(), eal_arguments.begin(), eal_arguments.end());
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
