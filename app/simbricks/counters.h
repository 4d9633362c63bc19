// SPDX-License-Identifier: Apache-2.0
// The program's counters, declared once, and the bus of its AXI4 ports.
#ifndef SUEDE_SIMBRICKS_COUNTERS_H_
#define SUEDE_SIMBRICKS_COUNTERS_H_

#include <array>
#include <cstddef>
#include <cstdint>

namespace suede::simbricks {

// Identifier, name, sentence.
#define SUEDE_SIMBRICKS_COUNTERS(X)                                                      \
  X(kHostReads, "host_reads", "READs of the host")                                       \
  X(kHostWrites, "host_writes", "its WRITEs and WRITE_POSTEDs")                          \
  X(kHostSlverr, "host_slverr", "requests of the host that ended with SLVERR")           \
  X(kHostDecerr, "host_decerr", "those that ended with DECERR")                          \
  X(kMemoryReads, "memory_reads", "READs to the memory simulator")                       \
  X(kMemoryWrites, "memory_writes", "WRITEs to it")                                      \
  X(kMemoryOutside, "memory_outside", "bursts of remote XPUs outside of `--memory`")     \
  X(kMemoryUnserved, "memory_unserved", "bursts that found or lost no memory simulator") \
  X(kNetReceived, "net_received", "frames of the network's simulator")                   \
  X(kNetRefused, "net_refused", "those of them that the kernel refused")                 \
  X(kNetSent, "net_sent", "frames to the network's simulator")                           \
  X(kNetDropped, "net_dropped", "frames of the TAP device that found no room in the queue")

enum class Counter : uint8_t {
#define SUEDE_SIMBRICKS_COUNTER(id, name, sentence) id,
  SUEDE_SIMBRICKS_COUNTERS(SUEDE_SIMBRICKS_COUNTER)
#undef SUEDE_SIMBRICKS_COUNTER
      kCount,
};

class Counters {
 public:
  void Add(Counter counter) { ++values_[static_cast<size_t>(counter)]; }
  uint64_t operator[](Counter counter) const { return values_[static_cast<size_t>(counter)]; }

 private:
  std::array<uint64_t, static_cast<size_t>(Counter::kCount)> values_{};
};

inline constexpr uint32_t kBusBytes = 64;
constexpr uint32_t LaneOf(uint64_t address) {
  return static_cast<uint32_t>(address & (kBusBytes - 1));
}

}  // namespace suede::simbricks

#endif  // SUEDE_SIMBRICKS_COUNTERS_H_
