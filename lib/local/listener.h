// SPDX-License-Identifier: Apache-2.0
// A daemon's Unix socket in the file system. The thread that made it alone uses it.
#ifndef SUEDE_LOCAL_LISTENER_H_
#define SUEDE_LOCAL_LISTENER_H_

#include <sys/types.h>

#include <memory>
#include <string>

#include "absl/status/statusor.h"

namespace suede {

// The directory of the runtime files of the endpoint NAME: /run/suede/NAME for root, otherwise
// $XDG_RUNTIME_DIR/suede/NAME (/tmp/suede-UID/NAME where that is not set).
std::string RuntimeDirectory(const std::string& name);

// A listening socket. Holds the path's lock for as long as it lives, so that two daemons
// never share a path; the socket of a dead one is replaced. Its directory is made if need be.
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
  // The next client's socket, non-blocking; -1 where none waits. `turned_away` is set where there
  // was one, but no descriptor for it.
  int Accept(bool* turned_away);

 private:
  struct Descriptors {
    int lock;
    int socket;
    int spare;  // given up for a moment in order to turn a client away when descriptors run out
  };
  Listener(std::string path, const Descriptors& descriptors)
      : path_(std::move(path)), descriptors_(descriptors) {}

  const std::string path_;
  Descriptors descriptors_;
};

}  // namespace suede

#endif  // SUEDE_LOCAL_LISTENER_H_
