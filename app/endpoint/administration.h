// SPDX-License-Identifier: Apache-2.0
// Administrative state of ports and planes, and the weights of planes.
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
#include "mgmt/endpoint_view.h"

namespace suede {

class Endpoint;

// Control thread only. The planes of an instance are InstanceConfig::ports; the only plane of an
// instance with one port is the instance itself.
class Administration {
 public:
  // The endpoint must outlive this, and have its ports and pipelines.
  explicit Administration(Endpoint* endpoint);

  // Returns the planes of all instances, in the order of the configuration, without lcore state.
  std::vector<PlaneView> Planes() const;
  PlaneView PlaneOf(uint32_t instance, uint32_t plane) const;  // an instance of Config::instances
  // Returns the index of a plane's instance in Config::instances, or NOT_FOUND.
  absl::StatusOr<uint32_t> Find(const PlaneName& name) const;
  bool port_up(uint32_t port) const { return port_up_[port]; }

  absl::StatusOr<AdminQuestion> SetPort(std::string_view name, bool up);
  absl::StatusOr<AdminQuestion> SetPlane(const PlaneName& name, PlaneSetting setting);
  absl::StatusOr<EndpointView::WeightChange> SetWeight(const PlaneName& name,
                                                       std::optional<uint32_t> peer,
                                                       std::optional<uint32_t> weight);
  // Records the speed of the link of Config::ports[port], which has come up.
  void NoteLinkSpeed(uint32_t port, uint64_t speed_bps);
  // Updates weights that derive from link speeds, except for planes with a weight set by an
  // operator. To be called about every 10 ms, as weights that a full mailbox rejects are retried.
  void FollowLinkSpeeds();

 private:
  struct Plane {
    PlaneSetting setting = PlaneSetting::kUp;
    uint32_t weight = 1;           // for peers without a weight of their own
    bool weight_set = false;       // by an operator, for all peers
    std::set<uint32_t> peers_set;  // XPUs of peers with a weight set by an operator
  };
  uint32_t DefaultWeight(uint32_t instance, uint32_t plane) const;
  // Posts a request to the lcore. The question is answered when all requests so far have taken
  // effect.
  absl::StatusOr<AdminQuestion> Ask(uint32_t lcore, const LcoreRequest& request);
  bool PostWeight(uint32_t instance, PlaneIndex plane, uint32_t weight);

  Endpoint* const endpoint_;
  std::vector<bool> port_up_;               // in the order of Config::ports
  std::vector<std::vector<Plane>> planes_;  // in the order of Config::instances and their ports
  std::vector<uint64_t> speeds_;  // in the order of Config::ports: the last known speed, or 0
  bool speeds_noted_ = false;
  std::vector<uint32_t> asked_;  // requests to each lcore
};

}  // namespace suede

#endif  // SUEDE_APP_ENDPOINT_ADMINISTRATION_H_
