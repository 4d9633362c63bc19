// SPDX-License-Identifier: Apache-2.0
// What instances hold, shown now and then: cheaper than with every change, and as good to look at.
#include <algorithm>
#include <chrono>

#include "pipeline/pipeline.h"

namespace suede {
namespace {

constexpr Duration kPublishEvery = std::chrono::milliseconds(10);
// Of connections, each time: bounds what a turn takes longer, whatever the number of peers. A round
// over 1023 of them takes 160 ms.
constexpr uint32_t kLooks = 64;

static_assert(static_cast<size_t>(ConnectionState::kLost) + 1 == kConnectionStates);
static_assert(static_cast<size_t>(Gauge::kConnectionsLost) -
                  static_cast<size_t>(Gauge::kConnectionsNew) + 1 == kConnectionStates);

Gauge GaugeOf(size_t state) {
  return static_cast<Gauge>(static_cast<size_t>(Gauge::kConnectionsNew) + state);
}

}  // namespace

void Pipeline::PublishGauges(Time now) {
  gauges_due_ = now + kPublishEvery;
  for (const auto& instance : instances_) instance->credit_lines = 0;
  for (const uint16_t number : serving_) {
    const QueueSlot& slot = queues_[number];
    instances_[slot.instance]->credit_lines += slot.credits.outstanding();
  }
  for (const auto& instance : instances_) {
    uint64_t unclaimed = 0;
    uint64_t promised = 0;
    for (const CreditFeed& feed : instance->feeds) promised += feed.promised;
    for (const uint32_t count : instance->unclaimed_count) unclaimed += count;
    GaugeBlock& gauges = instance->gauges;
    gauges.Set(Gauge::kInflightPdus, instance->inflight);
    gauges.Set(Gauge::kInflightBytes, instance->inflight_bytes);
    gauges.Set(Gauge::kQueuedPdus, instance->queued);
    gauges.Set(Gauge::kCreditLines, instance->credit_lines);
    gauges.Set(Gauge::kUnclaimedPdus, unclaimed);
    gauges.Set(Gauge::kPromisedLines, promised);
  }
  SurveyConnections(kLooks);
}

// Goes on counting connections by state, and shows those of an instance when it has seen all.
void Pipeline::SurveyConnections(uint32_t looks) {
  if (instances_.empty()) return;
  Instance& instance = *instances_[survey_instance_];
  const auto end = static_cast<uint32_t>(instance.connections.size());
  const uint32_t stop = std::min(end, survey_connection_ + looks);
  for (; survey_connection_ < stop; ++survey_connection_) {
    const ConnectionState state = instance.StateOf(survey_connection_);
    ++instance.survey[static_cast<size_t>(state)];
    // However it ended.
    if (state != ConnectionState::kLost) LetGo(instance, survey_connection_);
  }
  if (survey_connection_ < end) return;
  for (size_t state = 0; state < kConnectionStates; ++state) {
    instance.gauges.Set(GaugeOf(state), instance.survey[state]);
  }
  instance.survey.fill(0);
  survey_connection_ = 0;
  survey_instance_ = (survey_instance_ + 1) % instance_count();
}

}  // namespace suede
