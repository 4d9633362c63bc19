// SPDX-License-Identifier: Apache-2.0
// The measured rate of a plane to one peer (docs/planes.md, "Measured bandwidth"), as a part of the
// bandwidth that its weight represents.
//
// Takes facts and the time, sends nothing, reads no clock. Owned by one lcore.
#ifndef SUEDE_PATH_PATH_RATE_H_
#define SUEDE_PATH_PATH_RATE_H_

#include <algorithm>
#include <cstdint>

#include "base/time.h"

namespace suede {

class PathRate {
 public:
  static constexpr uint32_t kWhole = 1024;       // as much as the weight represents
  static constexpr uint32_t kMin = kWhole / 16;  // never less: a larger part must be measurable

  // Commands with `bytes` bytes were acknowledged, and `left` are in flight now.
  void OnAcked(uint32_t bytes, uint32_t left) {
    bytes_ += bytes;
    min_left_ = std::min(min_left_, left);
  }
  // PDUs have left the plane without an acknowledgement: the window does not count.
  void Spoil() { spoiled_ = true; }
  // The plane comes up, or its weight has changed: its part is kWhole.
  void Reset();

  // When CloseWindow is due; `interval` is the min length of a window.
  Time due(Duration interval) const { return begun_at_ + interval; }
  struct Facts {
    uint32_t inflight_bytes = 0;  // of commands
    uint32_t acked_pdus = 0;      // in all, modulo 2^32
    uint32_t frame_octets = 0;    // on the wire, around the commands of a PDU
    uint64_t expected_bps = 0;    // octets on the wire that the weight represents; 0: not known
    uint32_t best = kWhole;       // the largest part that any plane to the peer has
    Duration min_rtt{};           // the smallest recent round trip; 0: not known
    Duration ack_wait{};          // max delay of the peer's acknowledgements
    bool disturbed = false;       // the plane does not send, or does not wait for its path alone
  };
  struct Verdict {
    bool was_limit = false;  // throughout the window, the path let no more through
    bool changed = false;    // part() has changed
  };
  // Ends the window; returns an empty verdict if the window is too short yet.
  Verdict CloseWindow(const Facts& facts, Duration interval, Time now);

  // The part of the bandwidth, in units of 1/kWhole: kMin to kWhole.
  uint32_t part() const { return part_; }
  // Rate of octets on the wire in the last window that the path limited; 0: no such window.
  uint64_t rate_bps() const { return rate_bps_; }

 private:
  void Begin(const Facts& facts, Time now);
  bool WasLimit(const Facts& facts, Duration span) const;
  bool OnRate(const Facts& facts, Duration span, Duration interval, Time now);
  bool Grow(Duration span, Duration interval, Time now);

  // The current window. (Acknowledgements write the first members.)
  uint64_t bytes_ = 0;
  uint32_t min_left_ = 0;
  bool spoiled_ = true;  // until the first window begins
  uint16_t part_ = kWhole;
  uint16_t last_ = 0;  // measured in the previous window; 0: none
  uint32_t acked_pdus_ = 0;
  Time begun_at_{};
  Time hold_until_{};  // the part does not grow before
  Duration rtt_{};     // the smallest round trip since Reset; 0: not known
  uint64_t rate_bps_ = 0;
};

}  // namespace suede

#endif  // SUEDE_PATH_PATH_RATE_H_
