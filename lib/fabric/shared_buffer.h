// SPDX-License-Identifier: Apache-2.0
// The buffer shared by all queues of a switch: admission, and when an input has to pause
// (docs/switch.md, "Buffer"). Counts bytes, in whole cells; holds no frame. Owned by one lcore.
#ifndef SUEDE_FABRIC_SHARED_BUFFER_H_
#define SUEDE_FABRIC_SHARED_BUFFER_H_

#include <cstdint>
#include <vector>

#include "base/coordinates.h"
#include "fabric/frame_note.h"
#include "fabric/params.h"

namespace suede::fabric {

class SharedBuffer {
 public:
  explicit SharedBuffer(const SwitchParams& params);

  // The cells of a frame, in bytes.
  uint32_t Charge(uint32_t frame_bytes) const {
    return (frame_bytes + cell_bytes_ - 1) & ~(cell_bytes_ - 1);
  }

  // Admits a frame of `charge` bytes for the queue of output `out`: lossy classes by the queue,
  // lossless classes by the input. Returns whether the frame may wait, and counts it then.
  bool Admit(PortIndex in, PortIndex out, uint32_t queue, uint32_t charge);
  // A frame has left, or was removed.
  void Release(PortIndex in, PortIndex out, uint32_t queue, uint32_t charge);
  // Admit and Release for frames on credit, which have a part of their own, for each input and link
  // VC. A sender that keeps to its credit always finds room.
  bool AdmitCredited(PortIndex in, PortIndex out, const FrameNote& note);
  void ReleaseCredited(PortIndex out, const FrameNote& note);

  // Lossless classes for which the port requests a pause.
  ClassMask paused(uint32_t in) const { return pauses_[in]; }

  uint32_t queued(uint32_t out, uint32_t queue) const {
    const size_t index = Index(out, queue);
    return queues_[index].used + credited_queues_[index];
  }
  // Bytes of an input's frames on credit.
  uint32_t credited(uint32_t in, uint32_t link_vc) const {
    return credited_inputs_[Index(in, link_vc)];
  }
  uint32_t used() const { return used_; }
  uint32_t max_used() const { return max_used_; }
  uint32_t shared_bytes() const { return shared_bytes_; }
  uint32_t shared_free() const { return shared_bytes_ - shared_used_; }
  uint32_t headroom_used() const { return headroom_used_; }
  uint32_t max_headroom_used() const { return max_headroom_used_; }
  // Resets the high-water marks to the present values.
  void ResetMax() {
    max_used_ = used_;
    max_headroom_used_ = headroom_used_;
  }
  // Shared bytes: the buffer less reserved parts, headrooms and parts for credit. Negative: these
  // exceed the buffer.
  static int64_t SharedBytes(const SwitchParams& params);

  // Aborts if a sum differs from its parts.
  void CheckInvariants() const;

 private:
  // The bytes of a queue (lossy) or of an input's class (lossless).
  struct Account {
    uint32_t used = 0;      // all
    uint32_t headroom = 0;  // part of `used`; lossless only
  };
  size_t Index(uint32_t port, uint32_t queue) const {
    return (size_t{port} << queue_bits_) + queue;
  }
  uint32_t SharedOf(const Account& account, uint32_t queue) const {
    const uint32_t regular = account.used - account.headroom;
    const uint32_t reserved = classes_[queue].reserved_bytes;
    return regular > reserved ? regular - reserved : 0;
  }
  // Max shared bytes of one account now.
  uint64_t Threshold(uint32_t queue) const {
    return uint64_t{shared_bytes_ - shared_used_} * classes_[queue].alpha_16th >> 4;
  }
  bool Add(Account& account, uint32_t queue, uint32_t charge);
  void Subtract(Account& account, uint32_t queue, uint32_t charge);

  const uint32_t cell_bytes_;  // a power of two
  const uint32_t shared_bytes_;
  const uint32_t queue_bits_;  // of an index of a queue, or a link VC
  uint32_t used_ = 0;
  uint32_t max_used_ = 0;
  uint32_t shared_used_ = 0;
  uint32_t headroom_used_ = 0;  // of all inputs
  uint32_t max_headroom_used_ = 0;
  std::vector<Account> queues_;            // by output and queue
  std::vector<Account> inputs_;            // by input and lossless class
  std::vector<uint32_t> credited_queues_;  // by output and queue
  std::vector<uint32_t> credited_inputs_;  // by input and link VC
  std::vector<ClassMask> pauses_;
  std::array<ClassParams, kMaxQueues> classes_{};    // by queue
  std::array<uint32_t, kMaxQueues> credit_bytes_{};  // of an input, for frames on credit
};

}  // namespace suede::fabric

#endif  // SUEDE_FABRIC_SHARED_BUFFER_H_
