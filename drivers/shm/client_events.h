// SPDX-License-Identifier: Apache-2.0
// The calls of the server of client sockets to the rest of the daemon.
#ifndef SUEDE_SHM_CLIENT_EVENTS_H_
#define SUEDE_SHM_CLIENT_EVENTS_H_

#include <sys/types.h>

#include <cstdint>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "shm/segment.h"

namespace suede {

// Never used twice in a daemon's life.
enum class ClientId : uint64_t {};

struct InstanceKey {
  uint16_t xpuid = 0;
  uint8_t instance = 0;
  friend bool operator==(const InstanceKey&, const InstanceKey&) = default;
};

struct OpenRequest {
  std::vector<InstanceKey> queues;  // the instance of each queue, all of them ours
  std::vector<uint8_t> vc_masks;    // VCs that the client may send on, of each queue; none is 0
};

struct ClaimRequest {
  InstanceKey instance;  // one of ours
  uint32_t vc_mask = 0;  // bits 0 to 3, at least one
};

struct ServeRequest {
  InstanceKey instance;   // one of ours
  uint32_t vc_mask = 0;   // of requests: bits 0 to 3, at least one
  uint32_t send_vcs = 0;  // that its responses may take, likewise
};

// A window that the client registers (docs/client-protocol.md, WINDOW_ADD).
struct WindowRequest {
  static constexpr uint32_t kAnyPartition = ~0u;

  uid_t uid = 0;            // of the client
  uint32_t id = 0;          // 0 to 4095
  uint8_t rights = 0;       // 1 read, 2 write, 4 atomic; at least one
  bool is_program = false;  // the client serves it, and the rest means nothing
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
  bool has_packets = false;  // carries management packets, and has no queues
  bool is_gone = false;      // waits for FinishDetach
};

// How a connection came to its end.
struct ClientEnd {
  bool was_open = false;
  bool said_goodbye = false;
  std::string_view error{};  // its breach of the protocol; empty: none
};

// Called on the control thread, from ShmServer::Poll.
//
// The answers come in two steps, as an lcore answers through its mailbox: an error that is returned
// here refuses the request; OK means that ShmServer::Finish… follows, from within the call or
// later. A client has one request under way at a time; NOT_FOUND, INVALID_ARGUMENT,
// ALREADY_EXISTS, RESOURCE_EXHAUSTED, PERMISSION_DENIED and FAILED_PRECONDITION reach it under
// their names.
class ClientHandler {
 public:
  virtual ~ClientHandler() = default;

  // The NUMA node for the segment of such a client, -1 for any.
  virtual int NumaNode(const OpenRequest&) { return -1; }
  // The index in ShmServerConfig::boards of the lcore that serves such a client; -1: none.
  virtual int BoardOf(const OpenRequest&) { return -1; }

  // Serve the queues of `segment`, which is sealed → FinishOpen. After an error the segment is
  // gone.
  virtual absl::Status OnOpen(ClientId client, const OpenRequest& request, Segment& segment) = 0;
  // Deliver commands that arrive there to the client → FinishClaim.
  virtual absl::Status OnClaim(ClientId client, const ClaimRequest& request) = 0;
  // Deliver commands no longer to the client → FinishClaim.
  virtual absl::Status OnUnclaim(ClientId client, const ClaimRequest& request) = 0;
  // The lcore executes memory requests that arrive there; a client asks once → FinishServe. The
  // default refuses.
  virtual absl::Status OnServe(ClientId, const ServeRequest&) { return NoServing(); }
  // A window of such a target → FinishWindow. `fd` is what it brought, or -1; it is the caller's.
  virtual absl::Status OnWindowAdd(ClientId, const WindowRequest&, int /*fd*/) {
    return NoServing();
  }
  // Nothing touches the window any more → FinishWindow.
  virtual absl::Status OnWindowRemove(ClientId, uint32_t /*id*/) { return NoServing(); }
  // docs/shared-memory.md, "Reset" → FinishReset.
  virtual absl::Status OnReset(ClientId client, uint32_t queue) = 0;
  // An access to a register (docs/registers.md) → FinishRegister.
  virtual absl::Status OnRegister(ClientId client, const RegisterRequest& request) = 0;
  // The client has gone, with any request that it had under way. Let go of the segment on all
  // lcores → FinishDetach; until then it stays mapped. Called once for each client whose OnOpen
  // was accepted, unless FinishOpen was given an error.
  virtual void OnGone(ClientId client) = 0;

  // For observers. Nothing is asked of the handler.

  // The client's segment is served.
  virtual void OnOpened(const ClientInfo&) {}
  // A client was turned away for want of a place, or its request was refused for want of a rule.
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
