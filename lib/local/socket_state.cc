// SPDX-License-Identifier: Apache-2.0
#include "local/socket_state.h"

#include <sys/socket.h>
#include <sys/un.h>

#include <cerrno>
#include <fstream>
#include <sstream>

#include "local/fd.h"

namespace suede {

// Connects a datagram socket to the file: the kernel finds the bound socket by the file, so that
// symbolic links, relative paths and network namespaces do not matter, and rejects the connection
// because of the socket's type before it has any effect. /proc/net/unix would show the path as it
// was bound, and only sockets of one network namespace.
SocketState StateOfSocket(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.empty() || path.size() >= sizeof address.sun_path) return SocketState::kUnknown;
  path.copy(address.sun_path, sizeof address.sun_path - 1);
  const Fd probe(socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (probe.get() < 0) return SocketState::kUnknown;
  const auto* const to = reinterpret_cast<const sockaddr*>(&address);
  if (connect(probe.get(), to, sizeof address) == 0) return SocketState::kHeld;  // by datagrams
  switch (errno) {
    case EPROTOTYPE: return SocketState::kHeld;
    case ECONNREFUSED: return SocketState::kDead;
    case ENOENT: return SocketState::kAbsent;
    default: return SocketState::kUnknown;
  }
}

bool IsAbstractNameHeld(std::string_view name, const char* list) {
  std::ifstream sockets(list);
  std::string line;
  std::getline(sockets, line);  // the column headings
  while (std::getline(sockets, line)) {
    constexpr int kColumnsBefore = 7;
    std::istringstream columns(line);
    std::string bound;
    for (int i = 0; i < kColumnsBefore; ++i) columns >> bound;
    if (!std::getline(columns >> std::ws, bound) || !bound.starts_with('@')) continue;
    // The kernel prints each zero byte as '@'; a name may be padded with zero bytes.
    bound.erase(0, 1);
    bound.erase(bound.find_last_not_of('@') + 1);
    if (bound == name) return true;
  }
  return false;
}

}  // namespace suede
