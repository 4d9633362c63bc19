// SPDX-License-Identifier: Apache-2.0
#include "channel.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstring>

namespace suede {
namespace {

thread_local char error_text[256] = "no error";

void CloseFds(int* fds) {
  for (int i = 0; i < 2; ++i) {
    if (fds[i] >= 0) close(fds[i]);
    fds[i] = -1;
  }
}

int ErrorOf(const protocol::Reply& reply) {
  switch (reply.status) {
    case protocol::Status::kOk:
      return 0;
    case protocol::Status::kInvalid:
      return -EINVAL;
    case protocol::Status::kNotFound:
      if (reply.request == protocol::Type::kPacketsOpen) return -ENODEV;
      return reply.request == protocol::Type::kOpen ? -ENOTSUP : -ENOENT;
    case protocol::Status::kBusy:
      return -EBUSY;
    case protocol::Status::kNoResources:
      return -EUSERS;
    case protocol::Status::kBadVersion:
      return -EPROTO;
    case protocol::Status::kNotPermitted:
      return -EACCES;
    case protocol::Status::kNotNow:
      return -ENOTSUP;
    default:
      return -EIO;
  }
}

int FailAsReplied(const protocol::Reply& reply) {
  const int error = ErrorOf(reply);
  if (error == 0) return 0;
  return Fail(error, "%.*s", static_cast<int>(sizeof reply.text), reply.text);
}

}  // namespace

const char* ErrorText() { return error_text; }

int Fail(int error, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(error_text, sizeof error_text, format, arguments);
  va_end(arguments);
  return error;
}

int64_t ClockMs() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1000 + now.tv_nsec / 1'000'000;
}

int64_t CoarseClockMs() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
  return now.tv_sec * 1000 + now.tv_nsec / 1'000'000;
}

void Channel::Close() {
  if (fd_ >= 0) close(fd_);
  fd_ = -1;
}

int Channel::Connect(const char* path, int timeout_ms, protocol::Hello* hello) {
  Close();
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (std::strlen(path) >= sizeof address.sun_path) {
    return Fail(-EINVAL, "%.80s…: the path of a socket has at most 107 bytes", path);
  }
  std::strcpy(address.sun_path, path);
  fd_ = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd_ < 0) return Fail(-errno, "socket: %s", std::strerror(errno));
  const int64_t deadline = ClockMs() + timeout_ms;
  while (connect(fd_, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) {
    const int error = errno;
    if (error == EINTR) continue;
    if (error == EAGAIN && ClockMs() < deadline) {  // the daemon's listen backlog is full
      poll(nullptr, 0, 1);
      continue;
    }
    Close();
    return Fail(error == EAGAIN ? -ETIMEDOUT : -error, "%s: %s", path, std::strerror(error));
  }
  union {
    protocol::Hello hello;
    protocol::Reply reply;
  } greeting{};
  int no_fds[2] = {-1, -1};
  const int64_t n = Receive(&greeting, sizeof greeting, deadline, no_fds);
  CloseFds(no_fds);
  int result = n < 0 ? static_cast<int>(n) : 0;
  if (result == 0 &&
      (n < int64_t{sizeof(protocol::Head)} || greeting.hello.head.magic != protocol::kMagic ||
       greeting.hello.head.version != protocol::kVersion)) {
    result = Fail(-EPROTO, "%s: the daemon speaks another protocol version", path);
  }
  if (result == 0 && greeting.hello.head.type == protocol::Type::kReply) {
    result = FailAsReplied(greeting.reply);
    if (result == 0) result = -EPROTO;
  }
  if (result == 0 &&
      (n != sizeof greeting.hello || greeting.hello.layout_version != SUEDE_LAYOUT_VERSION)) {
    result = Fail(-EPROTO, "%s: the daemon lays its segments out as version %u, not %u", path,
                  greeting.hello.layout_version, SUEDE_LAYOUT_VERSION);
  }
  if (result != 0) {
    Close();
  } else {
    *hello = greeting.hello;
  }
  return result;
}

int Channel::WaitFor(short events, int64_t deadline_ms) const {
  for (;;) {
    const int64_t left = deadline_ms - ClockMs();
    pollfd what{.fd = fd_, .events = events, .revents = 0};
    const int n = poll(&what, 1, left > 0 ? static_cast<int>(left) : 0);
    if (n > 0) return 0;
    if (n == 0) return Fail(-ETIMEDOUT, "the daemon does not answer");
    if (errno != EINTR) return Fail(-errno, "poll: %s", std::strerror(errno));
  }
}

