// SPDX-License-Identifier: Apache-2.0
// The settings in which two ends must agree (docs/control-pdus.md, HELLO).
#ifndef SUEDE_PEER_HELLO_CHECK_H_
#define SUEDE_PEER_HELLO_CHECK_H_

#include <cstdint>

#include "wire/control_pdu.h"

namespace suede {

enum class HelloMismatch : uint8_t { kNone, kPsnScope, kWindowPdus, kPackLimitBytes };

// The first disagreement of two HELLOs, and both values.
struct Disagreement {
  HelloMismatch what = HelloMismatch::kNone;
  uint32_t own = 0;
  uint32_t theirs = 0;
};
Disagreement Compare(const Hello& own, const Hello& theirs);

}  // namespace suede

#endif  // SUEDE_PEER_HELLO_CHECK_H_
