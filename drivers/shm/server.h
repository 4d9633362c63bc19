// SPDX-License-Identifier: Apache-2.0
// The daemon's side of the client protocol (docs/client-protocol.md).
//
// Control thread only; nothing blocks.
#ifndef SUEDE_SHM_SERVER_H_
#define SUEDE_SHM_SERVER_H_

#include <sys/socket.h>
#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "base/client_rules.h"
#include "local/admission.h"
#include "local/fd.h"
#include "local/listener.h"
#include "shm/client_events.h"
#include "shm/client_waits.h"
#include "shm/packet_events.h"
#include "shm/protocol.h"
#include "shm/wait_board.h"

namespace suede {

struct ShmServerConfig {
  std::string socket_path;
  mode_t socket_mode = 0660;
  SegmentShape shape;  // of every segment; queue_count is the max per client
  HugePages huge_pages = HugePages::kAuto;
  uint32_t max_clients = 64;           // concurrent, 1 to 1000
  uint32_t pack_limit_bytes = 2048;    // sent to clients
  uint32_t open_timeout_ms = 5000;     // from connection to SEALED
  uint32_t max_requests_per_s = 1000;  // per client, without WAIT; burst of a quarter
  std::string version;                 // of the daemon, sent to clients
  std::vector<InstanceKey> instances;  // served by this daemon
  std::vector<ClientRule> rules;       // clients.rules
  std::function<bool(uid_t)> is_privileged = IsPrivileged;
  // The board of each lcore; the boards must outlive the server.
  std::vector<WaitBoard*> boards{};
};

// Identifier, metric name, help text.
#define SUEDE_SHM_COUNTERS(X)                                                                \
  X(accepted, "clients_accepted_total", "Client connections accepted")                       \
  X(refused, "clients_refused_total", "Client connections refused: too many")                \
  X(opened, "clients_opened_total", "Clients that got a segment")                            \
  X(open_failed, "clients_open_failed_total", "OPEN and SEALED requests refused")            \
  X(displaced, "clients_displaced_total", "Clients disconnected for others: not open yet")   \
  X(gone, "clients_gone_total", "Client connections that ended, for any reason")             \
  X(malformed, "clients_malformed_total", "Clients disconnected for a malformed message")    \
  X(oversized, "clients_oversized_total", "Clients disconnected for an oversized message")   \
  X(version, "clients_version_total", "Clients disconnected for a foreign version")          \
  X(flooding, "clients_flooding_total", "Clients disconnected for too many requests")        \
  X(open_timeout, "clients_open_timeout_total", "Clients disconnected: not open in time")    \
  X(not_reading, "clients_not_reading_total", "Clients disconnected: replies not read")      \
  X(punched, "clients_punched_total", "Clients disconnected: a page of their memory failed") \
  X(requests, "client_requests_total", "Requests of clients, WAIT included")                 \
  X(requests_failed, "client_requests_failed_total", "Requests that were refused")           \
  X(wakeups, "client_wakeups_total", "Waiting clients woken")                                \
  X(wait_checks, "client_wait_checks_total", "Checks of the waits of clients")               \
  X(wait_calls, "client_wait_calls_total", "Calls of lcores that a client's wait is over")

struct ShmServerCounters {
#define SUEDE_SHM_COUNTER_FIELD(id, name, sentence) uint64_t id = 0;
  SUEDE_SHM_COUNTERS(SUEDE_SHM_COUNTER_FIELD)
#undef SUEDE_SHM_COUNTER_FIELD
};

class ShmServer {
 public:
  // `handler` must outlive the server.
  static absl::StatusOr<std::unique_ptr<ShmServer>> Create(const ShmServerConfig& config,
                                                           ClientHandler* handler);
  // Unmaps all segments: the lcores must have released them.
  ~ShmServer();

  // Readable when Poll has work.
  int fd() const { return epoll_; }
  void Poll();

