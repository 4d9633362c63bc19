// SPDX-License-Identifier: Apache-2.0
// Computes the CRC-32 of IEEE 802.3 by DPDK, for comparison with wire/rcrc.h, and reports the
// vector widths of CPU and EAL.
#ifndef SUEDE_DPDK_CRC_H_
#define SUEDE_DPDK_CRC_H_

#include <cstddef>
#include <cstdint>

namespace suede {

// Equals zlib's crc32() for every length. Any thread, after StartEal().
uint32_t DpdkCrc32(const uint8_t* data, size_t bytes);

// Whether the CPU has carry-less multiplication of 512-bit vectors. rte_net_crc uses it if EAL
// permits vectors of 512 bits; EAL's default is 256.
bool HasWideCarrylessMultiply();

// Whether EAL permits vectors of 512 bits. To be called after StartEal().
bool AllowsWideVectors();

}  // namespace suede

#endif  // SUEDE_DPDK_CRC_H_
