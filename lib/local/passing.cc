// SPDX-License-Identifier: Apache-2.0
#include "local/passing.h"

#include <linux/magic.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include <cstring>
#include <utility>

#include "local/call_limit.h"

namespace suede {

ssize_t SendWithFd(int socket, std::string_view bytes, int fd) {
  iovec data{.iov_base = const_cast<char*>(bytes.data()), .iov_len = bytes.size()};
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
  return sendmsg(socket, &header, MSG_NOSIGNAL);
}

ssize_t ReceivePacket(int socket, void* message, size_t size) {
  const CallLimit limit;
  return recv(socket, message, size, MSG_DONTWAIT | MSG_TRUNC);
}

bool IsPlainFile(int fd) {
  struct stat file;
  struct statfs system;
  return fstat(fd, &file) == 0 && S_ISREG(file.st_mode) && fstatfs(fd, &system) == 0 &&
         static_cast<unsigned long>(system.f_type) != FUSE_SUPER_MAGIC;
}

namespace {

Received Receive(int socket, void* buffer, size_t size, int flags) {
  iovec data{.iov_base = buffer, .iov_len = size};
  // Room for one descriptor, which alignment makes two. The kernel closes descriptors that do not
  // fit, and sets MSG_CTRUNC.
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))];
  msghdr header{};
  header.msg_iov = &data;
  header.msg_iovlen = 1;
  header.msg_control = control;
  header.msg_controllen = sizeof control;
  Received received;
  const CallLimit limit;
  received.bytes = recvmsg(socket, &header, flags | MSG_CMSG_CLOEXEC);
  if (received.bytes < 0) return received;
  received.too_many = (header.msg_flags & MSG_CTRUNC) != 0;
  for (cmsghdr* c = CMSG_FIRSTHDR(&header); c != nullptr; c = CMSG_NXTHDR(&header, c)) {
    if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS) continue;
    for (size_t at = CMSG_LEN(0); at + sizeof(int) <= c->cmsg_len; at += sizeof(int)) {
      int fd;
      std::memcpy(&fd, reinterpret_cast<const char*>(c) + at, sizeof fd);
      received.too_many |= received.fd.ok();
      received.fd = Fd(fd);
    }
  }
  if (received.too_many) received.fd.Reset();
  return received;
}

}  // namespace

Received ReceiveWithFd(int socket, char* buffer, size_t size) {
  return Receive(socket, buffer, size, 0);
}

ReceivedPacket ReceivePacketWithFd(int socket, void* message, size_t size) {
  Received received = Receive(socket, message, size, MSG_DONTWAIT | MSG_TRUNC);
  return {.bytes = received.bytes, .fd = std::move(received.fd)};
}

}  // namespace suede
