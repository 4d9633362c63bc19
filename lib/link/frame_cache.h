// SPDX-License-Identifier: Apache-2.0
// Frames between an lcore and the pool of a port: empty frames, and frames that are to be released.
// Owned by the lcore.
#ifndef SUEDE_LINK_FRAME_CACHE_H_
#define SUEDE_LINK_FRAME_CACHE_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>
#include <utility>

#include "link/pdu_frame.h"
#include "pdu/pdu.h"
#include "port/frame.h"
#include "port/port.h"

namespace suede {

class FrameCache {
 public:
  // `port` outlives this object.
  explicit FrameCache(Port* port) : port_(port) {}

  // Ensures that `count` frames (max kBurst) are available, from the pool if need be. Returns
  // whether they are.
  bool Has(uint32_t count) {
    if (spare_count_ >= count) return true;
    spare_count_ += port_->Allocate(spare_.data() + spare_count_, kBurst);
    return spare_count_ >= count;
  }
  // An empty frame. Has(1) must be true.
  Frame* New() { return spare_[--spare_count_]; }
  // An empty frame with a fresh descriptor. Has(1) must be true.
  Pdu* NewPdu() {
    Frame* frame = New();
    Pdu* pdu = new (frame->notes) Pdu;
    pdu->commands = frame->buffer + Frame::kCommandOffset;
    return pdu;
  }
  // An empty frame with a copy of the descriptor of a PDU without tags. Has(1) must be true.
  Pdu* NewPdu(const Pdu& like) {
    Frame* frame = New();
    std::memcpy(frame->notes, &like, offsetof(Pdu, tags));
    PduOf(frame)->commands = frame->buffer + Frame::kCommandOffset;
    return PduOf(frame);
  }
  void Release(Frame* frame) {
    released_[released_count_++] = frame;
    if (released_count_ == released_.size()) Flush();
  }
  // Returns the released frames to the pool.
  void Flush() {
    if (released_count_ == 0) return;
    port_->Release(released_.data(), released_count_);
    released_count_ = 0;
  }
  // A PDU has ended: releases its frame at once, or makes it one-shot if it is staged.
  void ReleasePdu(Pdu* pdu) {
    if (pdu->note.staged()) {
      pdu->note.kind = TxKind::kOneShot;
    } else if (!pdu->held) {
      ReleaseKept(pdu);
    }
  }
  // Releases the PDU's frame, and its sealed frame if it has one.
  void ReleaseKept(Pdu* pdu) {
    if (pdu->sealed) [[unlikely]]
      DropSealed(pdu);
    Release(FrameOf(pdu));
  }
  // The PDU leaves in the frame `sealed` from now on, which is from the same pool as the PDU's own
  // frame, and is released with it.
  void SetSealed(Pdu* pdu, Frame* sealed) {
    if (pdu->sealed) DropSealed(pdu);
    FrameOf(pdu)->sealed = sealed;
    FrameOf(pdu)->length = sealed->length;
    pdu->sealed = true;
  }
  // The PDU leaves unsealed from now on.
  void DropSealed(Pdu* pdu) {
    Release(std::exchange(FrameOf(pdu)->sealed, nullptr));
    pdu->sealed = false;
  }
  // For tests: the empty frames that are available without the pool.
  uint32_t spare() const { return spare_count_; }

 private:
  Port* const port_;
  std::array<Frame*, 2 * kBurst> spare_{};
  uint32_t spare_count_ = 0;
  std::array<Frame*, 2 * kBurst> released_{};
  uint32_t released_count_ = 0;
};

}  // namespace suede

#endif  // SUEDE_LINK_FRAME_CACHE_H_
