// SPDX-License-Identifier: Apache-2.0
// CRC-32 of IEEE 802.3 through DPDK, which picks carry-less multiplication where the CPU has it.
#ifndef SUEDE_DPDK_CRC_H_
#define SUEDE_DPDK_CRC_H_

#include <cstddef>
#include <cstdint>

namespace suede {

// Equal to zlib's crc32() for every length. Usable from any thread once StartEal() has returned.
uint32_t DpdkCrc32(const uint8_t* data, size_t bytes);

}  // namespace suede

#endif  // SUEDE_DPDK_CRC_H_
