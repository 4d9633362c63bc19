// SPDX-License-Identifier: Apache-2.0
// State of a connection of the management server.
#ifndef SUEDE_MGMT_CONNECTION_H_
#define SUEDE_MGMT_CONNECTION_H_

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <utility>

#include "base/token_bucket.h"
#include "local/fd.h"
#include "mgmt/line_buffer.h"
#include "mgmt/server.h"
#include "mgmt/session.h"

namespace suede {

struct ManagementServer::Connection {
  Connection(int fd, Session made, TokenBucket rate)
      : socket(fd), session(std::move(made)), requests(rate) {}

  Fd socket;
  Session session;
  pid_t pid = 0;
  uid_t uid = 0;
  LineBuffer in;
  std::string out;               // not accepted by the socket yet
  size_t out_from = 0;           // offset into `out` of the first unsent byte
  uint32_t events = 0;           // event mask registered with epoll
  int64_t line_since_ms = -1;    // time since which a line is incomplete; -1: none is
  int64_t unread_since_ms = -1;  // time since which the socket accepts nothing; -1: it accepts
  int64_t active_ms = 0;         // time of the last work on the connection
  bool peer_closed = false;      // the client has shut down its sending side
  bool ends = false;             // no further reads; closed once `out` is sent
  bool has_work = false;         // serve in the next poll iteration, even without an event
  TokenBucket requests;
  bool is_throttled = false;  // the next request waits for `requests`
  bool rate_limit_reported = false;

  // Returns the time since which the connection is idle; -1: a request is in progress.
  int64_t quiet_since_ms() const {
    if (unread_since_ms >= 0) return unread_since_ms;
    return session.idle() ? active_ms : -1;
  }
};

}  // namespace suede

#endif  // SUEDE_MGMT_CONNECTION_H_
