// SPDX-License-Identifier: Apache-2.0
#include "crypto_checks.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <random>
#include <string>
#include <vector>

namespace suede {
namespace {

struct GcmVector {
  const char* key;
  const char* nonce;
  const char* plain;
  const char* aad;
  const char* encrypted;
  const char* tag;
};

constexpr char kKey[] = "feffe9928665731c6d6a8f9467308308";
constexpr char kKey256[] = "feffe9928665731c6d6a8f9467308308feffe9928665731c6d6a8f9467308308";
constexpr char kNonce[] = "cafebabefacedbaddecaf888";
constexpr char kAad[] = "feedfacedeadbeeffeedfacedeadbeefabaddad2";
constexpr char kPlain64[] =
    "d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a72"
    "1c3c0c95956809532fcf0e2449a6b525b16aedf5aa0de657ba637b391aafd255";
constexpr char kPlain60[] =
    "d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a72"
    "1c3c0c95956809532fcf0e2449a6b525b16aedf5aa0de657ba637b39";

// Test cases 2, 3, 4, 14, 15, 16.
constexpr GcmVector kGcmVectors[] = {
    {"00000000000000000000000000000000", "000000000000000000000000",
     "00000000000000000000000000000000", "", "0388dace60b6a392f328c2b971b2fe78",
     "ab6e47d42cec13bdf53a67b21257bddf"},
    {kKey, kNonce, kPlain64, "",
     "42831ec2217774244b7221b784d0d49ce3aa212f2c02a4e035c17e2329aca12e"
     "21d514b25466931c7d8f6a5aac84aa051ba30b396a0aac973d58e091473f5985",
     "4d5c2af327cd64a62cf35abd2ba6fab4"},
    {kKey, kNonce, kPlain60, kAad,
     "42831ec2217774244b7221b784d0d49ce3aa212f2c02a4e035c17e2329aca12e"
     "21d514b25466931c7d8f6a5aac84aa051ba30b396a0aac973d58e091",
     "5bc94fbc3221a5db94fae95ae7121a47"},
    {"0000000000000000000000000000000000000000000000000000000000000000", "000000000000000000000000",
     "00000000000000000000000000000000", "", "cea7403d4d606b6e074ec5d3baf39d18",
     "d0d1c8a799996bf0265b98b5d48ab919"},
    {kKey256, kNonce, kPlain64, "",
     "522dc1f099567d07f47f37a32a84427d643a8cdcbfe5c0c97598a2bd2555d1aa"
     "8cb08e48590dbb3da7b08b1056828838c5f61e6393ba7a0abcc9f662898015ad",
     "b094dac5d93471bdec1a502270e3cc6c"},
    {kKey256, kNonce, kPlain60, kAad,
     "522dc1f099567d07f47f37a32a84427d643a8cdcbfe5c0c97598a2bd2555d1aa"
     "8cb08e48590dbb3da7b08b1056828838c5f61e6393ba7a0abcc9f662",
     "76fc6ece0f4e1768cddf8853bb2d551b"},
};

SealCipher CipherOf(const Bytes& key) {
  return key.size() == 16 ? SealCipher::kAes128Gcm : SealCipher::kAes256Gcm;
}

Bytes Range(int first, int last) {
  Bytes bytes;
  for (int byte = first; byte <= last; ++byte) bytes.push_back(static_cast<uint8_t>(byte));
  return bytes;
}

void CheckHkdf(Crypto& crypto, const Bytes& secret, const Bytes& salt, const Bytes& info,
               const std::string& prk_hex, const std::string& out_hex) {
  std::array<uint8_t, 32> prk;
  crypto.Extract({reinterpret_cast<const char*>(salt.data()), salt.size()}, secret, prk);
  EXPECT_EQ(ToHex(prk), prk_hex);
  Bytes out(out_hex.size() / 2);
  crypto.Expand(prk, info, out);
  EXPECT_EQ(ToHex(out), out_hex);
  // The context keeps nothing: a shorter output has the same beginning.
  Bytes less(out.size() - 13);
  crypto.Expand(prk, info, less);
  EXPECT_EQ(ToHex(less), out_hex.substr(0, less.size() * 2));
}

// A burst of frames of several sizes, and what their texts were.
class Burst {
 public:
  Burst(std::span<void* const> keys, size_t count, std::mt19937& random) {
    constexpr uint32_t kSizes[] = {1, 4, 15, 16, 17, 60, 64, 255, 2048, 4100};
    for (size_t i = 0; i < count; ++i) {
      Bytes& text = texts_.emplace_back(kSizes[random() % std::size(kSizes)]);
      for (uint8_t& byte : text) byte = static_cast<uint8_t>(random());
    }
    plain_ = texts_;
    for (Bytes& text : texts_) {
      Bytes nonce(kSealIvBytes);
      Bytes aad(random() % 2 == 0 ? 52 : 60);
      for (uint8_t& byte : nonce) byte = static_cast<uint8_t>(random());
      for (uint8_t& byte : aad) byte = static_cast<uint8_t>(random());
      jobs_.push_back(JobOf(keys[random() % keys.size()], nonce, aad, text));
    }
  }
  std::vector<SealJob>& jobs() { return jobs_; }
  bool IsPlain(size_t i) const {
    return std::equal(plain_[i].begin(), plain_[i].end(), texts_[i].begin());
  }
  // A byte of the text or the tag.
  uint8_t& AnyByte(size_t i, std::mt19937& random) {
    return texts_[i][random() % texts_[i].size()];
  }

