// SPDX-License-Identifier: Apache-2.0
// The daemon's log (ISO-8601 UTC with microseconds, level, component, key=value; text or JSON on
// stderr). Any thread; none waits for the log's reader (daemon/log_writer.h). A component that
// floods is limited to kLinesPerSecond lines per second, and the next line reports the number
// suppressed.
#ifndef SUEDE_APP_DAEMON_LOGGER_H_
#define SUEDE_APP_DAEMON_LOGGER_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "config/config.h"
#include "daemon/log_writer.h"
#include "dpdk/eal.h"

namespace spdlog {
class logger;
}

namespace suede {

using LogSink =
    std::function<void(EalLogLevel level, std::string_view component, std::string_view line)>;

class Logger {
 public:
  explicit Logger(const LogConfig& config);
  // Writes the last lines, in bounded time.
  ~Logger();
  Logger(const Logger&) = delete;
  Logger& operator=(const Logger&) = delete;
  LogConfig::Level level() const { return level_.load(std::memory_order_relaxed); }
  void SetLevel(LogConfig::Level level);
  const LogCounters& counters() const { return writer_->counters(); }
  void Write(EalLogLevel level, std::string_view component, std::string_view line);
  // Permits use as a LogSink.
  void operator()(EalLogLevel level, std::string_view component, std::string_view line) {
    Write(level, component, line);
  }

 private:
  struct Budget {
    int64_t second = 0;
    uint32_t lines = 0;
    uint64_t suppressed = 0;
  };
  bool Allow(std::string_view component, int64_t second, uint64_t& suppressed);

  const LogConfig config_;
  std::atomic<LogConfig::Level> level_;
  std::unique_ptr<LogWriter> writer_;
  std::unique_ptr<spdlog::logger> logger_;
  std::mutex mutex_;
  std::map<std::string, Budget, std::less<>> budgets_;
};

}  // namespace suede

#endif  // SUEDE_APP_DAEMON_LOGGER_H_
