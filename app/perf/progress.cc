// SPDX-License-Identifier: Apache-2.0
#include "perf/progress.h"

#include <signal.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace suede::perf {
namespace {

constexpr Named<Stage> kStages[] = {{Stage::kConnect, "waiting for servers"},
                                    {Stage::kLoad, "load"},
                                    {Stage::kDrain, "waiting for reports"},
                                    {Stage::kServe, "serving"}};

double Rate(uint64_t before, uint64_t now, double seconds) {
  return static_cast<double>(now - before) / seconds;
}

size_t WidthOf(FILE* terminal) {
  winsize size{};
  const bool known = ioctl(fileno(terminal), TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  return known ? size.ws_col : 80;
}

}  // namespace

std::string ProgressText(Mode mode, uint32_t data_bytes, double elapsed_s, double interval_s,
                         const ProgressSums& before, const ProgressSums& now) {
  std::string text = absl::StrFormat("%.1f s: ", elapsed_s);
  if (now.stage != Stage::kServe) absl::StrAppend(&text, data_bytes, " bytes, ");
  absl::StrAppend(&text, NameOf(kStages, now.stage));
  if (mode != Mode::kServer && now.stage != Stage::kServe) {
    const double rate = Rate(before.sent, now.sent, interval_s);
    absl::StrAppendFormat(&text, ", %.3f M/s, %.3f Gb/s, sent %u", rate / 1e6,
                          rate * data_bytes * 8 / 1e9, now.sent);
  }
  if (mode == Mode::kServer || mode == Mode::kPeer) {
    absl::StrAppendFormat(&text, ", received %.3f M/s, %u",
                          Rate(before.received, now.received, interval_s) / 1e6, now.received);
  }
  return text;
}

IntervalThread::IntervalThread(double interval_s, std::function<void()> tick) {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, &before);
  thread_ = std::jthread([this, interval_s, tick = std::move(tick)](std::stop_token stop) {
    using Clock = std::chrono::steady_clock;
    const auto interval =
        std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(interval_s));
    std::unique_lock lock(mutex_);
    for (auto due = Clock::now() + interval;; due = std::max(due + interval, Clock::now())) {
      wake_.wait_until(lock, stop, due, [] { return false; });
      if (stop.stop_requested()) return;
      tick();
    }
  });
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

Progress::Progress(const Options& options, uint32_t data_bytes, uint32_t workers, FILE* out)
    : mode_(options.mode),
      data_bytes_(data_bytes),
      out_(out),
      is_terminal_(isatty(fileno(out)) == 1),
      workers_(workers) {
  if (options.interval_s > 0) thread_.emplace(options.interval_s, [this] { Tick(); });
}

Progress::~Progress() {
  if (!thread_) return;
  thread_.reset();
  if (is_written_) std::fputs("\r\033[K", out_);
  std::fflush(out_);
}

void Progress::Tick() {
  const auto now = Clock::now();
  const ProgressSums sums = Sum();
  const auto seconds = [](Clock::duration d) { return std::chrono::duration<double>(d).count(); };
  Print(
      ProgressText(mode_, data_bytes_, seconds(now - start_), seconds(now - last_), before_, sums));
  before_ = sums;
  last_ = now;
}

ProgressSums Progress::Sum() const {
  ProgressSums sums{.stage = Stage::kServe};
  for (const WorkerProgress& worker : workers_) {
    sums.sent += worker.sent.load(std::memory_order_relaxed);
    sums.received += worker.received.load(std::memory_order_relaxed);
    sums.stage = std::min(sums.stage, worker.stage.load(std::memory_order_relaxed));
  }
  return sums;
}

void Progress::Print(const std::string& text) {
  if (is_terminal_) {
    // Truncates the line, because a wrapped line cannot be overwritten.
    std::fprintf(out_, "\r%s\033[K", text.substr(0, WidthOf(out_) - 1).c_str());
    is_written_ = true;
  } else {
    std::fprintf(out_, "suede-perf: %s\n", text.c_str());
  }
  std::fflush(out_);
}

}  // namespace suede::perf
