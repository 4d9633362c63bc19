// SPDX-License-Identifier: Apache-2.0
// Interfaces through which methods manage planes, which an operator may set down, and list clients'
// queues.
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
  bool of_lcore = false;  // serves the client's target on the lcore
  uint32_t xpu = 0;
  uint32_t instance = 0;
  std::string_view state;
  uint32_t ring_lines = 0;
  uint32_t waiting_lines = 0;
  uint32_t credit_lines = 0;  // total of the queue
  uint32_t credit_used = 0;
  uint64_t discarded = 0;
  std::string paused;  // VCs that all planes pause now, "0,1"; empty: none
};

// Control thread only. Does not block.
class AdminView : public PlaneAdminView {
 public:
  // A query to the lcores, to be polled like those of planes.
  using QueueQuestion = std::function<std::optional<std::vector<QueueView>>()>;
  virtual QueueQuestion Queues() = 0;
  // Returns EAL's file prefix, by which a secondary process finds the ports; empty: none can
  // attach.
  virtual std::string FilePrefix() = 0;
};

}  // namespace suede

#endif  // SUEDE_MGMT_ADMIN_VIEW_H_
