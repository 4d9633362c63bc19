// SPDX-License-Identifier: Apache-2.0
// Parsing of a port's device string: a PCI address, or a virtual device with its arguments.
#ifndef SUEDE_BASE_DEVICE_STRING_H_
#define SUEDE_BASE_DEVICE_STRING_H_

#include <cctype>
#include <string>
#include <string_view>

#include "base/text.h"

namespace suede {

// Returns "net_memif0" for "net_memif0,role=server".
inline std::string_view DeviceHead(std::string_view device) {
  return device.substr(0, device.find(','));
}

inline bool IsVdev(std::string_view device) {
  return device.starts_with("net_") || device.starts_with("virtio_user");
}

// Returns "net_memif" for "net_memif0,role=server".
inline std::string_view VdevDriver(std::string_view device) {
  std::string_view name = DeviceHead(device);
  // EAL strips the number at the end, which distinguishes devices of a driver.
  while (!name.empty() && std::isdigit(static_cast<unsigned char>(name.back())) != 0) {
    name.remove_suffix(1);
  }
  return name;
}

// Whether drivers/memif serves the device, and not DPDK.
inline bool IsMemif(std::string_view device) { return device.starts_with("net_memif"); }

// Returns "server" for "net_memif0,role=server" and "role"; empty: not given.
inline std::string_view DeviceArgument(std::string_view device, std::string_view key) {
  const auto parts = Split(device, ',');
  for (size_t i = 1; i < parts.size(); ++i) {
    if (parts[i].size() > key.size() && parts[i].starts_with(key) && parts[i][key.size()] == '=') {
      return parts[i].substr(key.size() + 1);
    }
  }
  return {};
}

// Whether the device is a memif that listens at a socket.
inline bool IsMemifServer(std::string_view device) {
  const std::string_view role = DeviceArgument(device, "role");
  return IsMemif(device) && (role == "server" || role == "master");
}

// Whether the device may report the speed of a link. Most virtual devices have none, and their
// drivers report constants.
inline bool ReportsSpeed(std::string_view device) {
  if (!IsVdev(device)) return true;
  const std::string_view driver = VdevDriver(device);
  if (driver == "virtio_user") return !DeviceArgument(device, "speed").empty();
  return driver == "net_bonding" || driver == "net_failsafe" || driver == "net_vdev_netvsc";
}

// Returns the PCI address with its domain, in lower case.
inline std::string PciAddress(std::string_view device) {
  std::string address(DeviceHead(device));
  for (char& c : address) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return address.size() == sizeof("03:00.0") - 1 ? "0000:" + address : address;
}

}  // namespace suede

#endif  // SUEDE_BASE_DEVICE_STRING_H_
