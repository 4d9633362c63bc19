// SPDX-License-Identifier: Apache-2.0
// Bursts that the manager port issues on its own bus for a burst of any width (docs/axi.md,
// "Widths").
#ifndef SUEDE_AXI_ISSUE_H_
#define SUEDE_AXI_ISSUE_H_

#include <cstdint>

#include "axi/transfer.h"

namespace suede::axi {

// A position is a number of active octets of the burst. Issued bursts and beats cover the octets in
// their order, so a position determines all else.
class Issue {
 public:
  Issue() = default;
  // The burst is valid on the widest bus.
  Issue(const Address& burst, uint32_t bus_bytes);

  uint32_t octets() const { return octets_; }  // active octets: the last position
  // Whether beats of the burst are issued as several.
  bool is_split() const { return SizeOf(burst_) > bus_bytes_; }

  // Returns the position at which the issued burst ends that begins at, or covers, `position`.
  uint32_t BurstEnd(uint32_t position) const;
  // Returns the issued burst that begins at `position`; AxID and AxLOCK are those of the burst.
  Address BurstAt(uint32_t position) const;

  // The issued beat at a position where one begins.
  struct Beat {
    uint32_t lane = 0;       // first active lane of the own bus
    uint32_t wide_lane = 0;  // likewise of the widest bus
    uint32_t bytes = 0;      // active octets
    uint32_t index = 0;      // beat of the burst that it belongs to
    bool begins = false;     // that beat
    bool ends = false;
  };
  Beat BeatAt(uint32_t position) const;

 private:
  uint64_t AddressAt(uint32_t position) const;
  // Returns the position at which the range of consecutive addresses ends.
  uint32_t RangeEnd(uint32_t position) const;
  uint32_t IndexAt(uint32_t position) const;

  Address burst_ = {};
  uint32_t bus_bytes_ = 0;
  uint32_t octets_ = 0;
  uint32_t first_bytes_ = 0;  // active octets of beat 0
};

}  // namespace suede::axi

#endif  // SUEDE_AXI_ISSUE_H_
