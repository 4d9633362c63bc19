// SPDX-License-Identifier: Apache-2.0
// Planes, which an operator may take out of service and put back, and clients' queues, as the
// methods see them.
#ifndef SUEDE_MGMT_ADMIN_VIEW_H_
#define SUEDE_MGMT_ADMIN_VIEW_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "mgmt/plane_view.h"

namespace suede {

struct QueueView {
  uint64_t client = 0;
  uint32_t queue = 0;  // number within the client
  bool of_lcore = false;  // of the client's target on the lcore
  uint32_t xpu = 0;
  uint32_t instance = 0;
  std::string_view state;
  uint32_t ring_lines = 0;
  uint32_t waiting_lines = 0;
  uint32_t credit_lines = 0;  // of the queue in all
  uint32_t credit_used = 0;
  uint64_t discarded = 0;
  std::string paused;  // VCs that no plane lets out now, "0,1"; empty: none
};

// Control thread only. Nothing here waits.
class AdminView : public PlaneAdminView {
 public:
  // A question to the lcores, as those of planes.
  using QueueQuestion = std::function<std::optional<std::vector<QueueView>>()>;
  virtual QueueQuestion Queues() = 0;
  // The prefix of EAL's files, by which a second process finds the ports; empty: none can.
  virtual std::string FilePrefix() = 0;
};

}  // namespace suede

#endif  // SUEDE_MGMT_ADMIN_VIEW_H_