 private:
  std::vector<Bytes> texts_;
  std::vector<Bytes> plain_;
  std::vector<SealJob> jobs_;
};

}  // namespace

SealJob JobOf(void* key, std::span<const uint8_t> nonce, std::span<const uint8_t> aad,
              Bytes& text) {
  SealJob job{.key = key, .aad_bytes = static_cast<uint16_t>(aad.size())};
  std::copy(nonce.begin(), nonce.end(), job.nonce.begin());
  std::copy(aad.begin(), aad.end(), job.aad.begin());
  job.text_bytes = static_cast<uint32_t>(text.size());
  text.resize(text.size() + kSealTagBytes);
  job.text = text.data();
  return job;
}

void CheckGcmVectors(Crypto& crypto) {
  for (const GcmVector& vector : kGcmVectors) {
    SCOPED_TRACE(vector.tag);
    const Bytes key_bytes = FromHex(vector.key);
    void* const key = crypto.NewKey(CipherOf(key_bytes), key_bytes);
    ASSERT_NE(key, nullptr);
    Bytes text = FromHex(vector.plain);
    SealJob job = JobOf(key, FromHex(vector.nonce), FromHex(vector.aad), text);
    crypto.Seal({&job, 1});
    EXPECT_EQ(ToHex(text), std::string(vector.encrypted) + vector.tag);
    crypto.Open({&job, 1});
    EXPECT_TRUE(job.good);
    EXPECT_EQ(ToHex(text).substr(0, job.text_bytes * size_t{2}), vector.plain);
    crypto.EndKey(key);
  }
}

void CheckHkdfVectors(Crypto& crypto) {
  CheckHkdf(crypto, Bytes(22, 0x0b), Range(0x00, 0x0c), Range(0xf0, 0xf9),
            "077709362c2e32df0ddc3f0dc47bba6390b6c73bb50f9c3122ec844ad7c2b3e5",
            "3cb25f25faacd57a90434f64d0362f2a2d2d0a90cf1a5a4c5db02d56ecc4c5bf34007208d5b887185865");
  CheckHkdf(
      crypto, Range(0x00, 0x4f), Range(0x60, 0xaf), Range(0xb0, 0xff),
      "06a6b88c5853361a06104c9ceb35b45cef760014904671014a193f40c15fc244",
      "b11e398dc80327a1c8e7f78c596a49344f012eda2d4efad8a050cc4c19afa97c59045a99cac7827271cb41c6"
      "5e590e09da3275600c2f09b8367793a9aca3db71cc30c58179ec3e87c14c01d5c1f3434f1d87");
  CheckHkdf(crypto, Bytes(22, 0x0b), {}, {},
            "19ef24a32c717b167f33a91d6f648bdf96596776afdb6377ac434c1c293ccb04",
            "8da4e775a563c18f715f802a063c5a31b8a11f5c5ee1879ec3454e5f3c738d2d9d201395faa4b61a96c8");
}

void CheckBursts(Crypto& crypto) {
  std::mt19937 random(5);
  std::vector<void*> keys;
  for (int i = 0; i < 4; ++i) {
    Bytes key(i % 2 == 0 ? 16 : 32);
    for (uint8_t& byte : key) byte = static_cast<uint8_t>(random());
    keys.push_back(crypto.NewKey(CipherOf(key), key));
    ASSERT_NE(keys.back(), nullptr);
  }
  for (size_t count : {1, 2, 31, 32, 33, 64}) {
    for (size_t corrupted = 0; corrupted <= count; ++corrupted) {  // the last time none
      Burst burst(keys, count, random);
      crypto.Seal(burst.jobs());
      for (size_t i = 0; i < count; ++i) {
        // A text of one byte may encrypt to itself.
        ASSERT_TRUE(!burst.IsPlain(i) || burst.jobs()[i].text_bytes < 4);
      }
      if (corrupted < count) burst.AnyByte(corrupted, random) ^= 0x10;
      crypto.Open(burst.jobs());
      for (size_t i = 0; i < count; ++i) {
        ASSERT_EQ(burst.jobs()[i].good, i != corrupted) << i << " of " << count;
        ASSERT_TRUE(i == corrupted || burst.IsPlain(i)) << i << " of " << count;
      }
    }
  }
  for (void* key : keys) crypto.EndKey(key);
}

void CheckFlippedBits(Crypto& crypto) {
  for (const size_t key_bytes : {16, 32}) {
    const Bytes key(key_bytes, 0x31);
    void* const handle = crypto.NewKey(CipherOf(key), key);
    ASSERT_NE(handle, nullptr);
    Bytes sealed(24, 7);
    const SealJob job = JobOf(handle, Bytes(kSealIvBytes, 9), Bytes(18, 3), sealed);
    SealJob first = job;
    crypto.Seal({&first, 1});
    const auto opens = [&](SealJob changed, Bytes text) {
      changed.text = text.data();
      crypto.Open({&changed, 1});
      return changed.good;
    };
    EXPECT_TRUE(opens(job, sealed));
    for (size_t bit = 0; bit < sealed.size() * 8; ++bit) {
      Bytes text = sealed;
      text[bit / 8] ^= static_cast<uint8_t>(1 << bit % 8);
      EXPECT_FALSE(opens(job, text)) << "bit " << bit << " of the text and tag";
    }
    for (size_t bit = 0; bit < kSealIvBytes * 8; ++bit) {
      SealJob changed = job;
      changed.nonce[bit / 8] ^= static_cast<uint8_t>(1 << bit % 8);
      EXPECT_FALSE(opens(changed, sealed)) << "bit " << bit << " of the nonce";
    }
    for (size_t bit = 0; bit < job.aad_bytes * size_t{8}; ++bit) {
      SealJob changed = job;
      changed.aad[bit / 8] ^= static_cast<uint8_t>(1 << bit % 8);
      EXPECT_FALSE(opens(changed, sealed)) << "bit " << bit << " of the additional data";
    }
    SealJob less = job;
    less.aad_bytes--;
    EXPECT_FALSE(opens(less, sealed));
    EXPECT_TRUE(opens(job, sealed)) << "after all those";
    crypto.EndKey(handle);
  }
}

void CheckSealingFromElsewhere(Crypto& crypto) {
  void* const key = crypto.NewKey(SealCipher::kAes128Gcm, Bytes(16, 7));
  for (const size_t bytes : {1, 15, 16, 64, 65, 1000, 2052, 4100}) {
    SCOPED_TRACE(bytes);
    Bytes plain(bytes);
    for (size_t i = 0; i < bytes; ++i) plain[i] = static_cast<uint8_t>(i * 31);
    const Bytes before = plain;
    Bytes in_place = plain;
    Bytes elsewhere(bytes, 0xee);
    std::array<SealJob, 2> jobs = {JobOf(key, Bytes(kSealIvBytes, 5), Bytes(52, 2), in_place),
                                   JobOf(key, Bytes(kSealIvBytes, 5), Bytes(52, 2), elsewhere)};
    jobs[1].plain = plain.data();
    crypto.Seal(jobs);
    EXPECT_EQ(in_place, elsewhere);
    EXPECT_EQ(plain, before);
    crypto.Open({&jobs[1], 1});
    EXPECT_TRUE(jobs[1].good);
    elsewhere.resize(bytes);
    EXPECT_EQ(elsewhere, plain);
  }
  crypto.EndKey(key);
}

void CheckAgreement(Crypto& ours, Crypto& theirs) {
  constexpr size_t kAadBytes[] = {18, 26, 52};
  for (const SealCipher cipher : {SealCipher::kAes128Gcm, SealCipher::kAes256Gcm}) {
    const Bytes key(KeyBytesOf(cipher), 0x42);
    void* const our_key = ours.NewKey(cipher, key);
    void* const their_key = theirs.NewKey(cipher, key);
    for (size_t bytes = 1; bytes < 4200; bytes += 37) {
      const Bytes plain(bytes, static_cast<uint8_t>(bytes));
      Bytes text = plain;
      SealJob job = JobOf(our_key, Bytes(kSealIvBytes, 1), Bytes(kAadBytes[bytes % 3], 2), text);
      ours.Seal({&job, 1});
      job.key = their_key;
      theirs.Open({&job, 1});
      ASSERT_TRUE(job.good) << bytes;
      ASSERT_TRUE(std::equal(plain.begin(), plain.end(), text.begin())) << bytes;
      theirs.Seal({&job, 1});
      job.key = our_key;
      ours.Open({&job, 1});
      ASSERT_TRUE(job.good) << bytes;
      ASSERT_TRUE(std::equal(plain.begin(), plain.end(), text.begin())) << bytes;
    }
    ours.EndKey(our_key);
    theirs.EndKey(their_key);
  }
}

void CheckKeys(Crypto& crypto, size_t keys) {
  EXPECT_EQ(crypto.NewKey(SealCipher::kAes128Gcm, Bytes(15)), nullptr);
  EXPECT_EQ(crypto.NewKey(SealCipher::kAes256Gcm, Bytes(16)), nullptr);
  crypto.EndKey(nullptr);
  std::vector<void*> handles;
  std::vector<Bytes> texts;
  for (int round = 0; round < 3; ++round) {
    for (size_t i = handles.size(); i < keys; ++i) {
      const SealCipher cipher = i % 2 == 0 ? SealCipher::kAes128Gcm : SealCipher::kAes256Gcm;
      Bytes key(KeyBytesOf(cipher), static_cast<uint8_t>(i));
      handles.push_back(crypto.NewKey(cipher, key));
      ASSERT_NE(handles.back(), nullptr) << i;
      std::fill(key.begin(), key.end(), 0);  // the caller overwrites it
    }
    for (size_t i = 0; i < keys; ++i) {
      Bytes text(20, 1);
      SealJob job = JobOf(handles[i], Bytes(kSealIvBytes), Bytes(18), text);
      crypto.Seal({&job, 1});
      if (round == 0) texts.push_back(text);
      EXPECT_EQ(text, texts[i]) << "key " << i << ", round " << round;
    }
    while (handles.size() > keys / 2) {
      crypto.EndKey(handles.back());
      handles.pop_back();
    }
  }
  for (void* handle : handles) crypto.EndKey(handle);
}

}  // namespace suede
