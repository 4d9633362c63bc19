// SPDX-License-Identifier: Apache-2.0
// Map from addresses, or values of AxUSER, to XPUs (docs/axi.md, "Addresses").
#ifndef SUEDE_AXI_ADDRESS_MAP_H_
#define SUEDE_AXI_ADDRESS_MAP_H_

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "axi/transfer.h"

namespace suede::axi {

inline constexpr uint32_t kMaxRoutes = 4096;

struct Place {
  uint16_t xpuid = 0;
  uint8_t interface = 0;
  uint64_t address = 0;  // there
};

// Immutable after the constructor, which allocates.
class AddressMap {
 public:
  // Returns a sentence on the first entry that is out of range; null: all are valid.
  static const char* FindInvalid(std::span<const suede_axi_route> routes, uint32_t interfaces);

  // Returns the entries of FIRST-LAST:XPU[:REMOTE-BASE],..., hexadecimal but for the XPU; null: the
  // text has another form, or an XPU above 1023.
  static std::optional<std::vector<suede_axi_route>> Parse(const char* text);

  // The entries are valid, and at most kMaxRoutes.
  explicit AddressMap(std::span<const suede_axi_route> routes);
  // Returns the place of a valid burst; null: no entry has it.
  std::optional<Place> Find(const Address& burst) const;

 private:
  // Values from `first` up to the next interval's, which all have the same first matching route.
  struct Interval {
    uint64_t first = 0;
    uint32_t route = 0;  // kNone: no route
  };
  using Intervals = std::vector<Interval>;
  static constexpr uint32_t kNone = UINT32_MAX;

  static uint32_t RouteAt(const Intervals& intervals, uint64_t value);
  Intervals IntervalsOf(uint8_t by) const;

  std::vector<suede_axi_route> routes_;
  Intervals by_address_;
  Intervals by_user_;
};

}  // namespace suede::axi

#endif  // SUEDE_AXI_ADDRESS_MAP_H_
