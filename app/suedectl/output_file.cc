// SPDX-License-Identifier: Apache-2.0
#include "suedectl/output_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "base/text.h"

namespace suede::ctl {
namespace {

namespace fs = std::filesystem;

absl::Status Failed(const std::string& path, const char* mend) {
  return absl::AbortedError(StrCat("cannot write ", path, ": ", std::strerror(errno), "; ", mend));
}

constexpr char kMend[] = "give the path of a file in a directory that can be written";

// Copies the permissions of the former file, and its owner if permitted.
bool MakeLike(int fd, const struct stat& former) {
  const mode_t mode = former.st_mode & 07777;
  if (fchown(fd, former.st_uid, former.st_gid) == 0) return fchmod(fd, mode) == 0;
  // Drops the group's permissions, because the group may differ.
  return fchmod(fd, mode & ~mode_t{070}) == 0;
}

}  // namespace

absl::StatusOr<OutputFile> OutputFile::Open(const std::string& path) {
  // Replaces the target of a symbolic link, not the link.
  std::error_code error;
  const fs::path real = fs::exists(path, error) ? fs::canonical(path, error) : fs::path(path);
  const std::string target = error ? path : real.string();
  struct stat former {};
  const bool exists = stat(target.c_str(), &former) == 0;
  std::string temporary = StrCat(target, ".", getpid(), ".tmp");
  Fd file(open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW,
               exists ? 0600 : 0644));
  if (!file.ok()) return Failed(path, kMend);
  OutputFile made(std::move(file), std::move(temporary), target);
  if (exists && !MakeLike(made.fd(), former)) return Failed(path, kMend);
  return made;
}

OutputFile::~OutputFile() {
  if (file_.ok()) unlink(temporary_.c_str());
}

absl::Status OutputFile::Commit() {
  constexpr char kSpace[] = "see whether its file system has space, and try again";
  if (fsync(file_.get()) != 0) return Failed(path_, kSpace);
  if (std::rename(temporary_.c_str(), path_.c_str()) != 0) return Failed(path_, kMend);
  file_.Reset();
  // Makes the rename durable.
  const fs::path parent = fs::path(path_).parent_path();
  const Fd directory(
      open(parent.empty() ? "." : parent.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!directory.ok() || fsync(directory.get()) != 0) return Failed(path_, kSpace);
  return absl::OkStatus();
}

}  // namespace suede::ctl
