// SPDX-License-Identifier: Apache-2.0
#include "wire/encap.h"

namespace suede {

std::optional<Encap> ParseEncap(std::string_view name) {
  for (size_t i = 0; i < kEncapNames.size(); ++i) {
    if (kEncapNames[i] == name) return static_cast<Encap>(i);
  }
  return std::nullopt;
}

HeaderTemplate MakeTemplate(Encap encap, const HeaderSpec& spec) {
  switch (encap) {
    case Encap::kUdp4: break;
    case Encap::kUdp6: return Udp6::MakeTemplate(spec);
    case Encap::kAfh1: return Afh1::MakeTemplate(spec);
    case Encap::kAfh1s: return Afh1s::MakeTemplate(spec);
    case Encap::kAfh2: return Afh2::MakeTemplate(spec);
    case Encap::kAfh2c: return Afh2c::MakeTemplate(spec);
  }
  return Udp4::MakeTemplate(spec);
}

}  // namespace suede
