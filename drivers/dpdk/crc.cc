// SPDX-License-Identifier: Apache-2.0
#include "dpdk/crc.h"

#include <rte_net_crc.h>

namespace suede {

uint32_t DpdkCrc32(const uint8_t* data, size_t bytes) {
  return rte_net_crc_calc(data, static_cast<uint32_t>(bytes), RTE_NET_CRC32_ETH);
}

}  // namespace suede
