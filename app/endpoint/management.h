// SPDX-License-Identifier: Apache-2.0
// The endpoint's implementation of the management views, and its management socket.
#ifndef SUEDE_APP_ENDPOINT_MANAGEMENT_H_
#define SUEDE_APP_ENDPOINT_MANAGEMENT_H_

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "daemon/captures.h"
#include "daemon/logger.h"
#include "endpoint/client_service.h"
#include "endpoint/config_changer.h"
#include "endpoint/connection_list.h"
#include "endpoint/endpoint.h"
#include "endpoint/packet_service.h"
#include "endpoint/peer_ping.h"
#include "endpoint/plane_list.h"
#include "endpoint/queue_list.h"
#include "endpoint/registers.h"
#include "mgmt/endpoint_view.h"
#include "mgmt/server.h"

namespace suede {

// Returns the names of an endpoint's counters and events, formatted by NamesAsText.
std::string EndpointNames();

// Control thread only.
class Management final : public EndpointView {
 public:
  // All arguments must outlive this, and the lcores must stop before destruction.
  static absl::StatusOr<std::unique_ptr<Management>> Create(Endpoint* endpoint,
                                                            ClientService* clients,
                                                            Logger* logger, ConfigOrigin origin);
  ~Management() override { clients_->SetRegisters(nullptr); }

  // Sets the source of learnt MAC addresses, which must outlive this.
  void SetPackets(const PacketService* packets) { packets_ = packets; }

  int fd() const { return server_->fd(); }
  // To be called when fd() is readable.
  void Poll() {
    changer_.Poll();
    server_->Poll();
  }
  // Whether a configuration change is in progress: then call Poll every millisecond.
  bool changing() const { return changer_.busy(); }
  const ManagementCounters& counters() const { return server_->counters(); }
  const LogCounters& log_counters() const { return logger_->counters(); }
  // See Captures::Drain.
  void DrainCaptures() { captures_.Drain(); }
  bool captures() const { return !captures_.empty(); }
  // Whether the daemon is to drain and end: by a drain request, or after BeginDrain.
  bool drains() const { return drains_; }
  void BeginDrain() { drains_ = true; }
  // Sets the address that serves metrics, for Version().
  void SetHttpAddress(std::string address) { http_address_ = std::move(address); }

  // EndpointView.
  VersionView Version() override;
  std::string EffectiveConfig() override;
  absl::StatusOr<ConfigCheckView> CheckConfig(std::string_view text,
                                              std::string_view place) override;
  ConfigQuestion LoadConfig(std::string_view text, std::string_view place) override;
  std::vector<RegisterRowView> Registers() override;
  absl::StatusOr<std::vector<RegisterValueView>> ReadRegisters(std::string_view first,
                                                               uint32_t count) override;
  RegisterQuestion WriteRegister(std::string_view which, uint64_t value) override;
  std::vector<InstanceView> Instances() override;
  std::vector<PortView> Ports() override;
  std::vector<PeerView> Peers() override;
  std::vector<ClientView> Clients() override;
  std::vector<WindowView> Windows() override;
  std::vector<CounterSetView> Counters(CounterScope scope) override;
  ConnectionQuestion Connections(const ConnectionQuery& query) override;
  absl::Status StartCapture(const CaptureQuery& query, Fd file) override {
    return captures_.Start(query, std::move(file));
  }
  absl::StatusOr<CaptureView> StopCapture(std::string_view port) override {
    return captures_.Stop(port);
  }
  std::vector<CaptureView> ListCaptures() override { return captures_.List(); }
  std::vector<LinkView> Links() override;
  LogLevelView LogLevel() override;
  void SetLogLevel(LogLevelView level) override;
  bool Drain() override;
  EventLog& Events() override { return endpoint_->events(); }

  // AdminView.
  absl::StatusOr<AdminQuestion> SetPortAdmin(std::string_view port, bool up) override {
    return endpoint_->administration().SetPort(port, up);
  }
  QueueQuestion Queues() override;
  std::string FilePrefix() override;

  // PlaneAdminView.
  PlanesQuestion Planes() override;
  PlanePeersQuestion PlanePeers(const PlanePeerQuery& query) override;
  absl::StatusOr<AdminQuestion> SetPlaneAdmin(const PlaneName& name,
                                              PlaneSetting setting) override {
    return endpoint_->administration().SetPlane(name, setting);
  }
  absl::StatusOr<WeightChange> SetPlaneWeight(const PlaneName& name, std::optional<uint32_t> peer,
                                              std::optional<uint32_t> weight) override {
    return endpoint_->administration().SetWeight(name, peer, weight);
  }
  absl::StatusOr<DrainQuestion> DrainPlane(const PlaneName& name) override;

  // KeyView.
  std::vector<SealedPeerView> SealedPeers() override;
  absl::StatusOr<uint32_t> RotateKeys() override;
  absl::StatusOr<uint32_t> ReloadSecrets() override { return endpoint_->ReloadSecrets(); }

  // PeerPingView.
  absl::StatusOr<PingQuestion> Ping(const PingQuery& query) override {
    return ping_limits_.Begin(query);
  }

 private:
  Management(Endpoint* endpoint, ClientService* clients, Logger* logger, ConfigOrigin origin);
  // Applies a configuration that has taken effect.
  void Adopt(const Config& config, const std::vector<ConfigChange>& changes);

  Endpoint* const endpoint_;
  ClientService* const clients_;
  Logger* const logger_;
  const PacketService* packets_ = nullptr;
  const std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  ConfigChanger changer_;
  EndpointRegisters registers_;
  // These must outlive the server's questions.
  SnapshotPool<ConnectionSnapshot> connection_snapshots_;
  SnapshotPool<QueueSnapshot> queue_snapshots_;
  SnapshotPool<PlaneSnapshot> plane_snapshots_;
  PingLimits ping_limits_;
  bool drains_ = false;
  std::string http_address_;
  Captures captures_;
  std::unique_ptr<ManagementServer> server_;
};

}  // namespace suede

#endif  // SUEDE_APP_ENDPOINT_MANAGEMENT_H_
