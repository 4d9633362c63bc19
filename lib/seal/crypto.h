// SPDX-License-Identifier: Apache-2.0
// The interface to a cipher library, which drivers implement (docs/sealing.md). A virtual call per
// burst.
//
// The lcore that uses keys makes and ends them; only this lcore calls Seal and Open of a Crypto.
#ifndef SUEDE_SEAL_CRYPTO_H_
#define SUEDE_SEAL_CRYPTO_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace suede {

// The values are those of the shim of form H.
enum class SealCipher : uint8_t { kAes128Gcm = 1, kAes256Gcm = 2 };

constexpr size_t KeyBytesOf(SealCipher cipher) {
  return cipher == SealCipher::kAes128Gcm ? 16 : 32;
}
inline constexpr size_t kSealIvBytes = 12;
inline constexpr size_t kSealTagBytes = 16;
inline constexpr size_t kMaxSealAadBytes = 64;

// A frame to be sealed or opened in place, or sealed from elsewhere.
struct SealJob {
  void* key = nullptr;  // of Crypto::NewKey
  std::array<uint8_t, kSealIvBytes> nonce;
  uint16_t aad_bytes = 0;
  std::array<uint8_t, kMaxSealAadBytes> aad;   // additional data; bytes behind aad_bytes are not
                                               // read
  uint8_t* text = nullptr;                     // plain or encrypted, with the tag behind it
  const uint8_t* plain = nullptr;  // of Seal: the text, which is not changed; null: at `text`
  uint32_t text_bytes = 0;                     // without the tag; at least 1
  bool good = false;                           // of Open: the frame is authentic; else `text` is
                                               // undefined
  const uint8_t* Source() const { return plain != nullptr ? plain : text; }
};

class Crypto {
 public:
  virtual ~Crypto() = default;
  // A readable name: "openssl", "ipsec_mb".
  virtual std::string_view name() const = 0;
  // Makes a key for Seal and Open; `key` has KeyBytesOf(cipher) bytes and may be overwritten
  // afterwards. Returns null if no more keys are available.
  virtual void* NewKey(SealCipher cipher, std::span<const uint8_t> key) = 0;
  // Overwrites and frees a key. Ignores null.
  virtual void EndKey(void* key) = 0;
  // Encrypts the texts and writes the tags behind them.
  virtual void Seal(std::span<SealJob> jobs) = 0;
  // Checks the tags, and decrypts authentic texts. Sets `good` of each job.
  virtual void Open(std::span<SealJob> jobs) = 0;
  // The two halves of HKDF with SHA-256 (RFC 5869). `out` of Expand: max 255 * 32 bytes.
  virtual void Extract(std::string_view salt, std::span<const uint8_t> secret,
                       std::span<uint8_t, 32> out) = 0;
  virtual void Expand(std::span<const uint8_t, 32> prk, std::span<const uint8_t> info,
                      std::span<uint8_t> out) = 0;
};

}  // namespace suede

#endif  // SUEDE_SEAL_CRYPTO_H_
