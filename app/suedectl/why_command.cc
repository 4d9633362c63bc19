// SPDX-License-Identifier: Apache-2.0
#include "suedectl/why_command.h"

#include <algorithm>
#include <chrono>
#include <thread>

#include "suedectl/command_line.h"
#include "suedectl/json_members.h"

namespace suede::ctl {
namespace {

using Clock = std::chrono::steady_clock;

constexpr uint32_t kMaxRows = 1000;

bool IsBusy(const Json& waits) {
  return !ListOf(waits, "waits").empty() ||
         std::ranges::any_of(ListOf(waits, "readers"), [](const Json& reader) {
           return NumberOr0(reader, "filled_lines") != 0;
         });
}

}  // namespace

absl::Status AddWhySample(Daemon& daemon, ForeignJson wanted, bool only_busy, WhySamples* samples) {
  wanted["limit"] = kMaxRows;
  const absl::StatusOr<Json> waits = daemon.Call("waits.list", wanted);
  if (!waits.ok()) return waits.status();
  if (only_busy && !IsBusy(*waits)) return absl::OkStatus();
  const absl::StatusOr<Json> queues = daemon.Call("queues.list", ForeignJson::object());
  if (!queues.ok()) return queues.status();
  if (samples->Add(*waits, *queues)) return absl::OkStatus();
  return absl::UnavailableError("the daemon's message has no waits");
}

absl::Status RunWhy(Daemon& daemon, const ForeignJson& params, const GlobalFlags& flags, FILE* out,
                    FILE*) {
  ForeignJson wanted = ForeignJson::object();
  for (const char* name : {"peer", "xpu", "instance"}) {
    if (params.contains(name)) wanted[name] = params[name];
  }
  std::optional<Daemon> far;
  if (params.contains("with")) {
    absl::StatusOr<Daemon> other = Daemon::Connect({params["with"].get<std::string>()}, 10,
                                                   "start it, or name another by --with");
    if (!other.ok()) return other.status();
    far = *std::move(other);
  }
  const auto value = [&](const char* name, uint32_t otherwise) {
    return params.contains(name) ? params[name].get<uint32_t>() : otherwise;
  };
  const uint32_t count = value("samples", 50);
  const auto interval = std::chrono::milliseconds(value("interval_ms", 20));
  WhySamples own;
  WhySamples of_far;
  const Clock::time_point begun = Clock::now();
  for (uint32_t i = 0; i < count; ++i) {
    std::this_thread::sleep_until(begun + i * interval);
    if (absl::Status s = AddWhySample(daemon, wanted, false, &own); !s.ok()) return s;
    if (!far) continue;
    absl::Status s = AddWhySample(*far, ForeignJson::object(), false, &of_far);
    if (!s.ok()) return s;
  }
  const XpuNames names = NamesOf(daemon);
  const Json why =
      WhyJson({.own = own,
               .far = far ? &of_far : nullptr,
               .peer = params.contains("peer") ? std::optional(params["peer"].get<uint32_t>())
                                               : std::nullopt,
               .seconds = std::chrono::duration<double>(Clock::now() - begun).count(),
               .names = names});
  const std::string text = flags.json ? Dump(why) + "\n" : WhyText(why, flags.columns(), names);
  std::fputs(text.c_str(), out);
  return std::fflush(out) == 0 ? absl::OkStatus() : absl::AbortedError("cannot write the output");
}

}  // namespace suede::ctl
