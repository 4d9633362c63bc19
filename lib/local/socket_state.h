// SPDX-License-Identifier: Apache-2.0
// Checks whether a process holds a Unix socket, without connecting to it: a connection is an event
// at its server, and crashes a process of DPDK that serves a memif there.
#ifndef SUEDE_LOCAL_SOCKET_STATE_H_
#define SUEDE_LOCAL_SOCKET_STATE_H_

#include <cstdint>
#include <string>
#include <string_view>

namespace suede {

enum class SocketState : uint8_t {
  kAbsent,   // no such file
  kDead,     // the file exists, but no process has the socket open
  kHeld,     // a process has bound it, in any network namespace
  kUnknown,  // no permission to check, or the file is not a socket
};

// Returns the state of the stream or packet socket at `path`.
SocketState StateOfSocket(const std::string& path);

// Returns whether a process of this network namespace has bound the abstract name, according to the
// kernel's list. `list`: replaces /proc/net/unix in tests.
bool IsAbstractNameHeld(std::string_view name, const char* list = "/proc/net/unix");

}  // namespace suede

#endif  // SUEDE_LOCAL_SOCKET_STATE_H_
