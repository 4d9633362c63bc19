// SPDX-License-Identifier: Apache-2.0
#include "peer/hello_check.h"

namespace suede {

Disagreement Compare(const Hello& own, const Hello& theirs) {
  if (theirs.psn_scope != own.psn_scope) {
    return {HelloMismatch::kPsnScope, own.psn_scope, theirs.psn_scope};
  }
  if (theirs.window_pdus == 0 || theirs.window_pdus > kMaxWindowPdus) {
    return {HelloMismatch::kWindowPdus, own.window_pdus, theirs.window_pdus};
  }
  if (theirs.pack_limit_bytes > own.receive_bytes) {
    return {HelloMismatch::kPackLimitBytes, own.receive_bytes, theirs.pack_limit_bytes};
  }
  if (theirs.receive_bytes != 0 && theirs.receive_bytes < own.pack_limit_bytes) {
    return {HelloMismatch::kPackLimitBytes, own.pack_limit_bytes, theirs.receive_bytes};
  }
  return {};
}

}  // namespace suede
