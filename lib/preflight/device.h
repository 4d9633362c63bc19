// SPDX-License-Identifier: Apache-2.0
// Parsing of a port's device string.
#ifndef SUEDE_PREFLIGHT_DEVICE_H_
#define SUEDE_PREFLIGHT_DEVICE_H_

#include <string>
#include <string_view>

namespace suede {

// Returns "net_memif0" for "net_memif0,role=server".
std::string_view DeviceHead(std::string_view device);
bool IsVdev(std::string_view device);
// Returns "net_memif" for "net_memif0,role=server".
std::string_view VdevDriver(std::string_view device);
// Returns "server" for "net_memif0,role=server" and "role"; empty: not given.
std::string_view DeviceArgument(std::string_view device, std::string_view key);
// Returns the PCI address with its domain, in lower case.
std::string PciAddress(std::string_view device);

}  // namespace suede

#endif  // SUEDE_PREFLIGHT_DEVICE_H_
