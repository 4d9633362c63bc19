// SPDX-License-Identifier: Apache-2.0
// The port of a plane of the mesh as a pipeline has it: frames come from the devices of the daemon
// and go there. Counts them, for no frame of one daemon alone passes a simulated cable.
#ifndef SUEDE_TESTS_LABSIM_LAB_MESH_PORT_H_
#define SUEDE_TESTS_LABSIM_LAB_MESH_PORT_H_

#include <algorithm>
#include <cstdint>

#include "base/time.h"
#include "port/port.h"
#include "sim/checks.h"

namespace suede::lab {

class LabMeshPort final : public Port {
 public:
  // Both outlive this.
  LabMeshPort(Port& centre, const Time& now) : centre_(centre), now_(now) {}

  uint32_t Receive(Frame** frames, uint32_t max) override {
    const uint32_t count = centre_.Receive(frames, max);
    for (uint32_t i = 0; i < count; ++i) {
      received_ += frames[i]->length;
      for (const uint64_t word : {Fingerprint(frames[i]->data, frames[i]->length),
                                  static_cast<uint64_t>((now_ - Time{}).count())}) {
        digest_ = (digest_ ^ word) * 0x9e3779b97f4a7c15u;
        digest_ ^= digest_ >> 29;
      }
    }
    return count;
  }
  uint32_t Transmit(Frame* const* frames, uint32_t count) override {
    const uint32_t taken = centre_.Transmit(frames, count);
    for (uint32_t i = 0; i < taken; ++i) sent_ += frames[i]->length;
    return taken;
  }
  // The device may change given frames at once.
  uint32_t Give(Frame* const* frames, uint32_t count) override {
    uint64_t bytes[kBurst];
    const uint32_t most = std::min(count, kBurst);
    for (uint32_t i = 0; i < most; ++i) bytes[i] = frames[i]->length;
    const uint32_t taken = centre_.Give(frames, most);
    for (uint32_t i = 0; i < taken; ++i) sent_ += bytes[i];
    return taken;
  }
  bool IsBusy(const Frame* frame) const override { return centre_.IsBusy(frame); }
  bool Reclaim() override { return centre_.Reclaim(); }
  uint32_t Allocate(Frame** frames, uint32_t count) override {
    return centre_.Allocate(frames, count);
  }
  void Release(Frame* const* frames, uint32_t count) override { centre_.Release(frames, count); }
  void Hold(Frame* const* frames, uint32_t count) override { centre_.Hold(frames, count); }
  uint32_t max_frame_bytes() const override { return centre_.max_frame_bytes(); }
  bool Offers(TxOffload offload) const override { return centre_.Offers(offload); }
  LinkState link() const override { return centre_.link(); }

  uint64_t received() const { return received_; }  // bytes
  uint64_t sent() const { return sent_; }
  // Digest of the frames that arrived: their bytes and times.
  uint64_t digest() const { return digest_; }

 private:
  static constexpr uint32_t kBurst = 64;

  Port& centre_;
  const Time& now_;
  uint64_t received_ = 0;
  uint64_t sent_ = 0;
  uint64_t digest_ = 0;
};

}  // namespace suede::lab

#endif  // SUEDE_TESTS_LABSIM_LAB_MESH_PORT_H_
