// SPDX-License-Identifier: Apache-2.0
// The endpoint's implementation of the management views, and its management socket.
#ifndef SUEDE_APP_ENDPOINT_MANAGEMENT_H_
#define SUEDE_APP_ENDPOINT_MANAGEMENT_H_

#include <memory>
#include <string>
#include <vector>

#include "daemon/daemon_management.h"
#include "endpoint/client_service.h"
#include "endpoint/config_changer.h"
#include "endpoint/endpoint.h"
#include "endpoint/lcore_lists.h"
#include "endpoint/packet_service.h"
#include "endpoint/path_runs.h"
#include "endpoint/peer_ping.h"
#include "endpoint/recorder.h"
#include "endpoint/register_pages.h"
#include "endpoint/registers.h"
#include "endpoint/tracing.h"
#include "mgmt/endpoint_view.h"

namespace suede {

// Returns the names of an endpoint's counters and events, formatted by NamesAsText.
std::string EndpointNames();

// Control thread only.
class Management final : public DaemonManagement<EndpointView> {
 public:
  // All arguments must outlive this, and the lcores must stop before destruction.
  static absl::StatusOr<std::unique_ptr<Management>> Create(Endpoint* endpoint,
                                                            ClientService* clients, Logger* logger,
                                                            ConfigOrigin origin);
  ~Management() override {
    CloseServer();
    clients_->SetRegisters(nullptr);
  }

  // Sets the source of learnt MAC addresses, which must outlive this.
  void SetPackets(const PacketService* packets) { packets_ = packets; }

  // To be called when fd() is readable.
  void Poll() {
    changer_.Poll();
    recorder_.Poll();
    pages_->Poll();
    server().Poll();
  }
  // Readable when a sample of a recording is due; -1: nothing is recorded.
  int record_fd() const { return recorder_.fd(); }
  // Whether a sample is being taken: then call Poll every millisecond.
  bool recording() const { return recorder_.busy(); }
  // Whether a configuration change is in progress: then call Poll every millisecond.
  bool changing() const { return changer_.busy(); }

  // EndpointView.
  std::string EffectiveConfig() override;
  absl::StatusOr<ConfigCheckView> CheckConfig(std::string_view text,
                                              std::string_view place) override;
  Question<absl::StatusOr<ConfigCheckView>> LoadConfig(std::string_view text,
                                                       std::string_view place) override;
  absl::StatusOr<uint64_t> Record(uint32_t interval_us) override {
    return recorder_.Begin(interval_us);
  }
  RecordPage ReadRecord(uint64_t since) override { return recorder_.Read(since); }
  std::vector<RegisterRowView> Registers() override { return registers_.Rows(); }
  absl::StatusOr<std::vector<RegisterValueView>> ReadRegisters(std::string_view first,
                                                               uint32_t count) override {
    return registers_.Read(first, count);
  }
  Question<absl::StatusOr<RegisterValueView>> WriteRegister(std::string_view which,
                                                            uint64_t value) override {
    return registers_.Write(which, value);
  }
  std::vector<InstanceView> Instances() override;
  std::vector<PortView> Ports() override;
  std::vector<CapabilityView> Capabilities() override;
  std::vector<PeerView> Peers() override;
  std::vector<DeviceView> Devices() override;
  std::vector<CableView> Cables() override;
  std::vector<ClientView> Clients() override;
  std::vector<WindowView> Windows() override;
  std::vector<CounterSetView> Counters(CounterScope scope) override;
  Question<ConnectionsView> Connections(const ConnectionQuery& query) override {
    return lists_.Connections(query);
  }
  Question<WaitsView> Waits(const ConnectionQuery& query) override { return lists_.Waits(query); }
  std::vector<LinkView> Links() override;
  LldpView Lldp() override;
  // Returns the counters of a port's LLDP agent; null: the port has none.
  const LldpCounters* lldp_counters(uint32_t port) const {
    return packets_ != nullptr ? packets_->lldp().counters(port) : nullptr;
  }
  void SetLogLevel(LogLevelView level) override {
    changer_.SetLogLevel(static_cast<LogConfig::Level>(level));
  }
  EventLog& Events() override { return endpoint_->events(); }
  absl::StatusOr<AdminQuestion> SetPortAdmin(std::string_view port, bool up) override {
    return endpoint_->administration().SetPort(port, up);
  }
  Question<std::vector<QueueView>> Queues() override { return lists_.Queues(); }
  Question<TraceChangeView> BeginTrace(const TraceQuery& query) override {
    return tracing_.Begin(query);
  }
  Question<TraceChangeView> EndTrace(const TraceQuery& query) override {
    return tracing_.End(query);
  }
  Question<TraceListView> ReadTrace(const TraceQuery& query) override {
    return tracing_.Read(query);
  }
  std::string FilePrefix() override;

  Question<std::vector<PlaneView>> Planes() override { return lists_.Planes(); }
  Question<PlanePeersView> PlanePeers(const PlanePeerQuery& query) override {
    return lists_.PlanePeers(query);
  }
  absl::StatusOr<AdminQuestion> SetPlaneAdmin(const PlaneName& name,
                                              PlaneSetting setting) override {
    return endpoint_->administration().SetPlane(name, setting);
  }
  absl::StatusOr<WeightChange> SetPlaneWeight(const PlaneName& name, std::optional<uint32_t> peer,
                                              std::optional<uint32_t> weight) override {
    return endpoint_->administration().SetWeight(name, peer, weight);
  }
  absl::StatusOr<DrainQuestion> DrainPlane(const PlaneName& name) override;

  std::vector<SealedPeerView> SealedPeers() override;
  absl::StatusOr<uint32_t> RotateKeys() override;
  absl::StatusOr<uint32_t> ReloadSecrets() override { return endpoint_->ReloadSecrets(); }

  absl::StatusOr<PingQuestion> Ping(const PingQuery& query) override {
    return ping_limits_.Begin(query);
  }
  absl::StatusOr<PathQuestion> ProbePath(const PathQuery& query) override {
    return path_runs_.Begin(query);
  }

 private:
  Management(Endpoint* endpoint, ClientService* clients, Logger* logger, ConfigOrigin origin);
  // Applies a configuration that has taken effect.
  void Adopt(const Config& config, const std::vector<ConfigChange>& changes);

  Endpoint* const endpoint_;
  ClientService* const clients_;
  const PacketService* packets_ = nullptr;
  ConfigChanger changer_;
  EndpointRegisters registers_;
  std::unique_ptr<RegisterPages> pages_;
  // These must outlive the server's questions.
  LcoreLists lists_;
  Recorder recorder_;
  Tracing tracing_;
  PingLimits ping_limits_;
  PathRuns path_runs_;
};

}  // namespace suede

#endif  // SUEDE_APP_ENDPOINT_MANAGEMENT_H_
