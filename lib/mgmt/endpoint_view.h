// SPDX-License-Identifier: Apache-2.0
// Interface to the endpoint for methods: plain values, so that this room depends on neither drivers
// nor DPDK. app/endpoint implements it.
#ifndef SUEDE_MGMT_ENDPOINT_VIEW_H_
#define SUEDE_MGMT_ENDPOINT_VIEW_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "mgmt/daemon_view.h"
#include "mgmt/endpoint_rows.h"

namespace suede {

struct ConnectionQuery {
  std::optional<uint32_t> xpu;  // own
  std::optional<uint32_t> instance;
  std::optional<uint32_t> peer;  // XPU of the peer
  bool unused = false;           // include connections on which nothing was ever exchanged
  uint32_t limit = 0;
};

struct TraceQuery {
  std::optional<uint32_t> xpu;  // own
  std::optional<uint32_t> instance;
  // For BeginTrace:
  std::optional<uint32_t> peer;  // XPU of the peer
  std::optional<uint32_t> vc;
  uint32_t stride = 1;
  uint32_t count = 0;
};

struct PlaneName {
  uint32_t xpu = 0;
  uint32_t instance = 0;
  uint32_t plane = 0;  // number of the plane, from 0
};
struct PlanePeerQuery {
  std::optional<uint32_t> xpu;  // own
  std::optional<uint32_t> instance;
  std::optional<uint32_t> peer;  // XPU of the peer
  std::optional<uint32_t> plane;
  uint32_t limit = 0;
};

struct PingQuery {
  uint32_t peer = 0;            // XPU of the peer
  std::optional<uint32_t> xpu;  // own; nullopt: the first that has the peer
  std::optional<uint32_t> instance;
  std::optional<uint32_t> plane;  // nullopt: all that lead to the peer
};

// A run of probes (docs/path.md); nullopt: the class's or the port's own value.
struct PathQuery : PingQuery {
  uint32_t traffic_class = 0;  // 0 to 4: of a VC, or of PDUs without commands
  uint32_t count = 1;
  uint32_t bytes = 0;
  bool long_reply = false;
  uint32_t sessions = 1;
  uint32_t first_session = 0;
  std::optional<uint32_t> dscp;
  std::optional<uint32_t> ecn;
  std::optional<uint32_t> hop_limit;
  std::string_view to;  // peer, stranger or ether_type
  bool pause = false;
  uint32_t interval_us = 0;
  uint32_t timeout_ms = 0;
};

// Control thread only. Does not block.
class EndpointView : public DaemonView {
 public:
  EndpointView() : DaemonView(DaemonKind::kEndpoint) {}

  virtual std::vector<InstanceView> Instances() = 0;
  virtual std::vector<PortView> Ports() = 0;
  virtual std::vector<CapabilityView> Capabilities() = 0;
  virtual std::vector<PeerView> Peers() = 0;
  virtual std::vector<DeviceView> Devices() = 0;
  virtual std::vector<CableView> Cables() = 0;
  virtual std::vector<ClientView> Clients() = 0;
  virtual std::vector<WindowView> Windows() = 0;
  virtual Question<ConnectionsView> Connections(const ConnectionQuery& query) = 0;
  // Returns why commands wait, and the receive rings; `query.unused` is ignored.
  virtual Question<WaitsView> Waits(const ConnectionQuery& query) = 0;
  virtual Question<std::vector<QueueView>> Queues() = 0;
  // Returns EAL's file prefix, by which a secondary process finds the ports; empty: none can
  // attach.
  virtual std::string FilePrefix() = 0;
  // Applies a configuration; `place` as for CheckConfig.
  virtual Question<absl::StatusOr<ConfigCheckView>> LoadConfig(std::string_view text,
                                                               std::string_view place) = 0;

  // ---- Planes.

  virtual Question<std::vector<PlaneView>> Planes() = 0;
  virtual Question<PlanePeersView> PlanePeers(const PlanePeerQuery& query) = 0;
  virtual absl::StatusOr<AdminQuestion> SetPlaneAdmin(const PlaneName& name,
                                                      PlaneSetting setting) = 0;
  struct WeightChange {
    AdminQuestion done;
    uint32_t weight = 0;  // resulting weight
  };
  // Sets the weight for one peer, or for all (nullopt). `weight` nullopt: resets to the default; 0,
  // for one peer only: no route.
  virtual absl::StatusOr<WeightChange> SetPlaneWeight(const PlaneName& name,
                                                      std::optional<uint32_t> peer,
                                                      std::optional<uint32_t> weight) = 0;
  // Drains a plane. Returns a query for the bytes in flight, to be polled until it returns 0. It
  // fails if the plane was set otherwise meanwhile.
  using DrainQuestion = std::function<absl::StatusOr<std::optional<uint64_t>>()>;
  virtual absl::StatusOr<DrainQuestion> DrainPlane(const PlaneName& name) = 0;

  // ---- Peers.

  // A query to be polled until it has a result; `is_last`: planes without an answer by now have
  // none. It may be dropped at any time.
  using PingQuestion = std::function<std::optional<absl::StatusOr<PingView>>(bool is_last)>;
  virtual absl::StatusOr<PingQuestion> Ping(const PingQuery& query) = 0;
  // Probes the path to a peer. A query to be polled until it has a result; `is_last`: the last
  // time. It may be dropped at any time.
  using PathQuestion = std::function<std::optional<absl::StatusOr<PathView>>(bool is_last)>;
  virtual absl::StatusOr<PathQuestion> ProbePath(const PathQuery& query) = 0;
  // Returns the peers of sealing instances.
  virtual std::vector<SealedPeerView> SealedPeers() = 0;
  // Begins another epoch with every peer, as soon as it has confirmed the present one. Returns the
  // number of peers that seal.
  virtual absl::StatusOr<uint32_t> RotateKeys() = 0;
  // Reads the file of secrets again; an unusable file changes nothing. Returns the number of
  // secrets in it, valid or not.
  virtual absl::StatusOr<uint32_t> ReloadSecrets() = 0;

  // ---- Recordings (docs/record.md).

  // Begins a recording unless it runs already, and notes that there is a reader. Returns the number
  // of the newest sample.
  virtual absl::StatusOr<uint64_t> Record(uint32_t interval_us) = 0;
  // Returns samples behind the number `since`, as many as an answer holds, and notes that there is
  // a reader.
  virtual RecordPage ReadRecord(uint64_t since) = 0;

  // ---- Traces (docs/trace.md).

  // Begins a trace of each instance that the query names, and discards its former rows; or only
  // discards them. The reply is the number of these instances.
  virtual Question<TraceChangeView> BeginTrace(const TraceQuery& query) = 0;
  virtual Question<TraceChangeView> EndTrace(const TraceQuery& query) = 0;
  virtual Question<TraceListView> ReadTrace(const TraceQuery& query) = 0;

  // ---- Registers (docs/registers.md).

  virtual std::vector<RegisterRowView> Registers() = 0;
  // Reads `count` consecutive registers, from that with the name or address `first` on.
  virtual absl::StatusOr<std::vector<RegisterValueView>> ReadRegisters(std::string_view first,
                                                                       uint32_t count) = 0;
  // Writes a register. The reply is the register's new value.
  virtual Question<absl::StatusOr<RegisterValueView>> WriteRegister(std::string_view which,
                                                                    uint64_t value) = 0;
};

}  // namespace suede

#endif  // SUEDE_MGMT_ENDPOINT_VIEW_H_
