// SPDX-License-Identifier: Apache-2.0
#include "endpoint/queue_list.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "endpoint/pipeline_params.h"
#include "endpoint/window_service.h"

namespace suede {

std::optional<std::vector<QueueView>> QueueList::Poll() {
  for (; pipeline_ < query_.endpoint().pipeline_count(); ++pipeline_) {
    const QueueSnapshot* const snapshot = query_.Poll(pipeline_, [](QueueSnapshot&) {});
    if (snapshot == nullptr) return std::nullopt;
    Take(*snapshot);
  }
  std::sort(queues_.begin(), queues_.end(), [](const QueueView& a, const QueueView& b) {
    return std::tuple(a.client, a.of_lcore, a.queue) < std::tuple(b.client, b.of_lcore, b.queue);
  });
  return std::move(queues_);
}

// Returns the VCs paused by the neighbours of all of the instance's ports.
std::string QueueList::PausedVcs(const InstanceConfig& instance) const {
  VcMask paused = kEveryVc;
  for (const InstancePort& at : instance.ports) paused &= query_.endpoint().PausedFlows(at.port);
  return FlowNames(paused);
}

void QueueList::Take(const QueueSnapshot& snapshot) {
  const Config& config = query_.endpoint().config();
  for (uint32_t i = 0; i < snapshot.count; ++i) {
    const QueueRow& row = snapshot.rows[i];
    const InstanceConfig& instance =
        config.instances[query_.endpoint().instance_at(pipeline_, row.instance)];
    queues_.push_back({.client = row.client & ~WindowService::kTargetBit,
                       .queue = row.number,
                       .of_lcore = (row.client & WindowService::kTargetBit) != 0,
                       .xpu = instance.xpu,
                       .instance = instance.instance,
                       .state = row.broken    ? "broken"
                                : row.leaving ? "leaving"
                                              : "open",
                       .ring_lines = config.clients.ring_lines,
                       .waiting_lines = row.waiting_lines,
                       .credit_lines = config.clients.aggregate_lines,
                       .credit_used = row.credit_lines,
                       .discarded = row.discarded,
                       .paused = PausedVcs(instance)});
  }
}

}  // namespace suede
