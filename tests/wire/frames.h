// SPDX-License-Identifier: Apache-2.0
// Frames of every encapsulation, as tests build, alter and read them.
#ifndef SUEDE_TESTS_WIRE_FRAMES_H_
#define SUEDE_TESTS_WIRE_FRAMES_H_

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "base/big_endian.h"
#include "packed.h"
#include "wire/frame_builder.h"

namespace suede {

// The frame format of a port.
struct Dialect {
  Encap encap = Encap::kUdp4;
  bool tagged = false;
};

inline bool CanTag(Encap encap) { return TraitsOf(encap).can_be_tagged; }

inline std::vector<Dialect> AllDialects() {
  std::vector<Dialect> all;
  for (const std::string_view name : kEncapNames) {
    const Encap encap = *ParseEncap(name);
    all.push_back({encap, false});
    if (CanTag(encap)) all.push_back({encap, true});
  }
  return all;
}

inline std::string DialectName(const Dialect& dialect) {
  return std::string(EncapName(dialect.encap)) + (dialect.tagged ? "_tagged" : "");
}

// A frame that has a value other than the default in each of its fields. The addresses fit the
// encapsulation, and afh2c's name XPU 7.
inline HeaderSpec SpecOf(const Dialect& dialect) {
  HeaderSpec spec{.source_mac = {2, 0, 0, 1, 0, 0x50},
                  .destination_mac = {2, 0, 0, 0, 0xbc, 0xa9},
                  .tagged = dialect.tagged,
                  .vid = 100,
                  .source = {.low = 5 << 10 | 7},
                  .destination = {.low = 5 << 10 | 9},
                  .udp_port = 4791,
                  .session = static_cast<uint16_t>(SessionCount(dialect.encap) - 1),
                  .mac_prefix = 0x0600beef,
                  .ether_type = 0x1234,
                  .traffic_class = {.pcp = 5, .dscp = 46, .ecn = 2}};
  if (dialect.encap == Encap::kUdp4) {
    spec.source = {.low = 0xc612038c};
    spec.destination = {.low = 0xc6120317};
  } else if (dialect.encap == Encap::kUdp6) {
    spec.source = {.high = 0xfd53554500000000, .low = 0x8000000000000265};
    spec.destination = {.high = 0xfd53554500000001, .low = 0x00b5};
  }
  return spec;
}

// An EtherType for ESUN, which has no usual one.
inline constexpr uint16_t kEsunType = 0x9e5a;

inline FrameRules RulesOf(Encap encap, const HeaderSpec& spec) {
  return {.encap = encap,
          .udp_port = spec.udp_port,
          .mac_prefix = spec.mac_prefix,
          .ether_type = spec.ether_type};
}

inline Bytes BuildBytes(Encap encap, const HeaderSpec& spec, const Bytes& commands,
                        const ReliabilityHeader& rh = {.xpuid = 7}, bool offload = false) {
  Bytes buffer(FrameBufferBytes(static_cast<uint32_t>(commands.size())));
  const auto frame = BuildFrame(MakeTemplate(encap, spec), rh, commands, buffer, offload);
  return Bytes(frame.begin(), frame.end());
}

inline ParsedFrame ParseBytes(const FrameRules& rules, Bytes& frame, bool checksums_good = false) {
  return ParseFrame(rules, frame.data(), static_cast<uint32_t>(frame.size()), checksums_good);
}

// Parses a copy of exactly the frame's bytes, so that a sanitizer sees every access beyond them.
inline FrameError ErrorOf(const FrameRules& rules, const Bytes& frame,
                          bool checksums_good = false) {
  Bytes exact(frame.begin(), frame.end());
  exact.shrink_to_fit();
  return ParseBytes(rules, exact, checksums_good).error;
}

// The Internet checksum as RFC 1071 has it: 16 bits at a time, in network order.
inline uint16_t Checksum(const uint8_t* data, size_t bytes, uint32_t sum = 0) {
  for (size_t i = 0; i < bytes; ++i) sum += i % 2 == 0 ? uint32_t{data[i]} << 8 : data[i];
  while (sum > 0xffff) sum = (sum & 0xffff) + (sum >> 16);
  return static_cast<uint16_t>(~sum);
}

// The sum, folded, of an IPv6 pseudo-header.
inline uint16_t Ipv6PseudoSum(const uint8_t* ip) {
  const auto sum = static_cast<uint16_t>(~Checksum(ip + 8, 32));
  return static_cast<uint16_t>(~Checksum(nullptr, 0, uint32_t{sum} + LoadBe16(ip + 4) + 17));
}

// Sets a UDP checksum, never 0, with any other headers. `ip` is their first byte.
inline void SetUdpChecksum(Encap encap, uint8_t* ip) {
  const bool v6 = encap == Encap::kUdp6;
  uint8_t* udp = ip + (v6 ? 40 : 20);
  const uint32_t bytes = LoadBe16(udp + 4);
  uint32_t pseudo = 17 + bytes;
  for (size_t i = v6 ? 8 : 12; i < (v6 ? 40 : 20); i += 2) pseudo += LoadBe16(ip + i);
  StoreBe16(udp + 6, 0);
  const uint16_t checksum = Checksum(udp, bytes, pseudo);
  StoreBe16(udp + 6, checksum == 0 ? 0xffff : checksum);
}

}  // namespace suede

#endif  // SUEDE_TESTS_WIRE_FRAMES_H_
