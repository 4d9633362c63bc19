// SPDX-License-Identifier: Apache-2.0
// Opens DPDK crypto devices that compute on the calling lcore (docs/sealing.md).
#ifndef SUEDE_DPDK_CRYPTO_H_
#define SUEDE_DPDK_CRYPTO_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "seal/crypto.h"

namespace suede {

struct CryptoDeviceOptions {
  // Driver of software devices with the synchronous (CPU crypto) call: crypto_aesni_gcm or
  // crypto_aesni_mb.
  std::string driver = "crypto_aesni_gcm";
  uint32_t keys = 1024;  // max concurrent keys, 1 to 1048576
};

// Returns a Crypto for one lcore on the process's device of that driver, which the first call
// creates. HKDF comes from `hashes`. Keys are kept in memory that is locked, excluded from core
// files and overwritten when a key ends.
//
// Control thread, between StartEal and StopEal; the Crypto must be destroyed before StopEal. Fails
// if DPDK has no such driver, if the CPU lacks an instruction set that it needs, or if memory is
// short.
absl::StatusOr<std::unique_ptr<Crypto>> OpenCryptoDevice(const CryptoDeviceOptions& options,
                                                         std::unique_ptr<Crypto> hashes);

}  // namespace suede

#endif  // SUEDE_DPDK_CRYPTO_H_
