// SPDX-License-Identifier: Apache-2.0
// An invented endpoint with hardly anything in it, whose questions have an answer at once.
#ifndef SUEDE_TESTS_MGMT_SMALL_ENDPOINT_H_
#define SUEDE_TESTS_MGMT_SMALL_ENDPOINT_H_

#include <optional>
#include <string>
#include <vector>

#include "fake_changes.h"
#include "mgmt/event_log.h"

namespace suede {

class SmallEndpoint : public EndpointWithChanges {
 public:
  VersionView Version() override { return {.version = "1", .name = "fuzz"}; }
  std::vector<InstanceView> Instances() override { return {{.xpu = 1}}; }
  std::vector<PortView> Ports() override { return {{.name = "p0"}}; }
  std::vector<CapabilityView> Capabilities() override { return {{.port = "p0"}}; }
  std::vector<PeerView> Peers() override { return {}; }
  std::vector<DeviceView> Devices() override { return {{.device = "M0D1"}}; }
  std::vector<CableView> Cables() override { return {{.from = "M0D1P2"}}; }
  std::vector<ClientView> Clients() override { return {}; }
  std::vector<WindowView> Windows() override { return {{.client = 1, .window = 7}}; }
  std::vector<CounterSetView> Counters(CounterScope) override {
    return {{.of = "x", .counters = {{.name = "a_total", .value = 1}}}};
  }
  Question<ConnectionsView> Connections(const ConnectionQuery& query) override {
    return [asked = query.limit % 3]() mutable -> std::optional<ConnectionsView> {
      return asked-- == 0 ? std::optional<ConnectionsView>({.connections = {{.xpu = 1}}})
                          : std::nullopt;
    };
  }
  Question<WaitsView> Waits(const ConnectionQuery&) override {
    return
        [] { return WaitsView{.waits = {{.xpu = 1, .cause = "credit"}}, .readers = {{.xpu = 1}}}; };
  }
  Question<TraceChangeView> BeginTrace(const TraceQuery&) override {
    return [] { return TraceChangeView{.instances = 1}; };
  }
  Question<TraceChangeView> EndTrace(const TraceQuery&) override {
    return [] { return TraceChangeView{.instances = 1}; };
  }
  Question<TraceListView> ReadTrace(const TraceQuery&) override {
    return [] { return TraceListView{.rows = {{.xpu = 1, .direction = "rx", .state = "kept"}}}; };
  }
  absl::Status StartCapture(const CaptureQuery&, Fd) override { return absl::OkStatus(); }
  absl::StatusOr<CaptureView> StopCapture(std::string_view, bool) override { return CaptureView(); }
  std::vector<CaptureView> ListCaptures() override { return {}; }
  std::vector<LinkView> Links() override { return {}; }
  LldpView Lldp() override { return {}; }
  LogLevelView LogLevel() override { return level; }
  void SetLogLevel(LogLevelView to) override { level = to; }
  bool Drain() override { return true; }
  EventLog& Events() override { return events; }
  absl::StatusOr<AdminQuestion> SetPortAdmin(std::string_view, bool) override {
    return [] { return true; };
  }
  std::vector<SealedPeerView> SealedPeers() override { return {{.xpu = 1, .sealing = "off"}}; }
  absl::StatusOr<uint32_t> RotateKeys() override { return 1; }
  absl::StatusOr<uint32_t> ReloadSecrets() override { return 2; }
  Question<std::vector<PlaneView>> Planes() override {
    return [] { return std::vector<PlaneView>(); };
  }
  Question<PlanePeersView> PlanePeers(const PlanePeerQuery&) override {
    return [] { return PlanePeersView(); };
  }
  absl::StatusOr<AdminQuestion> SetPlaneAdmin(const PlaneName&, PlaneSetting) override {
    return [] { return true; };
  }
  absl::StatusOr<WeightChange> SetPlaneWeight(const PlaneName&, std::optional<uint32_t>,
                                              std::optional<uint32_t>) override {
    return WeightChange{.done = [] { return true; }, .weight = 1};
  }
  absl::StatusOr<DrainQuestion> DrainPlane(const PlaneName&) override {
    return [] { return std::optional<uint64_t>(0); };
  }
  Question<std::vector<QueueView>> Queues() override {
    return [] { return std::vector<QueueView>(); };
  }
  std::string FilePrefix() override { return {}; }
  absl::StatusOr<uint64_t> Record(uint32_t) override { return 1; }
  RecordPage ReadRecord(uint64_t since) override {
    return {.header = "a", .csv = "1\n", .next = since + 1};
  }
  EventLog events;
  LogLevelView level = LogLevelView::kInfo;
};

}  // namespace suede

#endif  // SUEDE_TESTS_MGMT_SMALL_ENDPOINT_H_
