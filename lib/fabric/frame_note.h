// SPDX-License-Identifier: Apache-2.0
// The switch's notes of a frame, in the frame itself, and FIFOs of frames without memory of their
// own.
#ifndef SUEDE_FABRIC_FRAME_NOTE_H_
#define SUEDE_FABRIC_FRAME_NOTE_H_

#include <cstdint>
#include <new>

#include "base/time.h"
#include "port/frame.h"

namespace suede::fabric {

struct FrameNote {
  Frame* next = nullptr;     // of the one list that the frame is on
  Time at{};                 // when the frame was received; on a cable: when it arrives
  uint64_t destination = 0;  // key of the forwarding table, for black holes
  uint32_t charge = 0;       // bytes of the shared buffer
  uint16_t in = 0;           // port
  uint8_t traffic_class = 0;
  uint8_t queue = 0;      // of the output: the class, or the link VC on a switch with levels
  uint8_t link_vc = 0;    // of the link on which the frame arrived
  uint16_t credits = 0;   // of the link on which the frame arrived; 0: none
  // Charged to its input's part for frames on credit; before it is admitted: within its sender's
  // credit.
  bool credited = false;
};
static_assert(sizeof(FrameNote) <= Frame::kNoteBytes);

inline FrameNote& NoteOfFrame(Frame* frame) {
  return *std::launder(reinterpret_cast<FrameNote*>(frame->notes));
}
inline const FrameNote& NoteOfFrame(const Frame* frame) {
  return *std::launder(reinterpret_cast<const FrameNote*>(frame->notes));
}
inline FrameNote& NewNote(Frame* frame) { return *new (frame->notes) FrameNote; }

// The obstacle that a frame in a queue waits for.
enum class WaitCause : uint8_t {
  kDown,    // the device takes no frames, as while its link is down
  kPause,   // the peer has paused the class
  kCredit,  // the neighbour's credit is used up
  kRate,    // earlier frames leave at the port's rate
};
// Dropped frames of a port, by the latest one. Written by the port's lcore.
struct DropNote {
  uint64_t count = 0;
  uint64_t destination = 0;  // as FrameView has it
  uint8_t traffic_class = 0;
  WaitCause cause = WaitCause::kDown;  // of frames that waited too long
};

// A FIFO whose frames all have a FrameNote.
class FrameFifo {
 public:
  bool empty() const { return head_ == nullptr; }
  Frame* head() const { return head_; }
  uint32_t size() const { return size_; }

  void PushBack(Frame* frame) {
    NoteOfFrame(frame).next = nullptr;
    if (tail_ != nullptr) {
      NoteOfFrame(tail_).next = frame;
    } else {
      head_ = frame;
    }
    tail_ = frame;
    ++size_;
  }
  Frame* PopFront() {
    Frame* const frame = head_;
    head_ = NoteOfFrame(frame).next;
    if (head_ == nullptr) tail_ = nullptr;
    --size_;
    return frame;
  }

 private:
  Frame* head_ = nullptr;
  Frame* tail_ = nullptr;
  uint32_t size_ = 0;
};

}  // namespace suede::fabric

#endif  // SUEDE_FABRIC_FRAME_NOTE_H_
