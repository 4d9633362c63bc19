// SPDX-License-Identifier: Apache-2.0
#include "local/wakeup.h"

#include <linux/sockios.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <cstdint>

namespace suede {

std::optional<Wakeup> Wakeup::Create() {
  int ends[2];
  // The handle is non-blocking, too: several threads of its process may read it.
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends) != 0) {
    return std::nullopt;
  }
  // This end is never read, so it must not accept data that the other end sends.
  shutdown(ends[0], SHUT_RD);
  return Wakeup(Fd(ends[0]), Fd(ends[1]));
}

void Wakeup::Ring() const {
  // An unread earlier notification is sufficient.
  int unread = 0;
  if (ioctl(sender_.get(), SIOCOUTQ, &unread) == 0 && unread != 0) return;
  const uint64_t one = 1;
  // If the other end is full, shut down or closed, there is no listener to wake.
  static_cast<void>(send(sender_.get(), &one, sizeof one, MSG_DONTWAIT | MSG_NOSIGNAL));
}

}  // namespace suede
