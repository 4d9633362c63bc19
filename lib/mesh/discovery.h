// SPDX-License-Identifier: Apache-2.0
// Whether a cable leads to the end that its device expects (docs/mesh.md, "Discovery").
#ifndef SUEDE_MESH_DISCOVERY_H_
#define SUEDE_MESH_DISCOVERY_H_

#include <cstdint>
#include <optional>
#include <string>

#include "mesh/address.h"

namespace suede::mesh {

// Max hash of a system specification: 48 bits.
inline constexpr uint64_t kMaxSpecification = (uint64_t{1} << 48) - 1;

// Returns a specification's hash as in "0x0123456789ab".
std::string SpecificationText(uint64_t specification);

// The place that an end of a cable announces. Any value of its fields may come from a neighbour.
struct CableEnd {
  DevicePort at;
  PlaneIndex plane;
  uint64_t specification = 0;  // low 48 bits of the hash; 0: none
  friend bool operator==(const CableEnd&, const CableEnd&) = default;
};

enum class CableVerdict : uint8_t {
  kGood,
  kSilent,              // the neighbour announces no place
  kOtherEnd,            // the cable leads to another port
  kOtherPlane,          // that port is in another plane
  kOtherSpecification,  // and the neighbour follows another system specification
};

// Compares the neighbour of the end `own`, which should be the port `expected`, with its place.
CableVerdict Verify(const CableEnd& own, const DevicePort& expected,
                    const std::optional<CableEnd>& neighbour);
// Returns a sentence of the verdict that names both ends, as in "M0D2P1 is cabled to M1D5P3, not to
// M1D4P3".
std::string Describe(const CableEnd& own, const DevicePort& expected,
                     const std::optional<CableEnd>& neighbour);

}  // namespace suede::mesh

#endif  // SUEDE_MESH_DISCOVERY_H_
