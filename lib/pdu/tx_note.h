// SPDX-License-Identifier: Apache-2.0
// The link's note of a frame that waits in a transmit burst: whether the frame is a kept PDU, or is
// sent once and then released.
//
// The note is the first byte of a frame's notes. A frame that carries a PDU has the note as the
// first member of its Pdu; a one-shot frame (an acknowledgement, a control PDU, a management
// packet) has only the note.
#ifndef SUEDE_PDU_TX_NOTE_H_
#define SUEDE_PDU_TX_NOTE_H_

#include <cstdint>

#include "base/sue.h"

namespace suede {

enum class TxKind : uint8_t {
  kUnstaged,   // the frame is not in a burst
  kKept,       // its Pdu is in flight and ends elsewhere
  kOneShot,    // the link releases the frame once the port has taken it
  kWithdrawn,  // its Pdu must not leave any more: the link removes the frame from the burst
};

struct TxNote {
  static constexpr uint8_t kNoVc = 15;  // the frame travels in the class of acknowledgements

  static TxNote Kept(uint8_t vc) { return TxNote(TxKind::kKept, vc); }
  static TxNote OneShot(uint8_t vc) { return TxNote(TxKind::kOneShot, vc); }

  TxNote() = default;
  bool staged() const { return kind != TxKind::kUnstaged; }

  TxKind kind : 3 = TxKind::kUnstaged;
  bool busy : 1 = false;   // a device or a layer of the link may still read the frame: it is sent
                           // unchanged
  uint8_t vc : 4 = kNoVc;  // of a staged frame

 private:
  TxNote(TxKind what, uint8_t of) : kind(what), vc(of & kNoVc) {}
};
static_assert(sizeof(TxNote) == 1 && kVcCount <= TxNote::kNoVc);

}  // namespace suede

#endif  // SUEDE_PDU_TX_NOTE_H_
