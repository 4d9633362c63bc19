// SPDX-License-Identifier: Apache-2.0
// Replaces two libc calls of net_af_packet, by names that precede libc's.
//
// The driver creates a fanout group of a port's sockets, and computes its number from the process
// id and the interface's index. Numbers are valid in the whole network namespace: if two processes
// compute the same number for different interfaces, the second gets no port; for the same
// interface, it takes part of the first's frames. This file lets the kernel choose a free number.
//
// Before DPDK 24.11 the driver opens its sockets with a protocol, so that they receive from all
// interfaces of the network namespace until they are bound to the port's: frames of other
// interfaces would be the port's first. This file opens them without a protocol.
#include "dpdk/packet_sockets.h"

#include <arpa/inet.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstring>
#include <map>
#include <mutex>

namespace suede::internal {
namespace {

struct Groups {
  std::mutex mutex;
  std::map<uint32_t, uint32_t> number_of;  // the driver's number to the kernel's
};

Groups& AllGroups() {
  static Groups* const state = new Groups;
  return *state;
}

int SetFanout(int fd, uint32_t value) {
  return static_cast<int>(
      syscall(SYS_setsockopt, fd, SOL_PACKET, PACKET_FANOUT, &value, sizeof value));
}

}  // namespace

int JoinFanout(int fd, uint32_t wanted) {
  Groups& state = AllGroups();
  const std::lock_guard lock(state.mutex);
  if (const auto at = state.number_of.find(wanted); at != state.number_of.end()) {
    if (SetFanout(fd, at->second) == 0) return 0;
    state.number_of.erase(at);  // all of its sockets are closed, and the number is in use again
  }
  constexpr uint32_t kNumber = 0xffff;
  const uint32_t unique = (wanted & ~kNumber) | uint32_t{PACKET_FANOUT_FLAG_UNIQUEID} << 16;
  if (SetFanout(fd, unique) != 0) return SetFanout(fd, wanted);  // a kernel before 4.12
  uint32_t got = 0;
  socklen_t length = sizeof got;
  if (getsockopt(fd, SOL_PACKET, PACKET_FANOUT, &got, &length) == 0) {
    state.number_of[wanted] = (wanted & ~kNumber) | (got & kNumber);
  }
  return 0;
}

}  // namespace suede::internal

// NOLINTNEXTLINE: the name is libc's.
extern "C" [[gnu::visibility("default"), gnu::used]] int setsockopt(int fd, int level, int name,
                                                                    const void* value,
                                                                    socklen_t length) noexcept {
  uint32_t wanted = 0;
  if (level == SOL_PACKET && name == PACKET_FANOUT && length == sizeof wanted) {
    std::memcpy(&wanted, value, sizeof wanted);
    return suede::internal::JoinFanout(fd, wanted);
  }
  return static_cast<int>(syscall(SYS_setsockopt, fd, level, name, value, length));
}

// NOLINTNEXTLINE: likewise.
extern "C" [[gnu::visibility("default"), gnu::used]] int socket(int domain, int type,
                                                                int protocol) noexcept {
  // Opens without a protocol: the driver binds to interface and protocol later.
  const bool is_drivers = domain == AF_PACKET && type == SOCK_RAW && protocol == htons(ETH_P_ALL);
  return static_cast<int>(syscall(SYS_socket, domain, type, is_drivers ? 0 : protocol));
}
