// SPDX-License-Identifier: Apache-2.0
#include "suedectl/ping_command.h"

#include <signal.h>
#include <time.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <string_view>

#include "absl/strings/numbers.h"
#include "base/text.h"
#include "suedectl/command_line.h"
#include "suedectl/json_members.h"
#include "suedectl/print.h"

namespace suede::ctl {
namespace {

constexpr double kMinInterval = 0.1;
constexpr double kMaxInterval = 3600;

std::atomic<bool> interrupted{false};

// Makes the first SIGINT end the loop and print the summary; a second one kills the program.
class InterruptGuard {
 public:
  InterruptGuard() {
    interrupted = false;
    struct sigaction action {};
    action.sa_handler = [](int) { interrupted = true; };
    action.sa_flags = SA_RESETHAND;
    sigaction(SIGINT, &action, &before_);
  }
  ~InterruptGuard() { sigaction(SIGINT, &before_, nullptr); }
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;

 private:
  struct sigaction before_ {};
};

// Returns a number as text; "?": there is none.
std::string NumberText(const Json& object, const char* name) {
  return RealOf(object, name) ? Dump(*MemberOf(object, name)) : "?";
}

std::string_view ReasonOf(std::string_view state) {
  if (state == "no_link") return "no link";
  if (state == "no_mac") return "its MAC address is not resolved";
  if (state == "down") return "port, plane or instance is set down";
  if (state == "no_room") return "the port takes no frame";
  return "no answer in time";
}

std::string_view RemarkOn(std::string_view state) {
  if (state == "probe_answered") return " (answers a probe, and speaks no HELLO so far)";
  if (state == "acknowledges") return " (not asked: it acknowledges PDUs in flight)";
  return "";
}

double NowS() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

void SleepUntil(double at_s) {
  while (!interrupted) {
    const double rest = at_s - NowS();
    if (rest <= 0) return;
    timespec time{.tv_sec = static_cast<time_t>(rest), .tv_nsec = 0};
    time.tv_nsec = static_cast<int64_t>((rest - static_cast<double>(time.tv_sec)) * 1e9);
    nanosleep(&time, nullptr);
  }
}

absl::StatusOr<double> IntervalIn(const ForeignJson& params) {
  if (!params.contains("interval")) return 1.0;
  const ForeignJson& given = params["interval"];
  double value = 0;
  if (given.is_string() && absl::SimpleAtod(given.get<std::string>(), &value) &&
      value >= kMinInterval && value <= kMaxInterval) {
    return value;
  }
  return absl::InvalidArgumentError(StrCat("interval: is not 0.1 to 3600; give seconds"));
}

}  // namespace

std::string PingTally::TakePlane(const Json& plane) {
  ++asked_;
  const std::string state = StringOf(plane, "state");
  const std::optional<double> rtt = RealOf(plane, "rtt_us");
  if (!rtt) {
    last_reason_ = ReasonOf(state);
    return last_reason_;
  }
  const double us = *rtt;
  min_us_ = answered_ == 0 ? us : std::min(min_us_, us);
  max_us_ = std::max(max_us_, us);
  sum_us_ += us;
  ++answered_;
  std::string line = StrCat("time=", Fixed(us, 1), " us", RemarkOn(state));
  disagreement_.clear();
  if (const std::string key = StringOf(plane, "disagrees"); !key.empty()) {
    disagreement_ = StrCat(key, " is ", StringOf(plane, "own"), " here and ",
                           StringOf(plane, "theirs"), " there");
    StrAppend(&line, ", but does not agree: ", disagreement_);
  }
  return line;
}

std::string PingTally::Take(const Json& result, uint64_t sequence) {
  std::string lines;
  for (const Json& plane : ListOf(result, "planes")) {
    if (!plane.is_object()) continue;
    const std::optional<uint64_t> peer = NumberOf(result, "peer");
    StrAppend(&lines, "XPU ", peer ? NamedXpu(*peer, names_) : "?", " from ",
              NumberText(result, "xpu"), ".", NumberText(result, "instance"), " plane ",
              NumberText(plane, "plane"), " (", StringOf(plane, "port"), "): seq=", sequence, " ",
              TakePlane(plane), "\n");
  }
  return lines;
}

std::string PingTally::Summary(uint64_t peer) const {
  const uint64_t lost = asked_ == 0 ? 0 : (asked_ - answered_) * 100 / asked_;
  std::string text = StrCat("--- XPU ", NamedXpu(peer, names_), " ---\n", asked_, " asked, ",
                            answered_, " answered, ", lost, "% lost\n");
  if (answered_ == 0) return text;
  StrAppend(&text, "rtt min/avg/max = ", Fixed(min_us_, 1), "/",
            Fixed(sum_us_ / static_cast<double>(answered_), 1), "/", Fixed(max_us_, 1), " us\n");
  return text;
}

Json PingTally::ToJson() const {
  const bool any = answered_ != 0;
  return Json{{"asked", asked_},
              {"answered", answered_},
              {"rtt_min_us", any ? Json(min_us_) : Json()},
              {"rtt_avg_us", any ? Json(sum_us_ / static_cast<double>(answered_)) : Json()},
              {"rtt_max_us", any ? Json(max_us_) : Json()}};
}

absl::Status PingTally::End(uint64_t peer) const {
  if (answered_ == 0) {
    return absl::UnavailableError(
        StrCat("XPU ", NamedXpu(peer, names_), " did not answer: ", last_reason_));
  }
  if (!disagreement_.empty()) {
    return absl::AbortedError(StrCat("XPU ", NamedXpu(peer, names_),
                                     " answers, but does not agree: ", disagreement_,
                                     "; give both ends the same"));
  }
  return absl::OkStatus();
}

absl::Status RunPing(Daemon& daemon, const ForeignJson& params, const GlobalFlags& flags, FILE* out,
                     FILE*) {
  const absl::StatusOr<double> interval = IntervalIn(params);
  if (!interval.ok()) return interval.status();
  const uint64_t count = params.contains("count") ? params["count"].get<uint64_t>() : 4;
  const uint64_t peer = params["peer"].get<uint64_t>();
  ForeignJson request = params;
  request.erase("count");
  request.erase("interval");
  const InterruptGuard guard;
  PingTally tally(NamesOf(daemon));
  for (uint64_t sequence = 1;; ++sequence) {
    const double begun = NowS();
    const absl::StatusOr<Json> result = daemon.Call("peers.ping", request);
    if (!result.ok()) return result.status();
    const std::string lines = tally.Take(*result, sequence);
    std::fputs(flags.json ? (Dump(*result) + "\n").c_str() : lines.c_str(), out);
    if (std::fflush(out) != 0) return absl::AbortedError("cannot write the output");
    if (sequence == count || interrupted) break;
    SleepUntil(begun + *interval);
    if (interrupted) break;
  }
  std::fputs(flags.json ? (Dump(tally.ToJson()) + "\n").c_str() : tally.Summary(peer).c_str(), out);
  std::fflush(out);
  return tally.End(peer);
}

}  // namespace suede::ctl
