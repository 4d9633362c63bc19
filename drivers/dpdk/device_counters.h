// SPDX-License-Identifier: Apache-2.0
// Device counters beyond the basic ones (DPDK's xstats): pauses and discards, under names that do
// not depend on the driver. Control thread. Nothing here includes a DPDK header.
#ifndef SUEDE_DPDK_DEVICE_COUNTERS_H_
#define SUEDE_DPDK_DEVICE_COUNTERS_H_

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace suede {

enum class DeviceCounterKind : uint8_t {
  kRxPause,  // IEEE 802.3x, of the whole link
  kTxPause,
  kRxPfc,  // IEEE 802.1Qbb, of a priority
  kTxPfc,
  kRxDiscards,  // by the device, for another reason than missing descriptors
  kTxDiscards,
};

struct DeviceCounterName {
  DeviceCounterKind kind = DeviceCounterKind::kRxPause;
  uint8_t priority = 0;  // kRxPfc, kTxPfc: 0 to 7
  friend bool operator==(const DeviceCounterName&, const DeviceCounterName&) = default;
};

// Maps the driver's counter name to a DeviceCounterName; nullopt if the counter is not exported.
std::optional<DeviceCounterName> ClassifyXstat(std::string_view name);

struct DeviceCounter {
  DeviceCounterName name;
  uint64_t id = 0;  // the device's xstat id
  uint64_t value = 0;
};

// Returns the device's counters; for duplicate names, the first.
std::vector<DeviceCounter> FindDeviceCounters(uint16_t port);
// Reads the counters' values. May be slow on some devices: call at most once a second.
void ReadDeviceCounters(uint16_t port, std::vector<DeviceCounter>* counters);

}  // namespace suede

#endif  // SUEDE_DPDK_DEVICE_COUNTERS_H_
