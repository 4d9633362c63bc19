// SPDX-License-Identifier: Apache-2.0
// The cost of sealing and opening by each library of ciphers: a table. A burst is 32 frames of one
// size, 2 KiB (or their size) apart, with additional data of 52 bytes as in form S; first all with
// one key, then each with the key of another peer. Least time of several rounds. At the end the
// cost of keys.

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "bench_crypto.h"
#include "bench_machine.h"
#include "dpdk/eal.h"
#include "seal/locked_memory.h"

namespace suede {
namespace {

constexpr size_t kSizes[] = {64, 256, 2048, 4096};
constexpr size_t kBurst = 32;
constexpr int kRounds = 200;

template <typename Work>
double NanosecondsPerFrame(Work&& work) {
  using Clock = std::chrono::steady_clock;
  double min = std::numeric_limits<double>::max();
  for (int round = 0; round < kRounds; ++round) {
    const Clock::time_point start = Clock::now();
    for (int i = 0; i < 8; ++i) work();
    const std::chrono::duration<double, std::nano> took = Clock::now() - start;
    min = std::min(min, took.count() / (8 * kBurst));
  }
  return min;
}

struct Burst {
  Burst(Crypto& crypto, SealCipher cipher, size_t bytes, bool one_key)
      : owner(crypto),
        stride(std::max<size_t>(bytes + kSealTagBytes, 2048)),
        memory(kBurst * stride) {
    for (size_t i = 0; i < kBurst; ++i) {
      const std::vector<uint8_t> key(KeyBytesOf(cipher), static_cast<uint8_t>(i));
      if (i == 0 || !one_key) keys.push_back(crypto.NewKey(cipher, key));
      if (keys.back() == nullptr) std::abort();
      jobs.push_back({.key = keys.back(),
                      .nonce = {static_cast<uint8_t>(i)},
                      .aad_bytes = 52,
                      .aad = {},
                      .text = memory.data() + i * stride,
                      .text_bytes = static_cast<uint32_t>(bytes)});
    }
  }
  ~Burst() {
    for (void* key : keys) owner.EndKey(key);
  }
  Crypto& owner;
  const size_t stride;
  std::vector<uint8_t> memory;
  std::vector<void*> keys;
  std::vector<SealJob> jobs;
};

// Open wants authentic frames each time, so what opened is sealed again, outside of the time.
double OpenNanoseconds(Crypto& crypto, Burst& burst) {
  const std::vector<uint8_t> plain = burst.memory;
  crypto.Seal(burst.jobs);
  const std::vector<uint8_t> sealed = burst.memory;
  using Clock = std::chrono::steady_clock;
  double min = std::numeric_limits<double>::max();
  for (int round = 0; round < kRounds * 4; ++round) {
    burst.memory.assign(sealed.begin(), sealed.end());
    const Clock::time_point start = Clock::now();
    crypto.Open(burst.jobs);
    const std::chrono::duration<double, std::nano> took = Clock::now() - start;
    min = std::min(min, took.count() / kBurst);
    for (const SealJob& job : burst.jobs) {
      if (!job.good) std::abort();
    }
  }
  return min;
}

void PrintRows(Crypto& crypto) {
  for (const SealCipher cipher : {SealCipher::kAes128Gcm, SealCipher::kAes256Gcm}) {
    for (const size_t bytes : kSizes) {
      Burst one(crypto, cipher, bytes, true);
      Burst each(crypto, cipher, bytes, false);
      const double seal = NanosecondsPerFrame([&] { crypto.Seal(one.jobs); });
      const double seal_each = NanosecondsPerFrame([&] { crypto.Seal(each.jobs); });
      const double open = OpenNanoseconds(crypto, one);
      const double open_each = OpenNanoseconds(crypto, each);
      std::printf("| %s | %zu | %zu | %.0f | %.1f | %.0f | %.0f | %.1f | %.0f |\n",
                  std::string(crypto.name()).c_str(), KeyBytesOf(cipher) * 8, bytes, seal,
                  static_cast<double>(bytes) / seal, seal_each, open,
                  static_cast<double>(bytes) / open, open_each);
    }
  }
}

void PrintKeys(Crypto& crypto) {
  const std::vector<uint8_t> key(16);
  const size_t before = LockedMemory::OfProcess().used_bytes();
  void* handle = crypto.NewKey(SealCipher::kAes128Gcm, key);
  const size_t bytes = LockedMemory::OfProcess().used_bytes() - before;
  crypto.EndKey(handle);
  const double made = NanosecondsPerFrame([&] {
    for (size_t i = 0; i < kBurst; ++i) {
      crypto.EndKey(crypto.NewKey(SealCipher::kAes128Gcm, key));
    }
  });
  std::array<uint8_t, 32> prk{};
  std::array<uint8_t, 28> out{};
  const std::array<uint8_t, 28> info{};
  const double expanded = NanosecondsPerFrame([&] {
    for (size_t i = 0; i < kBurst; ++i) crypto.Expand(prk, info, out);
  });
  std::printf(
      "%s: a key is made and ended in %.0f ns, takes %zu bytes of locked memory "
      "(without a device's); HKDF-Expand of 28 bytes takes %.0f ns\n",
      std::string(crypto.name()).c_str(), made, bytes, expanded);
}

int Main() {
  if (!StartBenchEal(128)) return kNoEal;
  std::vector<std::unique_ptr<Crypto>> all;
  for (const char* library : {"ipsec_mb", "aesni_gcm", "aesni_mb", "openssl"}) {
    auto crypto = TryBenchCrypto(library, 128);
    if (crypto.ok()) {
      all.push_back(*std::move(crypto));
    } else {
      std::fprintf(stderr, "%s\n", std::string(crypto.status().message()).c_str());
    }
  }
  std::printf(
      "| library | key bits | bytes | seal, ns | bytes/ns | 32 keys, ns | open, ns | bytes/ns "
      "| 32 keys, ns |\n|---|---|---|---|---|---|---|---|---|\n");
  for (const auto& crypto : all) PrintRows(*crypto);
  std::printf("\n");
  for (const auto& crypto : all) PrintKeys(*crypto);
  all.clear();
  StopEal();
  return 0;
}

}  // namespace
}  // namespace suede

int main() { return suede::Main(); }
