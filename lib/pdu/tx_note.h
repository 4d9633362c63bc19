// SPDX-License-Identifier: Apache-2.0
// The link's note of a frame that waits in a transmit burst: whether the frame is a kept PDU, or is
// sent once and then released, and its link VC. The writer of the frame knows these facts, so no
// layer of the link reads the headers for them; the length is the frame's.
//
// The note is the first byte of a frame's notes. A frame that carries a PDU has the note as the
// first member of its Pdu; a one-shot frame (an acknowledgement, a control PDU, a management
// packet) has only the note.
#ifndef SUEDE_PDU_TX_NOTE_H_
#define SUEDE_PDU_TX_NOTE_H_

#include <cstdint>
#include <utility>

namespace suede {

enum class TxKind : uint8_t {
  kUnstaged,   // the frame is not in a burst
  kKept,       // its Pdu is in flight and ends elsewhere
  kOneShot,    // the link releases the frame once the port has taken it
  kWithdrawn,  // its Pdu must not leave any more: the link removes the frame from the burst
};

struct TxNote {
  // Link VC of a frame that uses no credit: of the link itself, of MAC control, or already numbered
  // by link-level retry.
  static constexpr uint8_t kNoCredit = 15;

  static TxNote Kept(uint8_t link_vc) { return TxNote(TxKind::kKept, link_vc); }
  static TxNote OneShot(uint8_t link_vc) { return TxNote(TxKind::kOneShot, link_vc); }

  TxNote() = default;
  bool staged() const { return kind != TxKind::kUnstaged; }
  // The frame is in no burst any more. Returns its kind. The link VC stays, for a frame that is
  // staged again unchanged.
  TxKind Unstage() { return std::exchange(*this, TxNote(TxKind::kUnstaged, link_vc)).kind; }

  TxKind kind : 3 = TxKind::kUnstaged;
  bool busy : 1 = false;   // a device or a layer of the link may still read the frame: it is sent
                           // unchanged
  uint8_t link_vc : 4 = kNoCredit;  // docs/link.md, "Link VCs"

 private:
  TxNote(TxKind what, uint8_t of) : kind(what), link_vc(of & kNoCredit) {}
};
static_assert(sizeof(TxNote) == 1);

}  // namespace suede

#endif  // SUEDE_PDU_TX_NOTE_H_
