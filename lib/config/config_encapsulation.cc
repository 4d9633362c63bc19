// SPDX-License-Identifier: Apache-2.0
#include "config/config_encapsulation.h"

#include <array>
#include <vector>

#include "absl/strings/str_format.h"
#include "config/config_values.h"

namespace suede {
namespace {

constexpr uint32_t kXpuBits = 10;
constexpr uint32_t kPduBytes = 8 + 4;  // RH, R-CRC
constexpr uint32_t kUdpBytes = 8;

// In the order of the enumeration.
constexpr std::array kFacts = {
    EncapsulationFacts{.overhead_bytes = kPduBytes + 20 + kUdpBytes,
                       .ether_type = 0,
                       .max_session = 16383,
                       .forwarding_bits = 0,
                       .can_be_tagged = true,
                       .has_dscp = true,
                       .address_has_xpu_id = false},
    EncapsulationFacts{.overhead_bytes = kPduBytes + 40 + kUdpBytes,
                       .ether_type = 0,
                       .max_session = 16383,
                       .forwarding_bits = 0,
                       .can_be_tagged = true,
                       .has_dscp = true,
                       .address_has_xpu_id = false},
    EncapsulationFacts{.overhead_bytes = kPduBytes,
                       .ether_type = 0x88B5,
                       .max_session = 0,
                       .forwarding_bits = 16,
                       .can_be_tagged = true,
                       .has_dscp = false,
                       .address_has_xpu_id = false},
    EncapsulationFacts{.overhead_bytes = kPduBytes + 8,  // the shim
                       .ether_type = 0x88B6,
                       .max_session = 65535,
                       .forwarding_bits = 16,
                       .can_be_tagged = true,
                       .has_dscp = true,
                       .address_has_xpu_id = false},
    EncapsulationFacts{.overhead_bytes = kPduBytes,
                       .ether_type = 0x88B5,
                       .max_session = 255,
                       .forwarding_bits = 32,
                       .can_be_tagged = false,
                       .has_dscp = true,
                       .address_has_xpu_id = false},
    EncapsulationFacts{.overhead_bytes = 4,  // R-CRC; the RH is within the header
                       .ether_type = 0x88B5,
                       .max_session = 0,
                       .forwarding_bits = 16,
                       .can_be_tagged = false,
                       .has_dscp = true,
                       .address_has_xpu_id = true},
};

}  // namespace

const EncapsulationFacts& FactsOf(Encapsulation e) { return kFacts[static_cast<size_t>(e)]; }

std::string_view NameOf(Encapsulation e) { return NamesOf(e)[static_cast<size_t>(e)]; }

std::string JoinNames(const EncapsulationSet& set) {
  std::vector<std::string_view> names;
  for (size_t i = 0; i < kFacts.size(); ++i) {
    const auto e = static_cast<Encapsulation>(i);
    if (set.Has(e)) names.push_back(NameOf(e));
  }
  return JoinNames(names);
}

std::string FormatEtherType(uint16_t ether_type) { return absl::StrFormat("0x%04X", ether_type); }

std::string FormatForwardingAddress(uint64_t address) { return absl::StrFormat("0x%04X", address); }

std::string FormatAddress(Encapsulation e, const ConfigAddress& address) {
  if (kAfh.Has(e)) return FormatForwardingAddress(address.low);
  return FormatIp({.is_v6 = e == Encapsulation::kUdp6, .value = address});
}

ConfigAddress DefaultForwardingAddress(uint32_t xpu, uint32_t instance) {
  return {.low = uint64_t{instance} << kXpuBits | xpu};
}

bool LearnsNeighbours(const PortConfig& port) {
  return kUdp.Has(port.encapsulation) && port.tap && port.vid.value_or(0) == 0;
}

const PeerPort* FindPeerPort(const PeerConfig& peer, uint32_t port, uint32_t instance) {
  const PeerPort* for_all = nullptr;
  for (const PeerPort& at : peer.ports) {
    if (at.port != port) continue;
    if (at.instance == instance) return &at;
    if (!at.instance) for_all = &at;
  }
  return for_all;
}

ConfigAddress PeerAddress(const PeerConfig& peer, const PeerPort& at, uint32_t instance) {
  return at.address.value_or(DefaultForwardingAddress(peer.xpu, instance));
}

}  // namespace suede
