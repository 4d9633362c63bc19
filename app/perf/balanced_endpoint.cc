// SPDX-License-Identifier: Apache-2.0
#include "perf/balanced_endpoint.h"

#include <vector>

namespace suede::perf {

absl::StatusOr<std::unique_ptr<BalancedEndpoint>> BalancedEndpoint::Create(
    const std::deque<std::unique_ptr<ClientSession>>& sessions, uint32_t policy,
    const TscClock& clock) {
  std::unique_ptr<BalancedEndpoint> endpoint(new BalancedEndpoint);
  std::vector<suede_queue*> queues;
  for (const auto& session : sessions) {
    endpoint->lanes_.emplace_back(*session, 0, clock);
    queues.push_back(endpoint->lanes_.back().queue());
  }
  suede_balancer* balancer = nullptr;
  if (suede_balancer_create(queues.data(), static_cast<uint32_t>(queues.size()), policy,
                            &balancer) != 0) {
    return absl::InvalidArgumentError(suede_error_text());
  }
  endpoint->balancer_.reset(balancer);
  endpoint->tries_others_ = policy != SUEDE_BALANCE_HASH;
  return endpoint;
}

}  // namespace suede::perf
