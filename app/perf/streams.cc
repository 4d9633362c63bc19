// SPDX-License-Identifier: Apache-2.0
#include "perf/streams.h"

#include <iterator>
#include <utility>

namespace suede::perf {

bool RxStream::OnUnexpected(int32_t ahead) {
  if (ahead > 0) {
    counts_.lost += static_cast<uint32_t>(ahead);
    gaps_.emplace_hint(gaps_.end(), passed_, passed_ + static_cast<uint32_t>(ahead));
    if (gaps_.size() > kMaxGaps) gaps_.erase(gaps_.begin());
    next_ += static_cast<uint32_t>(ahead) + 1;
    passed_ += static_cast<uint32_t>(ahead) + 1;
    return true;
  }
  const uint64_t back = -static_cast<int64_t>(ahead);
  if (back <= passed_ && Fill(passed_ - back)) {
    ++counts_.misordered;
    if (counts_.lost > 0) --counts_.lost;
    return true;
  }
  ++counts_.duplicated;
  return false;
}

bool RxStream::Fill(uint64_t place) {
  auto gap = gaps_.upper_bound(place);
  if (gap == gaps_.begin() || place >= (--gap)->second) return false;
  const uint64_t end = gap->second;
  if (place + 1 != end) gaps_.emplace_hint(std::next(gap), place + 1, end);
  gap->second = place;
  if (gap->first == place) gaps_.erase(gap);
  return true;
}

std::unique_ptr<RxTable::Flows> RxTable::NewFlows() const {
  auto flows = std::make_unique<Flows>();
  if (from_zero_) {
    for (RxStream& stream : *flows) stream.Start(0);
  }
  return flows;
}

bool RxTable::IsRight(const ReceivedCommand& command, Opcode opcode, uint8_t flow,
                      uint32_t sequence) {
  ContentKey key{.source = command.source_xpuid,
                 .destination = command.own_xpuid,
                 .vc = command.vc,
                 .flow = flow,
                 .sequence = sequence};
  if (IsEcho(opcode)) std::swap(key.source, key.destination);
  return ContentIsRight(key, command.control, command.control_bytes, command.data,
                        command.data_bytes);
}

StreamCounts RxTable::Total() const {
  StreamCounts total;
  for (const auto& flows : flows_) {
    if (flows == nullptr) continue;
    for (const RxStream& stream : *flows) total.Add(stream.counts());
  }
  return total;
}

}  // namespace suede::perf
