// SPDX-License-Identifier: Apache-2.0
// The functions of socket.h.
#include <cerrno>
#include <climits>

#include "abi.h"
#include "sockets_client.h"

using suede::Fail;
using suede::mem::FindStatus;
using suede::mem::OpenNew;

namespace {

int FailNoSockets() {
  return Fail(-EINVAL,
              "cannot use sockets: suede_sockets is NULL; take it from suede_sockets_open");
}
int FailNoSocket() {
  return Fail(-EINVAL, "cannot use a socket: suede_socket is NULL; take it from suede_socket_open");
}

constexpr suede::mem::StatusText kStatuses[] = {
    {SUEDE_SOCKET_OK, "OK", "connected, or delivered"},
    {SUEDE_SOCKET_PENDING, "PENDING", "not complete yet"},
    {SUEDE_SOCKET_NOT_OPEN, "NOT_OPEN", "the peer has no socket of this id"},
    {SUEDE_SOCKET_EPOCH, "EPOCH", "the peer's socket has another epoch"},
    {SUEDE_SOCKET_MISMATCH, "MISMATCH", "the peer's socket has another type, VC or privacy"},
    {SUEDE_SOCKET_CREDIT, "CREDIT", "the sender has ignored the receiver's credit"},
    {SUEDE_SOCKET_ORDER, "ORDER", "a command is missing or came twice"},
    {SUEDE_SOCKET_MALFORMED, "MALFORMED", "the peer does not know a command"},
    {SUEDE_SOCKET_CLOSED, "CLOSED", "the receiver has closed before it took everything"},
    {SUEDE_SOCKET_ABORTED, "ABORTED",
     "the sender has given up before its end, or this side has before it was connected"},
    {SUEDE_SOCKET_UNREACHABLE, "UNREACHABLE",
     "not delivered: the endpoint does not know the peer, or has no path to it"},
    {SUEDE_SOCKET_IN_DOUBT, "IN_DOUBT",
     "in doubt: the path or the peer was lost before it answered"},
    {SUEDE_SOCKET_TIMED_OUT, "TIMED_OUT", "the deadline passed"},
    {SUEDE_SOCKET_RESET, "RESET", "the peer has restarted"},
};

}  // namespace

extern "C" {

const char* suede_socket_status_name(uint32_t status) {
  return FindStatus(kStatuses, status, "?").name;
}

const char* suede_socket_status_text(uint32_t status) {
  return FindStatus(kStatuses, status, "no status of a socket").text;
}

int suede_sockets_open(const char* name_or_path, const suede_sockets_params* params,
                       suede_sockets** sockets) {
  return OpenNew(name_or_path, params, sockets,
                 "cannot open: sockets is NULL; pass a variable's address",
                 "suede_sockets_params.size is not set, or another version's");
}

int suede_sockets_reconnect(suede_sockets* sockets) {
  return sockets == nullptr ? FailNoSockets() : sockets->Reconnect();
}

void suede_sockets_close(suede_sockets* sockets) { delete sockets; }

uint16_t suede_sockets_xpuid(const suede_sockets* sockets) {
  return sockets == nullptr ? uint16_t{0} : sockets->xpuid();
}

int suede_sockets_poll(suede_sockets* sockets) {
  return sockets == nullptr ? FailNoSockets() : sockets->Poll();
}

int suede_sockets_start(suede_sockets* sockets) {
  return sockets == nullptr ? FailNoSockets() : sockets->Start();
}

int suede_sockets_stop(suede_sockets* sockets) {
  return sockets == nullptr ? FailNoSockets() : sockets->Stop();
}

int suede_sockets_get_counts(suede_sockets* sockets, suede_sockets_counts* counts) {
  if (sockets == nullptr) return FailNoSockets();
  if (counts == nullptr || counts->size != sizeof *counts) {
    return Fail(-EINVAL, "suede_sockets_counts.size is not set, or another version's");
  }
  return sockets->GetCounts(counts);
}

int suede_socket_open(suede_sockets* sockets, const suede_socket_params* params,
                      suede_socket** socket) {
  if (sockets == nullptr) return FailNoSockets();
  if (socket == nullptr) {
    return Fail(-EINVAL, "cannot open: socket is NULL; pass a variable's address");
  }
  *socket = nullptr;
  if (params == nullptr || params->size != sizeof *params) {
    return Fail(-EINVAL, "suede_socket_params.size is not set, or another version's");
  }
  return sockets->OpenSocket(*params, socket);
}

int suede_socket_connect(suede_socket* socket, int timeout_ms) {
  return socket == nullptr ? FailNoSocket() : socket->owner->Connect(*socket, timeout_ms);
}

int suede_socket_send(suede_socket* socket, const void* data, uint64_t bytes, int timeout_ms,
                      uint64_t* pushed_bytes) {
  if (pushed_bytes != nullptr) *pushed_bytes = 0;
  if (socket == nullptr) return FailNoSocket();
  return socket->owner->Send(*socket, data, bytes, timeout_ms, pushed_bytes);
}

int suede_socket_start_send(suede_socket* socket, const void* data, uint64_t bytes,
                            uint32_t deadline_ms, suede_socket_result* result) {
  if (socket == nullptr) return FailNoSocket();
  return socket->owner->StartSend(*socket, data, bytes, deadline_ms, result);
}

int suede_socket_drain(suede_socket* socket, int timeout_ms) {
  return socket == nullptr ? FailNoSocket() : socket->owner->Drain(*socket, timeout_ms);
}

int suede_socket_receive(suede_socket* socket, void* room, uint32_t bytes, int timeout_ms) {
  if (socket == nullptr) return FailNoSocket();
  if (bytes > INT_MAX || (room == nullptr && bytes != 0)) {
    return Fail(-EINVAL, "cannot receive: there is no room, or more than 2^31 - 1 octets of it");
  }
  return socket->owner->Receive(*socket, room, bytes, timeout_ms);
}

int suede_socket_close(suede_socket* socket, int timeout_ms, uint32_t* status) {
  if (status != nullptr) *status = SUEDE_SOCKET_OK;
  return socket == nullptr ? 0 : socket->owner->CloseSocket(socket, timeout_ms, status);
}

uint32_t suede_socket_status(suede_socket* socket) {
  return socket == nullptr ? SUEDE_SOCKET_NOT_OPEN : socket->owner->StatusOf(*socket);
}

uint32_t suede_socket_peer_status(suede_socket* socket, uint32_t index) {
  return socket == nullptr ? SUEDE_SOCKET_NOT_OPEN : socket->owner->PeerStatusOf(*socket, index);
}

int suede_socket_get_info(suede_socket* socket, suede_socket_info* info) {
  if (socket == nullptr) return FailNoSocket();
  if (info == nullptr || info->size != sizeof *info) {
    return Fail(-EINVAL, "suede_socket_info.size is not set, or another version's");
  }
  return socket->owner->GetInfo(*socket, info);
}

}  // extern "C"
