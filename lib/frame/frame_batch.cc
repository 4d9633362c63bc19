// SPDX-License-Identifier: Apache-2.0
#include "frame/frame_batch.h"

#include <cstring>
#include <utility>

namespace suede {

void FrameBatch::Finish() {
  const uint32_t count = std::exchange(count_, 0);
  Rcrcs(spans_.data(), count);
  for (uint32_t i = 0; i < count; ++i) {
    const RcrcSpan& span = spans_[i];
    Frame* const frame = frames_[i];
    uint8_t* const pdu = const_cast<uint8_t*>(span.data);  // the frame is ours
    std::memcpy(pdu + span.bytes, &span.crc, sizeof span.crc);
    WriteHeaderOf(*headers_[i], frame, pdu, span.bytes + kRcrcBytes);
  }
}

}  // namespace suede
