// SPDX-License-Identifier: Apache-2.0
// The server's state of a connection.
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
  std::string out;      // not taken by the socket yet
  size_t out_from = 0;  // of out
  uint32_t events = 0;  // that epoll watches for
  int64_t line_since_ms = -1;    // there has been a piece of a line since; -1: there is none
  int64_t unread_since_ms = -1;  // the socket has taken nothing since
  int64_t active_ms = 0;         // when something was last done for it
  bool came_to_end = false;      // the client sends nothing more
  bool ends = false;             // nothing more is read, and it is closed once `out` is sent
  bool has_work = false;         // for the next turn, with or without epoll
  TokenBucket requests;
  bool is_throttled = false;  // its next request waits for `requests`
  bool told_rate = false;

  // Since when it has not moved, -1 where something it asked for is under way.
  int64_t quiet_since_ms() const {
    if (unread_since_ms >= 0) return unread_since_ms;
    return session.idle() ? active_ms : -1;
  }
};

}  // namespace suede

#endif  // SUEDE_MGMT_CONNECTION_H_
