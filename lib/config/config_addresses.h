// SPDX-License-Identifier: Apache-2.0
// Reads the address of an entry of instances[].ports or peers[].ports: the keys that apply to the
// port's encapsulation, and the addresses that they give each XPU of a range.
#ifndef SUEDE_CONFIG_CONFIG_ADDRESSES_H_
#define SUEDE_CONFIG_CONFIG_ADDRESSES_H_

#include <optional>
#include <string>
#include <string_view>

#include "config/config_reader.h"

namespace suede {

struct AddressRule {
  std::optional<NetAddress> value;  // nullopt: the default rule of forwarding addresses
  bool is_base = false;             // true: the XPU id is added
  bool assigned = false;            // by the neighbour, with LLDP
  std::optional<NetAddress> Of(uint32_t xpu) const;
};

struct MacRule {
  MacAddress value{};
  bool is_base = false;
  MacAddress Of(uint32_t xpu) const;
};

class AddressReader {
 public:
  // Reads the entry `item` at `path`, which names `port` and applies to the XPU ids `ids`. All
  // arguments must outlive this object.
  AddressReader(ConfigReader& reader, const ConfigNode& item, const std::string& path,
                const PortConfig& port, const XpuRange& ids)
      : reader_(reader), item_(item), path_(path), port_(port), ids_(ids) {}

  // Whether an own address that is left out is the one that the neighbour assigns.
  bool IsAssigned(const InstancePortEntry& entry) const {
    return port_.lldp_addresses == OnOff::kOn && !entry.ip && !entry.ip_base;
  }
  static bool IsAssigned(const PeerPortEntry&) { return false; }

  // Returns false after an error.
  template <class Entry>
  bool Read(const Entry& entry, AddressRule& out) {
    if (!reader_.CheckEncapsulation<Entry>(item_, path_, port_.encapsulation)) return false;
    out.assigned = IsAssigned(entry);
    if (out.assigned) return true;
    return kUdp.Has(port_.encapsulation)
               ? ReadIp(entry.ip, entry.ip_base, out)
               : ReadForwarding(entry.forwarding_address, entry.forwarding_base, out);
  }
  bool ReadMac(const std::optional<MacAddress>& mac, const std::optional<MacAddress>& base,
               MacRule& out);

 private:
  bool ReadIp(const std::optional<IpText>& ip, const std::optional<IpText>& base, AddressRule& out);
  bool ReadForwarding(const std::optional<uint32_t>& address, const std::optional<uint32_t>& base,
                      AddressRule& out);
  bool CheckForwarding(std::string_view key, const AddressRule& rule);
  bool CheckOneOf(std::string_view key, std::string_view base_key, bool single, bool base);
  bool CheckGiven(std::string_view key, bool given);
  bool FailWithoutMac();
  bool FailAt(std::string_view key, std::string_view problem);
  bool is_range() const { return ids_.first != ids_.last; }

  ConfigReader& reader_;
  const ConfigNode& item_;
  const std::string& path_;
  const PortConfig& port_;
  const XpuRange& ids_;
};

}  // namespace suede

#endif  // SUEDE_CONFIG_CONFIG_ADDRESSES_H_
