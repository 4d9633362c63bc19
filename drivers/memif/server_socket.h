// SPDX-License-Identifier: Apache-2.0
// The listening socket of one or more server interfaces, and connections in their handshake.
// Control thread.
#ifndef SUEDE_MEMIF_SERVER_SOCKET_H_
#define SUEDE_MEMIF_SERVER_SOCKET_H_

#include <cstdint>
#include <list>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "local/fd.h"
#include "local/listener.h"
#include "memif/channel.h"
#include "memif/device.h"

namespace suede::memif {

// Opens and addresses a socket. Returns the connected or listening descriptor, -1 and errno if
// there is none.
int ConnectTo(const std::string& socket, bool is_abstract);

class ServerSocket {
 public:
  // Returns the socket of the options, which interfaces of this process share.
  static absl::StatusOr<std::shared_ptr<ServerSocket>> Get(const DeviceOptions& options);

  absl::Status Add(Device* device);
  void Remove(Device* device);
  void Poll(int64_t now_ns);

 private:
  // A connection in its handshake.
  struct Guest {
    Fd socket;
    ServerChannel channel{};
    Device* device = nullptr;  // null: before INIT
    std::vector<Fd> regions{};
    std::vector<Fd> events{};  // of its s2c rings
    int64_t deadline_ns = 0;
  };

  void Accept(int64_t now_ns);
  // Returns false if the guest is gone or has become a connection.
  bool Serve(Guest& guest);
  bool Finish(Guest& guest);
  void End(Guest& guest, Refusal reason);

  std::unique_ptr<Listener> listener_;  // null: an abstract name
  Fd abstract_;
  std::vector<Device*> devices_;
  std::list<Guest> guests_;  // in the order of their arrival
};

}  // namespace suede::memif

#endif  // SUEDE_MEMIF_SERVER_SOCKET_H_
