// SPDX-License-Identifier: Apache-2.0
// CRC-32 of IEEE 802.3 through DPDK, to compare with that of wire/rcrc.h, and the width of vectors.
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

// Whether EAL lets vectors have 512 bits. Once StartEal() has returned.
bool AllowsWideVectors();

}  // namespace suede

#endif  // SUEDE_DPDK_CRC_H_
