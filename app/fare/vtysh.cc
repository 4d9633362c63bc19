// SPDX-License-Identifier: Apache-2.0
#include "vtysh.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/text.h"

namespace suede::fare {
namespace {

constexpr size_t kMaxBytes = 16u << 20;  // of a reply

// Starts `words` with its standard output at `output`, and without this process's signal mask.
int Spawn(const std::vector<std::string>& words, int output, pid_t* child) {
  std::vector<char*> argv;
  argv.reserve(words.size() + 1);
  for (const std::string& word : words) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  sigset_t none;
  sigset_t usual;
  sigemptyset(&none);
  sigemptyset(&usual);
  sigaddset(&usual, SIGPIPE);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &usual);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  const int error = posix_spawn(child, argv[0], &actions, &attributes, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  return error;
}

}  // namespace

Vtysh::~Vtysh() { Kill(); }

std::string Vtysh::Describe() const {
  return StrCat(config_.vtysh, config_.name ? StrCat(" -N ", *config_.name) : "");
}

absl::Status Vtysh::Ask(const std::vector<std::string>& prefixes, Clock::time_point now) {
  std::vector<std::string> words = {config_.vtysh};
  if (config_.name) words.insert(words.end(), {"-N", *config_.name});
  for (const std::string& prefix : prefixes) {
    const bool is_v6 = prefix.find(':') != std::string::npos;
    words.push_back("-c");
    words.push_back(StrCat("show bgp ", is_v6 ? "ipv6" : "ipv4", " unicast ", prefix, " json"));
  }
  int ends[2];
  if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0) {
    return absl::UnavailableError(StrCat("pipe: ", std::strerror(errno)));
  }
  output_ = Fd(ends[0]);
  const Fd theirs(ends[1]);
  // The child expects a blocking descriptor.
  fcntl(theirs.get(), F_SETFL, 0);
  if (const int error = Spawn(words, theirs.get(), &child_); error != 0) {
    child_ = 0;
    output_.Reset();
    return absl::UnavailableError(StrCat(config_.vtysh, ": ", std::strerror(error)));
  }
  process_ = Fd(static_cast<int>(syscall(SYS_pidfd_open, child_, 0)));
  text_.clear();
  deadline_ = now + std::chrono::milliseconds(config_.timeout_ms);
  return absl::OkStatus();
}

int Vtysh::fd() const { return output_.ok() ? output_.get() : process_.get(); }

std::optional<absl::StatusOr<std::string>> Vtysh::Poll(Clock::time_point now) {
  if (!busy()) return std::nullopt;
  char buffer[65536];
  while (output_.ok()) {
    const ssize_t n = read(output_.get(), buffer, sizeof buffer);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) break;
    if (n == 0) output_.Reset();
    text_.append(buffer, static_cast<size_t>(n));
    if (text_.size() <= kMaxBytes) continue;
    Kill();
    return absl::ResourceExhaustedError(StrCat(Describe(), " answered with too much"));
  }
  if (now >= deadline_) {
    Kill();
    return absl::DeadlineExceededError(
        StrCat(Describe(), " did not answer within ", config_.timeout_ms, " ms"));
  }
  siginfo_t ended{};
  if (output_.ok() ||
      waitid(P_PID, static_cast<id_t>(child_), &ended, WEXITED | WNOHANG | WNOWAIT) != 0 ||
      ended.si_pid == 0) {
    return std::nullopt;
  }
  return End();
}

absl::StatusOr<std::string> Vtysh::End() {
  int status = 0;
  waitpid(child_, &status, 0);
  child_ = 0;
  process_.Reset();
  deadline_ = Clock::time_point::max();
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return std::move(text_);
  return absl::UnavailableError(
      StrCat(Describe(), " failed, code ",
             WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status),
             "; zebra and bgpd must run there, and this user must be in the group frrvty"));
}

void Vtysh::Kill() {
  if (!busy()) return;
  kill(child_, SIGKILL);
  output_.Reset();
  while (waitpid(child_, nullptr, 0) < 0 && errno == EINTR) {
  }
  child_ = 0;
  process_.Reset();
  deadline_ = Clock::time_point::max();
}

}  // namespace suede::fare
