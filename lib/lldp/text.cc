// SPDX-License-Identifier: Apache-2.0
#include "base/text.h"

#include <arpa/inet.h>

#include <cstdio>

#include "base/big_endian.h"
#include "lldp/lldpdu.h"

namespace suede::lldp {
namespace {

constexpr size_t kMacOctets = 6;

std::string IdText(const Id& id, uint8_t mac_subtype) {
  if (id.subtype != mac_subtype || id.value.size() != kMacOctets) return TextOf(id.value);
  std::string text;
  for (const char octet : id.value) {
    char hex[4];
    std::snprintf(hex, sizeof hex, "%02x:", static_cast<unsigned>(static_cast<uint8_t>(octet)));
    text += hex;
  }
  text.pop_back();
  return text;
}

}  // namespace

std::string TextOf(const std::string& octets) {
  std::string text = octets;
  for (char& c : text) {
    if (c < 0x20 || c > 0x7e) c = '?';
  }
  return text;
}

std::string ChassisText(const Id& chassis) { return IdText(chassis, Id::kChassisMac); }
std::string PortText(const Id& port) { return IdText(port, Id::kPortMac); }

std::string AddressText(const IpAddress& address) {
  uint8_t octets[16];
  if (address.is_v6) {
    StoreBe64(octets, address.high);
    StoreBe64(octets + 8, address.low);
  } else {
    StoreBe32(octets, static_cast<uint32_t>(address.low));
  }
  char text[INET6_ADDRSTRLEN] = "";
  inet_ntop(address.is_v6 ? AF_INET6 : AF_INET, octets, text, sizeof text);
  return text;
}

std::string AssignmentText(const Assignment& assignment) {
  return StrCat(AddressText(assignment.address), "/", uint32_t{assignment.prefix});
}

std::string ClassesText(uint8_t mask) {
  std::vector<uint32_t> classes;
  for (uint32_t priority = 0; priority < kPriorities; ++priority) {
    if ((mask >> priority & 1) != 0) classes.push_back(priority);
  }
  return classes.empty() ? "none" : StrJoin(classes, ",");
}

}  // namespace suede::lldp
