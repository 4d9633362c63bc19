// SPDX-License-Identifier: Apache-2.0
// Priority-based flow control (IEEE 802.1Q clause 36, 802.3 annex 31D): its frames, and the
// schedule on which the receiving side sends them. No I/O; the caller passes the time.
#ifndef SUEDE_WIRE_PFC_H_
#define SUEDE_WIRE_PFC_H_

#include <array>
#include <cstdint>
#include <optional>

#include "base/time.h"

namespace suede {

inline constexpr uint32_t kPfcClasses = 8;
inline constexpr uint16_t kTypeMacControl = 0x8808;
// Destination of PFC frames, a group address that no bridge forwards.
inline constexpr std::array<uint8_t, 6> kPfcGroup{0x01, 0x80, 0xc2, 0x00, 0x00, 0x01};

// MAC control frame 0x0101: a pause time for each class in the mask `classes`, in quanta of 512 bit
// times; 0 ends a pause.
struct PfcFrame {
  static constexpr uint32_t kBytes = 60;
  uint8_t classes = 0;
  std::array<uint16_t, kPfcClasses> quanta{};
  friend bool operator==(const PfcFrame&, const PfcFrame&) = default;
};

// Writes PfcFrame::kBytes bytes.
void EncodePfc(const PfcFrame& pfc, const std::array<uint8_t, 6>& source, uint8_t* frame);
// Returns nullopt if the frame is not a valid PFC frame.
std::optional<PfcFrame> DecodePfc(const uint8_t* frame, uint32_t bytes);
// Whether the frame has the type and opcode of PFC; it is malformed if DecodePfc returns nullopt.
bool ClaimsPfc(const uint8_t* frame, uint32_t bytes);

// Returns the duration of `quanta`, of 512 bit times each, at this rate; rate 0 counts as 100 Gb/s.
Duration PauseOf(uint32_t quanta, uint64_t rate_bps);

// Schedules the PFC frames of one side of a link: one when the mask of classes changes, and a
// refresh when half of the pause time is over.
class PauseSender {
 public:
  PauseSender(uint16_t quanta, uint64_t rate_bps) : quanta_(quanta) { SetRate(rate_bps); }

  void SetRate(uint64_t rate_bps) { refresh_ = PauseOf(quanta_, rate_bps) / 2; }
  // Returns the frame to send now, if any. `wanted`: mask of classes to pause. Call in each poll
  // iteration.
  std::optional<PfcFrame> Poll(uint8_t wanted, Time now);
  // Returns the time of the next refresh; kNever: no pause is active.
  Time deadline() const { return told_ != 0 ? refresh_at_ : kNever; }
  uint64_t pauses() const { return pauses_; }

 private:
  const uint16_t quanta_;
  Duration refresh_{};
  uint8_t told_ = 0;
  Time refresh_at_{};
  uint64_t pauses_ = 0;  // pauses begun
};

}  // namespace suede

#endif  // SUEDE_WIRE_PFC_H_
