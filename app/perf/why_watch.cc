// SPDX-License-Identifier: Apache-2.0
#include "perf/why_watch.h"

#include <algorithm>
#include <array>
#include <bit>
#include <chrono>
#include <string_view>
#include <vector>

#include "absl/strings/str_format.h"
#include "base/text.h"
#include "suedectl/json_members.h"
#include "suedectl/why_command.h"

namespace suede::perf {
namespace {

using Clock = std::chrono::steady_clock;

constexpr auto kInterval = std::chrono::milliseconds(100);
constexpr uint32_t kMaxRows = 1000;
constexpr int kTimeoutS = 2;
constexpr size_t kMaxEvents = 4;
constexpr std::array<std::string_view, 6> kKinds = {
    "lcore_shares_cpu", "peer_unreachable", "peer_reset", "link_down", "tx_held_up", "pfc_storm"};
constexpr std::string_view kAuto = "auto";
constexpr std::string_view kOff = "off";

}  // namespace

absl::StatusOr<std::unique_ptr<WhyWatch>> WhyWatch::Start(const Options& options) {
  if (options.embed || options.why == kOff) return nullptr;
  const bool is_named = options.why != kAuto;
  if (!is_named && options.endpoint.find('/') != std::string::npos) return nullptr;
  absl::StatusOr<ctl::Daemon> daemon = ctl::Daemon::Connect(
      is_named ? std::vector<std::string>{options.why} : ctl::Daemon::PathsOf(options.endpoint),
      kTimeoutS, "name the daemon's management socket by --why, or give --why off");
  if (!daemon.ok() && !is_named) return nullptr;
  if (!daemon.ok()) return daemon.status();
  std::unique_ptr<WhyWatch> watch(new WhyWatch(*std::move(daemon)));
  const absl::StatusOr<Json> events = watch->daemon_.Call("events.list", {{"limit", 1}});
  if (events.ok()) {
    for (const Json& event : ctl::ListOf(*events, "events")) {
      watch->since_ = std::max(watch->since_, ctl::NumberOr0(event, "sequence"));
    }
  }
  watch->thread_ = std::thread([at = watch.get()] { at->Run(); });
  return watch;
}

WhyWatch::~WhyWatch() { End(); }

void WhyWatch::Run() {
  const Clock::time_point begun = Clock::now();
  std::unique_lock lock(mutex_);
  while (!is_over_) {
    lock.unlock();
    if (!ctl::AddWhySample(daemon_, ForeignJson::object(), true, &samples_).ok()) return;
    Trace();
    lock.lock();
    seconds_ = std::chrono::duration<double>(Clock::now() - begun).count();
    ended_.wait_for(lock, kInterval, [this] { return is_over_; });
  }
}

void WhyWatch::TakeTrace() {
  if (!is_tracing_) return;
  const absl::StatusOr<Json> rows = daemon_.Call("trace.list", ForeignJson::object());
  if (rows.ok()) times_.Add(*rows);
  is_tracing_ = !daemon_.Call("trace.clear", ForeignJson::object()).ok();
}

// Traces a few PDUs from one turn to the next, in turns 1, 2, 4, 8 and so on, unless the daemon has
// rows of another trace.
void WhyWatch::Trace() {
  TakeTrace();
  if (!std::has_single_bit(++turn_)) return;
  const absl::StatusOr<Json> rows = daemon_.Call("trace.list", ForeignJson::object());
  if (!rows.ok() || !ctl::ListOf(*rows, "rows").empty()) return;
  is_tracing_ = daemon_.Call("trace.add", ForeignJson::object()).ok();
}

// Adds the endpoints' and the network's part of latencies, and that of the program at this end.
void WhyWatch::AddLatency(Json* conclusions) const {
  const std::optional<double> acked = times_.queued_to_acked_us();
  const std::optional<double> read = times_.delivered_to_read_us();
  std::string finding;
  if (acked) {
    finding = StrCat("endpoints and network there and back (queued to acknowledged) p50 ",
                     absl::StrFormat("%.2f", *acked), " us of ", times_.acked(), " PDUs");
  }
  if (read) {
    StrAppend(&finding, acked ? "; " : "", "program here (delivered to read) p50 ",
              absl::StrFormat("%.2f", *read), " us of ", times_.read(), " PDUs");
  }
  if (finding.empty()) return;
  conclusions->push_back(
      ctl::WhyConclusion("latency", finding, "single PDUs: suedectl trace add, trace show --with"));
}

// Adds the events during the run that explain a bad one, the last ones.
void WhyWatch::AddEvents(Json* conclusions) {
  const absl::StatusOr<Json> events =
      daemon_.Call("events.list", {{"since", since_}, {"limit", kMaxRows}});
  if (!events.ok()) return;
  std::vector<Json> found;
  for (const Json& event : ctl::ListOf(*events, "events")) {
    const std::string kind = ctl::StringOf(event, "kind");
    if (std::ranges::find(kKinds, kind) == kKinds.end()) continue;
    std::string fields;
    for (const auto& [name, value] : event.items()) {
      if (name == "sequence" || name == "severity" || name == "kind" || name == "remedy") continue;
      StrAppend(&fields, " ", name, " ",
                value.is_string() ? value.get<std::string>() : Dump(value));
    }
    const std::string remedy = ctl::StringOf(event, "remedy");
    found.push_back(
        ctl::WhyConclusion(StrCat("event ", kind), fields.empty() ? "" : fields.substr(1),
                           remedy.empty() ? "docs/events.md" : std::string_view(remedy)));
  }
  const size_t first = found.size() - std::min(found.size(), kMaxEvents);
  for (size_t i = first; i < found.size(); ++i) conclusions->push_back(std::move(found[i]));
}

void WhyWatch::AddIdle(Json* conclusions) {
  const absl::StatusOr<Json> config = daemon_.Call("config.get", ForeignJson::object());
  if (!config.ok()) return;
  if (ctl::StringOf(*config, "yaml").find("idle: sleep") == std::string::npos) return;
  conclusions->push_back(
      ctl::WhyConclusion("lcores", "idle: sleep: latencies contain the time to wake an lcore",
                         "lcores[].idle: spin, where latencies matter"));
}

std::string WhyWatch::End() {
  if (!thread_.joinable()) return "";
  {
    const std::lock_guard lock(mutex_);
    is_over_ = true;
  }
  ended_.notify_all();
  thread_.join();
  TakeTrace();
  Json why{{"samples", 0}, {"conclusions", Json::array()}};
  if (samples_.count() != 0) {
    why = ctl::WhyJson({.own = samples_,
                        .far = nullptr,
                        .peer = {},
                        .seconds = seconds_,
                        .names = ctl::NamesOf(daemon_)});
  }
  AddEvents(&why["conclusions"]);
  AddIdle(&why["conclusions"]);
  AddLatency(&why["conclusions"]);
  return Dump(why);
}

}  // namespace suede::perf
