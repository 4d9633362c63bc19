// SPDX-License-Identifier: Apache-2.0
#include "local/wakeup.h"

#include <linux/sockios.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <cstdint>

namespace suede {

std::optional<Wakeup> Wakeup::Create() {
  int ends[2];
  // The handle does not block either: several threads of its process may read it.
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends) != 0) {
    return std::nullopt;
  }
  // Nothing is ever read at our end, so nothing may be left there to be kept.
  shutdown(ends[0], SHUT_RD);
  return Wakeup(Fd(ends[0]), Fd(ends[1]));
}

void Wakeup::Ring() const {
  // An earlier ring that was not read yet is enough.
  int unread = 0;
  if (ioctl(rope_.get(), SIOCOUTQ, &unread) == 0 && unread != 0) return;
  const uint64_t one = 1;
  // Full, shut or closed at the other end: then there is no listener to help.
  static_cast<void>(send(rope_.get(), &one, sizeof one, MSG_DONTWAIT | MSG_NOSIGNAL));
}

}  // namespace suede
