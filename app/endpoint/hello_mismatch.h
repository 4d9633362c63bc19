// SPDX-License-Identifier: Apache-2.0
// The setting in which a peer's HELLO disagrees, as operators know it.
#ifndef SUEDE_APP_ENDPOINT_HELLO_MISMATCH_H_
#define SUEDE_APP_ENDPOINT_HELLO_MISMATCH_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "base/text.h"
#include "config/config_change.h"
#include "lcore/mailbox.h"

namespace suede {

// The key of the configuration.
inline std::string_view KeyOf(HelloMismatch what) {
  switch (what) {
    case HelloMismatch::kPsnScope:
      return "transport.psn_scope";
    case HelloMismatch::kWindowPdus:
      return "transport.window_pdus";
    case HelloMismatch::kPackLimitBytes:
    case HelloMismatch::kNone:
      break;
  }
  return "packing.limit_bytes";
}

// A change of the configuration that ends it.
inline std::string RemedyOf(HelloMismatch what) {
  std::string remedy = StrCat("give ", KeyOf(what), " one value at both ends");
  if (what == HelloMismatch::kPsnScope) {
    StrAppend(&remedy, ": by default it is vc where a port has pfc or cbfc, and port elsewhere");
  }
  return remedy;
}

// A value as the configuration writes it: some are names.
inline std::string ValueOf(std::string_view key, uint32_t value) {
  return ConfigText(key, value).value_or(StrCat(value));
}

}  // namespace suede

#endif  // SUEDE_APP_ENDPOINT_HELLO_MISMATCH_H_
