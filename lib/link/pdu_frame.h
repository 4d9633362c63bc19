// SPDX-License-Identifier: Apache-2.0
// Conversions between a frame and its notes, by address arithmetic.
#ifndef SUEDE_LINK_PDU_FRAME_H_
#define SUEDE_LINK_PDU_FRAME_H_

#include <cstddef>
#include <new>

#include "pdu/pdu.h"
#include "pdu/tx_note.h"
#include "port/frame.h"

namespace suede {

// The PDU of a frame that carries one.
inline Pdu* PduOf(Frame* frame) { return std::launder(reinterpret_cast<Pdu*>(frame->notes)); }
inline Frame* FrameOf(Pdu* pdu) {
  return reinterpret_cast<Frame*>(reinterpret_cast<std::byte*>(pdu) - offsetof(Frame, notes));
}
inline const Frame* FrameOf(const Pdu* pdu) {
  return reinterpret_cast<const Frame*>(reinterpret_cast<const std::byte*>(pdu) -
                                        offsetof(Frame, notes));
}
// The note of a staged frame, whether it carries a PDU or not.
inline TxNote& NoteOf(Frame* frame) {
  return *std::launder(reinterpret_cast<TxNote*>(frame->notes));
}
inline const TxNote& NoteOf(const Frame* frame) {
  return *std::launder(reinterpret_cast<const TxNote*>(frame->notes));
}
static_assert(sizeof(Pdu) <= Frame::kNoteBytes);
// Begins a frame that the link itself writes from its first byte; its length follows.
inline void BeginOwnFrame(Frame* frame) {
  frame->data = frame->buffer + Frame::kCommandOffset;
  frame->tx_offload = TxOffload::kNone;
}
// The frame that leaves for a staged frame: its sealed frame if it has one. A frame that keeps a
// plain PDU beside its sealed frame has no network header; note and length are those of both.
inline const Frame& LeavingFrame(const Frame& frame) {
  return frame.sealed != nullptr ? *frame.sealed : frame;
}

}  // namespace suede

#endif  // SUEDE_LINK_PDU_FRAME_H_
