// SPDX-License-Identifier: Apache-2.0
// Transfers of AXI4 channels, and the geometry of bursts (docs/axi.md, "Transactions"; AMBA AXI4,
// A3.4).
#ifndef SUEDE_AXI_TRANSFER_H_
#define SUEDE_AXI_TRANSFER_H_

#include <cstdint>

#include "suede/axi.h"

namespace suede::axi {

using Address = suede_axi_address;
using WriteBeat = suede_axi_write_beat;
using WriteResponse = suede_axi_write_response;
using ReadBeat = suede_axi_read_beat;

inline constexpr uint32_t kMaxBusBytes = SUEDE_AXI_MAX_BUS_BYTES;
inline constexpr uint32_t kMaxBeats = 256;
inline constexpr uint32_t kMaxShortBeats = 16;  // of FIXED and WRAP bursts, and exclusive accesses
inline constexpr uint32_t kMaxBurstBytes = 4096;
inline constexpr uint32_t kMaxUserBytes = 16;     // of AxUSER and BUSER
inline constexpr uint32_t kMaxBeatUserBytes = 4;  // of WUSER and RUSER

enum class Direction : uint8_t { kRead, kWrite };

constexpr uint32_t BeatsOf(const Address& burst) { return uint32_t{burst.len} + 1; }
// Bytes of a beat's container.
constexpr uint32_t SizeOf(const Address& burst) { return 1u << burst.size; }
// Whether the burst has fields that only attributes carry.
constexpr bool HasAttributes(const Address& burst) {
  return burst.lock != 0 || burst.qos != 0 || burst.region != 0 || burst.id >> 8 != 0 ||
         burst.user[0] != 0 || burst.user[1] != 0;
}

// Returns the lower wrap boundary of a WRAP burst.
uint64_t WrapBoundary(const Address& burst);
// Returns the address of beat 0 to len.
uint64_t BeatAddress(const Address& burst, uint32_t beat);
// Returns the number of active octets of beat 0 to len: 1 to 128.
uint32_t BeatBytes(const Address& burst, uint32_t beat);
// Returns the number of active octets before those of beat 0 to len.
uint32_t BeatOffset(const Address& burst, uint32_t beat);
// Returns the number of active octets of all beats: 1 to kMaxBurstBytes for a valid burst.
uint32_t ActiveBytes(const Address& burst);

// The range of addresses that a burst touches.
struct Range {
  uint64_t first = 0;
  uint64_t last = 0;
  bool Overlaps(const Range& other) const { return first <= other.last && other.first <= last; }
  bool operator==(const Range&) const = default;
};
Range RangeOf(const Address& burst);

// Returns a sentence on the first rule of AXI4 that the burst breaks on a bus of `bus_bytes`; null:
// the burst is valid.
const char* FindViolation(const Address& burst, uint32_t bus_bytes);

// Returns the worse of two responses, in the order OKAY or EXOKAY, SLVERR, DECERR.
constexpr uint8_t WorseOf(uint8_t a, uint8_t b) { return a > b ? a : b; }

}  // namespace suede::axi

#endif  // SUEDE_AXI_TRANSFER_H_
