// SPDX-License-Identifier: Apache-2.0
#include "wire/rcrc.h"

#include <zlib.h>

namespace suede {
namespace {

uint32_t ZlibCrc(const uint8_t* data, size_t bytes) {
  return static_cast<uint32_t>(::crc32_z(0, data, bytes));
}

void ZlibCrcs(RcrcSpan* spans, size_t count) {
  for (size_t i = 0; i < count; ++i) spans[i].crc = ZlibCrc(spans[i].data, spans[i].bytes);
}

}  // namespace

namespace internal {
RcrcFunction short_rcrc = HasWideCrc() ? WideCrc : NarrowRcrc();
RcrcsFunction short_rcrcs = HasWideCrc()     ? WideCrcs
                            : HasPairedCrc() ? PairedCrcs
                            : HasFoldedCrc() ? FoldedCrcs
                                             : ZlibCrcs;
RcrcFunction long_rcrc = nullptr;
size_t long_rcrc_min_bytes = SIZE_MAX;

void LongRcrcs(RcrcSpan* spans, size_t count) {
  for (size_t i = 0; i < count; ++i) spans[i].crc = Rcrc(spans[i].data, spans[i].bytes);
}
}  // namespace internal

RcrcFunction NarrowRcrc() {
  return HasPairedCrc() ? PairedCrc : HasFoldedCrc() ? FoldedCrc : ZlibCrc;
}

void InstallRcrc(RcrcFunction function, size_t min) {
  internal::long_rcrc = function;
  internal::long_rcrc_min_bytes = min;
}

}  // namespace suede
