// SPDX-License-Identifier: Apache-2.0
// R-CRC (wire profile §4): the CRC-32 of IEEE 802.3 over the canonical RH, the commands and the
// padding, sent least significant byte first.
#ifndef SUEDE_WIRE_RCRC_H_
#define SUEDE_WIRE_RCRC_H_

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace suede {

static_assert(std::endian::native == std::endian::little, "an R-CRC is stored as the host has it");

// Returns the CRC-32 of `bytes` bytes. The default is the fastest function below that the CPU
// supports, else zlib's. A driver that has a faster function for data of at least `min` bytes
// installs it once, before any lcore runs.
using RcrcFunction = uint32_t (*)(const uint8_t* data, size_t bytes);
void InstallRcrc(RcrcFunction function, size_t min = 0);

// Data and its computed CRC.
struct RcrcSpan {
  const uint8_t* data = nullptr;
  uint32_t bytes = 0;
  uint32_t crc = 0;
};
using RcrcsFunction = void (*)(RcrcSpan* spans, size_t count);

// CRC-32 by carry-less multiplication; requires HasFoldedCrc. With several spans, the
// multiplications of different spans overlap.
uint32_t FoldedCrc(const uint8_t* data, size_t bytes);
void FoldedCrcs(RcrcSpan* spans, size_t count);
bool HasFoldedCrc();

// FoldedCrc with 256-bit vectors; requires HasPairedCrc.
uint32_t PairedCrc(const uint8_t* data, size_t bytes);
void PairedCrcs(RcrcSpan* spans, size_t count);
bool HasPairedCrc();

// FoldedCrc with 512-bit vectors; requires HasWideCrc.
uint32_t WideCrc(const uint8_t* data, size_t bytes);
void WideCrcs(RcrcSpan* spans, size_t count);
bool HasWideCrc();

namespace internal {
extern RcrcFunction short_rcrc;
extern RcrcsFunction short_rcrcs;
extern RcrcFunction long_rcrc;  // used from long_rcrc_min_bytes bytes
extern size_t long_rcrc_min_bytes;
void LongRcrcs(RcrcSpan* spans, size_t count);
}  // namespace internal

// Returns the fastest supported function with vectors of at most 256 bits.
RcrcFunction NarrowRcrc();

inline uint32_t Rcrc(const uint8_t* data, size_t bytes) {
  if (bytes >= internal::long_rcrc_min_bytes) [[unlikely]]
    return internal::long_rcrc(data, bytes);
  return internal::short_rcrc(data, bytes);
}

// Computes Rcrc of each span.
inline void Rcrcs(RcrcSpan* spans, size_t count) {
  if (internal::long_rcrc_min_bytes != SIZE_MAX) [[unlikely]]
    return internal::LongRcrcs(spans, count);
  internal::short_rcrcs(spans, count);
}

// Appends the R-CRC to the `body_bytes` bytes from the RH to the padding.
inline void StoreRcrc(uint8_t* pdu, uint32_t body_bytes) {
  const uint32_t crc = Rcrc(pdu, body_bytes);
  std::memcpy(pdu + body_bytes, &crc, sizeof crc);
}

// Whether the last four bytes of a received PDU are its R-CRC. `pdu_bytes`: at least 4. Covers the
// RH as received: reserved bits are sent as 0, so that is the canonical form.
inline bool RcrcGood(const uint8_t* pdu, uint32_t pdu_bytes) {
  uint32_t crc;
  std::memcpy(&crc, pdu + pdu_bytes - sizeof crc, sizeof crc);
  return crc == Rcrc(pdu, pdu_bytes - sizeof crc);
}

// Checks several PDUs in two steps: Rcrcs on the spans of RcrcSpanOf, then RcrcGood on each span.
inline RcrcSpan RcrcSpanOf(const uint8_t* pdu, uint32_t pdu_bytes) {
  return {.data = pdu, .bytes = pdu_bytes - static_cast<uint32_t>(sizeof(uint32_t))};
}
inline bool RcrcGood(const RcrcSpan& span) {
  uint32_t crc;
  std::memcpy(&crc, span.data + span.bytes, sizeof crc);
  return crc == span.crc;
}

}  // namespace suede

#endif  // SUEDE_WIRE_RCRC_H_
