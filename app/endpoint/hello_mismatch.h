// SPDX-License-Identifier: Apache-2.0
// Texts about the setting in which a peer's HELLO disagrees.
#ifndef SUEDE_APP_ENDPOINT_HELLO_MISMATCH_H_
#define SUEDE_APP_ENDPOINT_HELLO_MISMATCH_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "base/text.h"
#include "config/config_change.h"
#include "lcore/mailbox.h"

namespace suede {

// Returns the configuration key.
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

// Returns a configuration change that resolves the mismatch.
inline std::string RemedyOf(HelloMismatch what) {
  std::string remedy = StrCat("give ", KeyOf(what), " one value at both ends");
  if (what == HelloMismatch::kPsnScope) {
    StrAppend(&remedy, ": by default it is vc where a port has pfc or cbfc, and port elsewhere");
  }
  return remedy;
}

// Formats a value as in the configuration, where some are names.
inline std::string ValueOf(std::string_view key, uint32_t value) {
  return ConfigText(key, value).value_or(StrCat(value));
}

}  // namespace suede

#endif  // SUEDE_APP_ENDPOINT_HELLO_MISMATCH_H_
