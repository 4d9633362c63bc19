// SPDX-License-Identifier: Apache-2.0
// A thin C++ layer over socket.h: the same calls in classes that manage lifetimes. C++20, header
// only.
//
// Errors are those of socket.h: negative errno values; suede_mem_error_text() returns the text.
#ifndef SUEDE_SOCKET_HPP_
#define SUEDE_SOCKET_HPP_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "socket.h"

namespace suede::client {

// Returns the arguments of a socket with automatic plane and VC.
inline suede_socket_params MakeSocketParams(uint8_t direction, uint16_t id, uint32_t epoch,
                                            uint16_t peer, uint8_t type = SUEDE_SOCKET_STREAM) {
  suede_socket_params params{};
  params.size = sizeof params;
  params.id = id;
  params.type = type;
  params.direction = direction;
  params.epoch = epoch;
  params.plane = SUEDE_MEM_AUTO;
  params.vc = SUEDE_MEM_AUTO;
  params.peer = peer;
  return params;
}

class Sockets;

// One end of a socket. Any thread may use it, but for Close and the destructor.
class Socket {
 public:
  Socket() = default;

  int Connect(int timeout_ms = -1) { return suede_socket_connect(socket_.get(), timeout_ms); }
  int Send(std::span<const std::byte> data, int timeout_ms = -1, uint64_t* pushed = nullptr) {
    return suede_socket_send(socket_.get(), data.data(), data.size(), timeout_ms, pushed);
  }
  // The data stays the operation's until it is pushed.
  int StartSend(std::span<const std::byte> data, suede_socket_result* result,
                uint32_t deadline_ms = 0) {
    return suede_socket_start_send(socket_.get(), data.data(), data.size(), deadline_ms, result);
  }
  int Drain(int timeout_ms = -1) { return suede_socket_drain(socket_.get(), timeout_ms); }
  int Receive(std::span<std::byte> room, int timeout_ms = -1) {
    return suede_socket_receive(socket_.get(), room.data(), static_cast<uint32_t>(room.size()),
                                timeout_ms);
  }
  int Close(int timeout_ms = -1, uint32_t* status = nullptr) {
    return suede_socket_close(socket_.release(), timeout_ms, status);
  }
  uint32_t status() const { return suede_socket_status(socket_.get()); }
  uint32_t peer_status(uint32_t index) const {
    return suede_socket_peer_status(socket_.get(), index);
  }
  suede_socket_info Info() const {
    suede_socket_info info{};
    info.size = sizeof info;
    suede_socket_get_info(socket_.get(), &info);
    return info;
  }
  suede_socket* get() const { return socket_.get(); }

 private:
  friend class Sockets;
  // Peers of one that is not closed see it as aborted, or closed.
  struct Abort {
    void operator()(suede_socket* socket) const { suede_socket_close(socket, 0, nullptr); }
  };
  std::unique_ptr<suede_socket, Abort> socket_;
};

// The access to sockets; it outlives them.
class Sockets {
 public:
  Sockets() = default;

  // Returns 0 or an error.
  int Open(const std::string& name_or_path, suede_sockets_params params = {}) {
    params.size = sizeof params;
    suede_sockets* sockets = nullptr;
    sockets_.reset();
    const int result = suede_sockets_open(name_or_path.c_str(), &params, &sockets);
    sockets_.reset(sockets);
    return result;
  }
  int Reconnect() { return suede_sockets_reconnect(sockets_.get()); }
  uint16_t xpuid() const { return suede_sockets_xpuid(sockets_.get()); }
  // Opens a socket; see MakeSocketParams.
  int OpenSocket(const suede_socket_params& params, Socket* socket) {
    suede_socket* opened = nullptr;
    socket->socket_.reset();
    const int result = suede_socket_open(sockets_.get(), &params, &opened);
    socket->socket_.reset(opened);
    return result;
  }
  int Poll() { return suede_sockets_poll(sockets_.get()); }
  int Start() { return suede_sockets_start(sockets_.get()); }
  int Stop() { return suede_sockets_stop(sockets_.get()); }
  suede_sockets_counts Counts() const {
    suede_sockets_counts counts{};
    counts.size = sizeof counts;
    suede_sockets_get_counts(sockets_.get(), &counts);
    return counts;
  }
  suede_sockets* get() const { return sockets_.get(); }

 private:
  struct Close {
    void operator()(suede_sockets* sockets) const { suede_sockets_close(sockets); }
  };
  std::unique_ptr<suede_sockets, Close> sockets_;
};

}  // namespace suede::client

#endif  // SUEDE_SOCKET_HPP_