int64_t Channel::Receive(void* message, uint32_t bytes, int64_t deadline_ms, int* fds) {
  for (;;) {
    iovec data{.iov_base = message, .iov_len = bytes};
    alignas(cmsghdr) char control[CMSG_SPACE(2 * sizeof(int))];
    msghdr header{};
    header.msg_iov = &data;
    header.msg_iovlen = 1;
    header.msg_control = control;
    header.msg_controllen = sizeof control;
    const ssize_t n = recvmsg(fd_, &header, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && errno == EAGAIN) {
      if (const int error = WaitFor(POLLIN, deadline_ms); error != 0) return error;
      continue;
    }
    if (n <= 0) return Fail(-ECONNRESET, "the daemon has closed the connection");
    for (cmsghdr* c = CMSG_FIRSTHDR(&header); c != nullptr; c = CMSG_NXTHDR(&header, c)) {
      if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS) continue;
      std::memcpy(fds, CMSG_DATA(c), c->cmsg_len - CMSG_LEN(0));
    }
    return n;
  }
}

int Channel::SendRequest(const void* request, uint32_t bytes, int fd, int64_t deadline_ms) {
  if (fd_ < 0) return Fail(-ECONNRESET, "not connected");
  iovec data{.iov_base = const_cast<void*>(request), .iov_len = bytes};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  msghdr header{};
  header.msg_iov = &data;
  header.msg_iovlen = 1;
  if (fd >= 0) {
    header.msg_control = control;
    header.msg_controllen = sizeof control;
    cmsghdr* rights = CMSG_FIRSTHDR(&header);
    rights->cmsg_level = SOL_SOCKET;
    rights->cmsg_type = SCM_RIGHTS;
    rights->cmsg_len = CMSG_LEN(sizeof fd);
    std::memcpy(CMSG_DATA(rights), &fd, sizeof fd);
  }
  while (sendmsg(fd_, &header, MSG_NOSIGNAL | MSG_DONTWAIT) < 0) {
    if (errno == EINTR) continue;
    if (errno == EBADF) return Fail(-EBADF, "the window's descriptor is invalid");
    if (errno != EAGAIN) return Fail(-ECONNRESET, "the daemon has closed the connection");
    if (const int error = WaitFor(POLLOUT, deadline_ms); error != 0) return error;
  }
  return 0;
}

int Channel::OpenPackets(protocol::PacketsOpen* request, int timeout_ms,
                         protocol::Packets* answer) {
  request->head.sequence = ++sequence_;
  const int64_t deadline = ClockMs() + timeout_ms;
  if (const int error = SendRequest(request, sizeof *request, -1, deadline); error != 0)
    return error;
  union {
    protocol::Packets packets;
    protocol::Reply reply;
  } got{};
  int no_fds[2] = {-1, -1};
  const int64_t n = Receive(&got, sizeof got, deadline, no_fds);
  CloseFds(no_fds);
  if (n < 0) return static_cast<int>(n);
  if (n == sizeof got.reply && got.reply.head.type == protocol::Type::kReply &&
      got.reply.status != protocol::Status::kOk) {
    return FailAsReplied(got.reply);
  }
  if (n != sizeof got.packets || got.packets.head.type != protocol::Type::kPackets ||
      got.packets.head.sequence != sequence_) {
    return Fail(-EPROTO, "unexpected reply to PACKETS_OPEN");
  }
  *answer = got.packets;
  return 0;
}

int Channel::CallRaw(const void* request, uint32_t bytes, int fd, int timeout_ms,
                     protocol::Reply* reply, int* fds) {
  const int64_t deadline = ClockMs() + timeout_ms;
  if (const int error = SendRequest(request, bytes, fd, deadline); error != 0) return error;
  for (;;) {
    int received[2] = {-1, -1};
    const int64_t n = Receive(reply, sizeof *reply, deadline, received);
    if (n < 0) return static_cast<int>(n);
    const bool is_ours = n == sizeof *reply && reply->head.type == protocol::Type::kReply &&
                         reply->head.sequence == sequence_;
    // Skips late replies to requests that timed out.
    if (!is_ours) {
      CloseFds(received);
      continue;
    }
    if (fds != nullptr) {
      std::memcpy(fds, received, sizeof received);
    } else {
      CloseFds(received);
    }
    return FailAsReplied(*reply);
  }
}

bool Channel::TrySend(const void* message, uint32_t bytes) const {
  return send(fd_, message, bytes, MSG_NOSIGNAL | MSG_DONTWAIT) == static_cast<ssize_t>(bytes);
}

bool Channel::HasEnded() const {
  pollfd what{.fd = fd_, .events = POLLRDHUP, .revents = 0};
  return fd_ < 0 ||
         (poll(&what, 1, 0) > 0 && (what.revents & (POLLRDHUP | POLLHUP | POLLERR)) != 0);
}

}  // namespace suede
