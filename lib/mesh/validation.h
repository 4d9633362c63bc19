// SPDX-License-Identifier: Apache-2.0
// Compares the cables that hosts see with those of the specification. Values in, values out.
#ifndef SUEDE_MESH_VALIDATION_H_
#define SUEDE_MESH_VALIDATION_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "mesh/address.h"

namespace suede::mesh {

// A cable of the specification. A port has at most one, over all planes.
struct DeclaredCable {
  DevicePort a;
  DevicePort b;
  PlaneIndex plane;
};

// One end of a cable, as its host sees it.
struct ObservedEnd {
  // The end that it is connected with, by that end's own account.
  struct Neighbour {
    DevicePort end;
    PlaneIndex plane;
    uint64_t specification = 0;  // 0: unknown
  };
  DevicePort end;
  PlaneIndex plane;
  std::string state;                   // of the cable, for messages; empty: unknown
  std::optional<Neighbour> neighbour;  // nullopt: sees none
};

// The ends of one host: of a running daemon, or of a configuration.
struct HostCables {
  std::string name;                 // for messages
  uint64_t specification = 0;       // 0: unknown
  std::vector<Device> devices{};    // besides those of `ends`
  std::vector<ObservedEnd> ends{};  // a cable inside the host has two
};

struct CableDefect {
  enum class Kind : uint8_t {
    kMissing,        // declared, and no end sees the other
    kExtra,          // not declared
    kSwapped,        // two or more cables have exchanged ends
    kOneSided,       // one end alone sees the other
    kSpecification,  // a host has another specification
    kPlane,          // between the right ends, or between any, but not of one plane
  };
  Kind kind = Kind::kMissing;
  std::string text;  // "missing: M0D1P2 (silent) - M1D0P4 (down)"
};

struct Validation {
  std::vector<CableDefect> defects;
  uint32_t good = 0;        // declared cables without a defect
  uint32_t unobserved = 0;  // declared cables of which no host has an end
};

// A cable that was exchanged with others is one defect, of kind kSwapped, and neither missing nor
// extra. Ends of devices that no host has are taken to see their neighbours. Refuses an end that
// two hosts have.
absl::StatusOr<Validation> ValidateCables(std::span<const DeclaredCable> declared,
                                          uint64_t specification,
                                          std::span<const HostCables> hosts);

}  // namespace suede::mesh

#endif  // SUEDE_MESH_VALIDATION_H_
