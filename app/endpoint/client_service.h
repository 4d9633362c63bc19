// SPDX-License-Identifier: Apache-2.0
// Connects client sockets and lcores: passes a client's request to the lcore that serves the
// instance, through its mailbox, and returns the lcore's reply.
#ifndef SUEDE_APP_ENDPOINT_CLIENT_SERVICE_H_
#define SUEDE_APP_ENDPOINT_CLIENT_SERVICE_H_

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>

#include "endpoint/endpoint.h"
#include "endpoint/window_service.h"
#include "shm/server.h"

namespace suede {

class EndpointRegisters;

// Returns the shape of the segment of a client with the max number of queues.
SegmentShape SegmentShapeOf(const ClientsConfig& clients);

class ClientService : public ClientHandler {
 public:
  // `endpoint` must outlive the service, and be stopped before the service is destroyed.
  static absl::StatusOr<std::unique_ptr<ClientService>> Create(Endpoint* endpoint,
                                                               const std::string& version,
                                                               Endpoint::Log log);

  int fd() const { return server_->fd(); }
  // Serves the sockets and processes the lcores' replies. To be called when fd() is readable, and
  // every millisecond while busy() holds.
  void Poll();
  // Serves clients' register accesses; without `registers` they are rejected. `registers` must
  // outlive the service, or be reset to null.
  void SetRegisters(EndpointRegisters* registers) { registers_ = registers; }
  // Applies a configuration's settings to later clients.
  void Adopt(const Config& config);
  // Whether a reply of an lcore is pending.
  bool busy() const { return outstanding_ != 0 || windows_.busy(); }
  const ShmServer& server() const { return *server_; }
  ShmServer& server() { return *server_; }

  // Requests each lcore to report when everything handed over is delivered.
  void BeginDrain();
  bool Drained() const { return draining_ == 0; }

  // ClientHandler.
  int BoardOf(const OpenRequest& request) override;
  absl::Status OnOpen(ClientId client, const OpenRequest& request, Segment& segment) override;
  absl::Status OnClaim(ClientId client, const ClaimRequest& request) override;
  absl::Status OnUnclaim(ClientId client, const ClaimRequest& request) override;
  absl::Status OnReset(ClientId client, uint32_t queue) override;
  absl::Status OnRegister(ClientId client, const RegisterRequest& request) override;
  absl::Status OnServe(ClientId client, const ServeRequest& request) override;
  absl::Status OnWindowAdd(ClientId client, const WindowRequest& request, int fd) override;
  absl::Status OnWindowRemove(ClientId client, uint32_t id) override;
  void OnGone(ClientId client) override;
  void OnOpened(const ClientInfo& client) override;
  void OnRefused(pid_t pid, uid_t uid, std::string_view reason) override;
  void OnEnded(const ClientInfo& client, const ClientEnd& end) override;

  // Returns the state of a client, as clients.list has it.
  static std::string_view StateOf(const ClientInfo& client) {
    if (client.is_gone) return "leaving";
    if (client.has_packets) return "packets";
    return client.queue_count != 0 ? "open" : "connected";
  }
  // Returns the VCs received for a client, e.g. "3.0:0,1 4.0:2": own XPU, instance, VCs.
  std::string ClaimsOf(ClientId client) const;
  // Windows that lcores serve.
  const WindowService& windows() const { return windows_; }

 private:
  using Claims = std::map<uint32_t, uint32_t>;  // index into Config::instances to VC mask
  struct Attached {
    uint32_t lcore = 0;
    Claims claims;
    uint32_t asked_instance = 0;  // of the pending claim or unclaim
    uint32_t asked_mask = 0;
    std::array<uint32_t, SUEDE_MAX_QUEUES> instances{};  // of each queue, in the pipeline
    std::array<uint8_t, SUEDE_MAX_QUEUES> vc_masks{};    // permitted transmit VCs of each queue
  };

  ClientService(Endpoint* endpoint, Endpoint::Log log);
  absl::Status Ask(uint32_t lcore, const LcoreRequest& request);
  absl::Status Claim(ClientId client, const ClaimRequest& request, bool claim);
  void OnReply(const LcoreReply& reply);
  void NoteClaim(const LcoreReply& reply);
  // Returns the index into Config::instances; -1 if the instance is not of this endpoint.
  int FindInstance(const InstanceKey& key) const;

  Endpoint* const endpoint_;
  const Endpoint::Log log_;
  WindowService windows_;
  std::unique_ptr<ShmServer> server_;
  std::unordered_map<uint32_t, Attached> attached_;
  std::unordered_map<uint32_t, uint32_t> unsent_detaches_;  // client to lcore
  EndpointRegisters* registers_ = nullptr;
  struct Writing {
    ClientId client;
    RegisterRequest request;
  };
  std::vector<Writing> writing_;  // waiting until their change is in effect
  uint32_t outstanding_ = 0;
  uint32_t draining_ = 0;
};

}  // namespace suede

#endif  // SUEDE_APP_ENDPOINT_CLIENT_SERVICE_H_
