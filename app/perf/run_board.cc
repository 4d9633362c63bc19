// SPDX-License-Identifier: Apache-2.0
#include "perf/run_board.h"

namespace suede::perf {

RunBoard::RunBoard(const Parts& parts, const std::vector<StreamId>& streams)
    : parts_(parts), streams_(streams), index_(size_t{kMaxXpus} * kVcCount, -1) {
  for (size_t i = 0; i < streams.size(); ++i) index_[Slot(streams[i])] = static_cast<int32_t>(i);
  for (uint32_t flow = 0; flow < parts.flows; ++flow) flows_[flow].responses.resize(streams.size());
}

void RunBoard::OnReady(uint8_t flow, uint32_t stream, const ServerTraits& traits) {
  if (flow >= parts_.flows) return;
  const std::lock_guard lock(mutex_);
  Response& response = flows_[flow].responses[stream];
  if (response.ready) return;
  response.ready = true;
  if (!traits.echoes) all_echo_.store(false, std::memory_order_release);
  flows_[flow].ready.fetch_add(1, std::memory_order_acq_rel);
}

void RunBoard::OnReport(uint8_t flow, uint32_t stream, const StreamCounts& forward,
                        const StreamCounts& reverse) {
  if (flow >= parts_.flows) return;
  const std::lock_guard lock(mutex_);
  Response& response = flows_[flow].responses[stream];
  response.forward = forward;
  response.reverse = reverse;
  if (response.reported) return;
  response.reported = true;
  flows_[flow].reported.fetch_add(1, std::memory_order_acq_rel);
}

bool RunBoard::IsReady(uint8_t flow, uint32_t stream) const {
  const std::lock_guard lock(mutex_);
  return flows_[flow].responses[stream].ready;
}

StreamId RunBoard::FirstSilent(uint8_t flow, bool at_end) const {
  const std::lock_guard lock(mutex_);
  for (size_t i = 0; i < streams_.size(); ++i) {
    const Response& response = flows_[flow].responses[i];
    if (!(at_end ? response.reported : response.ready)) return streams_[i];
  }
  return {};
}

RunBoard::Sums RunBoard::Total() const {
  const std::lock_guard lock(mutex_);
  Sums sums;
  for (const Flow& flow : flows_) {
    for (const Response& response : flow.responses) {
      sums.forward.Add(response.forward);
      sums.reverse.Add(response.reverse);
    }
  }
  return sums;
}

bool RunBoard::HasAll(uint8_t flow, uint32_t stream, uint64_t sent) const {
  const std::lock_guard lock(mutex_);
  const Response& response = flows_[flow].responses[stream];
  return response.reported && response.forward.received >= sent &&
         response.reverse.received >= response.forward.sent_back;
}

}  // namespace suede::perf
