// SPDX-License-Identifier: Apache-2.0
// Secrets, and the keys derived from them (docs/sealing.md, "Keys"). Owned by one lcore.
#ifndef SUEDE_SEAL_KEYS_H_
#define SUEDE_SEAL_KEYS_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <utility>

#include "seal/crypto.h"
#include "seal/locked_memory.h"
#include "seal/shim.h"

namespace suede {

inline constexpr size_t kSealSecretBytes = 32;
using SealPrk = std::array<uint8_t, kSealSecretBytes>;  // keys are derived from this

// Overwrites memory in a way that is not optimized out.
void Cleanse(std::span<uint8_t> bytes);

// Base of objects with keys or secrets: `new` allocates them in LockedMemory::OfProcess(), and
// returns null if that is exhausted.
struct InLockedMemory {
  static void* operator new(size_t bytes) noexcept {
    return LockedMemory::OfProcess().Allocate(bytes);
  }
  static void operator delete(void* block) { LockedMemory::OfProcess().Free(block); }
};

// A secret in the lcore's form, after HKDF-Extract.
struct SealSecret {
  uint8_t id = 0;
  SealPrk prk{};
};

// The valid secrets of a partition, the newest first.
struct SealSecrets {
  static constexpr uint32_t kMax = 4;
  std::array<SealSecret, kMax> all;
  uint32_t count = 0;
  uint16_t partition = 0;

  // Null: no secret has that id.
  const SealSecret* Find(uint8_t id) const {
    for (uint32_t i = 0; i < count; ++i) {
      if (all[i].id == id) return &all[i];
    }
    return nullptr;
  }
  // The place of the secret with that id: smaller is newer; `count`: there is none.
  uint32_t PositionOf(uint8_t id) const {
    uint32_t i = 0;
    while (i < count && all[i].id != id) ++i;
    return i;
  }
  // Overwrites and removes all secrets.
  void Clear() { Cleanse({reinterpret_cast<uint8_t*>(this), sizeof *this}); }
};

// HKDF-Extract with the salt of this format.
SealPrk ExtractSecret(Crypto& crypto, std::span<const uint8_t, kSealSecretBytes> secret);

// The parties of keys.
struct SealContext {
  SealCipher cipher = SealCipher::kAes128Gcm;
  uint16_t partition = 0;
  uint16_t sender = 0;  // XPU ids
  uint16_t receiver = 0;
};

// The identities of an association.
struct SealEnds {
  uint64_t sender = 0;
  uint64_t receiver = 0;
  bool operator==(const SealEnds&) const = default;
};

// A key of the library, and its iv. Ends with its owner.
class SealKey {
 public:
  SealKey() = default;
  SealKey(SealKey&& other) noexcept { *this = std::move(other); }
  SealKey& operator=(SealKey&& other) noexcept {
    std::swap(crypto_, other.crypto_);
    std::swap(key_, other.key_);
    const std::array<uint8_t, kSealIvBytes> iv = iv_;
    iv_ = other.iv_;
    other.iv_ = iv;
    return *this;
  }
  ~SealKey() { End(); }

  explicit operator bool() const { return key_ != nullptr; }
  void End();
  // Fills in the key and the nonce of a frame.
  void Fill(PacketNumber number, SealJob& job) const {
    // (The nonce is not completed in place: a load of the bytes of two recent stores waits for both
    // to reach the cache.)
    constexpr size_t kHigh = kSealIvBytes - sizeof(uint64_t);
    job.key = key_;
    std::memcpy(job.nonce.data(), iv_.data(), kHigh);
    StoreBe64(job.nonce.data() + kHigh, LoadBe64(iv_.data() + kHigh) ^ number.value());
  }

  // Derives the key of HELLOs of a sender with the identity.
  static SealKey OfHello(Crypto& crypto, const SealPrk& prk, const SealContext& context,
                         uint64_t identity);
  // Derives the key of an epoch of an association.
  static SealKey OfEpoch(Crypto& crypto, const SealPrk& prk, const SealContext& context,
                         const SealEnds& ends, uint32_t epoch);

 private:
  static SealKey Make(Crypto& crypto, SealCipher cipher, const SealPrk& prk,
                      std::span<const uint8_t> info);

  Crypto* crypto_ = nullptr;
  void* key_ = nullptr;
  std::array<uint8_t, kSealIvBytes> iv_{};
};

}  // namespace suede

#endif  // SUEDE_SEAL_KEYS_H_
