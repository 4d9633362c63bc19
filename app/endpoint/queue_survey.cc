// SPDX-License-Identifier: Apache-2.0
#include "endpoint/queue_survey.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "endpoint/pipeline_params.h"
#include "endpoint/window_service.h"

namespace suede {

QueueDesk::QueueDesk(Endpoint* endpoint)
    : endpoint_(endpoint), instances_(endpoint->pipeline_count()) {
  for (uint32_t l = 0; l < endpoint->pipeline_count(); ++l) {
    places_.push_back(std::make_unique<Place>());
  }
  for (uint32_t i = 0; i < endpoint->config().instances.size(); ++i) {
    std::vector<uint32_t>& of_lcore = instances_[endpoint->pipeline_of(i)];
    of_lcore.resize(std::max<size_t>(of_lcore.size(), endpoint->number_of(i) + 1));
    of_lcore[endpoint->number_of(i)] = i;
  }
}

QueueSurvey::~QueueSurvey() {
  if (place_ != nullptr) place_->taken = false;
}

std::optional<std::vector<QueueView>> QueueSurvey::Poll() {
  if (place_ != nullptr) {
    if (!place_->snapshot.done.load(std::memory_order_acquire)) return std::nullopt;
    Take(place_->snapshot);
    std::exchange(place_, nullptr)->taken = false;
    ++lcore_;
  }
  if (lcore_ == desk_->places_.size()) {
    std::sort(queues_.begin(), queues_.end(), [](const QueueView& a, const QueueView& b) {
      return std::tuple(a.client, a.of_lcore, a.queue) < std::tuple(b.client, b.of_lcore, b.queue);
    });
    return std::move(queues_);
  }
  QueueDesk::Place& place = *desk_->places_[lcore_];
  // Somebody else's turn, or the lcore still owes one that nobody waits for any more.
  if (place.taken || !place.snapshot.done.load(std::memory_order_acquire)) return std::nullopt;
  place.snapshot.done.store(false, std::memory_order_relaxed);
  const bool asked = desk_->endpoint_->pipeline(lcore_).mailbox().requests.Push(
      request::Queues{.snapshot = &place.snapshot});
  if (!asked) {
    place.snapshot.done.store(true, std::memory_order_relaxed);  // a full mailbox: the next time
    return std::nullopt;
  }
  place.taken = true;
  place_ = &place;
  return std::nullopt;
}

// The VCs that the neighbours of all of the instance's ports have paused.
std::string QueueSurvey::PausedVcs(const InstanceConfig& instance) const {
  VcMask paused = kEveryVc;
  for (const InstancePort& at : instance.ports) paused &= desk_->endpoint_->PausedFlows(at.port);
  return FlowNames(paused);
}

void QueueSurvey::Take(const QueueSnapshot& snapshot) {
  const Config& config = desk_->endpoint_->config();
  for (uint32_t i = 0; i < snapshot.count; ++i) {
    const QueueRow& row = snapshot.rows[i];
    const InstanceConfig& instance = config.instances[desk_->instances_[lcore_][row.instance]];
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
