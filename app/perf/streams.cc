#include "perf/streams.h"

#include <utility>

namespace suede::perf {

bool RxStream::OnUnexpected(int32_t ahead) {
  if (ahead > 0) {
    counts_.lost += static_cast<uint32_t>(ahead);
    recent_ = ahead < 63 ? (recent_ << (ahead + 1)) | 1 : 1;
    next_ += static_cast<uint32_t>(ahead) + 1;
    return true;
  }
  // Among the latest 64 a late command can be told from one that came before.
  const int64_t back = -int64_t{ahead} - 1;
  if (back < 64 && ((recent_ >> back) & 1) == 0) {
    recent_ |= uint64_t{1} << back;
    ++counts_.misordered;
    if (counts_.lost > 0) --counts_.lost;
    return true;
  }
  ++counts_.duplicated;
  return false;
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
