// SPDX-License-Identifier: Apache-2.0
// The configurations of the machines of a row (pairs_table.h): each has two XPUs, and a port for
// each plane.
#ifndef SUEDE_TESTS_SIM_PAIRS_CONFIG_H_
#define SUEDE_TESTS_SIM_PAIRS_CONFIG_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "config/config.h"
#include "pairs_table.h"

namespace suede {

inline constexpr uint32_t kPairsMachines = 3;
inline constexpr uint32_t kPairsXpusOfMachine = 2;
inline constexpr uint32_t kPairsXpus = kPairsMachines * kPairsXpusOfMachine;
inline constexpr uint32_t kPairsTxDescriptors = 64;
inline constexpr uint16_t kPairsEsunType = 0x9e5a;  // ESUN has no usual EtherType
inline constexpr uint8_t kPairsTrimmedDscp = 40;  // of class 5

uint32_t PlanesOf(const PairsRow& row);
inline uint32_t MachineOf(uint32_t xpu) { return xpu / kPairsXpusOfMachine; }
// The MAC address of a machine's port.
MacAddress PairsMac(uint32_t machine, uint32_t plane);

// `limit_bytes`: packing.limit_bytes. An error where the configuration refuses the row.
absl::StatusOr<Config> PairsConfig(const PairsRow& row, uint32_t machine, uint32_t limit_bytes);

}  // namespace suede

#endif  // SUEDE_TESTS_SIM_PAIRS_CONFIG_H_
