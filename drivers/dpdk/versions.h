// SPDX-License-Identifier: Apache-2.0
// DPDK calls that differ between the supported versions: 22.11 (Debian 12) and 24.11 (Debian 13).
// No other file depends on DPDK's version.
#ifndef SUEDE_DPDK_VERSIONS_H_
#define SUEDE_DPDK_VERSIONS_H_

#include <rte_telemetry.h>
#include <rte_version.h>

#include <cstdint>

namespace suede::internal {

// DPDK's ABI number, which changes with each November's release and is part of Debian's package
// names.
inline constexpr int kAbi = RTE_VER_YEAR + (RTE_VER_MONTH >= 11 ? 1 : 0);

#if RTE_VERSION >= RTE_VERSION_NUM(23, 11, 0, 0)

inline void AddNumber(rte_tel_data* dict, const char* name, uint64_t number) {
  rte_tel_data_add_dict_uint(dict, name, number);
}

#else

inline void AddNumber(rte_tel_data* dict, const char* name, uint64_t number) {
  rte_tel_data_add_dict_u64(dict, name, number);
}

#endif

}  // namespace suede::internal

#endif  // SUEDE_DPDK_VERSIONS_H_
