// SPDX-License-Identifier: Apache-2.0
#include "serve.h"

#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <system_error>
#include <utility>
#include <vector>

#include "base/secrets.h"
#include "base/text.h"
#include "config/config_values.h"
#include "daemon/cpu_share.h"
#include "daemon/logger.h"
#include "daemon/notifier.h"
#include "daemon/program.h"
#include "daemon/signals.h"
#include "daemon/version.h"
#include "daemon/web_service.h"
#include "dpdk/lcores.h"
#include "switch/lldp_facts.h"
#include "switch/switch_lldp.h"
#include "switch/switch_management.h"
#include "switch/switch_node.h"
#include "switch/switch_observer.h"
#include "switch/switch_telemetry.h"

namespace suede {
namespace {

using Clock = std::chrono::steady_clock;
constexpr int kTickMs = 10;

template <class Rows, class Id>
void AppendNonZero(const Rows& rows, const SwitchCounters<Id>& counters, const std::string& prefix,
                   std::string& line) {
  for (size_t i = 0; i < rows.size(); ++i) {
    const uint64_t value = counters.Get(static_cast<Id>(i));
    if (value != 0) StrAppend(&line, " ", prefix, ".", rows[i].name, "=", value);
  }
}

// Appends the nonzero counters of ports as PORT.name, and of their classes as PORT.CLASS.name.
void AppendPorts(const SwitchNode& node, std::string& line) {
  const fabric::Switch& the_switch = node.the_switch();
  for (uint32_t p = 0; p < node.ports().size(); ++p) {
    const std::string& name = node.config().ports[p].name;
    AppendNonZero(SwitchPortRows(), the_switch.port(p).counters(), name, line);
    for (uint32_t c = 0; c < fabric::kClasses; ++c) {
      AppendNonZero(SwitchClassRows(), the_switch.port(p).counters(c), StrCat(name, ".", c), line);
    }
    const PortStats stats = node.ports()[p]->Stats();
#define SUEDE_APPEND_STAT(id, metric, sentence) \
  if (stats.id != 0) StrAppend(&line, " ", name, ".", metric, "=", stats.id);
    SUEDE_PORT_STATS(SUEDE_APPEND_STAT)
#undef SUEDE_APPEND_STAT
  }
}

// Returns the sums over all ports, and over all of their classes, then the counters of each.
std::string CountersLine(const SwitchNode& node, bool nonzero_only) {
  const fabric::Switch& the_switch = node.the_switch();
  std::string line = "counters";
  const auto ports = static_cast<uint32_t>(the_switch.params().ports.size());
  const auto append = [&](const CounterRow& row, const auto& sum_of) {
    uint64_t sum = 0;
    for (uint32_t p = 0; p < ports; ++p) sum += sum_of(p);
    if (!nonzero_only || sum != 0) StrAppend(&line, " ", row.name, "=", sum);
  };
  for (size_t i = 0; i < SwitchPortRows().size(); ++i) {
    append(SwitchPortRows()[i], [&](uint32_t p) {
      return the_switch.port(p).counters().Get(static_cast<SwitchPortCounter>(i));
    });
  }
  for (size_t i = 0; i < SwitchClassRows().size(); ++i) {
    append(SwitchClassRows()[i], [&](uint32_t p) {
      uint64_t sum = 0;
      for (uint32_t c = 0; c < fabric::kClasses; ++c) {
        sum += the_switch.port(p).counters(c).Get(static_cast<SwitchClassCounter>(i));
      }
      return sum;
    });
  }
  AppendPorts(node, line);
  return line;
}

struct Parts {
  SwitchNode& node;
  SwitchManagement& management;
  SwitchLldp& lldp;
  SwitchObserver& observer;
  Notifier& notifier;
  Logger& log;
  int signals;
};

class Loop {
 public:
  Loop(const Parts& parts, std::chrono::milliseconds drain)
      : s_(parts),
        drain_(drain),
        progress_(parts.node.lcore_count()),
        cpu_shares_(parts.node.lcore_count()) {}

  int Run() {
    while (true) {
      if (!Wait()) return kExitFailure;
      s_.management.Poll();
      s_.management.DrainCaptures();
      s_.observer.Tick();
      const Clock::time_point now = Clock::now();
      if (now >= next_tick_) Tick(now);
      TakeSignals();
      if (s_.management.drains() && Drained()) break;
    }
    LogCounters(true);
    return kExitDone;
  }

