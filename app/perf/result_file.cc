// SPDX-License-Identifier: Apache-2.0
#include "perf/result_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace suede::perf {
namespace {

constexpr int kMaxLinks = 40;  // limit of the kernel

// Whether the path is in a virtual file system, where files cannot be replaced.
bool IsMadeUp(const std::string& path) {
  return absl::StartsWith(path, "/proc/") || absl::StartsWith(path, "/dev/");
}

bool IsStdout(const std::string& path) {
  return path == "-" || path == "/dev/stdout" || path == "/dev/fd/1" ||
         path == "/proc/self/fd/1";
}

std::string DirectoryOf(const std::string& path) {
  const size_t slash = path.rfind('/');
  return slash == std::string::npos ? "" : path.substr(0, slash + 1);
}

// Resolves symbolic links of the last component, except in virtual file systems. Returns 0 or an
// errno.
int Follow(std::string* path) {
  for (int links = 0; !IsMadeUp(*path); ++links) {
    std::array<char, 4096> text;
    const ssize_t length = readlink(path->c_str(), text.data(), text.size());
    if (length < 0) return errno == EINVAL || errno == ENOENT ? 0 : errno;
    if (links == kMaxLinks) return ELOOP;
    const std::string to(text.data(), static_cast<size_t>(length));
    *path = absl::StartsWith(to, "/") ? to : DirectoryOf(*path) + to;
  }
  return 0;
}

std::string PartialOf(const std::string& target) {
  return absl::StrCat(target, ".", getpid(), ".partial");
}

Fd CreatePartial(const std::string& target, mode_t mode) {
  return Fd(open(PartialOf(target).c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode));
}

int WriteAll(int fd, const std::string& text) {
  size_t done = 0;
  while (done < text.size()) {
    const ssize_t written = write(fd, text.data() + done, text.size() - done);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return errno;
    done += static_cast<size_t>(written);
  }
  return 0;
}

}  // namespace

absl::Status ResultFile::Failure(int error) const {
  return absl::ErrnoToStatus(
      error, absl::StrCat(flag_, ": cannot write ", path_, ": ", std::strerror(error),
                          "; check its directory, its rights and its space"));
}

absl::StatusOr<ResultFile> ResultFile::Open(const std::string& path, const char* flag) {
  ResultFile result;
  result.flag_ = flag;
  result.path_ = path;
  std::string target = path;
  result.takes_stdout_ = IsStdout(path);
  if (!result.takes_stdout_) {
    if (const int error = Follow(&target); error != 0) return result.Failure(error);
    result.takes_stdout_ = IsStdout(target);
  }
  if (result.takes_stdout_) {
    result.file_ = Fd(fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3));
    return result.file_.ok() ? absl::StatusOr<ResultFile>(std::move(result))
                             : result.Failure(errno);
  }
  struct stat facts{};
  const bool exists = stat(target.c_str(), &facts) == 0;
  if (exists && S_ISDIR(facts.st_mode)) return result.Failure(EISDIR);
  const bool is_renamed = !IsMadeUp(target) && (!exists || S_ISREG(facts.st_mode));
  if (is_renamed) {
    if (exists && access(target.c_str(), W_OK) != 0) return result.Failure(errno);
    const Fd probe = CreatePartial(target, 0600);
    const int error = probe.ok() ? 0 : errno;
    if (probe.ok()) unlink(PartialOf(target).c_str());
    // Writes in place if the file is writable but its directory is not.
    if (probe.ok() || (exists && (error == EACCES || error == EPERM || error == EROFS))) {
      if (probe.ok()) result.target_ = target;
    } else {
      return result.Failure(error);
    }
  }
  if (result.target_.empty()) {
    result.file_ = Fd(open(target.c_str(), O_WRONLY | O_CLOEXEC | O_NOCTTY));
    if (!result.file_.ok()) return result.Failure(errno);
  }
  return result;
}

absl::Status ResultFile::Write(const std::string& text) {
  if (!target_.empty()) return Replace(text);
  struct stat facts{};
  if (!takes_stdout_ && fstat(file_.get(), &facts) == 0 && S_ISREG(facts.st_mode) &&
      ftruncate(file_.get(), 0) != 0) {
    return Failure(errno);
  }
  const int error = WriteAll(file_.get(), text);
  return error == 0 ? absl::OkStatus() : Failure(error);
}

absl::Status ResultFile::Replace(const std::string& text) const {
  struct stat facts{};
  const bool exists = stat(target_.c_str(), &facts) == 0;
  const std::string partial = PartialOf(target_);
  const Fd file = CreatePartial(target_, 0666);
  if (!file.ok()) return Failure(errno);
  int error = WriteAll(file.get(), text);
  // Keeps the file's permissions.
  if (error == 0 && exists && fchmod(file.get(), facts.st_mode & 07777) != 0) error = errno;
  if (error == 0 && std::rename(partial.c_str(), target_.c_str()) != 0) error = errno;
  if (error == 0) return absl::OkStatus();
  unlink(partial.c_str());
  return Failure(error);
}

}  // namespace suede::perf
