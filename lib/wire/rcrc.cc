// SPDX-License-Identifier: Apache-2.0
#include "wire/rcrc.h"

#include <zlib.h>

namespace suede {
namespace {

uint32_t ZlibCrc(const uint8_t* data, size_t bytes) {
  return static_cast<uint32_t>(::crc32_z(0, data, bytes));
}

}  // namespace

namespace internal {
RcrcFunction rcrc_function = ZlibCrc;
}

void InstallRcrc(RcrcFunction function) { internal::rcrc_function = function; }

}  // namespace suede
