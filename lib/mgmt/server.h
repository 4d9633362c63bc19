// SPDX-License-Identifier: Apache-2.0
// The daemon's side of the management socket (docs/management.md).
//
// Control thread only; never blocks.
#ifndef SUEDE_MGMT_SERVER_H_
#define SUEDE_MGMT_SERVER_H_

#include <sys/socket.h>
#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "base/token_bucket.h"
#include "local/admission.h"
#include "local/listener.h"
#include "mgmt/catalog.h"
#include "mgmt/daemon_view.h"
#include "mgmt/session.h"

namespace suede {

struct ManagementLimits {
  size_t line_bytes = 65536;
  int64_t line_ms = 10'000;             // from the first byte of a line to its newline
  int64_t unread_ms = 10'000;           // in which a client must read some of its pending answers
  uint32_t max_requests_per_poll = 16;  // per connection
  uint32_t requests_per_s = 5000;       // per connection; a burst of a quarter
  uint32_t accepts_per_s = 1000;        // a burst of a quarter
  int64_t poll_budget_us = 5000;  // time after which a poll iteration begins no further request
  SessionLimits session;
};

struct ManagementOptions {
  std::string socket_path;
  mode_t socket_mode = 0660;
  uint32_t max_clients = 32;  // simultaneous
  std::string version;        // the daemon's, for the greeting
  std::string name;           // the daemon's
  ManagementLimits limits;
  std::function<void(std::string_view line)> log;  // called with each change and its user
  // Called with the limit that a connection has reached, its process and user, and the consequence.
  std::function<void(std::string_view limit, pid_t pid, uid_t uid, std::string_view reason)>
      on_limit{};
  std::function<bool(uid_t)> is_privileged = IsPrivileged;
};

// Identifier, metric name, sentence.
#define SUEDE_MANAGEMENT_COUNTERS(X)                                                             \
  X(accepted, "management_accepted_total", "Management connections accepted")                    \
  X(refused, "management_refused_total", "Management connections refused: too many")             \
  X(displaced, "management_displaced_total", "Idle management connections ended for others")     \
  X(gone, "management_gone_total", "Management connections that ended, for any reason")          \
  X(requests, "management_requests_total", "Management requests, notifications included")        \
  X(requests_failed, "management_requests_failed_total", "Management requests that failed")      \
  X(too_long, "management_too_long_total", "Management connections ended: a line too long")      \
  X(too_late, "management_too_late_total", "Management connections ended: half a line")          \
  X(not_reading, "management_not_reading_total", "Management connections ended: answers unread") \
  X(throttled, "management_throttled_total", "Waits of connections for their rate")

struct ManagementCounters {
#define SUEDE_MANAGEMENT_COUNTER_FIELD(id, name, sentence) uint64_t id = 0;
  SUEDE_MANAGEMENT_COUNTERS(SUEDE_MANAGEMENT_COUNTER_FIELD)
#undef SUEDE_MANAGEMENT_COUNTER_FIELD
};

class ManagementServer {
 public:
  // Catalog and daemon must outlive the server.
  static absl::StatusOr<std::unique_ptr<ManagementServer>> Create(const ManagementOptions& options,
                                                                  const Catalog* catalog,
                                                                  DaemonView* daemon);
  ~ManagementServer();

  // Returns a descriptor that is readable when Poll has work to do, expired timers included.
  int fd() const { return epoll_; }
  void Poll();

  // Affects only connections accepted from now on.
  void SetMaxClients(uint32_t max_clients) { options_.max_clients = max_clients; }
  const ManagementCounters& counters() const { return counters_; }
  size_t connections() const { return connections_.size(); }

 private:
  struct Connection;

  ManagementServer(const ManagementOptions& options, const Catalog* catalog, DaemonView* daemon,
                   std::unique_ptr<Listener> listener, int epoll, int timer);
  void Accept();
  // Sets whether epoll reports connections that wait to be accepted.
  void WatchListener(bool watch);
  // Whether the user's connection may be accepted; displaces another connection if necessary.
  bool MakeRoom(const ucred& peer, std::string* reason);
  void RejectConnection(int socket, const ucred& peer, const std::string& reason);
  // Serves a connection in a poll iteration.
  void Serve(Connection& connection);
  // Returns false if nothing was received.
  bool Receive(Connection& connection);
  bool TakeLine(Connection& connection);
  void Flush(Connection& connection);
  void CheckTimes(Connection& connection);
  // Sends an error that concerns no request, and ends the connection once it was sent.
  void Refuse(Connection& connection, const RpcError& error);
  void End(Connection& connection);
  // Updates the events that epoll reports for the connection.
  void Watch(Connection& connection);
  int64_t NextDeadlineMs(const Connection& connection) const;
  void SetTimer();
  bool IsPollBudgetSpent() const;
  // Whether the connection may make a request now; otherwise it is throttled.
  bool MayRequest(Connection& connection);
  void EmitLimit(std::string_view limit, const Connection& connection, std::string_view reason);

  ManagementOptions options_;
  const Catalog* const catalog_;
  DaemonView* const daemon_;
  const std::unique_ptr<Listener> listener_;
  const int epoll_;
  const int timer_;
  int64_t now_ms_ = 0;  // of the poll iteration
  int64_t poll_end_us_ = 0;
  size_t first_ = 0;  // index of the connection served first
  TokenBucket accepts_;
  bool listens_ = true;    // epoll watches the listener
  ManagementCounters counters_;
  std::vector<std::unique_ptr<Connection>> connections_;
};

}  // namespace suede

#endif  // SUEDE_MGMT_SERVER_H_
