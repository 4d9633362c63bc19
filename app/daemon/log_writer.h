// SPDX-License-Identifier: Apache-2.0
// Writes lines to a descriptor that may block, on a thread of its own. A logging thread never waits
// for the log's reader: lines wait in a bounded queue; if it is full, lines are dropped and
// counted, and a line in their place reports the number.
#ifndef SUEDE_APP_DAEMON_LOG_WRITER_H_
#define SUEDE_APP_DAEMON_LOG_WRITER_H_

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

namespace suede {

struct LogCounters {
  std::atomic<uint64_t> lines{0};    // lines posted
  std::atomic<uint64_t> dropped{0};  // posted lines not written
};

struct LogWriterOptions {
  // Duplicated, so the caller may close it at any time. Its flags stay unchanged: other processes
  // may share them.
  int fd = -1;
  size_t queue_bytes = size_t{256} << 10;
  // Returns the line that reports dropped lines, with its newline. Any thread, one at a time.
  std::function<std::string(uint64_t dropped)> report;
};

class LogWriter {
 public:
  // Max time that destruction waits for a slow reader.
  static constexpr std::chrono::milliseconds kFlushTime{1000};

  explicit LogWriter(LogWriterOptions options);
  // Writes the queued lines, for up to kFlushTime. A thread whose write blocks longer is detached
  // and ends with the process.
  ~LogWriter();
  LogWriter(const LogWriter&) = delete;
  LogWriter& operator=(const LogWriter&) = delete;

  // Any thread. `line` ends with a newline.
  void Post(std::string line);
  // Waits until nothing is queued, up to kFlushTime. May be called in a signal handler.
  void Flush() const;

  const LogCounters& counters() const;

 private:
  struct State;
  const std::shared_ptr<State> state_;  // shared with the thread
};

}  // namespace suede

#endif  // SUEDE_APP_DAEMON_LOG_WRITER_H_
