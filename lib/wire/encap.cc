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

}  // namespace suede
