// SPDX-License-Identifier: Apache-2.0
// Is included before all else in builds with sanitizers. Abseil's headers poison memory under an
// address sanitizer, and its tables have another layout then. The library itself is built without
// a sanitizer and neither knows that layout nor unpoisons, so its headers must not know of one
// either.
#include "absl/base/config.h"
#undef ABSL_HAVE_ADDRESS_SANITIZER
