// SPDX-License-Identifier: Apache-2.0
// Methods of every daemon: version, effective configuration, log level, drain.
#include <unistd.h>

#include <iterator>

#include "mgmt/catalog.h"
#include "mgmt/daemon_view.h"
#include "mgmt/rpc.h"

namespace suede {
namespace {

constexpr std::string_view kLevels[] = {"debug", "info", "warning", "error"};
constexpr std::string_view kLevelChoices = "debug|info|warning|error";

constexpr Param kSetLevel[] = {
    Param::Choice("level", "Min severity that is logged.", kLevelChoices).Required(),
};

Answer Version(Call& call) {
  VersionView version = call.daemon.Version();
  version.protocol = kRpcProtocol;
  version.pid = getpid();
  return OutcomeOf(version);
}

Answer GetConfig(Call& call) { return Json{{"yaml", call.daemon.EffectiveConfig()}}; }

Json Level(DaemonView& daemon) {
  return Json{{"level", kLevels[static_cast<size_t>(daemon.LogLevel())]}};
}

Answer GetLogLevel(Call& call) { return Level(call.daemon); }

Answer SetLogLevel(Call& call) {
  for (size_t i = 0; i < std::size(kLevels); ++i) {
    if (call.arguments.Text("level") != kLevels[i]) continue;
    call.daemon.SetLogLevel(static_cast<LogLevelView>(i));
  }
  return Level(call.daemon);
}

Answer Drain(Call& call) { return Json{{"began", call.daemon.Drain()}}; }

constexpr Member kConfigResult[] = {
    Member::Text("yaml", "a text that loads to the same configuration")};
constexpr Member kLevelResult[] = {Member::Choice("level", kLevelChoices)};
constexpr Member kBeganResult[] = {Member::Boolean("began", "false: it was draining already")};

constexpr Method kGetLevel = {"log.get_level", "The least severity that is logged.", kLevelResult,
                              GetLogLevel};
constexpr Method kSetLevelMethod = {
    "log.set_level", "Sets the least severity that is logged, until the daemon ends.",
    kLevelResult,    SetLogLevel,
    kSetLevel,       /*changes=*/true};

constexpr Method kDaemonMethods[] = {
    {"version", "The version of suede, and how long it has run.", VersionView::kMembers, Version},
    {"config.get", "The effective configuration, as --dump_config prints it.", kConfigResult,
     GetConfig},
};
constexpr Method kLogMethods[] = {
    kGetLevel,
    kSetLevelMethod,
    {"drain",
     "Ends the daemon as SIGTERM does: PDUs in flight are delivered first.",
     kBeganResult,
     Drain,
     {},
     /*changes=*/true},
};

constexpr Method kSwitchLogMethods[] = {
    kGetLevel,
    kSetLevelMethod,
    {"drain", "Ends the switch as SIGTERM does.", kBeganResult, Drain, {}, /*changes=*/true},
};

}  // namespace

std::span<const Method> DaemonMethods() { return kDaemonMethods; }
std::span<const Method> LogMethods() { return kLogMethods; }
std::span<const Method> SwitchLogMethods() { return kSwitchLogMethods; }

}  // namespace suede
