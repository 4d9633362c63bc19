// SPDX-License-Identifier: Apache-2.0
#include "mgmt/events.h"
#include "suedectl/daemon_command.h"
#include "suedectl/path_command.h"
#include "suedectl/ping_command.h"
#include "suedectl/record_command.h"
#include "suedectl/top.h"
#include "suedectl/trace_command.h"
#include "suedectl/watch_command.h"
#include "suedectl/why_command.h"

namespace suede::ctl {
namespace {

constexpr Param kTop[] = {
    Param::Integer("peers", "Connections that are shown.", 0, 1000, "20"),
    Param::Choice("sort", "Order of the connections, the largest first, or by the peer's XPU.",
                  kTopSortChoices, "load"),
    Param::Text("filter", "Only rows with this text, as NAME=VALUE.", 64),
    Param::Integer("plane", "Only this plane. Without it, all.", 0, 3),
};
constexpr Param kWatch[] = {
    Param::Integer("since", "From after this sequence on, not from now on; 0: all that is kept.", 0,
                   int64_t{1} << 53),
    Param::Choice("severity", "Min severity.", "info|warning|error", "info"),
    Param::Choice("kind", "Only events of this kind.", kSwitchEventNames.substr(1)),
    Param::Integer("count", "Ends after so many.", 1, 1'000'000'000),
};

constexpr Param kPath[] = {
    Param::Integer("peer", "XPU of the peer.", 0, 1023).Required(),
    Param::Integer("xpu", "Own XPU. Without it, the first that has the peer.", 0, 1023),
    Param::Integer("instance", "Own instance number, likewise.", 0, 63),
    Param::Integer("plane", "Number of the plane. Without it, all that lead to the peer.", 0, 3),
    Param::Integer("class", "VC whose class is probed; 4: PDUs without commands. Without it, all.",
                   0, 4),
    Param::Integer("count", "Small probes of each class.", 8, 1024, "200"),
    Param::Integer("seconds", "Max time for each plane.", 1, 60, "10"),
    Param::Boolean("disruptive", "Also bursts of full frames, which disturb other traffic."),
    Param::Text("with",
                "Management sockets of further endpoints, SOCKET[@XPU] with commas between: "
                "senders of bursts, and whether they receive others' frames.",
                4096),
    Param::Text("capture", "File for a capture of the own port.", 4096),
};

constexpr Param kPing[] = {
    Param::Integer("peer", "XPU of the peer.", 0, 1023).Required(),
    Param::Integer("count", "Number of requests; 0: until interrupted.", 0, 1'000'000'000, "4"),
    Param::Text("interval", "Seconds from one question to the next, 0.1 to 3600; 1 if not given.",
                16),
    Param::Integer("xpu", "Own XPU. Without it, the first that has the peer.", 0, 1023),
    Param::Integer("instance", "Own instance number, likewise.", 0, 63),
    Param::Integer("plane", "Number of the plane. Without it, all that lead to the peer.", 0, 3),
    Param::Integer("timeout_ms", "How long to wait for an answer.", 1, 1000, "1000"),
};

constexpr Param kRecord[] = {
    Param::Text("interval", "Time between samples, 100us to 10s; 1ms if not given.", 16),
    Param::Text("duration", "Ends after this time, as in 10s. Without it, when interrupted.", 16),
    Param::Text("output", "File that is written. Without it, standard output.", 4096),
};

constexpr Param kTraceShow[] = {
    Param::Integer("xpu", "Own XPU. Without it, all.", 0, 1023),
    Param::Integer("instance", "Own instance number, likewise.", 0, 63),
    Param::Text("with", "Management socket of the peer's endpoint, whose rows are joined.", 4096),
};

constexpr Param kWhy[] = {
    Param::Integer("peer", "XPU of the peer. Without it, all.", 0, 1023).Positional(),
    Param::Integer("xpu", "Own XPU. Without it, all.", 0, 1023),
    Param::Integer("instance", "Own instance number, likewise.", 0, 63),
    Param::Integer("samples", "Number of samples.", 1, 100'000, "50"),
    Param::Integer("interval_ms", "Time between them.", 1, 10'000, "20"),
    Param::Text("with", "Management socket of the peer's endpoint, whose readers are shown, too.",
                4096),
};

constexpr DaemonCommand kDaemonCommands[] = {
    {{.name = "path",
      .sentence =
          "Probes how the switches between here and a peer treat each class: lengths, loss, "
          "delay, marks, paths (exit code 4: no answer; 1: a check failed; docs/path.md).",
      .params = kPath,
      .result_note = "tables of each plane, then checks that failed with cause and remedy; with -j "
                     "one object: xpu, instance, peer, verdict, planes, findings"},
     RunPath},
    {{.name = "ping",
      .sentence = "Asks a peer whether it is there, and how soon it answers (exit code 4: it does "
                  "not; 1: it answers, and its settings do not agree).",
      .params = kPing,
      .result_note = "a line for each question and plane, then a summary; with -j the object of "
                     "peers.ping each time, then asked, answered, rtt_min_us, rtt_avg_us, "
                     "rtt_max_us"},
     RunPing},
    {{.name = "record",
      .sentence =
          "Samples the load by plane and VC: bytes, PDUs, queues, rings, credit, pauses, ECN "
          "marks (docs/record.md).",
      .params = kRecord,
      .result_note =
          "CSV: the names of the columns, then the rows of each sample; a line from # on "
          "where samples are missing"},
     RunRecord},
    {{.name = "top",
      .sentence =
          "Rates of ports, instances, peers and lcores, and states of planes, again and again; on "
          "a terminal with keys.",
      .params = kTop,
      .result_note =
          "with -j one object each time: name, uptime_s, seconds (of the rates), clients, "
          "connections, ports, instances, planes, lcores (busy: share of the time), peers, drops"},
     RunTop},
    {{.name = "trace.show",
      .sentence = "Shows the PDUs of a trace (trace add): when each of them was queued, staged, "
                  "sent and acknowledged, or received, delivered and read (docs/trace.md).",
      .params = kTraceShow,
      .result_note = "tables of sent and received PDUs; with -j one object: rows (as of "
                     "trace.list), far_rows, ways"},
     RunTraceShow},
    {{.name = "watch.events",
      .sentence = "Prints events as they happen, until the daemon ends (exit code 4).",
      .params = kWatch,
      .result_note =
          "a line each; with -j one object each, and {\"lost\":N} where some are missing"},
     RunWatchEvents,
     /*of_switch=*/true},
    {{.name = "why",
      .sentence = "Samples where commands wait, and names the causes with their shares and "
                  "remedies (docs/why.md).",
      .params = kWhy,
      .result_note = "a line for each conclusion and its remedy, then tables; with -j one object: "
                     "seconds, samples, conclusions, waits, readers, far_readers, queues"},
     RunWhy},
};

}  // namespace

std::span<const DaemonCommand> DaemonCommands() { return kDaemonCommands; }

}  // namespace suede::ctl
