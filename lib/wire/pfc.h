// SPDX-License-Identifier: Apache-2.0
// Priority-based flow control (IEEE 802.1Q clause 36, 802.3 annex 31D): its frames, and when the
// side that asks for pauses sends them. No I/O; the caller passes the time.
#ifndef SUEDE_WIRE_PFC_H_
#define SUEDE_WIRE_PFC_H_

#include <array>
#include <cstdint>
#include <optional>

#include "base/time.h"

namespace suede {

inline constexpr uint32_t kPfcClasses = 8;
inline constexpr uint16_t kTypeMacControl = 0x8808;
// The destination of PFC frames, a group that no bridge forwards.
inline constexpr std::array<uint8_t, 6> kPfcGroup{0x01, 0x80, 0xc2, 0x00, 0x00, 0x01};

// MAC control frame 0x0101: a time for each class that `classes`, a mask, names, in quanta of 512
// bit times; 0 ends a pause.
struct PfcFrame {
  static constexpr uint32_t kBytes = 60;
  uint8_t classes = 0;
  std::array<uint16_t, kPfcClasses> quanta{};
  friend bool operator==(const PfcFrame&, const PfcFrame&) = default;
};

// Writes PfcFrame::kBytes bytes.
void EncodePfc(const PfcFrame& pfc, const std::array<uint8_t, 6>& source, uint8_t* frame);
// Empty where the frame is another one.
std::optional<PfcFrame> DecodePfc(const uint8_t* frame, uint32_t bytes);
// Whether the frame says that it is a PFC frame: then it is malformed where DecodePfc gives none.
bool ClaimsPfc(const uint8_t* frame, uint32_t bytes);

// The time of `quanta`, of 512 bit times each, at this rate; 0 is taken for 100 Gb/s.
Duration PauseOf(uint32_t quanta, uint64_t rate_bps);

// The pauses that one side of a link asks for: a frame where the classes change, and again when
// half of their time is over.
class PauseSender {
 public:
  PauseSender(uint16_t quanta, uint64_t rate_bps) : quanta_(quanta) { SetRate(rate_bps); }

  void SetRate(uint64_t rate_bps) { refresh_ = PauseOf(quanta_, rate_bps) / 2; }
  // The frame to send now, where the classes to be paused are `wanted`; called each turn.
  std::optional<PfcFrame> Poll(uint8_t wanted, Time now);
  // When a pause has to be asked for again; kNever: there is none.
  Time deadline() const { return told_ != 0 ? refresh_at_ : kNever; }
  uint64_t pauses() const { return pauses_; }

 private:
  const uint16_t quanta_;
  Duration refresh_{};
  uint8_t told_ = 0;
  Time refresh_at_{};
  uint64_t pauses_ = 0;  // pauses that have begun
};

}  // namespace suede

#endif  // SUEDE_WIRE_PFC_H_
