// SPDX-License-Identifier: Apache-2.0
// Capabilities of a device and its driver, and their consequences for a port. One declaration of
// rows gives suede --check, ports.capabilities and the table of docs/dpdk.md. Nothing here includes
// a DPDK header.
#ifndef SUEDE_DPDK_CAPABILITIES_H_
#define SUEDE_DPDK_CAPABILITIES_H_

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace suede {

struct PortOptions;
enum class Steering : uint8_t;

// Answers of DPDK about an open device.
struct DeviceFacts {
  enum class Multicast : uint8_t { kNone, kPromiscuous, kAll, kList };
  enum class Pfc : uint8_t { kNone, kQueues, kClasses };

  std::string speeds;  // as in "10, 25"; empty: not reported
  std::string fec;     // as in "off or rs"; empty: no setting
  uint16_t rx_queues = 1;
  uint16_t tx_queues = 1;
  bool flow_rules = false;
  bool rss = false;  // over UDP ports
  bool promiscuous = false;
  Multicast multicast = Multicast::kNone;
  bool vlan_filter = false;
  bool flow_control = false;
  Pfc pfc = Pfc::kNone;
  bool rx_checksums = false;  // IPv4 and UDP
  bool tx_checksum = false;   // UDP over IPv6
  uint16_t min_mtu = 0;
  uint16_t max_mtu = 0;
  Steering steering{};  // in use
};

struct DeviceCapability {
  std::string_view name;
  std::string value;
  std::string consequence;  // for the port, with the key to set if there is one
};

// A row of the declaration.
struct CapabilityRow {
  std::string_view name;
  std::string_view source;    // functions of DPDK that answer
  std::string_view sentence;  // what depends on it
  std::string (*value)(const DeviceFacts& facts);
  std::string (*consequence)(const DeviceFacts& facts, const PortOptions& options);
};
std::span<const CapabilityRow> CapabilityRows();

// Returns a value for each row.
std::vector<DeviceCapability> CapabilitiesOf(const DeviceFacts& facts, const PortOptions& options);

}  // namespace suede

#endif  // SUEDE_DPDK_CAPABILITIES_H_