  // Complete the handler's requests. No-op if the client has disconnected meanwhile.
  void FinishOpen(ClientId client, const absl::Status& status);
  void FinishClaim(ClientId client, const absl::Status& status);  // also of an unclaim
  void FinishReset(ClientId client, const absl::Status& status);
  void FinishRegister(ClientId client, const absl::Status& status, uint64_t value);
  void FinishServe(ClientId client, const absl::Status& status);
  void FinishWindow(ClientId client, const absl::Status& status);  // of an add or a remove
  void FinishDetach(ClientId client);

  // Serves management packets from now on; without a handler they are rejected.
  void SetPacketHandler(PacketHandler* handler) { packet_handler_ = handler; }
  // Delivers a packet received by the port to all clients that receive its packets.
  PacketCopies DeliverPacket(uint32_t port, std::span<const uint8_t> frame);

  // Disconnects a client whose window has lost pages; OnGone follows.
  void DropPunched(ClientId client);

  // Takes effect on later clients.
  void SetMaxClients(uint32_t max_clients) { config_.max_clients = max_clients; }
  void SetPackLimit(uint32_t bytes) { config_.pack_limit_bytes = bytes; }
  // Takes effect on later requests.
  void SetRules(const std::vector<ClientRule>& rules) { config_.rules = rules; }

  // Disconnects a client; OnGone is called before this returns.
  void Disconnect(ClientId client);

  // Returns nullptr if the client has none.
  Segment* segment(ClientId client);
  std::vector<ClientInfo> clients() const;
  ClientWaits& waits() { return waits_; }
  const ShmServerCounters& counters() const { return counters_; }

 private:
  using Client = ShmClient;
  using Counter = uint64_t ShmServerCounters::*;

  ShmServer(const ShmServerConfig& config, ClientHandler* handler,
            std::unique_ptr<Listener> listener, int epoll, int timer);

  void AcceptClients();
  // Returns OK if there is a place for a client of that user; may disconnect another client for it.
  absl::Status MakeRoom(const ucred& peer);
  void Greet(Client& client);
  void Serve(Client& client);
  void Dispatch(Client& client, const protocol::AnyRequest& request, const Fd& fd);
  void HandleOpen(Client& client, const protocol::Open& request);
  void HandleSealed(Client& client);
  void HandleClaim(Client& client, const protocol::Claim& request, bool is_claim);
  void HandleReset(Client& client, const protocol::Reset& request);
  void HandleRegister(Client& client, const protocol::Register& request);
  void HandleServe(Client& client, const protocol::Claim& request);
  void HandleWindowAdd(Client& client, const protocol::WindowAdd& request, const Fd& fd);
  void HandleWindowRemove(Client& client, const protocol::WindowRemove& request);
  // packets.cc
  void HandlePacketsOpen(Client& client, const protocol::PacketsOpen& request);
  void HandlePacketSend(const Client& client, const protocol::PacketSend& request);
  void PublishReceivers(uint32_t port);

  absl::Status PrepareOpen(Client& client, const protocol::Open& request);
  bool IsOurs(InstanceKey instance) const;
  // Returns the error that no rule permits the client to be the XPU on those VCs; 0: any.
  absl::Status Forbid(const Client& client, InstanceKey key, uint32_t vc_mask);
  // Checks a claim of VCs, of which the client is permitted some.
  absl::Status CheckClaim(const Client& client, const ClaimRequest& claim, uint32_t permitted);

  void FinishPending(ClientId id, protocol::Type type, const absl::Status& status,
                     uint64_t value = 0);
  void ReplyTo(Client& client, protocol::Type request, uint32_t sequence,
               const absl::Status& status, uint64_t value = 0);
  void Send(Client& client, const void* message, size_t bytes, const int* fds, int fd_count);
  void Drop(Client& client, Counter reason);
  void Reap();
  void OnTimer();
  Client* Find(ClientId id);

  ShmServerConfig config_;
  ClientHandler* const handler_;
  PacketHandler* packet_handler_ = nullptr;
  const std::unique_ptr<Listener> listener_;
  const int epoll_;
  uint64_t next_id_ = 1;
  ShmServerCounters counters_;
  std::vector<std::unique_ptr<Client>> clients_;
  ClientWaits waits_;
};

}  // namespace suede

#endif  // SUEDE_SHM_SERVER_H_
