// SPDX-License-Identifier: Apache-2.0
// The part of an invented endpoint that is changed: a configuration of one line, and two registers.
// A test can also set the answer of a peer.
#ifndef SUEDE_TESTS_MGMT_FAKE_CHANGES_H_
#define SUEDE_TESTS_MGMT_FAKE_CHANGES_H_

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "mgmt/endpoint_view.h"

namespace suede {

class EndpointWithChanges : public EndpointView {
 public:
  std::string EffectiveConfig() override { return config; }
  absl::StatusOr<ConfigCheckView> CheckConfig(std::string_view text,
                                              std::string_view place) override {
    if (!text.starts_with("version: 1")) {
      return absl::InvalidArgumentError(std::string(place) + ":1:1: version: is missing; write 1");
    }
    return ConfigCheckView{
        .warnings = {"careful"},
        .changes = {{.key = "log.level", .from = "info", .to = "debug", .at_once = true},
                    {.key = "name", .from = "left", .to = "right"}}};
  }
  // Takes two questions to answer.
  Question<absl::StatusOr<ConfigCheckView>> LoadConfig(std::string_view text,
                                                       std::string_view place) override {
    return [this, text = std::string(text), view = CheckConfig(text, place),
            asked = 0]() mutable -> std::optional<absl::StatusOr<ConfigCheckView>> {
      if (view.ok() && ++asked < 2) return std::nullopt;
      if (view.ok()) config = text;
      return view;
    };
  }
  std::vector<RegisterRowView> Registers() override {
    return {{.name = "a.ro", .address = 0, .width_bits = 64, .access = "RO", .sentence = "One."},
            {.name = "b.N.rw",
             .address = 16,
             .stride = 8,
             .count = 2,
             .width_bits = 32,
             .access = "RW",
             .effect = "at once",
             .reset = "5",
             .unit = "s",
             .sentence = "Two."}};
  }
  absl::StatusOr<std::vector<RegisterValueView>> ReadRegisters(std::string_view first,
                                                               uint32_t count) override {
    if (first != "a.ro" && first != "0x0")
      return absl::NotFoundError("no such register; take a.ro");
    std::vector<RegisterValueView> values = {
        {.name = "a.ro", .width_bits = 64, .value = UINT64_MAX}};
    if (count > 1)
      values.push_back({.name = "b.0.rw", .address = 16, .width_bits = 32, .value = rw});
    return values;
  }
  Question<absl::StatusOr<RegisterValueView>> WriteRegister(std::string_view which,
                                                            uint64_t value) override {
    using Result = std::optional<absl::StatusOr<RegisterValueView>>;
    if (which != "b.0.rw")
      return []() -> Result { return absl::PermissionDeniedError("read-only"); };
    return [this, value, asked = 0]() mutable -> Result {
      if (++asked < 2) return std::nullopt;
      rw = value;
      return RegisterValueView{.name = "b.0.rw", .address = 16, .width_bits = 32, .value = rw};
    };
  }

  // Answers the third time that it is asked, or at the last moment.
  absl::StatusOr<PingQuestion> Ping(const PingQuery& query) override {
    if (query.plane == 3) return absl::NotFoundError("no such plane");
    ++pings;
    return [this, query, asked = 0](
               bool is_last) mutable -> std::optional<absl::StatusOr<PingView>> {
      if (!is_last && (pong_never || ++asked < 3)) return std::nullopt;
      PingView view{.xpu = query.xpu.value_or(3), .instance = query.instance.value_or(1),
                    .peer = query.peer, .planes = {pong}};
      if (is_last) view.planes[0] = {.port = "p0", .state = "no_answer"};
      return view;
    };
  }

  absl::StatusOr<PathQuestion> ProbePath(const PathQuery& query) override {
    if (query.plane == 3) return absl::NotFoundError("no such plane");
    return [this, query](bool) -> std::optional<absl::StatusOr<PathView>> {
      PathView view{.xpu = 3,
                    .instance = 1,
                    .peer = query.peer,
                    .plane = *query.plane,
                    .port = "p0",
                    .encapsulation = "udp4",
                    .state = "done"};
      view.sent.dscp = query.dscp;
      view.probes.resize(query.count);
      view.probes[0] = path_probe;
      return view;
    };
  }

  int pings = 0;
  PathProbeView path_probe;
  bool pong_never = false;
  PlanePingView pong{.plane = 0, .port = "p0", .state = "answered", .rtt_ns = 12'300};
  std::string config = "version: 1\nname: left\n";
  uint64_t rw = 5;
};

}  // namespace suede

#endif  // SUEDE_TESTS_MGMT_FAKE_CHANGES_H_
