// SPDX-License-Identifier: Apache-2.0
#include "daemon/command_line.h"

#include <gflags/gflags.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <optional>
#include <string_view>
#include <utility>

#include "base/text.h"
#include "daemon/version.h"

namespace suede {
namespace {

void PrintUsage(const Program& program) {
  std::string text =
      StrCat(program.name, ": ", program.title, "\n\nusage: ", program.synopsis, "\n\n");
  constexpr size_t kColumn = 24;
  for (const FlagRow& row : program.flags) {
    std::string left = StrCat("  --", row.name, row.value.empty() ? "" : " ", row.value);
    left.resize(std::max(left.size() + 1, kColumn), ' ');
    StrAppend(&text, left, row.sentence, "\n");
  }
  StrAppend(&text, "\n", program.signals, "\nExit codes:");
  const char* separator = " ";
  for (const ExitCodeRow& row : program.exit_codes) {
    StrAppend(&text, separator, row.code, " ", row.sentence);
    separator = ", ";
  }
  std::puts(StrCat(text, ".").c_str());
}

// Whether gflags knows the argument. `takes_next`: its value is the next argument.
bool IsKnown(std::string_view argument, bool* takes_next) {
  const std::string_view name = argument.substr(0, argument.find('='));
  const size_t dashes = name.find_first_not_of('-');
  if (dashes != 1 && dashes != 2) return false;
  const std::string flag(name.substr(dashes));
  gflags::CommandLineFlagInfo info;
  const bool known =
      gflags::GetCommandLineFlagInfo(flag.c_str(), &info) ||
      (flag.starts_with("no") && gflags::GetCommandLineFlagInfo(flag.c_str() + 2, &info));
  *takes_next = info.type != "bool" && argument.find('=') == std::string_view::npos;
  return known;
}

// Returns the value (key=value) of argument `i`, if that is a --set.
std::optional<std::string_view> ValueOfSet(int count, char** argv, int i) {
  std::string_view argument = argv[i];
  argument.remove_prefix(argument.starts_with("--") ? 2 : 1);
  constexpr std::string_view kName = "set";
  if (!argument.starts_with(kName)) return std::nullopt;
  argument.remove_prefix(kName.size());
  if (argument.starts_with('=')) return argument.substr(1);
  if (!argument.empty() || i + 1 == count) return std::nullopt;
  return argv[i + 1];
}

// Handles --help and --version. Returns whether the argument was one of them.
bool AnswersQuestion(const Program& program, std::string_view argument,
                     const std::string& libraries) {
  if (argument == "-h" || argument == "-help" || argument == "--help") {
    PrintUsage(program);
    return true;
  }
  if (argument == "-version" || argument == "--version") {
    std::printf("%s %s (%s)%s%s\n", std::string(program.name).c_str(), kVersion, kRevision,
                libraries.empty() ? "" : " ", libraries.c_str());
    return true;
  }
  return false;
}

}  // namespace

CommandLine ParseCommandLine(const Program& program, int argc, char** argv,
                             const std::string& libraries) {
  CommandLine result;
  int own = 1;
  while (own < argc && std::strcmp(argv[own], "--") != 0) ++own;
  if (own < argc) result.eal_arguments.assign(argv + own + 1, argv + argc);
  std::string overrides;  // values of all --set: gflags keeps only the last
  for (int i = 1; i < own; ++i) {
    if (AnswersQuestion(program, argv[i], libraries)) {
      result.exit_code = kExitDone;
      return result;
    }
    bool takes_next = false;
    if (!IsKnown(argv[i], &takes_next)) {
      const std::string name(program.name);
      std::fprintf(stderr, "%s: unknown argument '%s'; see %s --help\n", name.c_str(), argv[i],
                   name.c_str());
      result.exit_code = kExitUsage;
      return result;
    }
    if (const std::optional<std::string_view> value = ValueOfSet(own, argv, i)) {
      StrAppend(&overrides, overrides.empty() ? "" : ";", *value);
    }
    if (takes_next) ++i;
  }
  gflags::ParseCommandLineFlags(&own, &argv, true);
  gflags::SetCommandLineOption("set", overrides.c_str());
  return result;
}

absl::StatusOr<std::vector<ConfigOverride>> ReadOverrides(std::string_view config,
                                                          std::string_view set,
                                                          const std::vector<ConfigKey>& keys) {
  if (config.empty()) {
    return absl::InvalidArgumentError("no configuration; give one with --config FILE");
  }
  absl::StatusOr<std::vector<ConfigOverride>> overrides = OverridesFromEnvironment(environ, keys);
  if (!overrides.ok()) return overrides.status();
  for (size_t start = 0; start < set.size();) {
    const size_t end = std::min(set.find(';', start), set.size());
    absl::StatusOr<ConfigOverride> one = OverrideFromFlag(set.substr(start, end - start));
    if (!one.ok()) return one.status();
    overrides->push_back(*std::move(one));
    start = end + 1;
  }
  return overrides;
}

}  // namespace suede
