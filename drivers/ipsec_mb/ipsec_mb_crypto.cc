// SPDX-License-Identifier: Apache-2.0
#include "ipsec_mb/ipsec_mb_crypto.h"

#include <intel-ipsec-mb.h>

#include <array>
#include <cstring>
#include <new>
#include <utility>

#include "absl/strings/str_cat.h"
#include "seal/hashed_crypto.h"
#include "seal/locked_memory.h"

namespace suede {
namespace {

struct Key {
  gcm_key_data data;
  SealCipher cipher;
};
static_assert(sizeof(Key) <= LockedMemory::kMaxBytes);
// A block of locked memory is less than twice as large as a key.
constexpr size_t kMaxKeys = LockedMemory::kRoomBytes / 2 / sizeof(Key);

struct EndManager {
  void operator()(IMB_MGR* manager) const { free_mb_mgr(manager); }
};
using Manager = std::unique_ptr<IMB_MGR, EndManager>;

// The library's state of a frame during processing, which must be kept secret.
struct EndContext {
  void operator()(gcm_context_data* context) const { LockedMemory::OfProcess().Free(context); }
};
using Context = std::unique_ptr<gcm_context_data, EndContext>;

// Compares tags in constant time.
bool AreEqual(const std::array<uint8_t, kSealTagBytes>& tag, const uint8_t* other) {
  std::array<uint64_t, 2> ours;
  std::array<uint64_t, 2> theirs;
  std::memcpy(ours.data(), tag.data(), tag.size());
  std::memcpy(theirs.data(), other, tag.size());
  return ((ours[0] ^ theirs[0]) | (ours[1] ^ theirs[1])) == 0;
}

class IpsecMbCrypto final : public HashedCrypto {
 public:
  IpsecMbCrypto(Manager manager, Context context, uint32_t keys, std::unique_ptr<Crypto> hashes)
      : HashedCrypto(std::move(hashes)),
        manager_(std::move(manager)),
        context_(std::move(context)),
        keys_left_(keys) {}

  std::string_view name() const override { return "ipsec_mb"; }

  void* NewKey(SealCipher cipher, std::span<const uint8_t> key) override {
    if (key.size() != KeyBytesOf(cipher) || keys_left_ == 0) return nullptr;
    void* const memory = LockedMemory::OfProcess().Allocate(sizeof(Key));
    if (memory == nullptr) return nullptr;
    --keys_left_;
    auto* const made = new (memory) Key{.data = {}, .cipher = cipher};
    if (cipher == SealCipher::kAes128Gcm) {
      IMB_AES128_GCM_PRE(manager_, key.data(), &made->data);
    } else {
      IMB_AES256_GCM_PRE(manager_, key.data(), &made->data);
    }
    return made;
  }

  void EndKey(void* key) override {
    if (key == nullptr) return;
    LockedMemory::OfProcess().Free(key);
    ++keys_left_;
  }

  void Seal(std::span<SealJob> jobs) override {
    for (SealJob& job : jobs) {
      Run(job, manager_->gcm128_enc, manager_->gcm256_enc, job.Source(), job.text + job.text_bytes);
    }
  }

  void Open(std::span<SealJob> jobs) override {
    for (SealJob& job : jobs) {
      std::array<uint8_t, kSealTagBytes> tag;
      Run(job, manager_->gcm128_dec, manager_->gcm256_dec, job.text, tag.data());
      job.good = AreEqual(tag, job.text + job.text_bytes);
    }
  }

 private:
  void Run(SealJob& job, aes_gcm_enc_dec_t with_128, aes_gcm_enc_dec_t with_256,
           const uint8_t* from, uint8_t* tag) {
    const auto* const key = static_cast<const Key*>(job.key);
    const auto run = key->cipher == SealCipher::kAes128Gcm ? with_128 : with_256;
    run(&key->data, context_.get(), job.text, from, job.text_bytes, job.nonce.data(),
        job.aad.data(), job.aad_bytes, tag, kSealTagBytes);
  }

  const Manager manager_;
  const Context context_;
  uint32_t keys_left_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Crypto>> OpenIpsecMbCrypto(uint32_t keys,
                                                          std::unique_ptr<Crypto> hashes) {
  if (hashes == nullptr) return absl::InvalidArgumentError("ipsec_mb needs hashes beside it");
  if (keys == 0) return absl::InvalidArgumentError("ipsec_mb with 0 keys: must be 1 or more");
  if (keys > kMaxKeys) {
    return absl::ResourceExhaustedError(
        absl::StrCat("no locked memory for ", keys, " keys of ipsec_mb: ", kMaxKeys,
                     " have room; set sealing.device to aesni_gcm, or have fewer peers"));
  }
  Manager manager(alloc_mb_mgr(0));
  if (manager == nullptr) return absl::ResourceExhaustedError("no memory for ipsec_mb");
  IMB_ARCH found = IMB_ARCH_NONE;
  init_mb_mgr_auto(manager.get(), &found);
  constexpr uint64_t kNeeded = IMB_FEATURE_AESNI | IMB_FEATURE_PCLMULQDQ;
  if (found == IMB_ARCH_NONE || (manager->features & kNeeded) != kNeeded) {
    return absl::UnavailableError(
        "ipsec_mb: this CPU lacks AES-NI or PCLMULQDQ; set sealing.device to openssl");
  }
  void* const memory = LockedMemory::OfProcess().Allocate(sizeof(gcm_context_data));
  if (memory == nullptr) {
    return absl::ResourceExhaustedError(LockedMemory::OfProcess().Shortage());
  }
  return std::make_unique<IpsecMbCrypto>(std::move(manager), Context(new (memory) gcm_context_data),
                                         keys, std::move(hashes));
}

}  // namespace suede
