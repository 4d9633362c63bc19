// SPDX-License-Identifier: Apache-2.0
// The functions of suede.h for management packets.
#include <sys/socket.h>
#include <sys/uio.h>

#include <cerrno>
#include <climits>
#include <cstring>
#include <memory>
#include <string>

#include "channel.h"
#include "client.h"

using suede::Fail;
namespace protocol = suede::protocol;

// A name of the C ABI, hence outside of any namespace.
struct suede_packets {
  suede::Channel channel;
  protocol::Packets port;
  uint64_t lost = 0;
};

namespace {

constexpr uint32_t kDefaultTimeoutMs = 5000;
constexpr uint32_t kMinPacketBytes = 14;

int Connect(suede_packets& packets, const std::string& name, int timeout_ms) {
  int result = -ENOENT;
  protocol::Hello hello;
  for (const std::string& path : suede::PathsOf(name)) {
    result = packets.channel.Connect(path.c_str(), timeout_ms, &hello);
    if (result != -ENOENT && result != -ECONNREFUSED) break;
  }
  return result;
}

}  // namespace

extern "C" {

int suede_packets_open(const char* name_or_path, const suede_packets_params* params,
                       suede_packets** packets) {
  if (packets == nullptr || name_or_path == nullptr || *name_or_path == 0) {
    return Fail(-EINVAL, "the name or the connection is NULL");
  }
  *packets = nullptr;
  if (params == nullptr || params->size != sizeof *params || params->receive > 1 ||
      params->timeout_ms > INT_MAX) {
    return Fail(-EINVAL, "suede_packets_params.size is not set, or another version's");
  }
  protocol::PacketsOpen open;
  open.port_index = params->port_index;
  open.receive = params->receive;
  if (params->port != nullptr) {
    const size_t length = std::strlen(params->port);
    if (length == 0 || length > sizeof open.port) {
      return Fail(-EINVAL, "the name of a port has 1 to 32 characters");
    }
    std::memcpy(open.port, params->port, length);
  }
  const int timeout_ms =
      static_cast<int>(params->timeout_ms != 0 ? params->timeout_ms : kDefaultTimeoutMs);
  auto fresh = std::make_unique<suede_packets>();
  int result = Connect(*fresh, name_or_path, timeout_ms);
  if (result == 0) result = fresh->channel.OpenPackets(&open, timeout_ms, &fresh->port);
  if (result == 0) *packets = fresh.release();
  return result;
}

void suede_packets_close(suede_packets* packets) { delete packets; }

int suede_packets_get_info(const suede_packets* packets, suede_packets_info* info) {
  if (packets == nullptr || info == nullptr || info->size != sizeof *info) {
    return Fail(-EINVAL, "suede_packets_info.size is not set, or another version's");
  }
  const protocol::Packets& port = packets->port;
  *info = {.size = sizeof *info,
           .port_index = port.port_index,
           .max_bytes = port.max_bytes,
           .mtu_bytes = port.mtu_bytes,
           .mac = {},
           .reserved = {},
           .port = {}};
  std::memcpy(info->mac, port.mac, sizeof info->mac);
  static_assert(sizeof info->port > sizeof port.port);
  std::memcpy(info->port, port.port, sizeof port.port);
  return 0;
}

int suede_packets_send(suede_packets* packets, const void* frame, uint32_t bytes) {
  if (packets == nullptr || frame == nullptr || bytes < kMinPacketBytes ||
      bytes > packets->port.max_bytes) {
    return Fail(-EINVAL, "a packet has at least 14 bytes, and at most the port's limit");
  }
  protocol::Head head;
  head.type = protocol::Type::kPacketSend;
  head.size = static_cast<uint32_t>(sizeof head) + bytes;
  iovec parts[2] = {{.iov_base = &head, .iov_len = sizeof head},
                    {.iov_base = const_cast<void*>(frame), .iov_len = bytes}};
  msghdr message{};
  message.msg_iov = parts;
  message.msg_iovlen = 2;
  for (;;) {
    if (sendmsg(packets->channel.fd(), &message, MSG_NOSIGNAL | MSG_DONTWAIT) >= 0) return 0;
    if (errno == EINTR) continue;
    if (errno == EAGAIN) return -EAGAIN;
    return Fail(-ECONNRESET, "the daemon has closed the connection");
  }
}

int suede_packets_receive(suede_packets* packets, void* frame, uint32_t room) {
  if (packets == nullptr || frame == nullptr) return Fail(-EINVAL, "packets or frame is NULL");
  protocol::PacketHead head;
  iovec parts[2] = {{.iov_base = &head, .iov_len = sizeof head},
                    {.iov_base = frame, .iov_len = room}};
  for (;;) {
    msghdr message{};
    message.msg_iov = parts;
    message.msg_iovlen = 2;
    const ssize_t n = recvmsg(packets->channel.fd(), &message, MSG_DONTWAIT);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && errno == EAGAIN) return -EAGAIN;
    if (n <= 0) return Fail(-ECONNRESET, "the daemon has closed the connection");
    if (n < static_cast<ssize_t>(sizeof head) || head.head.type != protocol::Type::kPacket) {
      continue;  // unknown message
    }
    packets->lost = head.lost;
    if ((message.msg_flags & MSG_TRUNC) != 0) {
      return Fail(-EMSGSIZE, "the packet has more bytes than there is room for");
    }
    return static_cast<int>(n - static_cast<ssize_t>(sizeof head));
  }
}

uint64_t suede_packets_lost(const suede_packets* packets) {
  return packets == nullptr ? 0 : packets->lost;
}

int suede_packets_fd(const suede_packets* packets) {
  return packets == nullptr ? -1 : packets->channel.fd();
}

}  // extern "C"
