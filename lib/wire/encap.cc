// SPDX-License-Identifier: Apache-2.0
#include "wire/encap.h"

namespace suede {

namespace {

HeaderTemplate MakeBare(Encap encap, const HeaderSpec& spec) {
  switch (encap) {
#define SUEDE_ENCAP_MAKE(id, ...) \
  case Encap::k##id:              \
    return id::MakeTemplate(spec);
    SUEDE_ENCAPS(SUEDE_ENCAP_MAKE)
#undef SUEDE_ENCAP_MAKE
  }
  return Udp4::MakeTemplate(spec);
}

}  // namespace

HeaderTemplate MakeTemplate(Encap encap, const HeaderSpec& spec) {
  HeaderTemplate header = MakeBare(encap, spec);
  if (SessionCount(encap) > 1) header.session = spec.session;
  return header;
}

}  // namespace suede
