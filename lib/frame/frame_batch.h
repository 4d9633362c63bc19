// SPDX-License-Identifier: Apache-2.0
// Frames of data that are staged before they are complete: their R-CRCs are computed together, so
// that none waits for the RH that was just stored, and their network headers follow.
#ifndef SUEDE_FRAME_FRAME_BATCH_H_
#define SUEDE_FRAME_FRAME_BATCH_H_

#include <array>
#include <cstdint>

#include "frame/frame_writer.h"

namespace suede {

// Owned by the lcore.
class FrameBatch {
 public:
  // Adds the frame around `bytes` bytes of `commands` in its buffer, with room for headers in front
  // and with the RH: the frame's length is valid, its bytes are not until Finish. The header stays
  // until then.
  [[gnu::always_inline]] void Add(const PortContext& port, const HeaderTemplate& header,
                                  Frame* frame, uint8_t* commands, uint32_t bytes) {
    if (count_ == kFrames) [[unlikely]]
      Finish();
    uint8_t* const pdu = commands - kRhBytes;
    const uint32_t body_bytes = PadPdu(pdu, bytes, header.length);
    Describe(port, header, frame, body_bytes + kRcrcBytes);
    spans_[count_].data = pdu;
    spans_[count_].bytes = body_bytes;
    frames_[count_] = frame;
    headers_[count_++] = &header;
  }
  // Completes the frames. Called before any of them leaves.
  void Finish();

 private:
  static constexpr uint32_t kFrames = 8;

  uint32_t count_ = 0;
  std::array<RcrcSpan, kFrames> spans_;  // of the PDUs
  std::array<Frame*, kFrames> frames_;
  std::array<const HeaderTemplate*, kFrames> headers_;
};

}  // namespace suede

#endif  // SUEDE_FRAME_FRAME_BATCH_H_
