// SPDX-License-Identifier: Apache-2.0
#include "daemon/log_writer.h"

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <string_view>
#include <thread>
#include <utility>

namespace suede {

struct LogWriter::State {
  explicit State(LogWriterOptions given)
      : options(std::move(given)), fd(fcntl(options.fd, F_DUPFD_CLOEXEC, 0)) {}
  ~State() {
    if (fd >= 0) close(fd);
  }

  void Run();
  void Post(std::string line);
  // Queues the report of dropped lines in their place, if there are any. Requires the mutex.
  void ReportGap();
  void Push(std::string line);

  const LogWriterOptions options;
  const int fd;  // the thread's duplicate: the owner may close the original during a blocked write
  LogCounters counters;
  std::mutex mutex;
  std::condition_variable queued;
  std::deque<std::string> lines;
  size_t bytes = 0;  // of lines queued or being written
  uint64_t gap = 0;  // lines dropped since the last queued one
  bool ending = false;
  std::atomic<uint64_t> unwritten{0};  // lines queued or being written
};

namespace {

// Writes the whole line; blocks for a slow reader. Returns false if there is no reader.
bool WriteAll(int fd, std::string_view line) {
  while (!line.empty()) {
    const ssize_t written = write(fd, line.data(), line.size());
    if (written >= 0) {
      line.remove_prefix(static_cast<size_t>(written));
    } else if (errno == EAGAIN) {  // another process has set O_NONBLOCK
      pollfd room{.fd = fd, .events = POLLOUT, .revents = 0};
      poll(&room, 1, -1);
    } else if (errno != EINTR) {
      return false;
    }
  }
  return true;
}

// Keeps the thread off the CPUs of lcores, which start after it, by copying the affinity of the
// process's first thread.
void FollowFirstThread() {
  cpu_set_t cpus;
  if (sched_getaffinity(getpid(), sizeof cpus, &cpus) != 0) return;
  sched_setaffinity(0, sizeof cpus, &cpus);
}

}  // namespace

void LogWriter::State::Push(std::string line) {
  bytes += line.size();
  unwritten.fetch_add(1, std::memory_order_relaxed);
  lines.push_back(std::move(line));
  queued.notify_one();
}

void LogWriter::State::ReportGap() {
  if (gap != 0) Push(options.report(std::exchange(gap, 0)));
}

void LogWriter::State::Post(std::string line) {
  counters.lines.fetch_add(1, std::memory_order_relaxed);
  const std::lock_guard lock(mutex);
  // After a drop, requires half of the queue to be free, so that a slow reader gets few reports.
  const size_t limit = gap == 0 ? options.queue_bytes : options.queue_bytes / 2;
  if (bytes + line.size() > limit) {
    ++gap;
    counters.dropped.fetch_add(1, std::memory_order_relaxed);
    return;
  }
  ReportGap();
  Push(std::move(line));
}

void LogWriter::State::Run() {
  std::unique_lock lock(mutex);
  while (true) {
    queued.wait(lock, [this] { return ending || !lines.empty(); });
    if (lines.empty()) return;
    std::deque<std::string> taken = std::exchange(lines, {});
    lock.unlock();
    FollowFirstThread();
    for (const std::string& line : taken) {
      if (!WriteAll(fd, line)) counters.dropped.fetch_add(1, std::memory_order_relaxed);
      const std::lock_guard room(mutex);
      bytes -= line.size();
      if (bytes == 0) ReportGap();
      unwritten.fetch_sub(1, std::memory_order_release);
      if (ending) return;  // Flush has finished
    }
    lock.lock();
  }
}

LogWriter::LogWriter(LogWriterOptions options)
    : state_(std::make_shared<State>(std::move(options))) {
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, &before);  // signals go to the other threads
  std::thread([state = state_] {
    pthread_setname_np(pthread_self(), "suede-log");
    state->Run();
  }).detach();
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

LogWriter::~LogWriter() {
  Flush();
  const std::lock_guard lock(state_->mutex);
  state_->ending = true;
  state_->queued.notify_one();
}

void LogWriter::Post(std::string line) { state_->Post(std::move(line)); }

void LogWriter::Flush() const {
  constexpr timespec kStep{.tv_sec = 0, .tv_nsec = 1'000'000};
  for (auto waited = kFlushTime.zero(); waited < kFlushTime;
       waited += std::chrono::milliseconds(1)) {
    if (state_->unwritten.load(std::memory_order_acquire) == 0) return;
    nanosleep(&kStep, nullptr);
  }
}

const LogCounters& LogWriter::counters() const { return state_->counters; }

}  // namespace suede
