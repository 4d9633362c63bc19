// suede: the daemon. Serves XPU clients of one configuration until SIGTERM or SIGINT.
#include <gflags/gflags.h>
#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "control/config.h"
#include "endpoint/client_service.h"
#include "endpoint/endpoint.h"
#include "endpoint/logger.h"
#include "endpoint/management.h"
#include "endpoint/version.h"

DEFINE_string(config, "", "the configuration file (docs/configuration.md)");
DEFINE_bool(check, false, "check the configuration and exit: 0 where it is good, 2 where not");
DEFINE_bool(dump_config, false, "print the effective configuration and exit");
DEFINE_string(set, "", "overrides: key=value, several separated by ';' (transport.window_pdus=64)");
DEFINE_double(drain_seconds, 2, "how long a drain may take on SIGTERM or SIGINT");
DECLARE_bool(help);
DECLARE_bool(version);

extern char** environ;

namespace suede {
namespace {

constexpr int kExitDone = 0;
constexpr int kExitFailure = 1;
constexpr int kExitUsage = 2;
constexpr int kExitPreflight = 5;

void PrintUsage() {
  std::puts(
      "suede: SUE data-plane endpoint\n"
      "\n"
      "usage: suede --config FILE [--set KEY=VALUE;...] [--check | --dump_config] [-- EAL arguments]\n"
      "\n"
      "  --config FILE         the configuration (docs/configuration.md, conf/)\n"
      "  --set KEY=VALUE;...   overrides keys of it; SUEDE_<KEY> in the environment does so too\n"
      "  --check               checks the configuration and exits\n"
      "  --dump_config         prints the effective configuration and exits\n"
      "  --drain_seconds S     how long SIGTERM waits for what is in flight (default 2)\n"
      "  --version, --help\n"
      "\n"
      "SIGTERM and SIGINT drain and exit; SIGUSR1 logs all counters.\n"
      "Exit codes: 0 done, 1 runtime failure, 2 usage or configuration, 5 preflight failed.");
}

// Our own parsing result of what gflags leaves to its callers: help to stdout, unknown flags as 2.
struct CommandLine {
  std::vector<std::string> eal_arguments;
  int exit_code = -1;  // not to go on
};

CommandLine ParseCommandLine(int argc, char** argv) {
  CommandLine result;
  int own = argc;
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--") != 0) continue;
    own = i;
    result.eal_arguments.assign(argv + i + 1, argv + argc);
    break;
  }
  for (int i = 1; i < own; ++i) {
    std::string_view argument = argv[i];
    if (argument == "-h") argument = "--help";
    const std::string_view name = argument.substr(0, argument.find('='));
    const size_t dashes = name.find_first_not_of('-');
    gflags::CommandLineFlagInfo info;
    std::string flag(dashes == std::string_view::npos ? "" : name.substr(dashes));
    if (flag == "help") {
      PrintUsage();
      result.exit_code = kExitDone;
      return result;
    }
    if (flag == "version") {
      std::printf("suede %s (%s) DPDK %s\n", kVersion, kRevision, DpdkVersion().c_str());
      result.exit_code = kExitDone;
      return result;
    }
    const bool known = dashes > 0 && dashes <= 2 &&
                       (gflags::GetCommandLineFlagInfo(flag.c_str(), &info) ||
                        (flag.rfind("no", 0) == 0 &&
                         gflags::GetCommandLineFlagInfo(flag.c_str() + 2, &info)));
    if (!known) {
      std::fprintf(stderr, "suede: unknown argument '%s'; see suede --help\n", argv[i]);
      result.exit_code = kExitUsage;
      return result;
    }
    if (info.type != "bool" && argument.find('=') == std::string_view::npos) ++i;
  }
  int count = own;
  gflags::ParseCommandLineFlags(&count, &argv, true);
  return result;
}

absl::StatusOr<Config> ReadConfig(std::vector<std::string>* warnings) {
  if (FLAGS_config.empty()) {
    return absl::InvalidArgumentError("no configuration; give one with --config FILE");
  }
  absl::StatusOr<std::vector<ConfigOverride>> overrides = OverridesFromEnvironment(environ);
  if (!overrides.ok()) return overrides.status();
  for (size_t start = 0; start < FLAGS_set.size();) {
    const size_t end = std::min(FLAGS_set.find(';', start), FLAGS_set.size());
    absl::StatusOr<ConfigOverride> one = OverrideFromFlag(FLAGS_set.substr(start, end - start));
    if (!one.ok()) return one.status();
    overrides->push_back(*std::move(one));
    start = end + 1;
  }
  return LoadConfig(FLAGS_config, MachineFacts::Here(), *overrides, warnings);
}

void LogCounters(const Endpoint& endpoint, const ClientService& clients, Logger& log) {
  std::string line = absl::StrCat("counters", FormatCounters(endpoint.Counters(), false));
#define SUEDE_LOG_SHM_COUNTER(id, name, sentence) \
  absl::StrAppend(&line, " ", name, "=", clients.server().counters().id);
  SUEDE_SHM_COUNTERS(SUEDE_LOG_SHM_COUNTER)
#undef SUEDE_LOG_SHM_COUNTER
  log(EalLogLevel::kInfo, "counters", line);
}

// Serves until a signal or a request asks to end, then drains. Returns the exit code.
int Serve(Endpoint& endpoint, ClientService& clients, Management& management, Logger& log,
          int signals) {
  using Clock = std::chrono::steady_clock;
  constexpr int kTickMs = 10;
  Clock::time_point drain_until = Clock::time_point::max();
  Clock::time_point next_tick = Clock::now();
  while (true) {
    pollfd fds[] = {{.fd = signals, .events = POLLIN, .revents = 0},
                    {.fd = clients.fd(), .events = POLLIN, .revents = 0},
                    {.fd = management.fd(), .events = POLLIN, .revents = 0}};
    if (poll(fds, std::size(fds), clients.busy() || management.captures() ? 1 : kTickMs) < 0 && errno != EINTR) {
      log(EalLogLevel::kError, "control", absl::StrCat("poll: ", std::strerror(errno)));
      return kExitFailure;
    }
    clients.Poll();
    management.Poll();
    management.DrainCaptures();
    if (Clock::now() >= next_tick) {
      endpoint.Tick();
      next_tick = Clock::now() + std::chrono::milliseconds(kTickMs);
    }
    signalfd_siginfo signal;
    while (read(signals, &signal, sizeof signal) == static_cast<ssize_t>(sizeof signal)) {
      if (signal.ssi_signo == SIGUSR1) {
        LogCounters(endpoint, clients, log);
      } else if (!management.drains()) {
        log(EalLogLevel::kInfo, "control", absl::StrCat("ending signal=", signal.ssi_signo));
        management.BeginDrain();
      } else {
        drain_until = Clock::now();  // a second signal: at once
      }
    }
    if (!management.drains()) continue;
    if (drain_until == Clock::time_point::max()) {
      log(EalLogLevel::kInfo, "control", absl::StrCat("draining seconds=", FLAGS_drain_seconds));
      drain_until = Clock::now() + std::chrono::milliseconds(
                                       static_cast<int64_t>(FLAGS_drain_seconds * 1000));
      clients.BeginDrain();
    }
    if (clients.Drained()) break;
    if (Clock::now() >= drain_until) {
      log(EalLogLevel::kWarning, "control", "drain incomplete: not everything was acknowledged");
      break;
    }
  }
  LogCounters(endpoint, clients, log);
  return kExitDone;
}

std::string Text(const absl::Status& status) { return std::string(status.message()); }

int ExitCode(const absl::Status& status) {
  return status.code() == absl::StatusCode::kInvalidArgument ? kExitUsage : kExitPreflight;
}

int Run(const std::vector<std::string>& eal_arguments) {
  std::vector<std::string> warnings;
  absl::StatusOr<Config> config = ReadConfig(&warnings);
  if (!config.ok()) {
    std::fprintf(stderr, "suede: %s\n", Text(config.status()).c_str());
    return kExitUsage;
  }
  for (const std::string& warning : warnings) std::fprintf(stderr, "suede: %s\n", warning.c_str());
  if (FLAGS_dump_config) {
    std::fputs(DumpConfig(*config).c_str(), stdout);
    return kExitDone;
  }
  if (FLAGS_check) {
    std::printf("%s: good\n", FLAGS_config.c_str());
    return kExitDone;
  }
  config->eal.args.insert(config->eal.args.end(), eal_arguments.begin(), eal_arguments.end());

  // Threads started from here on inherit this: signals come to the control thread alone.
  sigset_t set;
  sigemptyset(&set);
  for (const int number : {SIGTERM, SIGINT, SIGUSR1}) sigaddset(&set, number);
  sigprocmask(SIG_BLOCK, &set, nullptr);
  signal(SIGPIPE, SIG_IGN);
  const int signals = signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);

