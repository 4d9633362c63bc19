// SPDX-License-Identifier: Apache-2.0
// A lock of a path among processes, by a file that exists while the lock is held.
#ifndef SUEDE_LOCAL_PATH_LOCK_H_
#define SUEDE_LOCAL_PATH_LOCK_H_

#include <string>
#include <utility>

#include "local/fd.h"

namespace suede {

class PathLock {
 public:
  // Takes the lock, whose file is `path`. Sets errno if it fails, EWOULDBLOCK: another holds it.
  explicit PathLock(std::string path);
  // Removes the file.
  ~PathLock();
  PathLock(PathLock&&) = default;
  PathLock& operator=(PathLock&&) = delete;

  bool ok() const { return fd_.ok(); }

 private:
  std::string path_;
  Fd fd_;
};

}  // namespace suede

#endif  // SUEDE_LOCAL_PATH_LOCK_H_