 private:
  bool Wait() {
    pollfd fds[] = {{.fd = s_.signals, .events = POLLIN, .revents = 0},
                    {.fd = s_.management.fd(), .events = POLLIN, .revents = 0}};
    const int wait_ms = s_.management.captures() ? 1 : kTickMs;
    if (poll(fds, std::size(fds), wait_ms) >= 0 || errno == EINTR) return true;
    s_.log(EalLogLevel::kError, "control", StrCat("poll: ", std::strerror(errno)));
    return false;
  }

  void Tick(Clock::time_point now) {
    next_tick_ = now + std::chrono::milliseconds(kTickMs);
    for (const auto& port : s_.node.ports()) port->RefreshLink();
    s_.management.FollowLinks();
    s_.lldp.Poll();
    for (uint32_t i = 0; i < progress_.size(); ++i) {
      progress_[i] = s_.node.cycles(i).all.Get();
      cpu_shares_[i].Check(s_.node.config().lcores[i], s_.node.clock().Now(), CpuTimeOn,
                           s_.management.Events());
    }
    if (const int stuck = s_.notifier.Beat(now, progress_); stuck >= 0) {
      s_.log(EalLogLevel::kError, "control",
             StrCat("lcore stalled: systemd watchdog not notified cpu=",
                    s_.node.config().lcores[static_cast<size_t>(stuck)].cpu));
    }
    if (!s_.management.drains()) s_.notifier.Status(s_.observer.StatusLine());
  }

  void TakeSignals() {
    signalfd_siginfo signal;
    while (read(s_.signals, &signal, sizeof signal) == static_cast<ssize_t>(sizeof signal)) {
      if (signal.ssi_signo == SIGUSR1) {
        LogCounters(false);
      } else if (!s_.management.drains()) {
        s_.log(EalLogLevel::kInfo, "control", StrCat("ending signal=", signal.ssi_signo));
        s_.management.BeginDrain();
      } else {
        drain_until_ = Clock::now();  // a second signal: end at once
      }
    }
  }
  void LogCounters(bool nonzero_only) {
    s_.log(EalLogLevel::kInfo, "counters", CountersLine(s_.node, nonzero_only));
    for (uint32_t i = 0; i < s_.node.lcore_count(); ++i) {
      const SwitchCycles& cycles = s_.node.cycles(i);
      s_.log(EalLogLevel::kInfo, "lcore",
             StrCat("cpu=", s_.node.config().lcores[i].cpu, " busy_cycles=", cycles.busy.Get(),
                    " cycles=", cycles.all.Get()));
    }
  }

  // Whether the frames inside have left since the drain request; the first call begins the drain.
  bool Drained() {
    constexpr uint32_t kZeroReadings =
        3;  // consecutive zero readings required: the number is not exact
    const Clock::time_point now = Clock::now();
    if (drain_until_ == Clock::time_point::max()) {
      s_.notifier.Stopping(drain_);
      s_.lldp.Shutdown();
      s_.node.BeginDrain();
      drain_until_ = now + drain_;
    }
    if (now >= next_check_) {
      next_check_ = now + std::chrono::milliseconds(2);
      empty_readings_ = s_.node.frames_inside() == 0 ? empty_readings_ + 1 : 0;
    }
    if (empty_readings_ == kZeroReadings) return true;
    if (now < drain_until_) return false;
    s_.log(EalLogLevel::kWarning, "control",
           StrCat("drain incomplete: frames=", s_.node.frames_inside()));
    return true;
  }

