// SPDX-License-Identifier: Apache-2.0
#include "mesh/discovery.h"

#include "base/text.h"

namespace suede::mesh {
namespace {

std::string TextOf(uint64_t specification) {
  return StrCat(absl::Hex(specification, absl::kZeroPad12));
}

}  // namespace

Discovered Discover(const CableEnd& own, const DevicePort& expected,
                    const std::optional<CableEnd>& neighbour) {
  const std::string here = NameOf(own.at);
  const std::string there = NameOf(expected);
  if (!neighbour) return {CableVerdict::kSilent, StrCat(here, " receives no place from ", there)};
  if (neighbour->at != expected) {
    return {CableVerdict::kOtherEnd,
            StrCat(here, " is cabled to ", NameOf(neighbour->at), ", not to ", there)};
  }
  if (neighbour->plane != own.plane) {
    return {CableVerdict::kOtherPlane, StrCat(here, " is in plane ", uint32_t{own.plane}, ", ",
                                              there, " in plane ", uint32_t{neighbour->plane})};
  }
  if (own.specification != 0 && neighbour->specification != 0 &&
      neighbour->specification != own.specification) {
    return {CableVerdict::kOtherSpecification,
            StrCat(here, " has the specification ", TextOf(own.specification), ", ", there, " ",
                   TextOf(neighbour->specification))};
  }
  return {CableVerdict::kGood, StrCat(here, " is cabled to ", there)};
}

}  // namespace suede::mesh
