#include "suedectl/daemon_command.h"

#include "mgmt/events.h"
#include "suedectl/top.h"
#include "suedectl/watch_command.h"

namespace suede::ctl {
namespace {

constexpr Param kTop[] = {
    Param::Integer("peers", "Connections that are shown, the busiest first.", 0, 1000, "20"),
};
constexpr Param kWatch[] = {
    Param::Integer("since", "From after this sequence on, not from now on; 0: all that is kept.", 0,
                   int64_t{1} << 53),
    Param::Choice("severity", "Least severity.", "info|warning|error", "info"),
    Param::Choice("kind", "Only those of this kind.", kEventNames.substr(1)),
    Param::Integer("count", "Ends after so many.", 1, 1'000'000'000),
};

constexpr DaemonCommand kDaemonCommands[] = {
    {{.name = "top",
      .sentence = "Rates of ports, instances, peers and lcores, and how planes are, again and again.",
      .params = kTop,
      .result_note =
          "with -j one object each time: name, uptime_s, seconds (that the rates are of), clients, "
          "connections, ports, instances, planes, lcores (busy: share of the time), peers, drops"},
     RunTop},
    {{.name = "watch.events",
      .sentence = "Prints events as they happen, until the daemon ends (exit code 4).",
      .params = kWatch,
      .result_note =
          "a line each; with -j one object each, and {\"lost\":N} where some are missing"},
     RunWatchEvents},
};

}  // namespace

std::span<const DaemonCommand> DaemonCommands() { return kDaemonCommands; }

}  // namespace suede::ctl
