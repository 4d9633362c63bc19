// SPDX-License-Identifier: Apache-2.0
// Connections for the management packets of a port.
#include <sys/socket.h>
#include <sys/uio.h>

#include <algorithm>
#include <cstring>

#include "shm/client.h"
#include "shm/server.h"

namespace suede {
namespace {

// Socket buffer for packets that the client has not read, up to the system's limit.
constexpr int kPacketSendBuffer = 1 << 20;

}  // namespace

void ShmServer::HandlePacketsOpen(Client& client, const protocol::PacketsOpen& request) {
  if (client.segment != nullptr || client.has_packets || client.has_pending) {
    return Drop(client, &ShmServerCounters::malformed);
  }
  const auto refuse = [&](const absl::Status& status) {
    ReplyTo(client, protocol::Type::kPacketsOpen, request.head.sequence, status);
  };
  if (packet_handler_ == nullptr) {
    return refuse(absl::UnimplementedError("this daemon serves no management packets"));
  }
  if (request.receive > 1) return refuse(absl::InvalidArgumentError("receive is 0 or 1"));
  const std::string_view name(request.port, strnlen(request.port, sizeof request.port));
  const absl::StatusOr<PacketPort> port =
      packet_handler_->FindPacketPort(name, request.port_index);
  if (!port.ok()) return refuse(port.status());
  protocol::Packets answer;
  answer.head.sequence = request.head.sequence;
  port->name.copy(answer.port, sizeof answer.port);
  answer.port_index = port->index;
  answer.max_bytes = std::min(port->max_bytes, protocol::kMaxPacketBytes);
  answer.mtu_bytes = port->mtu_bytes;
  std::copy(port->mac.begin(), port->mac.end(), answer.mac);
  client.has_packets = true;
  client.packet_port = port->index;
  Send(client, &answer, sizeof answer, nullptr, 0);
  if (request.receive == 0 || client.is_gone()) return;
  setsockopt(client.socket.get(), SOL_SOCKET, SO_SNDBUF, &kPacketSendBuffer, sizeof kPacketSendBuffer);
  client.receives_packets = true;
  PublishReceivers(client.packet_port);
}

void ShmServer::HandlePacketSend(const Client& client, const protocol::PacketSend& request) {
  if (packet_handler_ == nullptr) return;
  packet_handler_->OnPacket(client.packet_port,
                            {request.bytes, request.head.size - sizeof request.head});
}

void ShmServer::PublishReceivers(uint32_t port) {
  if (packet_handler_ == nullptr) return;
  const auto count = std::count_if(clients_.begin(), clients_.end(), [port](const auto& client) {
    return client->receives_packets && client->packet_port == port;
  });
  packet_handler_->OnPacketReceivers(port, static_cast<uint32_t>(count));
}

PacketCopies ShmServer::DeliverPacket(uint32_t port, std::span<const uint8_t> frame) {
  PacketCopies copies;
  for (const std::unique_ptr<Client>& client : clients_) {
    if (!client->receives_packets || client->packet_port != port) continue;
    protocol::PacketHead head;
    head.head.size = static_cast<uint32_t>(sizeof head + frame.size());
    head.lost = client->packets_lost;
    iovec parts[2] = {{.iov_base = &head, .iov_len = sizeof head},
                      {.iov_base = const_cast<uint8_t*>(frame.data()), .iov_len = frame.size()}};
    msghdr message{};
    message.msg_iov = parts;
    message.msg_iovlen = 2;
    // Poll detects a socket whose other end is closed.
    if (sendmsg(client->socket.get(), &message, MSG_NOSIGNAL | MSG_DONTWAIT) >= 0) {
      ++copies.taken;
    } else {
      ++copies.lost;
      ++client->packets_lost;
    }
  }
  return copies;
}

}  // namespace suede
