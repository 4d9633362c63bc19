// Ports and planes that an operator takes out of service and puts back.
#ifndef SUEDE_APP_ENDPOINT_ADMINISTRATION_H_
#define SUEDE_APP_ENDPOINT_ADMINISTRATION_H_

#include <cstdint>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "mgmt/admin_view.h"
#include "pipeline/mailbox.h"

namespace suede {

class Endpoint;

// Control thread only. An instance has one port, so that its planes are plane 0; with several,
// InstanceConfig::ports has one for each.
class Administration {
 public:
  // The endpoint outlives it, and has its ports and pipelines.
  explicit Administration(Endpoint* endpoint);

  std::vector<PlaneView> Planes() const;
  bool port_up(uint32_t port) const { return port_up_[port]; }
  absl::StatusOr<AdminView::AdminQuestion> SetPort(std::string_view name, bool up);
  absl::StatusOr<AdminView::AdminQuestion> SetPlane(uint32_t xpu, uint32_t instance,
                                                    uint32_t plane, bool up);

 private:
  // Answered when all that was asked of the lcore has taken effect.
  absl::StatusOr<AdminView::AdminQuestion> Ask(uint32_t lcore, const LcoreRequest& request);

  Endpoint* const endpoint_;
  std::vector<bool> port_up_;      // as Config::ports
  std::vector<bool> instance_up_;  // as Config::instances
  std::vector<uint32_t> asked_;    // of each lcore
};

}  // namespace suede

#endif  // SUEDE_APP_ENDPOINT_ADMINISTRATION_H_
