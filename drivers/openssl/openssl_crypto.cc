// SPDX-License-Identifier: Apache-2.0
#include "openssl/openssl_crypto.h"

#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/params.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "openssl/key_memory.h"
#include "seal/locked_memory.h"

namespace suede {
namespace {

constexpr size_t kHashBytes = 32;  // of SHA-256
constexpr size_t kMaxExpandBytes = 255 * kHashBytes;

struct Deleter {
  void operator()(EVP_CIPHER* cipher) const { EVP_CIPHER_free(cipher); }
  void operator()(EVP_MAC* mac) const { EVP_MAC_free(mac); }
  void operator()(EVP_MAC_CTX* context) const { EVP_MAC_CTX_free(context); }
};
template <typename T>
using Owned = std::unique_ptr<T, Deleter>;

OSSL_PARAM TagParam(uint8_t* tag) {
  return OSSL_PARAM_construct_octet_string(OSSL_CIPHER_PARAM_AEAD_TAG, tag, kSealTagBytes);
}

// Sets the nonce and processes the additional data.
bool Begin(EVP_CIPHER_CTX* context, const SealJob& job, int encrypts) {
  int taken = 0;
  return EVP_CipherInit_ex(context, nullptr, nullptr, nullptr, job.nonce.data(), encrypts) == 1 &&
         (job.aad_bytes == 0 ||
          EVP_CipherUpdate(context, nullptr, &taken, job.aad.data(), job.aad_bytes) == 1);
}

bool SealOne(SealJob& job) {
  auto* const context = static_cast<EVP_CIPHER_CTX*>(job.key);
  uint8_t* const tag = job.text + job.text_bytes;
  int taken = 0;
  if (!Begin(context, job, 1) ||
      EVP_CipherUpdate(context, job.text, &taken, job.Source(), static_cast<int>(job.text_bytes)) !=
          1 ||
      EVP_CipherFinal_ex(context, tag, &taken) != 1) {
    return false;
  }
  OSSL_PARAM params[] = {TagParam(tag), OSSL_PARAM_construct_end()};
  return EVP_CIPHER_CTX_get_params(context, params) == 1;
}

bool OpenOne(SealJob& job) {
  auto* const context = static_cast<EVP_CIPHER_CTX*>(job.key);
  uint8_t* const tag = job.text + job.text_bytes;
  const OSSL_PARAM params[] = {TagParam(tag), OSSL_PARAM_construct_end()};
  int taken = 0;
  uint8_t none[16];  // output of Final, which GCM does not write
  return Begin(context, job, 0) && EVP_CIPHER_CTX_set_params(context, params) == 1 &&
         EVP_CipherUpdate(context, job.text, &taken, job.text, static_cast<int>(job.text_bytes)) ==
             1 &&
         EVP_CipherFinal_ex(context, none, &taken) == 1;
}

class OpensslCrypto final : public Crypto {
 public:
  OpensslCrypto(Owned<EVP_CIPHER> aes128, Owned<EVP_CIPHER> aes256, Owned<EVP_MAC> mac,
                Owned<EVP_MAC_CTX> hmac)
      : aes128_(std::move(aes128)),
        aes256_(std::move(aes256)),
        mac_(std::move(mac)),
        hmac_(std::move(hmac)) {}

  std::string_view name() const override { return "openssl"; }

  void* NewKey(SealCipher cipher, std::span<const uint8_t> key) override {
    if (key.size() != KeyBytesOf(cipher)) return nullptr;
    const EVP_CIPHER* algorithm = cipher == SealCipher::kAes128Gcm ? aes128_.get() : aes256_.get();
    const internal::KeyMemory locked;
    EVP_CIPHER_CTX* context = EVP_CIPHER_CTX_new();
    if (context == nullptr) return nullptr;
    // One context seals and opens: GCM encrypts its counter in both directions.
    if (EVP_CipherInit_ex(context, algorithm, nullptr, key.data(), nullptr, 1) == 1) return context;
    EVP_CIPHER_CTX_free(context);
    ERR_clear_error();
    return nullptr;
  }

  void EndKey(void* key) override { EVP_CIPHER_CTX_free(static_cast<EVP_CIPHER_CTX*>(key)); }

  void Seal(std::span<SealJob> jobs) override {
    for (SealJob& job : jobs) {
      if (SealOne(job)) [[likely]]
        continue;
      // A valid key cannot fail here. If it did, zeros would be sent instead of plaintext.
      assert(false);
      std::memset(job.text, 0, job.text_bytes + kSealTagBytes);
    }
  }

  void Open(std::span<SealJob> jobs) override {
    bool all = true;
    for (SealJob& job : jobs) all &= job.good = OpenOne(job);
    // A wrong tag may leave an entry in the thread's error queue.
    if (!all) ERR_clear_error();
  }

