// SPDX-License-Identifier: Apache-2.0
// Ciphers by DPDK's crypto devices that compute on the calling lcore (docs/sealing.md).
#ifndef SUEDE_DPDK_CRYPTO_H_
#define SUEDE_DPDK_CRYPTO_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "seal/crypto.h"

namespace suede {

struct CryptoDeviceOptions {
  // A driver of devices without hardware that has the synchronous call: crypto_aesni_gcm,
  // crypto_aesni_mb.
  std::string driver = "crypto_aesni_gcm";
  uint32_t keys = 1024;  // that the Crypto can hold at once, 1 to 1048576
};

// A Crypto of an lcore over the process's device of that driver, which the first call makes. HKDF
// is `hashes`'s. Keys lie in memory that is locked, excluded from core files and overwritten when a
// key ends.
//
// Control thread, between StartEal and StopEal; the Crypto ends before StopEal. Fails where DPDK
// has no such driver, where the CPU lacks what it needs, and for want of memory.
absl::StatusOr<std::unique_ptr<Crypto>> OpenCryptoDevice(const CryptoDeviceOptions& options,
                                                         std::unique_ptr<Crypto> hashes);

}  // namespace suede

#endif  // SUEDE_DPDK_CRYPTO_H_
