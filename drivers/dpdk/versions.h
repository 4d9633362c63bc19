// SPDX-License-Identifier: Apache-2.0
// DPDK calls that differ between the supported versions: 22.11 (Debian 12) and 24.11 (Debian 13).
// No other file depends on DPDK's version.
#ifndef SUEDE_DPDK_VERSIONS_H_
#define SUEDE_DPDK_VERSIONS_H_

#include <rte_cycles.h>
#include <rte_mbuf.h>
#include <rte_mempool.h>
#include <rte_pcapng.h>
#include <rte_telemetry.h>
#include <rte_version.h>

#include <cstdint>

namespace suede::internal {

// DPDK's ABI number, which changes with each November's release and is part of Debian's package
// names.
inline constexpr int kAbi = RTE_VER_YEAR + (RTE_VER_MONTH >= 11 ? 1 : 0);

// A port's queue, and the direction of the frame.
struct CapturePoint {
  uint16_t port;
  uint16_t queue;
  rte_pcapng_direction direction;
};

#if RTE_VERSION >= RTE_VERSION_NUM(23, 11, 0, 0)

// Adds a port to a capture file that has no frame yet. Returns false if the file cannot be written.
inline bool AddCapturedPort(rte_pcapng_t* file, uint16_t port) {
  return rte_pcapng_add_interface(file, port, nullptr, nullptr, nullptr) >= 0;
}

// Returns a copy of the frame for the file, with the time of the call; null: no memory.
inline rte_mbuf* CopyForCapture(const CapturePoint& at, const rte_mbuf* frame, rte_mempool* pool,
                                uint32_t snap_bytes) {
  return rte_pcapng_copy(at.port, at.queue, frame, pool, snap_bytes, at.direction, nullptr);
}

inline void AddNumber(rte_tel_data* dict, const char* name, uint64_t number) {
  rte_tel_data_add_dict_uint(dict, name, number);
}

#else

// No-op: a file has all ports from the beginning.
inline bool AddCapturedPort(rte_pcapng_t*, uint16_t) { return true; }

inline rte_mbuf* CopyForCapture(const CapturePoint& at, const rte_mbuf* frame, rte_mempool* pool,
                                uint32_t snap_bytes) {
  return rte_pcapng_copy(at.port, at.queue, frame, pool, snap_bytes, rte_get_tsc_cycles(),
                         at.direction);
}

inline void AddNumber(rte_tel_data* dict, const char* name, uint64_t number) {
  rte_tel_data_add_dict_u64(dict, name, number);
}

#endif

}  // namespace suede::internal

#endif  // SUEDE_DPDK_VERSIONS_H_
