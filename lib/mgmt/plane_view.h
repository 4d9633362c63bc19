// SPDX-License-Identifier: Apache-2.0
// The planes of own instances, which are their ports, as the methods see them.
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
  uint32_t plane = 0;  // its number, from 0
};

// An operator's setting of a plane.
enum class PlaneSetting : uint8_t {
  kUp,
  kDrain,  // PDUs in flight there may end, nothing new begins
  kDown,
};
inline constexpr std::string_view kPlaneSettings = "up|drain|down";
std::string_view NameOf(PlaneSetting setting);

struct PlaneView {
  PlaneName name;
  std::string port;
  PlaneSetting admin = PlaneSetting::kUp;  // the plane's own
  bool port_up = true;                     // the setting of its port
  bool link_up = false;
  bool up = false;  // it carries traffic
  uint32_t weight = 1;
  uint32_t peers_up = 0;    // to which it is up; none where there is one plane
  uint32_t peers_down = 0;  // those whose session has begun, and is not up
  uint32_t peers_slow = 0;  // those to which it was measured to carry less than its weight says
  uint64_t inflight_bytes = 0;
};

struct PlanePeerQuery {
  std::optional<uint32_t> xpu;  // own
  std::optional<uint32_t> instance;
  std::optional<uint32_t> peer;  // its XPU
  std::optional<uint32_t> plane;
  uint32_t limit = 0;
};

// A plane to one peer.
struct PlanePeerView {
  PlaneName name;
  uint32_t peer = 0;  // its XPU
  std::string_view state;
  bool usable = false;   // PDUs may be sent there
  uint8_t home_vcs = 0;  // strict ordering: VCs of which all to the peer takes this one, a mask
  bool fencing = false;  // which PDUs of a dead generation the peer got is not known yet
  uint32_t tx_generation = 0;
  uint32_t rx_generation = 0;
  uint32_t weight = 0;
  std::optional<uint32_t> measured_percent;  // of the weight; none: it is not measured
  std::optional<uint64_t> measured_bps;      // when it was the limit last; none: it never was
  uint32_t inflight_bytes = 0;
  std::optional<uint32_t> peer_plane;      // its number of the plane
  std::optional<int64_t> heard_ago_ns;     // none: never
  int64_t held_ns = 0;                     // time for which it is yet held down
  uint32_t deaths = 0;
};
struct PlanePeersView {
  std::vector<PlanePeerView> peers;
  bool more = false;  // than the limit
};

// Control thread only. Nothing here waits.
class PlaneAdminView {
 public:
  virtual ~PlaneAdminView() = default;

  // Questions to the lcores, to be asked until they have an answer. They may be dropped at any
  // time.
  using PlanesQuestion = std::function<std::optional<std::vector<PlaneView>>()>;
  virtual PlanesQuestion Planes() = 0;
  using PlanePeersQuestion = std::function<std::optional<PlanePeersView>()>;
  virtual PlanePeersQuestion PlanePeers(const PlanePeerQuery& query) = 0;

  // To be asked until it is true: the setting has taken effect.
  using AdminQuestion = std::function<bool()>;
  virtual absl::StatusOr<AdminQuestion> SetPlaneAdmin(const PlaneName& name,
                                                      PlaneSetting setting) = 0;
  struct WeightChange {
    AdminQuestion done;
    uint32_t weight = 0;  // that it has from then on
  };
  // For one peer, or for all. None: the weight as if none had been set. 0, for one peer: no route.
  virtual absl::StatusOr<WeightChange> SetPlaneWeight(const PlaneName& name,
                                                      std::optional<uint32_t> peer,
                                                      std::optional<uint32_t> weight) = 0;
  // Bytes in flight on a plane that drains: to be asked again and again, until it is 0. An
  // error: it was set otherwise meanwhile.
  using DrainQuestion = std::function<absl::StatusOr<std::optional<uint64_t>>()>;
  virtual absl::StatusOr<DrainQuestion> DrainPlane(const PlaneName& name) = 0;
};

}  // namespace suede

#endif  // SUEDE_MGMT_PLANE_VIEW_H_
