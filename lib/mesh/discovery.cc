// SPDX-License-Identifier: Apache-2.0
#include "mesh/discovery.h"

#include "base/text.h"

namespace suede::mesh {
namespace {

std::string TextOf(uint64_t specification) {
  return StrCat(absl::Hex(specification, absl::kZeroPad12));
}

}  // namespace

std::string SpecificationText(uint64_t specification) {
  return StrCat("0x", TextOf(specification));
}

CableVerdict Verify(const CableEnd& own, const DevicePort& expected,
                    const std::optional<CableEnd>& neighbour) {
  if (!neighbour) return CableVerdict::kSilent;
  if (neighbour->at != expected) return CableVerdict::kOtherEnd;
  if (neighbour->plane != own.plane) return CableVerdict::kOtherPlane;
  const bool both = own.specification != 0 && neighbour->specification != 0;
  return both && neighbour->specification != own.specification ? CableVerdict::kOtherSpecification
                                                               : CableVerdict::kGood;
}

std::string Describe(const CableEnd& own, const DevicePort& expected,
                     const std::optional<CableEnd>& neighbour) {
  const std::string here = NameOf(own.at);
  const std::string there = NameOf(expected);
  switch (Verify(own, expected, neighbour)) {
    case CableVerdict::kSilent:
      return StrCat(here, " receives no place from ", there);
    case CableVerdict::kOtherEnd:
      return StrCat(here, " is cabled to ", NameOf(neighbour->at), ", not to ", there);
    case CableVerdict::kOtherPlane:
      return StrCat(here, " is in plane ", uint32_t{own.plane}, ", ", there, " in plane ",
                    uint32_t{neighbour->plane});
    case CableVerdict::kOtherSpecification:
      return StrCat(here, " has the specification ", TextOf(own.specification), ", ", there, " ",
                    TextOf(neighbour->specification));
    case CableVerdict::kGood:
      break;
  }
  return StrCat(here, " is cabled to ", there);
}

}  // namespace suede::mesh
