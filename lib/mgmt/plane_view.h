// SPDX-License-Identifier: Apache-2.0
// Interface through which methods access the planes of own instances, which are their ports.
#ifndef SUEDE_MGMT_PLANE_VIEW_H_
#define SUEDE_MGMT_PLANE_VIEW_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace suede {

struct PlaneName {
  uint32_t xpu = 0;
  uint32_t instance = 0;
  uint32_t plane = 0;  // number of the plane, from 0
};

// Administrative setting of a plane.
enum class PlaneSetting : uint8_t {
  kUp,
  kDrain,  // PDUs in flight may complete, new ones use other planes
  kDown,
};
inline constexpr std::string_view kPlaneSettings = "up|drain|down";
std::string_view NameOf(PlaneSetting setting);

struct PlaneView {
  PlaneName name;
  std::string port;
  PlaneSetting admin = PlaneSetting::kUp;  // setting of the plane itself
  bool port_up = true;                     // setting of its port
  bool link_up = false;
  bool up = false;  // carries traffic
  uint32_t weight = 1;
  uint32_t peers_up = 0;    // peers to which the plane is up; 0 if there is only one plane
  uint32_t peers_down = 0;  // peers whose session has begun, to which it is not up
  uint32_t peers_slow = 0;  // peers to which it was measured to carry less than its weight
  uint64_t inflight_bytes = 0;
};

struct PlanePeerQuery {
  std::optional<uint32_t> xpu;  // own
  std::optional<uint32_t> instance;
  std::optional<uint32_t> peer;  // XPU of the peer
  std::optional<uint32_t> plane;
  uint32_t limit = 0;
};

// A plane with respect to one peer.
struct PlanePeerView {
  PlaneName name;
  uint32_t peer = 0;  // XPU of the peer
  std::string_view state;
  bool usable = false;   // PDUs may be sent on it
  uint8_t home_vcs = 0;  // strict ordering: mask of VCs whose PDUs to the peer all use this plane
  bool fencing = false;  // FENCE not answered yet: unknown which PDUs of a dead generation arrived
  uint32_t tx_generation = 0;
  uint32_t rx_generation = 0;
  uint32_t weight = 0;
  std::optional<uint32_t> measured_percent;  // of the weight; nullopt: not measured
  std::optional<uint64_t> measured_bps;      // when the plane was last the limit; nullopt: never
  uint32_t inflight_bytes = 0;
  std::optional<uint32_t> peer_plane;   // the peer's number of the plane
  std::optional<int64_t> heard_ago_ns;  // nullopt: never
  int64_t held_ns = 0;                  // remaining hold-down time
  uint32_t deaths = 0;
};
struct PlanePeersView {
  std::vector<PlanePeerView> peers;
  bool more = false;  // more than the limit
};

// Control thread only. Does not block.
class PlaneAdminView {
 public:
  virtual ~PlaneAdminView() = default;

  // Queries to the lcores, to be polled until they have a result. They may be dropped at any time.
  using PlanesQuestion = std::function<std::optional<std::vector<PlaneView>>()>;
  virtual PlanesQuestion Planes() = 0;
  using PlanePeersQuestion = std::function<std::optional<PlanePeersView>()>;
  virtual PlanePeersQuestion PlanePeers(const PlanePeerQuery& query) = 0;

  // Sets a plane. Returns a query to be polled until it is true: the setting has taken effect.
  using AdminQuestion = std::function<bool()>;
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
};

}  // namespace suede

#endif  // SUEDE_MGMT_PLANE_VIEW_H_
