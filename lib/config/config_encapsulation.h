// SPDX-License-Identifier: Apache-2.0
// What the encapsulations differ in, as far as the configuration goes (wire profile §5).
#ifndef SUEDE_CONFIG_CONFIG_ENCAPSULATION_H_
#define SUEDE_CONFIG_CONFIG_ENCAPSULATION_H_

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

#include "config/config.h"

namespace suede {

using Encapsulation = PortConfig::Encapsulation;

class EncapsulationSet {
 public:
  constexpr EncapsulationSet(std::initializer_list<Encapsulation> members) {
    for (const Encapsulation e : members) bits_ |= 1u << static_cast<uint32_t>(e);
  }
  constexpr bool Has(Encapsulation e) const {
    return (bits_ >> static_cast<uint32_t>(e) & 1u) != 0;
  }
  friend bool operator==(const EncapsulationSet&, const EncapsulationSet&) = default;

 private:
  uint32_t bits_ = 0;
};

inline constexpr EncapsulationSet kUdp = {Encapsulation::kUdp4, Encapsulation::kUdp6};
inline constexpr EncapsulationSet kAfhGen1 = {Encapsulation::kAfh1, Encapsulation::kAfh1s};
inline constexpr EncapsulationSet kAfh = {Encapsulation::kAfh1, Encapsulation::kAfh1s,
                                          Encapsulation::kAfh2, Encapsulation::kAfh2c};
inline constexpr EncapsulationSet kWithSession = {Encapsulation::kUdp4, Encapsulation::kUdp6,
                                                  Encapsulation::kAfh1s, Encapsulation::kAfh2};
inline constexpr EncapsulationSet kAnyEncapsulation = {Encapsulation::kUdp4, Encapsulation::kUdp6,
                                                       Encapsulation::kAfh1, Encapsulation::kAfh1s,
                                                       Encapsulation::kAfh2, Encapsulation::kAfh2c};

struct EncapsulationFacts {
  // Bytes of a frame behind the Ethernet header and its tag that are no commands: network header,
  // RH and R-CRC. What takes the place of the Ethernet header is not among them.
  uint32_t overhead_bytes;
  uint16_t ether_type;      // the default; 0: not to be chosen
  uint16_t max_session;     // 0: frames have no field for it
  uint8_t forwarding_bits;  // of a forwarding address; 0: addressed by IP
  bool can_be_tagged;       // has room for a PCP
  bool has_dscp;            // and ECN
  bool address_has_xpu_id;  // the low 10 bits of an address are all that tells the XPU id
};
const EncapsulationFacts& FactsOf(Encapsulation e);

std::string_view NameOf(Encapsulation e);
std::string JoinNames(const EncapsulationSet& set);

std::string FormatEtherType(uint16_t ether_type);
std::string FormatForwardingAddress(uint64_t address);
// As it is written on a port with this encapsulation.
std::string FormatAddress(Encapsulation e, const ConfigAddress& address);

}  // namespace suede

#endif  // SUEDE_CONFIG_CONFIG_ENCAPSULATION_H_
