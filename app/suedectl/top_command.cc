// SPDX-License-Identifier: Apache-2.0
// suedectl top: sampling, timing and terminal output.
#include <unistd.h>

#include <chrono>
#include <thread>

#include "suedectl/command_line.h"
#include "suedectl/top.h"

namespace suede::ctl {
namespace {

double SteadySeconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

absl::StatusOr<TopSample> Sample(Daemon& daemon) {
  TopSample sample;
  sample.at_s = SteadySeconds();
  const auto counters = [](const char* scope) { return ForeignJson{{"scope", scope}}; };
  const struct {
    Json TopSample::*place;
    const char* method;
    ForeignJson params = ForeignJson::object();
  } kCalls[] = {
      {&TopSample::total, "counters.get", counters("total")},
      {&TopSample::of_ports, "counters.get", counters("port")},
      {&TopSample::of_instances, "counters.get", counters("instance")},
      {&TopSample::of_lcores, "counters.get", counters("lcore")},
      {&TopSample::connections, "connections.list"},
      {&TopSample::version, "version"},
      {&TopSample::ports, "ports.list"},
      {&TopSample::planes, "planes.list"},
      {&TopSample::clients, "clients.list"},
  };
  for (const auto& call : kCalls) {
    absl::StatusOr<Json> result = daemon.Call(call.method, call.params);
    if (!result.ok()) return result.status();
    sample.*call.place = *std::move(result);
  }
  return sample;
}

}  // namespace

absl::Status RunTop(Daemon& daemon, const ForeignJson& params, const GlobalFlags& flags, FILE* out,
                    FILE*) {
  const double period = flags.every_s != 0 ? flags.every_s : 1;
  const uint32_t max = params.contains("peers") ? params["peers"].get<uint32_t>() : 20;
  const bool is_screen = flags.times == 0 && !flags.json && isatty(fileno(out)) == 1;
  absl::StatusOr<TopSample> before = Sample(daemon);
  if (!before.ok()) return before.status();
  for (uint32_t i = 0;; ++i) {
    std::this_thread::sleep_for(
        std::chrono::duration<double>(before->at_s + period - SteadySeconds()));
    absl::StatusOr<TopSample> now = Sample(daemon);
    if (!now.ok()) return now.status();
    const Json top = MakeTop(*before, *now, max);
    const std::string text = flags.json ? Dump(top) + "\n" : TopText(top, flags.columns());
    // Clears the screen, then writes everything at once to avoid flicker.
    if (is_screen) std::fputs("\x1b[H\x1b[2J", out);
    else if (i != 0 && !flags.json) std::fputs("\n", out);
    std::fputs(text.c_str(), out);
    if (std::fflush(out) != 0) return absl::AbortedError("cannot write the output");
    if (i + 1 == flags.times) return absl::OkStatus();
    before = std::move(now);
  }
}

}  // namespace suede::ctl
