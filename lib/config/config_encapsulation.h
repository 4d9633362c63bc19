// SPDX-License-Identifier: Apache-2.0
// Properties of the encapsulations for the configuration (wire profile §5).
#ifndef SUEDE_CONFIG_CONFIG_ENCAPSULATION_H_
#define SUEDE_CONFIG_CONFIG_ENCAPSULATION_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "config/config.h"
#include "wire/encap/traits.h"

namespace suede {

using Encapsulation = PortConfig::Encapsulation;

using EncapsulationSet = EncapSet;

inline constexpr EncapsulationSet kUdp =
    EncapsWith([](const EncapTraits& t) { return t.addresses != AddressKind::kForwarding; });
inline constexpr EncapsulationSet kForwarded =
    EncapsWith([](const EncapTraits& t) { return t.addresses == AddressKind::kForwarding; });
inline constexpr EncapsulationSet kPrefixed =
    EncapsWith([](const EncapTraits& t) { return t.macs == MacKind::kPrefixed; });
inline constexpr EncapsulationSet kWithSession =
    EncapsWith([](const EncapTraits& t) { return t.sessions > 1; });
inline constexpr EncapsulationSet kWithHopLimit =
    EncapsWith([](const EncapTraits& t) { return t.max_hop_limit != 0; });
inline constexpr EncapsulationSet kUntagged =
    EncapsWith([](const EncapTraits& t) { return !t.can_be_tagged; });
inline constexpr EncapsulationSet kWithoutClass =
    EncapsWith([](const EncapTraits& t) { return t.class_bits == 0; });
inline constexpr EncapsulationSet kTrimmable =
    EncapsWith([](const EncapTraits& t) { return t.class_bits == 6 && t.has_length; });
inline constexpr EncapsulationSet kAnyEncapsulation = kEveryEncap;

// Returns the bytes of a frame behind the Ethernet header and its tag that are not commands:
// network header, RH and R-CRC. Excludes a header that replaces the Ethernet header.
uint32_t OverheadBytes(Encapsulation e);
inline uint32_t MaxSession(Encapsulation e) { return TraitsOf(e).sessions - 1; }

inline bool IsIpv6(Encapsulation e) { return TraitsOf(e).addresses == AddressKind::kIpv6; }

inline std::string_view NameOf(Encapsulation e) { return EncapName(e); }
// Returns "udp4, udp6 or afh1".
std::string JoinNames(const EncapsulationSet& set);
// Returns a text of the declaration of keys with each {NAME} replaced by the headers' traits.
std::string ExpandTraits(std::string_view text);

std::string FormatEtherType(uint16_t ether_type);
std::string FormatForwardingAddress(uint64_t address);
// Formats the address as written on a port with this encapsulation.
std::string FormatAddress(Encapsulation e, const NetAddress& address);

}  // namespace suede

#endif  // SUEDE_CONFIG_CONFIG_ENCAPSULATION_H_
