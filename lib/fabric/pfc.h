// SPDX-License-Identifier: Apache-2.0
// Priority-based flow control (IEEE 802.1Q clause 36, 802.3 annex 31D): pauses that a peer
// requests, and pauses that this side requests. wire/pfc.h has the frames. No I/O; the caller
// passes the time.
#ifndef SUEDE_FABRIC_PFC_H_
#define SUEDE_FABRIC_PFC_H_

#include <array>
#include <cstdint>

#include "base/time.h"
#include "fabric/params.h"
#include "wire/pfc.h"

namespace suede::fabric {

using suede::DecodePfc;
using suede::EncodePfc;
using suede::PauseOf;
using suede::PfcFrame;

// The pauses that the peer of a port requests, and the watchdog against pauses that do not end.
class PfcReceiver {
 public:
  PfcReceiver(const PfcParams& params, uint64_t rate_bps);

  void OnFrame(const PfcFrame& pfc, Time now);
  // Classes whose frames may not leave now. `waiting`: classes that have frames.
  ClassMask Paused(ClassMask waiting, Time now);
  // Classes in a storm: their frames are to be dropped. As of the last call of Paused.
  ClassMask stormy() const { return stormy_; }
  // Classes that the peer has paused, in a storm or not.
  ClassMask asked(Time now) const {
    ClassMask classes = 0;
    for (uint32_t c = 0; c < kClasses; ++c) {
      if ((paused_ >> c & 1) != 0 && now < until_[c]) classes |= static_cast<ClassMask>(1u << c);
    }
    return classes;
  }
  // When a pause ends by itself or a storm is due; kNever: no class is paused.
  Time deadline() const { return deadline_; }
  // Total time for which the class was paused so far.
  Duration paused_for(uint32_t traffic_class, Time now) const;
  uint64_t storms() const { return storms_; }

 private:
  void Check(uint32_t traffic_class, bool waits, Time now);

  const PfcParams params_;
  const uint64_t rate_bps_;
  ClassMask paused_ = 0;
  ClassMask stormy_ = 0;
  Time deadline_ = kNever;
  std::array<Time, kClasses> until_{};
  std::array<Time, kClasses> since_{};        // of a paused class
  std::array<Time, kClasses> stuck_since_{};  // since when frames of the paused class wait; kNever:
                                              // none do
  std::array<Time, kClasses> asked_at_{};
  std::array<Duration, kClasses> total_{};
  uint64_t storms_ = 0;
};

// The pauses that this side requests.
class PfcSender : public PauseSender {
 public:
  PfcSender(const PfcParams& params, uint64_t rate_bps) : PauseSender(params.quanta, rate_bps) {}
};

}  // namespace suede::fabric

#endif  // SUEDE_FABRIC_PFC_H_
