// SPDX-License-Identifier: Apache-2.0
// The daemon's side of the management socket (docs/management.md).
//
// Everything here belongs to the control thread; nothing blocks.
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
  int64_t line_ms = 10'000;   // from a line's first byte to its newline
  int64_t unread_ms = 10'000; // in which a client that owes reading reads something
  uint32_t requests_per_turn = 16;  // of a connection
  uint32_t requests_per_s = 5000;   // of a connection; a quarter of it at once
  uint32_t accepts_per_s = 1000;    // connections; a quarter of it at once
  int64_t turn_us = 5000;     // after which a turn begins no further request
  SessionLimits session;
};

struct ManagementOptions {
  std::string socket_path;
  mode_t socket_mode = 0660;
  uint32_t max_clients = 32;  // at a time
  std::string version;        // the daemon's, for the greeting
  std::string name;           // the daemon's
  ManagementLimits limits;
  std::function<void(std::string_view line)> log;  // gets each change and its user
  // Gets the limit that a connection has met, its owner, and the outcome.
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
  X(throttled, "management_throttled_total", "Times that a connection had to wait for its rate")

struct ManagementCounters {
#define SUEDE_MANAGEMENT_COUNTER_FIELD(id, name, sentence) uint64_t id = 0;
  SUEDE_MANAGEMENT_COUNTERS(SUEDE_MANAGEMENT_COUNTER_FIELD)
#undef SUEDE_MANAGEMENT_COUNTER_FIELD
};

class ManagementServer {
 public:
  // Catalog and daemon outlive the server.
  static absl::StatusOr<std::unique_ptr<ManagementServer>> Create(const ManagementOptions& options,
                                                                  const Catalog* catalog,
                                                                  DaemonView* daemon);
  ~ManagementServer();

  // Readable when Poll has something to do, the passing of time included.
  int fd() const { return epoll_; }
  void Poll();

  // Takes effect on connections that come from now on.
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
  // Whether there is a place for a connection of the user; if need be, another one ends for it.
  bool MakeRoom(const ucred& peer, std::string* reason);
  void TurnAway(int socket, const ucred& peer, const std::string& reason);
  // Serves a connection for a turn.
  void Serve(Connection& connection);
  // False where nothing came.
  bool Receive(Connection& connection);
  bool TakeLine(Connection& connection);
  void Flush(Connection& connection);
  void CheckTimes(Connection& connection);
  // Sends an error that concerns no request, and ends the connection when it was read.
  void Refuse(Connection& connection, const RpcError& error);
  void End(Connection& connection);
  // Sets the events that epoll reports of the connection, and the latest time of its next turn.
  void Watch(Connection& connection);
  int64_t NextTurnMs(const Connection& connection) const;
  void SetTimer();
  bool TurnIsOver() const;
  // Whether the connection may make a request now; otherwise it waits.
  bool MayRequest(Connection& connection);
  void EmitLimit(std::string_view limit, const Connection& connection, std::string_view reason);

  ManagementOptions options_;
  const Catalog* const catalog_;
  DaemonView* const daemon_;
  const std::unique_ptr<Listener> listener_;
  const int epoll_;
  const int timer_;
  int64_t now_ms_ = 0;     // of the turn
  int64_t turn_end_us_ = 0;
  size_t first_ = 0;       // connection that this turn begins with
  TokenBucket accepts_;
  bool listens_ = true;    // epoll watches the listener
  ManagementCounters counters_;
  std::vector<std::unique_ptr<Connection>> connections_;
};

}  // namespace suede

#endif  // SUEDE_MGMT_SERVER_H_
