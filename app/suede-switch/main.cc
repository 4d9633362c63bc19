// SPDX-License-Identifier: Apache-2.0
// suede-switch: a switch between DPDK ports, until SIGTERM or SIGINT.
#include <gflags/gflags.h>

#include <cstdio>
#include <string>
#include <vector>

#include "base/secrets.h"
#include "config/config_fields.h"
#include "daemon/command_line.h"
#include "dpdk/eal.h"
#include "serve.h"
#include "switch/switch_flags.h"
#include "switch/switch_management.h"

#define SUEDE_DEFINE_FLAG(type, name, fallback, value, sentence) \
  DEFINE_##type(name, fallback, sentence);
SUEDE_SWITCH_FLAGS(SUEDE_DEFINE_FLAG)
#undef SUEDE_DEFINE_FLAG

namespace suede {
namespace {

absl::StatusOr<SwitchConfig> ReadSwitchConfig() {
  auto overrides = ReadOverrides(FLAGS_config, FLAGS_set, SwitchConfigKeys());
  if (!overrides.ok()) return overrides.status();
  return LoadSwitchConfig(FLAGS_config, MachineFacts::Here(), *overrides);
}

int Run(const std::vector<std::string>& eal_arguments) {
  if (FLAGS_list_names) {
    std::fputs(SwitchNames().c_str(), stdout);
    return kExitDone;
  }
  absl::StatusOr<SwitchConfig> config = ReadSwitchConfig();
  if (!config.ok()) {
    std::fprintf(stderr, "suede-switch: %s\n", std::string(config.status().message()).c_str());
    return kExitUsage;
  }
  if (FLAGS_dump_config) {
    std::fputs(HideSecrets(DumpSwitchConfig(*config)).c_str(), stdout);
    return kExitDone;
  }
  if (FLAGS_check_config) {
    std::printf("%s: good\n", FLAGS_config.c_str());
    return kExitDone;
  }
  config->eal.args.insert(config->eal.args.end(), eal_arguments.begin(), eal_arguments.end());
  return RunSwitch(*config, FLAGS_config, FLAGS_drain_seconds);
}

}  // namespace
}  // namespace suede

int main(int argc, char** argv) {
  const suede::CommandLine line =
      suede::ParseCommandLine(suede::kSwitchProgram, argc, argv, suede::DpdkVersion());
  if (line.exit_code >= 0) return line.exit_code;
  return suede::Run(line.eal_arguments);
}
