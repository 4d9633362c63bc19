// SPDX-License-Identifier: Apache-2.0
#include "config/config_addresses.h"

#include "base/text.h"

namespace suede {
namespace {

// Whether base + `last_id` is still in the base's network, as far as can be determined.
bool BaseFits(const IpText& base, uint32_t last_id) {
  IpText highest = base;
  highest.value.low += last_id;
  const bool same_network = base.is_v6 ? highest.value.low >= base.value.low
                                       : highest.value.low >> 24 == base.value.low >> 24;
  return same_network && CheckUnicast(highest).empty();
}

}  // namespace

std::optional<NetAddress> AddressRule::Of(uint32_t xpu) const {
  if (!value || !is_base) return value;
  return NetAddress{.high = value->high, .low = value->low + xpu};
}

MacAddress MacRule::Of(uint32_t xpu) const {
  if (!is_base) return value;
  uint64_t number = MacNumber(value) + xpu;
  MacAddress mac{};
  for (size_t i = mac.size(); i-- > 0; number >>= 8) mac[i] = static_cast<uint8_t>(number & 255);
  return mac;
}

bool AddressReader::FailAt(std::string_view key, std::string_view problem) {
  return reader_.Fail(*ConfigReader::Find(item_, key), ConfigReader::Join(path_, key), problem);
}

// Checks that the keys are not both given.
bool AddressReader::CheckOneOf(std::string_view key, std::string_view base_key, bool single,
                               bool base) {
  if (!single || !base) return true;
  return reader_.Fail(item_, path_,
                      StrCat("both ", key, " and ", base_key, " are given; keep one"));
}

bool AddressReader::CheckGiven(std::string_view key, bool given) {
  if (given) return true;
  return reader_.Fail(item_, ConfigReader::Join(path_, key),
                      StrCat("missing; add ", key, ": or ", key, "_base:"));
}

bool AddressReader::FailWithoutMac() {
  const bool tagged = port_.tap.has_value();
  return reader_.Fail(
      item_, ConfigReader::Join(path_, "mac"),
      StrCat("missing, and not learnt ",
             tagged ? "on a port with a VLAN id, whose neighbours are on the VLAN's interface"
                    : "without a TAP device on the port",
             "; add mac: or mac_base:",
             tagged ? "" : StrCat(", or tap: NAME to port ", port_.name)));
}

bool AddressReader::ReadIp(const std::optional<IpText>& ip, const std::optional<IpText>& base,
                           AddressRule& out) {
  if (!CheckOneOf("ip", "ip_base", ip.has_value(), base.has_value()) ||
      !CheckGiven("ip", ip || base)) {
    return false;
  }
  if (ip && is_range()) {
    return FailAt("ip",
                  "one address for a range of XPUs; use ip_base, to which each XPU id is "
                  "added");
  }
  const IpText& text = ip ? *ip : *base;
  const std::string_view key = ip ? "ip" : "ip_base";
  if (text.is_v6 != IsIpv6(port_.encapsulation)) {
    return FailAt(key, StrCat(FormatIp(text), " is an IPv", text.is_v6 ? 6 : 4,
                              " address, and the encapsulation of port ", port_.name, " is ",
                              NameOf(port_.encapsulation), "; write an ",
                              text.is_v6 ? "IPv4 address, such as 198.18.0.1"
                                         : "IPv6 address, such as \"2001:db8::1\""));
  }
  if (base && !BaseFits(text, ids_.last)) {
    return FailAt(key, StrCat(FormatIp(text), " + XPU id ", ids_.last,
                              " runs past the end of its network; use a lower ip_base"));
  }
  out = {.value = text.value, .is_base = base.has_value()};
  return true;
}

bool AddressReader::ReadForwarding(const std::optional<uint32_t>& address,
                                   const std::optional<uint32_t>& base, AddressRule& out) {
  out = {};
  if (!CheckOneOf("forwarding_address", "forwarding_base", address.has_value(), base.has_value())) {
    return false;
  }
  if (!address && !base) return true;
  if (address && is_range()) {
    return FailAt("forwarding_address",
                  "one address for a range of XPUs; use forwarding_base, to which each XPU id is "
                  "added, or leave it out for the default rule");
  }
  out = {.value = NetAddress{.low = address ? *address : *base}, .is_base = base.has_value()};
  return CheckForwarding(address ? "forwarding_address" : "forwarding_base", out);
}

bool AddressReader::CheckForwarding(std::string_view key, const AddressRule& rule) {
  const EncapTraits& traits = TraitsOf(port_.encapsulation);
  const std::string_view name = NameOf(port_.encapsulation);
  const uint64_t max = (uint64_t{1} << traits.forwarding_bits) - 1;
  const uint64_t value = rule.value->low;
  const std::string shown = FormatForwardingAddress(value);
  if (rule.Of(ids_.last)->low > max) {
    const std::string sum = rule.is_base ? StrCat(" + XPU id ", ids_.last) : std::string();
    const std::string mend = rule.is_base ? std::string("a lower forwarding_base")
                                          : StrCat("0x0000 to ", FormatForwardingAddress(max));
    return FailAt(key, StrCat(shown, sum, " has more than the ", traits.forwarding_bits,
                              " bits of a forwarding address of ", name, "; use ", mend));
  }
  if (!traits.holds_rh) return true;
  // Low bits of an address that holds its XPU id.
  constexpr uint64_t kIdMask = kMaxXpus - 1;
  const uint64_t low = rule.is_base ? 0 : ids_.first;
  if ((value & kIdMask) == low) return true;
  const std::string wrong = rule.is_base ? std::string(" is not a multiple of 1024")
                                         : StrCat(" does not end in XPU id ", low);
  return FailAt(key, StrCat(shown, wrong, ", and ", name,
                            " frames carry the XPU id in the low 10 bits of the address alone; "
                            "use ",
                            FormatForwardingAddress((value & ~kIdMask) | low)));
}

bool AddressReader::ReadMac(const std::optional<MacAddress>& mac,
                            const std::optional<MacAddress>& base, MacRule& out) {
  if (!kUdp.Has(port_.encapsulation)) return true;  // Read rejects it if given
  // One mac for a range is valid: behind a router all peers share its address.
  if (!CheckOneOf("mac", "mac_base", mac.has_value(), base.has_value())) return false;
  if (!mac && !base) return LearnsNeighbours(port_) || FailWithoutMac();
  out = {.value = mac ? *mac : *base, .is_base = base.has_value()};
  if (!base || MacNumber(out.Of(ids_.last)) >> 40 == MacNumber(*base) >> 40) return true;
  return FailAt("mac_base", StrCat(FormatMac(*base), " + XPU id ", ids_.last,
                                   " changes the first byte; use a lower mac_base"));
}

}  // namespace suede
