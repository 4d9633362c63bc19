// SPDX-License-Identifier: Apache-2.0
// An invented switch, for the methods of one.
#ifndef SUEDE_TESTS_MGMT_FAKE_SWITCH_H_
#define SUEDE_TESTS_MGMT_FAKE_SWITCH_H_

#include <string>
#include <utility>
#include <vector>

#include "mgmt/event_log.h"
#include "mgmt/switch_view.h"

namespace suede {

class FakeSwitch : public SwitchView {
 public:
  EventLog& Events() override { return events; }
  VersionView Version() override { return {.version = "1.2.3", .name = "sw0", .uptime_s = 7}; }
  std::string EffectiveConfig() override { return "version: 1\n"; }
  absl::StatusOr<ConfigCheckView> CheckConfig(std::string_view, std::string_view place) override {
    return ConfigCheckView{.warnings = {std::string(place)}, .changes = {}};
  }
  std::vector<CounterSetView> Counters(CounterScope scope) override {
    if (scope == CounterScope::kTotal) return {SetOf("")};
    std::vector<CounterSetView> sets;
    for (const char* port : {"p0", "p1"}) {
      if (scope == CounterScope::kPort) sets.push_back(SetOf(port));
      if (scope != CounterScope::kClass) continue;
      for (const char* traffic_class : {".0", ".1"}) {
        sets.push_back(SetOf(std::string(port) + traffic_class));
      }
    }
    return sets;
  }
  absl::Status StartCapture(const CaptureQuery&, Fd) override { return absl::OkStatus(); }
  absl::StatusOr<CaptureView> StopCapture(std::string_view port, bool drops) override {
    return CaptureView{.port = std::string(port), .drops = drops, .written = 1, .dropped = 0};
  }
  std::vector<CaptureView> ListCaptures() override { return {{.port = "p0"}}; }
  std::vector<LinkView> Links() override {
    return {{.port = "p0", .counters = &link}, {.port = "p1"}};
  }
  LldpView Lldp() override {
    return {.neighbours = {{.port = "p0", .chassis = "c", .port_id = "p"}},
            .ports = {{.port = "p0", .counters = &lldp}}};
  }
  absl::StatusOr<AdminQuestion> SetPortAdmin(std::string_view port, bool up) override {
    if (port != "p0") return absl::NotFoundError("no such port; take p0");
    port_up = up;
    return [asked = 0]() mutable { return ++asked == 3; };
  }
  LogLevelView LogLevel() override { return LogLevelView::kInfo; }
  void SetLogLevel(LogLevelView) override {}
  bool Drain() override { return true; }

  std::vector<SwitchPortView> SwitchPorts() override {
    return {{.name = "p0",
             .driver = "net_null",
             .lcore = 3,
             .admin_up = port_up,
             .link_up = true,
             .speed_bps = 100,
             .rate_bps = 7,
             .device = "net_null0"},
            {.name = "p1", .admin_up = true}};
  }
  Question<absl::StatusOr<std::vector<SwitchQueueView>>> Queues(
      const SwitchQueueQuery& query) override {
    return [query,
            asked = 0]() mutable -> std::optional<absl::StatusOr<std::vector<SwitchQueueView>>> {
      if (++asked < 3) return std::nullopt;
      if (query.port == "px") return absl::NotFoundError("no such port");
      return std::vector<SwitchQueueView>{{.port = query.port.empty() ? "p0" : query.port,
                                           .traffic_class = query.traffic_class.value_or(3),
                                           .bytes = query.in_use ? 5u : 0u,
                                           .paused = true,
                                           .paused_ns = 1500}};
    };
  }
  Question<absl::Status> ResetHighWater() override { return Done(); }
  Question<SwitchBufferView> Buffer() override {
    return [] { return SwitchBufferView{.bytes = 1000, .headroom_bytes = 7}; };
  }
  Question<absl::StatusOr<SwitchAddressesView>> Addresses(
      const SwitchAddressQuery& query) override {
    return [query]() -> std::optional<absl::StatusOr<SwitchAddressesView>> {
      SwitchAddressesView view{.addresses = {}, .next = {}};
      if (query.limit == 1) view.next = query.from + 1;
      view.addresses.push_back({.address = "02:00:00:00:00:01",
                                .kind = "mac",
                                .vid = 0,
                                .port = "p0",
                                .configured = false,
                                .age_ns = 2'500'000'000});
      view.addresses.push_back(
          {.address = "10.0.0.1", .kind = "ipv4", .vid = {}, .port = "p1", .configured = true});
      return view;
    };
  }
  Question<absl::Status> AddAddress(std::string_view, uint32_t, std::string_view port) override {
    if (port == "px") return Wrong(absl::NotFoundError("no such port"));
    return Done();
  }
  Question<absl::Status> RemoveAddress(std::string_view, uint32_t) override {
    return Wrong(absl::NotFoundError("there is none"));
  }
  Question<absl::Status> FlushAddresses(std::string_view) override { return Done(); }
  std::vector<SwitchMemberView> Groups() override {
    return {{.group = "spines", .port = "p0", .spread = "queue", .weight = 4, .frames = 9}};
  }
  Question<absl::Status> SetWeight(std::string_view group, std::string_view, uint32_t) override {
    if (group != "spines") return Wrong(absl::NotFoundError("no such group"));
    return Done();
  }
  std::vector<ImpairView> Impairments() override {
    return {{.port = "p0", .in = true},
            {.port = "p0",
             .impaired = true,
             .loss = 0.5,
             .hole_classes = {1},
             .hole_destinations = {"7"},
             .of_class = {{.traffic_class = 2, .loss = 0.25, .ecn = 0}},
             .hop_limit = 3}};
  }
  Question<absl::Status> SetImpairment(const ImpairWhere& where, const ImpairChange& to) override {
    if (where.port == "px") return Wrong(absl::NotFoundError("no such port"));
    at = where;
    change = to;
    return Done();
  }
  Question<absl::Status> ClearImpairment(const ImpairWhere& where) override {
    at = where;
    return Done();
  }

  EventLog events{8, [] { return int64_t{1'700'000'000'000'000'000}; }};
  bool port_up = true;
  LinkCounters link;
  LldpCounters lldp;
  ImpairWhere at;
  ImpairChange change;

 private:
  static Question<absl::Status> Done() {
    return [asked = std::make_shared<int>(0)]() -> std::optional<absl::Status> {
      if (++*asked < 3) return std::nullopt;
      return absl::OkStatus();
    };
  }
  static Question<absl::Status> Wrong(absl::Status status) {
    return [status] { return std::optional(status); };
  }
  static CounterSetView SetOf(std::string of) {
    return {.of = std::move(of),
            .counters = {{.name = "rx_frames_total", .value = 5},
                         {.name = "rx_drop_down_total", .value = 2},
                         {.name = "class_drop_tail_total", .value = 0}}};
  }
};

}  // namespace suede

#endif  // SUEDE_TESTS_MGMT_FAKE_SWITCH_H_
