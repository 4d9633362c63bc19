// SPDX-License-Identifier: Apache-2.0
// A daemon's Unix socket in the file system. Used only by the thread that created it.
#ifndef SUEDE_LOCAL_LISTENER_H_
#define SUEDE_LOCAL_LISTENER_H_

#include <sys/types.h>

#include <memory>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "local/path_lock.h"

namespace suede {

// Returns the directory of the runtime files of endpoint NAME: /run/suede/NAME for root, otherwise
// $XDG_RUNTIME_DIR/suede/NAME (/tmp/suede-UID/NAME if that is unset).
std::string RuntimeDirectory(const std::string& name);

// A listening socket. Holds the path's lock for its lifetime, so that two daemons never share a
// path, and removes both files at its end. Create replaces the socket of a terminated daemon, and
// creates the directory if needed.
class Listener {
 public:
  enum class Kind { kPackets, kStream };  // SOCK_SEQPACKET, SOCK_STREAM
  static absl::StatusOr<std::unique_ptr<Listener>> Create(const std::string& path, mode_t mode,
                                                          Kind kind = Kind::kPackets);
  ~Listener();
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;

  int fd() const { return descriptors_.socket; }
  const std::string& path() const { return path_; }
  // Returns the next client's socket, non-blocking; -1 if none waits. Sets `turned_away` if a
  // client was rejected for lack of a descriptor.
  int Accept(bool* turned_away);

 private:
  struct Descriptors {
    int socket;
    int spare;  // released briefly to reject a client when descriptors run out
  };
  Listener(std::string path, PathLock lock, const Descriptors& descriptors)
      : path_(std::move(path)), lock_(std::move(lock)), descriptors_(descriptors) {}

  const std::string path_;
  const PathLock lock_;
  Descriptors descriptors_;
};

}  // namespace suede

#endif  // SUEDE_LOCAL_LISTENER_H_