  Logger log(config->log);
  auto write = [&log](EalLogLevel level, std::string_view component, std::string_view line) {
    log(level, component, line);
  };
  absl::StatusOr<std::unique_ptr<Endpoint>> endpoint = Endpoint::Create(*config, write);
  if (!endpoint.ok()) {
    log(EalLogLevel::kError, "endpoint", Text(endpoint.status()));
    return ExitCode(endpoint.status());
  }
  absl::StatusOr<std::unique_ptr<ClientService>> clients =
      ClientService::Create(endpoint->get(), kVersion, write);
  if (!clients.ok()) {
    log(EalLogLevel::kError, "clients", Text(clients.status()));
    return kExitPreflight;
  }
  absl::StatusOr<std::unique_ptr<Management>> management =
      Management::Create(endpoint->get(), clients->get(), &log);
  if (!management.ok()) {
    log(EalLogLevel::kError, "management", Text(management.status()));
    return kExitPreflight;
  }
  if (absl::Status status = (*endpoint)->Start(); !status.ok()) {
    log(EalLogLevel::kError, "lcore", Text(status));
    return kExitPreflight;
  }
  log(EalLogLevel::kInfo, "suede",
      absl::StrCat("ready name=", config->name, " socket=", config->clients.socket,
                   " management=", config->management.socket,
                   " instances=", config->instances.size(), " peers=", config->peers.size()));
  const int code = Serve(**endpoint, **clients, **management, log, signals);
  (*endpoint)->Stop();
  log(EalLogLevel::kInfo, "suede", "ended");
  return code;
}

}  // namespace
}  // namespace suede

int main(int argc, char** argv) {
  const suede::CommandLine line = suede::ParseCommandLine(argc, argv);
  if (line.exit_code >= 0) return line.exit_code;
  return suede::Run(line.eal_arguments);
}
