// SPDX-License-Identifier: Apache-2.0
#include "local/path_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

namespace suede {
namespace {

// Whether the file is still at its path, from which a holder removes it.
bool IsAt(const std::string& path, int fd) {
  struct stat file {};
  struct stat there {};
  return fstat(fd, &file) == 0 && lstat(path.c_str(), &there) == 0 && file.st_dev == there.st_dev &&
         file.st_ino == there.st_ino;
}

}  // namespace

PathLock::PathLock(std::string path) : path_(std::move(path)) {
  for (;;) {
    Fd file(open(path_.c_str(), O_CREAT | O_RDWR | O_CLOEXEC | O_NOFOLLOW, 0600));
    if (!file.ok() || flock(file.get(), LOCK_EX | LOCK_NB) != 0) return;
    if (!IsAt(path_, file.get())) continue;
    fd_ = std::move(file);
    return;
  }
}

PathLock::~PathLock() {
  if (fd_.ok()) unlink(path_.c_str());
}

}  // namespace suede
