// SPDX-License-Identifier: Apache-2.0
#include "dpdk/crc.h"

#include <rte_cpuflags.h>
#include <rte_net_crc.h>

extern "C" {
#include <rte_vect.h>
}

#include <initializer_list>

namespace suede {

uint32_t DpdkCrc32(const uint8_t* data, size_t bytes) {
  return rte_net_crc_calc(data, static_cast<uint32_t>(bytes), RTE_NET_CRC32_ETH);
}

bool HasWideCarrylessMultiply() {
  for (const rte_cpu_flag_t flag :
       {RTE_CPUFLAG_AVX512F, RTE_CPUFLAG_AVX512BW, RTE_CPUFLAG_AVX512DQ, RTE_CPUFLAG_AVX512VL,
        RTE_CPUFLAG_PCLMULQDQ, RTE_CPUFLAG_VPCLMULQDQ}) {
    if (rte_cpu_get_flag_enabled(flag) <= 0) return false;
  }
  return true;
}

bool AllowsWideVectors() { return rte_vect_get_max_simd_bitwidth() >= RTE_VECT_SIMD_512; }

}  // namespace suede
