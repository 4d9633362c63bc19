// SPDX-License-Identifier: Apache-2.0
// A connection to a daemon's management socket. Blocking; not thread-safe.
#ifndef SUEDE_APP_SUEDECTL_DAEMON_H_
#define SUEDE_APP_SUEDECTL_DAEMON_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "local/fd.h"
#include "mgmt/daemon_view.h"
#include "mgmt/json.h"

namespace suede::ctl {

class Daemon {
 public:
  // Returns the paths to try for the socket of the endpoint `name`, in order.
  static std::vector<std::string> PathsOf(const std::string& name);
  // Connects to the first path where a daemon listens, and reads its greeting. Returns
  // kUnavailable, with a message that ends with `mend`, if there is none.
  static absl::StatusOr<Daemon> Connect(
      const std::vector<std::string>& paths, int timeout_s = 10,
      std::string_view mend = "start it, or name another with --endpoint or --socket");

  // The kind of daemon, from its greeting.
  DaemonKind kind() const { return kind_; }
  // The socket. Readable between calls only once the daemon has gone.
  int fd() const { return socket_.get(); }
  // Calls a method, and passes `fd` to the daemon unless -1. Returns kUnavailable if no valid
  // response arrives, kAborted with the daemon's message if it refuses.
  absl::StatusOr<Json> Call(std::string_view method, const ForeignJson& params, int fd = -1);

 private:
  explicit Daemon(Fd socket) : socket_(std::move(socket)) {}
  absl::StatusOr<Json> ReadLine();

  Fd socket_;
  DaemonKind kind_ = DaemonKind::kEndpoint;
  std::string text_;  // received, not yet parsed
  uint64_t last_id_ = 0;
};

}  // namespace suede::ctl

#endif  // SUEDE_APP_SUEDECTL_DAEMON_H_
