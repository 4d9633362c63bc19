// SPDX-License-Identifier: Apache-2.0
// Differences between the configuration of a port and what its neighbour says of its own
// (docs/lldp.md, "Comparison").
#ifndef SUEDE_LLDP_COMPARISON_H_
#define SUEDE_LLDP_COMPARISON_H_

#include <string>
#include <string_view>
#include <vector>

#include "lldp/lldpdu.h"

namespace suede::lldp {

struct Difference {
  std::string_view what;  // as docs/lldp.md names it; static storage
  std::string own;
  std::string theirs;
  friend bool operator==(const Difference&, const Difference&) = default;
};

// Returns the differences in the order of docs/lldp.md. Only TLVs that both have are compared.
std::vector<Difference> Compare(const Lldpdu& own, const Lldpdu& theirs);

}  // namespace suede::lldp

#endif  // SUEDE_LLDP_COMPARISON_H_
