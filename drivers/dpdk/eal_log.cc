// SPDX-License-Identifier: Apache-2.0
#include "dpdk/eal_log.h"

#include <rte_log.h>

#include <cstdio>
#include <mutex>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "base/secrets.h"

namespace suede::internal {
namespace {

struct LogState {
  std::mutex mutex;
  EalLogSink sink;
  std::string errors;
  FILE* stream = nullptr;
};

LogState& State() {
  static LogState* const state = new LogState;  // outlives every thread that logs
  return *state;
}

thread_local int quiet = 0;

EalLogLevel LevelOf(int level) {
  if (level < 0) return EalLogLevel::kInfo;  // not written through rte_log()
  if (level <= static_cast<int>(RTE_LOG_ERR)) return EalLogLevel::kError;
  if (level == static_cast<int>(RTE_LOG_WARNING)) return EalLogLevel::kWarning;
  if (level <= static_cast<int>(RTE_LOG_INFO)) return EalLogLevel::kInfo;
  return EalLogLevel::kDebug;
}

ssize_t WriteLog(void* /*cookie*/, const char* text, size_t bytes) {
  EalLogLevel level = LevelOf(rte_log_cur_msg_loglevel());
  // Downgrades a message that EAL logs at each start, about a socket of DPDK before 20.05.
  constexpr std::string_view kNoLegacySocket = "No legacy callbacks, legacy socket not created";
  if (std::string_view(text, bytes).find(kNoLegacySocket) != std::string_view::npos) {
    level = EalLogLevel::kDebug;
  }
  if (quiet > 0) level = EalLogLevel::kDebug;
  LogState& state = State();
  // Hides secrets: a driver may log its device's arguments.
  const std::string shown = HideSecrets(std::string_view(text, bytes));
  for (absl::string_view line : absl::StrSplit(shown, '\n', absl::SkipEmpty())) {
    if (level == EalLogLevel::kError) {
      constexpr size_t kMaxErrors = 1000;
      const std::lock_guard lock(state.mutex);
      if (state.errors.size() < kMaxErrors) {
        absl::StrAppend(&state.errors, state.errors.empty() ? "" : "; ",
                        absl::StripAsciiWhitespace(line));
      }
    }
    if (state.sink) {
      state.sink(level, std::string_view(line.data(), line.size()));
    } else if (level != EalLogLevel::kDebug) {
      std::fprintf(stderr, "%.*s\n", static_cast<int>(line.size()), line.data());
    }
  }
  return static_cast<ssize_t>(bytes);
}

}  // namespace

absl::Status OpenEalLog(EalLogSink sink) {
  LogState& state = State();
  state.sink = std::move(sink);
  state.errors.clear();
  const cookie_io_functions_t functions = {nullptr, WriteLog, nullptr, nullptr};
  state.stream = fopencookie(nullptr, "w", functions);
  if (state.stream == nullptr || rte_openlog_stream(state.stream) != 0) {
    return absl::ResourceExhaustedError("cannot open a stream for EAL's log: out of memory");
  }
  return absl::OkStatus();
}

void CloseEalLog() {
  // Keeps the stream open: a thread of EAL may be about to write to it.
  rte_openlog_stream(nullptr);
}

std::string TakeEalErrors() {
  LogState& state = State();
  const std::lock_guard lock(state.mutex);
  return std::exchange(state.errors, {});
}

QuietEalLog::QuietEalLog() { ++quiet; }
QuietEalLog::~QuietEalLog() { --quiet; }

}  // namespace suede::internal
