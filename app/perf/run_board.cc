// SPDX-License-Identifier: Apache-2.0
#include "perf/run_board.h"

namespace suede::perf {

RunBoard::RunBoard(const Parts& parts, const std::vector<StreamId>& streams)
    : parts_(parts), streams_(streams), index_(size_t{kMaxXpus} * kVcCount, -1) {
  for (size_t i = 0; i < streams.size(); ++i) index_[Slot(streams[i])] = static_cast<int32_t>(i);
  for (uint32_t flow = 0; flow < parts.flows; ++flow) flows_[flow].answers.resize(streams.size());
}

void RunBoard::OnReady(uint8_t flow, uint32_t stream, const ServerTraits& traits) {
  if (flow >= parts_.flows) return;
  const std::lock_guard lock(mutex_);
  Answer& answer = flows_[flow].answers[stream];
  if (answer.ready) return;
  answer.ready = true;
  if (!traits.echoes) all_echo_.store(false, std::memory_order_release);
  flows_[flow].ready.fetch_add(1, std::memory_order_acq_rel);
}

void RunBoard::OnReport(uint8_t flow, uint32_t stream, const StreamCounts& forward,
                        const StreamCounts& reverse) {
  if (flow >= parts_.flows) return;
  const std::lock_guard lock(mutex_);
  Answer& answer = flows_[flow].answers[stream];
  answer.forward = forward;
  answer.reverse = reverse;
  if (answer.reported) return;
  answer.reported = true;
  flows_[flow].reported.fetch_add(1, std::memory_order_acq_rel);
}

bool RunBoard::IsReady(uint8_t flow, uint32_t stream) const {
  const std::lock_guard lock(mutex_);
  return flows_[flow].answers[stream].ready;
}

StreamId RunBoard::FirstSilent(uint8_t flow, bool at_end) const {
  const std::lock_guard lock(mutex_);
  for (size_t i = 0; i < streams_.size(); ++i) {
    const Answer& answer = flows_[flow].answers[i];
    if (!(at_end ? answer.reported : answer.ready)) return streams_[i];
  }
  return {};
}

RunBoard::Sums RunBoard::Total() const {
  const std::lock_guard lock(mutex_);
  Sums sums;
  for (const Flow& flow : flows_) {
    for (const Answer& answer : flow.answers) {
      sums.forward.Add(answer.forward);
      sums.reverse.Add(answer.reverse);
    }
  }
  return sums;
}

bool RunBoard::HasAll(uint8_t flow, uint32_t stream, uint64_t sent) const {
  const std::lock_guard lock(mutex_);
  const Answer& answer = flows_[flow].answers[stream];
  return answer.reported && answer.forward.received >= sent &&
         answer.reverse.received >= answer.forward.sent_back;
}

}  // namespace suede::perf