  const Parts& s_;
  const std::chrono::milliseconds drain_;
  Clock::time_point drain_until_ = Clock::time_point::max();
  Clock::time_point next_check_{};
  uint32_t empty_readings_ = 0;
  Clock::time_point next_tick_{};
  std::vector<uint64_t> progress_;
  std::vector<CpuShare> cpu_shares_;  // of each lcore
};

SwitchManagementOptions OptionsOf(SwitchNode& node, const std::string& file) {
  const SwitchConfig& config = node.config();
  SwitchManagementOptions options{
      .name = config.name(),
      .socket_path = config.management.socket,
      .socket_mode = static_cast<mode_t>(config.management.socket_mode),
      .max_clients = config.management.max_clients,
      .link =
          [&node](uint32_t port) {
            const LinkState link = node.ports()[port]->link();
            return SwitchLink{.up = link.up, .speed_bps = link.speed_bps};
          },
      .memif = [&node](uint32_t port) { return node.ports()[port]->memif(); },
      .find_port = [&node](std::string_view name, bool drops) -> TappedPort* {
        if (drops) return node.dropped_frames(name);
        for (const auto& port : node.ports()) {
          if (port->name() == name) return port.get();
        }
        return nullptr;
      },
      .effective_config = [&config] { return HideSecrets(DumpSwitchConfig(config)); },
      .check_config = [](std::string_view text,
                         std::string_view place) -> absl::StatusOr<ConfigCheckView> {
        const auto checked = ParseSwitchConfig(text, place, MachineFacts::Here());
        if (!checked.ok()) return checked.status();
        return ConfigCheckView{};
      }};
  std::error_code error;
  options.config_file = std::filesystem::absolute(file, error).string();
  for (const SwitchGroupConfig& group : config.groups) options.groups.push_back(group.name);
  for (uint32_t p = 0; p < config.ports.size(); ++p) {
    const DpdkPort& port = *node.ports()[p];
    options.ports.push_back({.name = port.name(),
                             .device = HideSecrets(config.ports[p].device),
                             .driver = port.driver(),
                             .mac = FormatMac(port.mac()),
                             .lcore = config.lcores[config.ports[p].lcore].cpu});
  }
  return options;
}

std::vector<SwitchLldp::PortFacts> LldpPortsOf(const SwitchNode& node,
                                               const SwitchManagement& management) {
  const SwitchConfig& config = node.config();
  const auto mac_of = [&](uint32_t p) {
    return config.ports[p].mac.value_or(node.ports()[p]->mac());
  };
  std::vector<SwitchLldp::PortFacts> ports;
  for (uint32_t p = 0; p < config.ports.size(); ++p) {
    if (node.lldp_tap(p) == nullptr) continue;
    const DpdkPort& port = *node.ports()[p];
    ports.push_back(
        {.number = p,
         .name = port.name(),
         .source = mac_of(p),
         .own = SwitchLldpFactsOf(config, node.the_switch().params(), p, mac_of(0), port.driver()),
         .tap = node.lldp_tap(p),
         .link_up = [&port, &management, p] { return port.link().up && management.port_up(p); }});
  }
  return ports;
}

std::string Text(const absl::Status& status) { return std::string(status.message()); }

int Fail(Logger& log, std::string_view component, const absl::Status& status) {
  log(EalLogLevel::kError, component, Text(status));
  return status.code() == absl::StatusCode::kInvalidArgument ? kExitUsage : kExitPreflight;
}

}  // namespace

int RunSwitch(const SwitchConfig& config, const std::string& file, double drain_seconds) {
  const int signals = TakeSignals();
  Logger log(config.log);
  const auto write = [&log](EalLogLevel level, std::string_view component, std::string_view line) {
    log(level, component, line);
  };
  auto node = SwitchNode::Create(config, write);
  if (!node.ok()) return Fail(log, "switch", node.status());
  auto management = SwitchManagement::Create(&(*node)->mailbox(), &(*node)->the_switch(), &log,
                                             OptionsOf(**node, file));
  if (!management.ok()) return Fail(log, "management", management.status());
  SwitchLldp lldp(
      &(*node)->mailbox(), &(*management)->Events(),
      [clock = &(*node)->clock()] { return clock->Now(); }, LldpPortsOf(**node, **management));
  (*management)->SetLldp(&lldp);
  SwitchObserver observer(&(*node)->mailbox(), &(*node)->the_switch(), management->get(),
                          config.lcores[0].cpu, (*node)->clock().cycles_per_second());
  std::vector<std::string> names;
  for (const auto& port : (*node)->ports()) names.push_back(port->name());
  Telemetry telemetry;
  if (absl::Status status =
          telemetry.Register(SwitchTelemetry(&observer, &(*node)->the_switch(), std::move(names),
                                             (*node)->clock().cycles_per_second()));
      !status.ok()) {
    log(EalLogLevel::kWarning, "telemetry", Text(status));
  }
  auto web =
      WebService::Start(config.management.http_address, &observer, observer.http_counters(), write);
  if (!web.ok()) return Fail(log, "web", web.status());
  (*management)->SetHttpAddress((*web)->address());
  if (absl::Status status = (*node)->Start(); !status.ok()) return Fail(log, "lcore", status);
  observer.SetStarted();
  log(EalLogLevel::kInfo, "switch",
      StrCat("ready name=", config.name(), " management=", config.management.socket,
             " ports=", config.ports.size(), " lcores=", config.lcores.size()));
  Notifier notifier((*node)->lcore_count());
  notifier.Ready(observer.StatusLine());
  const Parts parts{.node = **node,
                    .management = **management,
                    .lldp = lldp,
                    .observer = observer,
                    .notifier = notifier,
                    .log = log,
                    .signals = signals};
  const int code =
      Loop(parts, std::chrono::milliseconds(static_cast<int64_t>(drain_seconds * 1000))).Run();
  (*node)->Stop();
  log(EalLogLevel::kInfo, "switch", "ended");
  return code;
}

}  // namespace suede
