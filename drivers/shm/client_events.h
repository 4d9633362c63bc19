// SPDX-License-Identifier: Apache-2.0
// Calls from the client socket server to the rest of the daemon.
#ifndef SUEDE_SHM_CLIENT_EVENTS_H_
#define SUEDE_SHM_CLIENT_EVENTS_H_

#include <sys/types.h>

#include <cstdint>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "shm/segment.h"

namespace suede {

// Unique during the daemon's life.
enum class ClientId : uint64_t {};

struct InstanceKey {
  uint16_t xpuid = 0;
  uint8_t instance = 0;
  friend bool operator==(const InstanceKey&, const InstanceKey&) = default;
};

struct OpenRequest {
  std::vector<InstanceKey> queues;  // instance of each queue, all served by this daemon
  std::vector<uint8_t> vc_masks;    // permitted transmit VCs of each queue, never 0
};

struct ClaimRequest {
  InstanceKey instance;  // served by this daemon
  uint32_t vc_mask = 0;  // bits 0 to 3, at least one
};

struct ServeRequest {
  InstanceKey instance;   // served by this daemon
  uint32_t vc_mask = 0;   // VCs of requests: bits 0 to 3, at least one
  uint32_t send_vcs = 0;  // VCs permitted for its responses, bits 0 to 3, at least one
};

// A window that a client registers (docs/client-protocol.md, WINDOW_ADD).
struct WindowRequest {
  static constexpr uint32_t kAnyPartition = ~0u;

  uid_t uid = 0;            // of the client
  uint32_t id = 0;          // 0 to 4095
  uint8_t rights = 0;       // 1 read, 2 write, 4 atomic; at least one
  bool is_program = false;  // served by the client; the fields below are ignored
  uint32_t key = 0;
  uint32_t partition = kAnyPartition;
  uint64_t bytes = 0;
  uint64_t fd_offset = 0;
};

struct RegisterRequest {
  uint32_t address = 0;
  uint32_t width_bits = 0;
  bool is_write = false;
  uint64_t value = 0;
};

struct ClientInfo {
  ClientId id{};
  pid_t pid = 0;
  uid_t uid = 0;
  uint32_t queue_count = 0;  // 0: not open yet
  bool has_packets = false;  // carries management packets, has no queues
  bool is_gone = false;      // waits for FinishDetach
};

// How a connection ended.
struct ClientEnd {
  bool was_open = false;
  bool sent_goodbye = false;
  std::string_view error{};  // protocol error of the client; empty: none
};

// Calls on the control thread, from ShmServer::Poll.
//
// Replies come in two steps, as an lcore replies through its mailbox: an error returned here
// rejects the request; after OK, ShmServer::Finish… follows, from within the call or later. A
// client has one pending request at a time. NOT_FOUND, INVALID_ARGUMENT, ALREADY_EXISTS,
// RESOURCE_EXHAUSTED, PERMISSION_DENIED and FAILED_PRECONDITION are reported to the client as such.
class ClientHandler {
 public:
  virtual ~ClientHandler() = default;

  // Returns the NUMA node for the client's segment, -1: any.
  virtual int NumaNode(const OpenRequest&) { return -1; }
  // Returns the index in ShmServerConfig::boards of the lcore that serves the client, -1: none.
  virtual int BoardOf(const OpenRequest&) { return -1; }

  // Serves the queues of the sealed `segment` → FinishOpen. After an error the segment is
  // destroyed.
  virtual absl::Status OnOpen(ClientId client, const OpenRequest& request, Segment& segment) = 0;
  // Delivers commands for the instance and VCs to the client → FinishClaim.
  virtual absl::Status OnClaim(ClientId client, const ClaimRequest& request) = 0;
  // Stops delivering these commands to the client → FinishClaim.
  virtual absl::Status OnUnclaim(ClientId client, const ClaimRequest& request) = 0;
  // Executes the memory requests of the instance on its lcore; at most once per client →
  // FinishServe. The default rejects.
  virtual absl::Status OnServe(ClientId, const ServeRequest&) { return NoServing(); }
  // Adds a window of such a target → FinishWindow. `fd`: the descriptor sent along, or -1; owned by
  // the caller.
  virtual absl::Status OnWindowAdd(ClientId, const WindowRequest&, int /*fd*/) {
    return NoServing();
  }
  // Removes a window, which is no longer accessed afterwards → FinishWindow.
  virtual absl::Status OnWindowRemove(ClientId, uint32_t /*id*/) { return NoServing(); }
  // Resets a queue (docs/shared-memory.md, "Reset") → FinishReset.
  virtual absl::Status OnReset(ClientId client, uint32_t queue) = 0;
  // Reads or writes a register (docs/registers.md) → FinishRegister.
  virtual absl::Status OnRegister(ClientId client, const RegisterRequest& request) = 0;
  // The client has disconnected, which cancels a pending request. Releases the segment on all
  // lcores → FinishDetach; until then it stays mapped. Called once for each client whose OnOpen was
  // accepted, unless FinishOpen was called with an error.
  virtual void OnGone(ClientId client) = 0;

  // For observers, without a reply.

  // The client's segment is served.
  virtual void OnOpened(const ClientInfo&) {}
  // A client was rejected for lack of a place, or its request for lack of a rule.
  virtual void OnRefused(pid_t, uid_t, std::string_view /*reason*/) {}
  // The client's connection has ended.
  virtual void OnEnded(const ClientInfo&, const ClientEnd&) {}

 private:
  static absl::Status NoServing() {
    return absl::UnimplementedError("the lcores here execute no memory requests");
  }
};

}  // namespace suede

#endif  // SUEDE_SHM_CLIENT_EVENTS_H_
