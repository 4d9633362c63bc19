// SPDX-License-Identifier: Apache-2.0
#include "preflight/device.h"

#include <cctype>

#include "base/text.h"

namespace suede {

std::string_view DeviceHead(std::string_view device) { return device.substr(0, device.find(',')); }

bool IsVdev(std::string_view device) {
  return device.starts_with("net_") || device.starts_with("virtio_user");
}

std::string_view VdevDriver(std::string_view device) {
  std::string_view name = DeviceHead(device);
  // EAL strips the number at the end, which distinguishes devices of a driver.
  while (!name.empty() && std::isdigit(static_cast<unsigned char>(name.back())) != 0) {
    name.remove_suffix(1);
  }
  return name;
}

std::string_view DeviceArgument(std::string_view device, std::string_view key) {
  const auto parts = Split(device, ',');
  for (size_t i = 1; i < parts.size(); ++i) {
    if (parts[i].size() > key.size() && parts[i].starts_with(key) && parts[i][key.size()] == '=') {
      return parts[i].substr(key.size() + 1);
    }
  }
  return {};
}

std::string PciAddress(std::string_view device) {
  std::string address(DeviceHead(device));
  for (char& c : address) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return address.size() == sizeof("03:00.0") - 1 ? "0000:" + address : address;
}

}  // namespace suede
