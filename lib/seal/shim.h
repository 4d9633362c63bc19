// SPDX-License-Identifier: Apache-2.0
// The shim between the RH and the encrypted part of a sealed PDU (docs/sealing.md, "The frame").
#ifndef SUEDE_SEAL_SHIM_H_
#define SUEDE_SEAL_SHIM_H_

#include <array>
#include <cstdint>
#include <cstring>
#include <optional>

#include "base/big_endian.h"
#include "seal/crypto.h"
#include "wire/encap/header.h"
#include "wire/rh.h"

namespace suede {

inline constexpr uint32_t kSessionShimBytes = 10;
inline constexpr uint32_t kHelloShimBytes = 18;
inline constexpr uint32_t kSealStreams = 64;
// Bytes that sealing adds to a PDU with this form of the shim.
inline constexpr uint32_t kSessionSealBytes = kSessionShimBytes + kSealTagBytes;
// The encrypted part is at least the R-CRC.
inline constexpr uint32_t kMinSealedBytes = kRhBytes + kSessionSealBytes + kRcrcBytes;

// The parts of the network header that are authenticated.
struct SealPath {
  static constexpr uint32_t kBytes = 34;
  NetAddress source;
  NetAddress destination;
  uint16_t session = 0;  // 0: the header has no field for it
};
static_assert(kRhBytes + kHelloShimBytes + SealPath::kBytes <= kMaxSealAadBytes);

// A SealPath in its authenticated form: made once for PDUs of one path.
struct SealPathBytes {
  SealPathBytes() = default;
  SealPathBytes(const SealPath& path) {  // NOLINT(google-explicit-constructor)
    StoreBe64(bytes.data(), path.source.high);
    StoreBe64(bytes.data() + 8, path.source.low);
    StoreBe64(bytes.data() + 16, path.destination.high);
    StoreBe64(bytes.data() + 24, path.destination.low);
    StoreBe16(bytes.data() + 32, path.session);
  }
  std::array<uint8_t, SealPath::kBytes> bytes{};
};

// A frame's number: the stream, and the count of the stream's frames.
class PacketNumber {
 public:
  static constexpr uint64_t kMaxCount = (uint64_t{1} << 56) - 1;
  PacketNumber() = default;
  PacketNumber(uint32_t stream, uint64_t count) : value_(uint64_t{stream} << 56 | count) {}
  explicit PacketNumber(uint64_t value) : value_(value) {}
  uint64_t value() const { return value_; }
  uint32_t stream() const { return static_cast<uint32_t>(value_ >> 56); }
  uint64_t count() const { return value_ & kMaxCount; }

 private:
  uint64_t value_ = 0;
};

struct SealShim {
  bool hello = false;  // form H
  uint8_t secret_id = 0;
  PacketNumber number;
  // Form S; both modulo 4.
  uint8_t epoch = 0;
  uint8_t echo = 0;
  // Form H. The cipher has its wire value: the reader refuses an unknown cipher.
  uint8_t cipher = 0;
  uint64_t identity = 0;

  uint32_t bytes() const { return hello ? kHelloShimBytes : kSessionShimBytes; }
};

inline void EncodeShim(const SealShim& shim, uint8_t* out) {
  out[1] = shim.secret_id;
  if (shim.hello) {
    out[0] = static_cast<uint8_t>(0x80 | shim.cipher);
    StoreBe64(out + 2, shim.identity);
    StoreBe64(out + 10, shim.number.value());
  } else {
    out[0] = static_cast<uint8_t>((shim.epoch & 3) << 2 | (shim.echo & 3));
    StoreBe64(out + 2, shim.number.value());
  }
}

// Returns false if malformed, or if `bytes` are fewer than a sealed PDU has behind its RH; `shim`
// is then undefined.
inline bool DecodeShim(const uint8_t* in, uint32_t bytes, SealShim& shim) {
  constexpr uint32_t kRest = kRcrcBytes + kSealTagBytes;
  if (bytes < kSessionShimBytes + kRest || (in[0] & 0x70) != 0) return false;
  shim.hello = (in[0] & 0x80) != 0;
  shim.secret_id = in[1];
  if (!shim.hello) [[likely]] {
    shim.epoch = in[0] >> 2 & 3;
    shim.echo = in[0] & 3;
    shim.number = PacketNumber(LoadBe64(in + 2));
    return shim.number.stream() < kSealStreams;
  }
  if (bytes < kHelloShimBytes + kRest) return false;
  shim.cipher = in[0] & 0x0f;
  shim.identity = LoadBe64(in + 2);
  shim.number = PacketNumber(LoadBe64(in + 10));
  return shim.number.stream() == 0 && shim.identity != 0;
}
inline std::optional<SealShim> DecodeShim(const uint8_t* in, uint32_t bytes) {
  SealShim shim;
  if (!DecodeShim(in, bytes, shim)) return std::nullopt;
  return shim;
}

// Fills in the additional data of a sealed PDU: its RH and shim, at `pdu`, and the path.
inline void FillSealAad(const uint8_t* pdu, uint32_t shim_bytes, const SealPathBytes& path,
                        SealJob& job) {
  const uint32_t head = kRhBytes + shim_bytes;
  job.aad_bytes = static_cast<uint16_t>(head + SealPath::kBytes);
  // Copies field by field, as written: a load of the bytes of several recent stores waits for all
  // of them to reach the cache.
  std::memcpy(job.aad.data(), pdu, kRhBytes);
  std::memcpy(job.aad.data() + kRhBytes, pdu + kRhBytes, 2);
  std::memcpy(job.aad.data() + kRhBytes + 2, pdu + kRhBytes + 2, 8);
  if (shim_bytes == kHelloShimBytes) {
    std::memcpy(job.aad.data() + kRhBytes + 10, pdu + kRhBytes + 10, 8);
  }
  std::memcpy(job.aad.data() + head, path.bytes.data(), SealPath::kBytes);
}

// Conversions between the RH versions of plain and sealed PDUs.
constexpr uint8_t SealedVersion(uint8_t plain) { return plain == 0 ? 1 : 2; }
constexpr uint8_t OpenedVersion(uint8_t sealed) { return sealed == 1 ? 0 : 3; }
constexpr bool IsSealedVersion(uint8_t version) { return version == 1 || version == 2; }

// Sets the version of an RH in memory.
inline void SetVersion(uint8_t* rh, uint8_t version) {
  rh[0] = static_cast<uint8_t>((rh[0] & 0x3f) | version << 6);
}
// Copies an RH with another version. Both may overlap.
inline void CopyRh(const uint8_t* from, uint8_t* to, uint8_t version) {
  constexpr int kVersionBit = 62;
  constexpr uint64_t kRest = (uint64_t{1} << kVersionBit) - 1;
  StoreBe64(to, (LoadBe64(from) & kRest) | uint64_t{version} << kVersionBit);
}

}  // namespace suede

#endif  // SUEDE_SEAL_SHIM_H_
