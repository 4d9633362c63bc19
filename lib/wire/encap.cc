// SPDX-License-Identifier: Apache-2.0
#include "wire/encap.h"

namespace suede {

HeaderTemplate MakeTemplate(Encap encap, const HeaderSpec& spec) {
  switch (encap) {
#define SUEDE_ENCAP_MAKE(id, ...) \
  case Encap::k##id:              \
    return id::MakeTemplate(spec);
    SUEDE_ENCAPS(SUEDE_ENCAP_MAKE)
#undef SUEDE_ENCAP_MAKE
  }
  return Udp4::MakeTemplate(spec);
}

void SetSession(HeaderTemplate& header, uint16_t session) {
#define SUEDE_ENCAP_SET_SESSION(id, ...)                                              \
  if constexpr (TraitsOf(Encap::k##id).sessions > 1) {                                \
    if (header.encap == Encap::k##id) return id::SetSession(header, session);         \
  }
  SUEDE_ENCAPS(SUEDE_ENCAP_SET_SESSION)
#undef SUEDE_ENCAP_SET_SESSION
}

}  // namespace suede
