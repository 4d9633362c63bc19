// SPDX-License-Identifier: Apache-2.0
#include "seal/keys.h"

#include <algorithm>
#include <cstring>
#include <string_view>

namespace suede {
namespace {

constexpr std::string_view kSalt = "suede seal v1";

// The info of HKDF-Expand: a label, and the use of the keys.
class Info {
 public:
  explicit Info(std::string_view label) { Add(label.data(), label.size()); }
  Info& Add(const SealContext& context) {
    const auto cipher = static_cast<uint8_t>(context.cipher);
    Add(&cipher, 1);
    return Add(context.partition).Add(context.sender).Add(context.receiver);
  }
  Info& Add(uint64_t identity) {
    uint8_t bytes[sizeof identity];
    StoreBe64(bytes, identity);
    return Add(bytes, sizeof bytes);
  }
  Info& Add(uint32_t number) {
    uint8_t bytes[sizeof number];
    StoreBe32(bytes, number);
    return Add(bytes, sizeof bytes);
  }
  Info& Add(uint16_t number) {
    uint8_t bytes[sizeof number];
    StoreBe16(bytes, number);
    return Add(bytes, sizeof bytes);
  }
  std::span<const uint8_t> bytes() const { return {bytes_.data(), size_}; }

 private:
  Info& Add(const void* bytes, size_t count) {
    std::memcpy(bytes_.data() + size_, bytes, count);
    size_ += count;
    return *this;
  }
  std::array<uint8_t, 64> bytes_;
  size_t size_ = 0;
};

}  // namespace

void Cleanse(std::span<uint8_t> bytes) {
  std::fill(bytes.begin(), bytes.end(), uint8_t{0});
  asm volatile("" : : "r"(bytes.data()) : "memory");
}

SealPrk ExtractSecret(Crypto& crypto, std::span<const uint8_t, kSealSecretBytes> secret) {
  SealPrk prk;
  crypto.Extract(kSalt, secret, prk);
  return prk;
}

void SealKey::End() {
  if (key_ != nullptr) crypto_->EndKey(key_);
  key_ = nullptr;
  Cleanse(iv_);
}

SealKey SealKey::Make(Crypto& crypto, SealCipher cipher, const SealPrk& prk,
                      std::span<const uint8_t> info) {
  std::array<uint8_t, 32 + kSealIvBytes> bytes;
  const size_t key_bytes = KeyBytesOf(cipher);
  crypto.Expand(prk, info, std::span(bytes).first(key_bytes + kSealIvBytes));
  SealKey made;
  made.crypto_ = &crypto;
  made.key_ = crypto.NewKey(cipher, std::span(bytes).first(key_bytes));
  std::memcpy(made.iv_.data(), bytes.data() + key_bytes, kSealIvBytes);
  Cleanse(bytes);
  return made;
}

SealKey SealKey::OfHello(Crypto& crypto, const SealPrk& prk, const SealContext& context,
                         uint64_t identity) {
  return Make(crypto, context.cipher, prk, Info("hello").Add(context).Add(identity).bytes());
}

SealKey SealKey::OfEpoch(Crypto& crypto, const SealPrk& prk, const SealContext& context,
                         const SealEnds& ends, uint32_t epoch) {
  const Info info = Info("session").Add(context).Add(ends.sender).Add(ends.receiver).Add(epoch);
  return Make(crypto, context.cipher, prk, info.bytes());
}

}  // namespace suede
