// SPDX-License-Identifier: Apache-2.0
// suede-fare: follows peers' routes and sets the weights of planes, until SIGTERM or SIGINT.
#include <gflags/gflags.h>

#include <cstdio>
#include <string>

#include "base/text.h"
#include "config/config_fields.h"
#include "daemon/command_line.h"
#include "daemon/logger.h"
#include "daemon/signals.h"
#include "daemon/version.h"
#include "fare_config.h"
#include "fare_flags.h"
#include "follower.h"

#define SUEDE_DEFINE_FLAG(type, name, fallback, value, sentence) \
  DEFINE_##type(name, fallback, sentence);
SUEDE_FARE_FLAGS(SUEDE_DEFINE_FLAG)
#undef SUEDE_DEFINE_FLAG

namespace suede {
namespace {

absl::StatusOr<FareConfig> ReadFareConfig() {
  auto overrides = ReadOverrides(FLAGS_config, FLAGS_set, FareConfigKeys());
  if (!overrides.ok()) return overrides.status();
  return LoadFareConfig(FLAGS_config, *overrides);
}

int Follow(const FareConfig& config) {
  const int signals = TakeSignals();
  Logger log(config.log);
  log(EalLogLevel::kInfo, "fare",
      StrCat("starting version=", kVersion, " commit=", kRevision, " config=", FLAGS_config));
  return fare::Follower(config, {.once = FLAGS_once, .keep_weights = FLAGS_keep_weights}, signals,
                        log)
      .Run();
}

int Run() {
  const absl::StatusOr<FareConfig> config = ReadFareConfig();
  if (!config.ok()) {
    std::fprintf(stderr, "suede-fare: %s\n", std::string(config.status().message()).c_str());
    return kExitUsage;
  }
  if (FLAGS_dump_config) {
    std::fputs(DumpFareConfig(*config).c_str(), stdout);
    return kExitDone;
  }
  if (FLAGS_check_config) {
    std::printf("%s: good\n", FLAGS_config.c_str());
    return kExitDone;
  }
  return Follow(*config);
}

}  // namespace
}  // namespace suede

int main(int argc, char** argv) {
  const suede::CommandLine line = suede::ParseCommandLine(suede::kFareProgram, argc, argv);
  if (line.exit_code >= 0) return line.exit_code;
  if (!line.eal_arguments.empty()) {
    std::fputs("suede-fare: no arguments are permitted after --; see suede-fare --help\n", stderr);
    return suede::kExitUsage;
  }
  return suede::Run();
}
