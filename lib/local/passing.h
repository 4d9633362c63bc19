// SPDX-License-Identifier: Apache-2.0
// Bytes of a Unix stream socket, with a descriptor beside them (SCM_RIGHTS).
#ifndef SUEDE_LOCAL_PASSING_H_
#define SUEDE_LOCAL_PASSING_H_

#include <sys/types.h>

#include <cstddef>
#include <string_view>

#include "local/fd.h"

namespace suede {

// As recv(), without waiting: a message's length, even where `size` is less. Descriptors that come
// with it are closed.
ssize_t ReceivePacket(int socket, void* message, size_t size);

// A packet with the descriptor that came with it. Where there were several, none is given.
struct ReceivedPacket {
  ssize_t bytes = -1;
  Fd fd;
};
ReceivedPacket ReceivePacketWithFd(int socket, void* message, size_t size);

// As send(): bytes that the socket took, or -1 and errno. Where it took any, it took `fd` with
// them; -1 sends none. Never raises SIGPIPE.
ssize_t SendWithFd(int socket, std::string_view bytes, int fd);

// Whether `fd` is a file that reading and writing does not wait for: a regular one, and of no file
// system that a user's program serves.
bool IsPlainFile(int fd);

struct Received {
  ssize_t bytes = -1;      // as recv(): 0 at the end, -1 and errno
  Fd fd;                   // belongs to the last of the bytes
  bool too_many = false;   // there was more than one: all of them are closed
};
// Takes the socket's bytes, up to `size` of them. The kernel ends such a read behind the bytes
// that a descriptor came with, so that there is one per read and it belongs to the last byte.
Received ReceiveWithFd(int socket, char* buffer, size_t size);

}  // namespace suede

#endif  // SUEDE_LOCAL_PASSING_H_
