// SPDX-License-Identifier: Apache-2.0
// suedectl top: sampling, timing and terminal output.
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <functional>
#include <optional>
#include <thread>
#include <utility>

#include "base/text.h"
#include "suedectl/command_line.h"
#include "suedectl/terminal.h"
#include "suedectl/top.h"
#include "suedectl/top_keys.h"

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
      {&TopSample::peers, "peers.list"},
  };
  for (const auto& call : kCalls) {
    absl::StatusOr<Json> result = daemon.Call(call.method, call.params);
    if (!result.ok()) return result.status();
    sample.*call.place = *std::move(result);
  }
  return sample;
}

// Waits until `until`, and redraws after each key. Returns false when the user ends.
bool WaitForKeys(double until, Terminal& terminal, TopKeys& keys,
                 const std::function<void()>& draw) {
  while (!terminal.has_ended() && !keys.has_quit()) {
    const double left = until - SteadySeconds();
    if (left <= 0) return true;
    if (const std::optional<char> key = terminal.Wait(left)) {
      keys.On(*key);
      draw();
    }
  }
  return false;
}

// Draws until the user ends.
absl::Status RunScreen(Daemon& daemon, const TopView& view, double period, const GlobalFlags& flags,
                       FILE* out) {
  const char* const no_color = std::getenv("NO_COLOR");
  TopKeys keys(view, no_color == nullptr || *no_color == '\0');
  absl::StatusOr<TopSample> before = Sample(daemon);
  if (!before.ok()) return before.status();
  std::optional<std::pair<TopSample, TopSample>> drawn;
  Terminal terminal(fileno(out));
  const auto draw = [&] {
    const auto [rows, width] = terminal.size();
    const size_t columns = flags.wide ? width : std::min(width, kTextColumns);
    std::string text = "sampling";
    if (drawn) {
      const auto& [from, to] = *drawn;
      text = TopText(MakeTop(from, to, keys.view()), columns, NamesIn(to.peers));
    }
    if (terminal.has_keys()) text = StrCat(keys.Line(width), "\n", text);
    text = FitScreen(text, rows, width);
    if (keys.has_colours()) text = WithColours(text);
    // Clears the screen, then writes everything at once to avoid flicker.
    std::fputs(StrCat("\x1b[H\x1b[2J", text).c_str(), out);
    std::fflush(out);
  };
  if (terminal.has_keys()) draw();
  while (WaitForKeys(before->at_s + period, terminal, keys, draw)) {
    absl::StatusOr<TopSample> now = Sample(daemon);
    if (!now.ok()) return now.status();
    drawn.emplace(*std::move(before), *now);
    before = std::move(now);
    draw();
  }
  std::fputs("\n", out);
  return absl::OkStatus();
}

}  // namespace

absl::Status RunTop(Daemon& daemon, const ForeignJson& params, const GlobalFlags& flags, FILE* out,
                    FILE*) {
  const double period = flags.every_s != 0 ? flags.every_s : 1;
  const TopView view = ViewOf(params);
  if (flags.times == 0 && !flags.json && isatty(fileno(out)) == 1) {
    return RunScreen(daemon, view, period, flags, out);
  }
  absl::StatusOr<TopSample> before = Sample(daemon);
  if (!before.ok()) return before.status();
  for (uint32_t i = 0;; ++i) {
    std::this_thread::sleep_for(
        std::chrono::duration<double>(before->at_s + period - SteadySeconds()));
    absl::StatusOr<TopSample> now = Sample(daemon);
    if (!now.ok()) return now.status();
    const Json top = MakeTop(*before, *now, view);
    const std::string text =
        flags.json ? Dump(top) + "\n" : TopText(top, flags.columns(), NamesIn(now->peers));
    if (i != 0 && !flags.json) std::fputs("\n", out);
    std::fputs(text.c_str(), out);
    if (std::fflush(out) != 0) return absl::AbortedError("cannot write the output");
    if (i + 1 == flags.times) return absl::OkStatus();
    before = std::move(now);
  }
}

}  // namespace suede::ctl