  void Extract(std::string_view salt, std::span<const uint8_t> secret,
               std::span<uint8_t, 32> out) override {
    // RFC 5869: no salt means a salt of zeros. HMAC pads shorter keys with zeros.
    static constexpr uint8_t kNoSalt[1] = {};
    const auto* key = salt.empty() ? kNoSalt : reinterpret_cast<const uint8_t*>(salt.data());
    const internal::KeyMemory locked;
    if (!BeginHmac(key, std::max<size_t>(salt.size(), 1)) || !AddToHmac(secret) || !EndHmac(out)) {
      NoHash();
    }
    ForgetHmac();
  }

  void Expand(std::span<const uint8_t, 32> prk, std::span<const uint8_t> info,
              std::span<uint8_t> out) override {
    if (out.size() > kMaxExpandBytes) NoHash();
    const internal::KeyMemory locked;
    std::array<uint8_t, kHashBytes> block;
    for (size_t at = 0; at < out.size(); at += kHashBytes) {
      const auto count = static_cast<uint8_t>(at / kHashBytes + 1);
      // Without a key, HMAC restarts with the previous key.
      const bool begun =
          at == 0 ? BeginHmac(prk.data(), prk.size()) : BeginHmac(nullptr, 0) && AddToHmac(block);
      if (!begun || !AddToHmac(info) || !AddToHmac({&count, 1}) || !EndHmac(block)) NoHash();
      std::memcpy(&out[at], block.data(), std::min(kHashBytes, out.size() - at));
    }
    OPENSSL_cleanse(block.data(), block.size());
    ForgetHmac();
  }

 private:
  bool BeginHmac(const uint8_t* key, size_t bytes) {
    return EVP_MAC_init(hmac_.get(), key, bytes, nullptr) == 1;
  }
  bool AddToHmac(std::span<const uint8_t> data) {
    return EVP_MAC_update(hmac_.get(), data.data(), data.size()) == 1;
  }
  bool EndHmac(std::span<uint8_t, kHashBytes> out) {
    size_t bytes = 0;
    return EVP_MAC_final(hmac_.get(), out.data(), &bytes, out.size()) == 1 && bytes == kHashBytes;
  }
  // Replaces the key: the context keeps values derived from it until it gets another.
  void ForgetHmac() {
    static constexpr uint8_t kNothing[kHashBytes] = {};
    if (!BeginHmac(kNothing, sizeof kNothing)) NoHash();
  }
  // Aborts, as the caller would otherwise use a predictable key.
  [[noreturn]] static void NoHash() { std::abort(); }

  const Owned<EVP_CIPHER> aes128_;
  const Owned<EVP_CIPHER> aes256_;
  const Owned<EVP_MAC> mac_;
  const Owned<EVP_MAC_CTX> hmac_;
};

absl::Status NoAlgorithm(const char* name) {
  ERR_clear_error();
  return absl::UnavailableError(absl::StrCat(
      "OpenSSL has no ", name, ": its configuration (openssl.cnf) must load the default provider"));
}

}  // namespace

absl::StatusOr<std::unique_ptr<Crypto>> OpenOpensslCrypto() {
  if (!internal::OpensslMemoryIsOurs()) {
    return absl::FailedPreconditionError(
        "OpenSSL has been used before this program could give it locked memory for keys: start "
        "the program without preloaded libraries");
  }
  Owned<EVP_CIPHER> aes128(EVP_CIPHER_fetch(nullptr, "AES-128-GCM", nullptr));
  Owned<EVP_CIPHER> aes256(EVP_CIPHER_fetch(nullptr, "AES-256-GCM", nullptr));
  if (aes128 == nullptr || aes256 == nullptr) return NoAlgorithm("AES-GCM");
  Owned<EVP_MAC> mac(EVP_MAC_fetch(nullptr, "HMAC", nullptr));
  if (mac == nullptr) return NoAlgorithm("HMAC");
  const internal::KeyMemory locked;
  Owned<EVP_MAC_CTX> hmac(EVP_MAC_CTX_new(mac.get()));
  char digest[] = "SHA256";
  const OSSL_PARAM params[] = {
      OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, digest, sizeof digest - 1),
      OSSL_PARAM_construct_end()};
  static constexpr uint8_t kNothing[kHashBytes] = {};
  if (hmac == nullptr || EVP_MAC_init(hmac.get(), kNothing, sizeof kNothing, params) != 1) {
    ERR_clear_error();
    if (std::string shortage = LockedMemory::OfProcess().Shortage(); !shortage.empty()) {
      return absl::ResourceExhaustedError(shortage);
    }
    return NoAlgorithm("SHA-256");
  }
  return std::make_unique<OpensslCrypto>(std::move(aes128), std::move(aes256), std::move(mac),
                                         std::move(hmac));
}

std::unique_ptr<Crypto> NewOpensslCrypto() {
  absl::StatusOr<std::unique_ptr<Crypto>> crypto = OpenOpensslCrypto();
  return crypto.ok() ? *std::move(crypto) : nullptr;
}

}  // namespace suede
