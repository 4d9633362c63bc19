// SPDX-License-Identifier: Apache-2.0
// The client's end of the daemon's socket: requests, replies and passed file descriptors.
#ifndef SUEDE_LIBSUEDE_CHANNEL_H_
#define SUEDE_LIBSUEDE_CHANNEL_H_

#include <cstdint>

#include "shm/protocol.h"

namespace suede {

// Returns the calling thread's error text, for suede_error_text.
const char* ErrorText();
// Sets the calling thread's error text. Returns `error`.
__attribute__((format(printf, 2, 3))) int Fail(int error, const char* format, ...);

// Connection to a daemon. Not thread-safe, except for HasEnded. Functions that return int return 0
// or a negative errno.
class Channel {
 public:
  Channel() = default;
  ~Channel() { Close(); }
  Channel(const Channel&) = delete;
  Channel& operator=(const Channel&) = delete;

  // Connects and receives the daemon's HELLO.
  int Connect(const char* path, int timeout_ms, protocol::Hello* hello);
  void Close();
  int fd() const { return fd_; }

  // Sends a request, with the file descriptor `fd` unless negative, and waits for its reply. Stores
  // the two descriptors of a reply to OPEN in `fds`; null: closes them.
  template <typename Request>
  int Call(Request* request, int timeout_ms, protocol::Reply* reply, int* fds, int fd = -1) {
    request->head.sequence = ++sequence_;
    return CallRaw(request, sizeof *request, fd, timeout_ms, reply, fds);
  }
  // Requests access to a port's management packets. Stores the daemon's PACKETS in *answer.
  int OpenPackets(protocol::PacketsOpen* request, int timeout_ms, protocol::Packets* answer);
  // Sends a message that has no reply. Returns false if it would block or the connection is closed.
  bool TrySend(const void* message, uint32_t bytes) const;
  // Whether the daemon has closed the connection. Makes one system call.
  bool HasEnded() const;

 private:
  int SendRequest(const void* request, uint32_t bytes, int fd, int64_t deadline_ms);
  int CallRaw(const void* request, uint32_t bytes, int fd, int timeout_ms, protocol::Reply* reply,
              int* fds);
  // Receives a message of up to `bytes` bytes. Returns its length or a negative errno.
  int64_t Receive(void* message, uint32_t bytes, int64_t deadline_ms, int* fds);
  int WaitFor(short events, int64_t deadline_ms) const;

  int fd_ = -1;
  uint32_t sequence_ = 0;
};

int64_t ClockMs();
// ClockMs() at the last timer tick, up to 10 ms old; cheap, without a system call.
int64_t CoarseClockMs();

}  // namespace suede

#endif  // SUEDE_LIBSUEDE_CHANNEL_H_
