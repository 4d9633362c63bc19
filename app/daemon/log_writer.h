// SPDX-License-Identifier: Apache-2.0
// Writes lines to a descriptor that may block, on a thread of its own. A thread that logs never
// waits for the reader of the log: lines wait in a bounded queue, and those that find no room are
// dropped and counted; a line in their place says how many.
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
  std::atomic<uint64_t> lines{0};    // that were to be written
  std::atomic<uint64_t> dropped{0};  // those of them that were not
};

struct LogWriterOptions {
  // Duplicated, so the caller may close it at any time. Its flags stay as they are: other processes
  // may share them.
  int fd = -1;
  size_t queue_bytes = size_t{256} << 10;
  // Returns the line that reports dropped lines, with its newline. Any thread, one at a time.
  std::function<std::string(uint64_t dropped)> report;
};

class LogWriter {
 public:
  // The time for which the end waits for a reader that does not read.
  static constexpr std::chrono::milliseconds kFlushTime{1000};

  explicit LogWriter(LogWriterOptions options);
  // Writes the queued lines, for up to kFlushTime. A thread whose write blocks longer is left
  // behind: it ends with the process.
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
  const std::shared_ptr<State> state_;  // the thread's too
};

}  // namespace suede

#endif  // SUEDE_APP_DAEMON_LOG_WRITER_H_
