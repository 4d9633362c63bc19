// SPDX-License-Identifier: Apache-2.0
// Joins client sockets and lcores: a client's request goes to the lcore that serves the instance,
// through its mailbox, and the lcore's answer goes back.
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

// The shape for a client with as many queues as it may have.
SegmentShape SegmentShapeOf(const ClientsConfig& clients);

class ClientService : public ClientHandler {
 public:
  // `endpoint` outlives the service and must not be destroyed before Stop() was called on it.
  static absl::StatusOr<std::unique_ptr<ClientService>> Create(Endpoint* endpoint,
                                                               const std::string& version,
                                                               Endpoint::Log log);

  int fd() const { return server_->fd(); }
  // Serves the sockets and takes the lcores' answers; call when fd() is readable, and every
  // millisecond while busy() holds.
  void Poll();
  // Serves clients' accesses to registers; without it, they are refused. `registers` outlives the
  // service, or is taken away.
  void SetRegisters(EndpointRegisters* registers) { registers_ = registers; }
  // Takes the settings of a configuration in effect for clients that come from now on.
  void Adopt(const Config& config);
  // Whether an lcore owes an answer.
  bool busy() const { return outstanding_ != 0 || windows_.busy(); }
  const ShmServer& server() const { return *server_; }
  ShmServer& server() { return *server_; }

  // Asks every lcore to say when all that was handed over is delivered.
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

  // The VCs received for a client: "3.0:0,1 4.0:2", own XPU, instance, VCs.
  std::string ClaimsOf(ClientId client) const;
  // Windows that lcores serve.
  const WindowService& windows() const { return windows_; }

 private:
  using Claims = std::map<uint32_t, uint32_t>;  // index into Config::instances to mask of VCs
  struct Attached {
    uint32_t lcore = 0;
    Claims claims;
    uint32_t asked_instance = 0;  // of the claim or unclaim under way
    uint32_t asked_mask = 0;
    std::array<uint32_t, SUEDE_MAX_QUEUES> instances{};  // of each queue, the pipeline's numbers
    std::array<uint8_t, SUEDE_MAX_QUEUES> vc_masks{};    // that each queue may send on
  };

  ClientService(Endpoint* endpoint, Endpoint::Log log);
  absl::Status Ask(uint32_t lcore, const LcoreRequest& request);
  absl::Status Claim(ClientId client, const ClaimRequest& request, bool claim);
  void OnReply(const LcoreReply& reply);
  void NoteClaim(const LcoreReply& reply);
  // Index into Config::instances; -1 where it is none of ours.
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
  std::vector<Writing> writing_;  // that wait until their change is in effect
  uint32_t outstanding_ = 0;
  uint32_t draining_ = 0;
};

}  // namespace suede

#endif  // SUEDE_APP_ENDPOINT_CLIENT_SERVICE_H_
