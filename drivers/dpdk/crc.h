// SPDX-License-Identifier: Apache-2.0
// CRC-32 of IEEE 802.3 through DPDK, which picks carry-less multiplication where the CPU has it.
#ifndef SUEDE_DPDK_CRC_H_
#define SUEDE_DPDK_CRC_H_

#include <cstddef>
#include <cstdint>

namespace suede {

// Equal to zlib's crc32() for every length. Usable from any thread once StartEal() has returned.
uint32_t DpdkCrc32(const uint8_t* data, size_t bytes);

// Whether the CPU multiplies 512 bits at once. With vectors of that width allowed rte_net_crc does
// so; by default EAL allows 256.
bool HasWideCarrylessMultiply();

// From how many bytes on that is faster than FoldedCrc (wire/rcrc.h): DPDK multiplies 512 bits at
// once where the CPU can and EAL is told so, and otherwise folds one block after the other.
// SIZE_MAX: never. Once StartEal() has returned.
size_t DpdkCrcLeast();

}  // namespace suede

#endif  // SUEDE_DPDK_CRC_H_
