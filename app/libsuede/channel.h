// SPDX-License-Identifier: Apache-2.0
// The client's end of the daemon's socket: requests with replies, and the descriptors they bring.
#ifndef SUEDE_LIBSUEDE_CHANNEL_H_
#define SUEDE_LIBSUEDE_CHANNEL_H_

#include <cstdint>

#include "shm/protocol.h"

namespace suede {

// The sentence that suede_error_text gives, of this thread.
const char* ErrorText();
// Notes the sentence and gives `error` back.
__attribute__((format(printf, 2, 3))) int Fail(int error, const char* format, ...);

// Not thread-safe, but for HasEnded.
class Channel {
 public:
  Channel() = default;
  ~Channel() { Close(); }
  Channel(const Channel&) = delete;
  Channel& operator=(const Channel&) = delete;

  // Connects and takes the daemon's greeting. 0 or a negative errno, as all here.
  int Connect(const char* path, int timeout_ms, protocol::Hello* hello);
  void Close();
  int fd() const { return fd_; }

  // Sends a request, with the descriptor `fd` unless that is negative, and waits for its reply.
  // `fds` takes the two descriptors of a reply to OPEN.
  template <typename Request>
  int Call(Request* request, int timeout_ms, protocol::Reply* reply, int* fds, int fd = -1) {
    request->head.sequence = ++sequence_;
    return CallRaw(request, sizeof *request, fd, timeout_ms, reply, fds);
  }
  // Asks for the management packets of a port: the answer is no REPLY where it is granted.
  int OpenPackets(protocol::PacketsOpen* request, int timeout_ms, protocol::Packets* answer);
  // Hands over a message that has no reply, if there is room for it at once.
  bool TrySend(const void* message, uint32_t bytes) const;
  // Whether the daemon has closed the connection. One system call.
  bool HasEnded() const;

 private:
  int SendRequest(const void* request, uint32_t bytes, int fd, int64_t deadline_ms);
  int CallRaw(const void* request, uint32_t bytes, int fd, int timeout_ms, protocol::Reply* reply,
              int* fds);
  // Receives a message of at most `bytes` bytes. Returns its length or an error.
  int64_t Receive(void* message, uint32_t bytes, int64_t deadline_ms, int* fds);
  int WaitFor(short events, int64_t deadline_ms) const;

  int fd_ = -1;
  uint32_t sequence_ = 0;
};

int64_t ClockMs();
// ClockMs() as of the last tick, at most 10 ms ago: no system call, some nanoseconds.
int64_t CoarseClockMs();

}  // namespace suede

#endif  // SUEDE_LIBSUEDE_CHANNEL_H_
