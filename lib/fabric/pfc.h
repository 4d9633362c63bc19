// SPDX-License-Identifier: Apache-2.0
// Priority-based flow control (IEEE 802.1Q clause 36, 802.3 annex 31D): its frames, the pauses that
// a peer asks for, and the pauses that this side asks for. No I/O; the caller passes the time.
#ifndef SUEDE_FABRIC_PFC_H_
#define SUEDE_FABRIC_PFC_H_

#include <array>
#include <cstdint>
#include <optional>

#include "base/time.h"
#include "fabric/params.h"

namespace suede::fabric {

// MAC control frame 0x0101: a time for each class that `classes` names, in quanta of 512 bit times;
// 0 ends a pause.
struct PfcFrame {
  static constexpr uint32_t kBytes = 60;
  ClassMask classes = 0;
  std::array<uint16_t, kClasses> quanta{};
};
inline constexpr uint16_t kTypeMacControl = 0x8808;

// Writes PfcFrame::kBytes bytes.
void EncodePfc(const PfcFrame& pfc, const std::array<uint8_t, 6>& source, uint8_t* frame);
// Empty where the frame is another one.
std::optional<PfcFrame> DecodePfc(const uint8_t* frame, uint32_t bytes);

// The time of so many quanta, of 512 bit times each, at this rate; 0 is taken for 100 Gb/s.
Duration PauseOf(uint32_t quanta, uint64_t rate_bps);

// The pauses that the peer of a port asks for, and the watchdog against those that do not end.
class PfcReceiver {
 public:
  PfcReceiver(const PfcParams& params, uint64_t rate_bps);

  void OnFrame(const PfcFrame& pfc, Time now);
  // Classes whose frames may not leave now. `waiting`: those that have frames.
  ClassMask Paused(ClassMask waiting, Time now);
  // Classes in a storm: their frames are to be dropped. As of the last call of Paused.
  ClassMask stormy() const { return stormy_; }
  // When a pause ends by itself or a storm is due; kNever: no class is paused.
  Time deadline() const { return deadline_; }
  // How long each class was paused so far.
  Duration paused_for(uint32_t traffic_class, Time now) const;
  uint64_t storms() const { return storms_; }

 private:
  void Look(uint32_t traffic_class, bool waits, Time now);

  const PfcParams params_;
  const uint64_t rate_bps_;
  ClassMask paused_ = 0;
  ClassMask stormy_ = 0;
  Time deadline_ = kNever;
  std::array<Time, kClasses> until_{};
  std::array<Time, kClasses> since_{};        // of a paused class
  std::array<Time, kClasses> stuck_since_{};  // frames wait and the class is paused; kNever: not so
  std::array<Time, kClasses> asked_at_{};
  std::array<Duration, kClasses> total_{};
  uint64_t storms_ = 0;
};

// The pauses that this side asks for.
class PfcSender {
 public:
  PfcSender(const PfcParams& params, uint64_t rate_bps);

  // The frame to send now, where the classes to be paused are `wanted`; called each turn.
  std::optional<PfcFrame> Poll(ClassMask wanted, Time now);
  // When a pause has to be asked for again; kNever: there is none.
  Time deadline() const { return told_ != 0 ? refresh_at_ : kNever; }
  uint64_t pauses() const { return pauses_; }

 private:
  const uint16_t quanta_;
  const Duration refresh_;
  ClassMask told_ = 0;
  Time refresh_at_{};
  uint64_t pauses_ = 0;  // that have begun
};

}  // namespace suede::fabric

#endif  // SUEDE_FABRIC_PFC_H_
