// SPDX-License-Identifier: Apache-2.0
// The device string of a port, taken apart.
#ifndef SUEDE_PREFLIGHT_DEVICE_H_
#define SUEDE_PREFLIGHT_DEVICE_H_

#include <string>
#include <string_view>

namespace suede {

// "net_memif0" of "net_memif0,role=server".
std::string_view DeviceHead(std::string_view device);
bool IsVdev(std::string_view device);
// "net_memif" of "net_memif0,role=server".
std::string_view VdevDriver(std::string_view device);
// "server" of "net_memif0,role=server" for "role"; empty: not given.
std::string_view DeviceArgument(std::string_view device, std::string_view key);
// A PCI address with its domain, in lower case.
std::string PciAddress(std::string_view device);

}  // namespace suede

#endif  // SUEDE_PREFLIGHT_DEVICE_H_
