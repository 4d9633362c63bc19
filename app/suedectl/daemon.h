// SPDX-License-Identifier: Apache-2.0
// A connection to a daemon's management socket. Blocks; one thread.
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
  // The paths at which the endpoint NAME may have its socket, the likeliest first.
  static std::vector<std::string> PathsOf(const std::string& name);
  // Connects to the first path where a daemon listens, and reads its greeting. kUnavailable where
  // there is none; its message ends with `mend`.
  static absl::StatusOr<Daemon> Connect(
      const std::vector<std::string>& paths, int timeout_s = 10,
      std::string_view mend = "start it, or name another with --endpoint or --socket");

  // The kind of the daemon, as its greeting says.
  DaemonKind kind() const { return kind_; }
  // Readable between calls only where the daemon has gone.
  int fd() const { return socket_.get(); }
  // Passes `fd` along where it is not -1. kUnavailable where no answer comes; kAborted where the
  // daemon refuses.
  absl::StatusOr<Json> Call(std::string_view method, const ForeignJson& params, int fd = -1);

 private:
  explicit Daemon(Fd socket) : socket_(std::move(socket)) {}
  absl::StatusOr<Json> ReadLine();

  Fd socket_;
  DaemonKind kind_ = DaemonKind::kEndpoint;
  std::string text_;  // received and not looked at
  uint64_t last_id_ = 0;
};

}  // namespace suede::ctl

#endif  // SUEDE_APP_SUEDECTL_DAEMON_H_
