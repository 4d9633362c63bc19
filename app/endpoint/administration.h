// SPDX-License-Identifier: Apache-2.0
// Ports and planes that an operator takes out of service and puts back, and the weights of planes.
#ifndef SUEDE_APP_ENDPOINT_ADMINISTRATION_H_
#define SUEDE_APP_ENDPOINT_ADMINISTRATION_H_

#include <cstdint>
#include <optional>
#include <set>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "base/coordinates.h"
#include "lcore/mailbox.h"
#include "mgmt/admin_view.h"

namespace suede {

class Endpoint;

// Control thread only. The planes of an instance are InstanceConfig::ports; the only plane of one
// with a single port is the instance itself.
class Administration {
 public:
  // The endpoint outlives it, and has its ports and pipelines.
  explicit Administration(Endpoint* endpoint);

  // The planes of all instances, in the order of the configuration; without the lcores' own state.
  std::vector<PlaneView> Planes() const;
  PlaneView PlaneOf(uint32_t instance, uint32_t plane) const;  // of Config::instances
  // The index of a plane's instance in Config::instances; NOT_FOUND.
  absl::StatusOr<uint32_t> Find(const PlaneName& name) const;
  bool port_up(uint32_t port) const { return port_up_[port]; }

  absl::StatusOr<AdminView::AdminQuestion> SetPort(std::string_view name, bool up);
  absl::StatusOr<AdminView::AdminQuestion> SetPlane(const PlaneName& name, PlaneSetting setting);
  absl::StatusOr<PlaneAdminView::WeightChange> SetWeight(const PlaneName& name,
                                                         std::optional<uint32_t> peer,
                                                         std::optional<uint32_t> weight);
  // The link of Config::ports[port] has come up.
  void NoteLinkSpeed(uint32_t port, uint64_t speed_bps);
  // Lets weights that come from the speeds of links follow these, but for planes of which an
  // operator has set any. Weights that a full mailbox does not take come the next time: every 10 ms
  // or so.
  void FollowLinkSpeeds();

 private:
  struct Plane {
    PlaneSetting setting = PlaneSetting::kUp;
    uint32_t weight = 1;           // for peers without one of their own
    bool weight_set = false;       // by an operator, for all
    std::set<uint32_t> peers_set;  // XPUs of peers for which an operator has set one
  };
  uint32_t DefaultWeight(uint32_t instance, uint32_t plane) const;
  // Answered when all that was asked of the lcore has taken effect.
  absl::StatusOr<AdminView::AdminQuestion> Ask(uint32_t lcore, const LcoreRequest& request);
  bool PostWeight(uint32_t instance, PlaneIndex plane, uint32_t weight);

  Endpoint* const endpoint_;
  std::vector<bool> port_up_;               // as Config::ports
  std::vector<std::vector<Plane>> planes_;  // as Config::instances, and their ports
  std::vector<uint64_t> speeds_;            // as Config::ports: the last that was known, or 0
  bool speeds_noted_ = false;
  std::vector<uint32_t> asked_;  // of each lcore
};

}  // namespace suede

#endif  // SUEDE_APP_ENDPOINT_ADMINISTRATION_H_
