// SPDX-License-Identifier: Apache-2.0
// Transfers over Unix sockets, with a descriptor beside the bytes (SCM_RIGHTS).
#ifndef SUEDE_LOCAL_PASSING_H_
#define SUEDE_LOCAL_PASSING_H_

#include <sys/types.h>

#include <cstddef>
#include <string_view>

#include "local/fd.h"

namespace suede {

// Like recv(), without blocking: returns a message's length, even if `size` is less. Closes
// descriptors that arrive with the message.
ssize_t ReceivePacket(int socket, void* message, size_t size);

// A packet with the descriptor that arrived with it; without one if there were several.
struct ReceivedPacket {
  ssize_t bytes = -1;
  Fd fd;
};
ReceivedPacket ReceivePacketWithFd(int socket, void* message, size_t size);

// Like send(): returns the bytes that the socket accepted, or -1 and errno. If it accepted any,
// `fd` was sent with them; an `fd` of -1 sends none. Never raises SIGPIPE.
ssize_t SendWithFd(int socket, std::string_view bytes, int fd);

// Whether reads and writes of `fd` never block: a regular file, and not on a file system that a
// user's program serves (FUSE).
bool IsPlainFile(int fd);

struct Received {
  ssize_t bytes = -1;      // as of recv(): 0 at the end, -1 and errno
  Fd fd;                   // belongs to the last of the bytes
  bool too_many = false;   // several descriptors arrived; all are closed
};
// Receives up to `size` bytes. The kernel ends a read behind the bytes with which a descriptor was
// sent, so each read returns at most one descriptor, which belongs to the last byte.
Received ReceiveWithFd(int socket, char* buffer, size_t size);

}  // namespace suede

#endif  // SUEDE_LOCAL_PASSING_H_
